/* TCP of a run that has no network of its own. The kernel lets the program itself connect to nothing; the broker asks
   assay about its own copy of the address, and connects the program's socket to what assay names, or does not. */
#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_PENDING 256
#define KEPT_SLOTS 512
#define KEPT_NS 1000000000 /* so long a verdict holds by itself, should assay be too busy to take it back */
#define TOLD_NS 20000000   /* uses of one are told together: who is woken for each is in the way of the next */
#define ANSWER_SECONDS 65
#define ENDPOINT_CAP 280

/* Both sides run on one machine, so numbers are as it has them; src/launch/judge-messages.ts has the same layout. */
enum { QUESTION = 1, CAME = 2 };
enum { IS_KEPT = 1, IS_AGAIN = 2, IS_REVIEW = 4 };
struct question {
  uint32_t kind, id /* with IS_KEPT: how often */, program;
  uint16_t port, own_port;
  uint32_t family; /* 4 or 6 */
  uint8_t address[16];
  uint32_t flags;
};

enum { ANSWER = 1, FORGET = 2 };
enum { MAY_KEEP = 1, IS_DOOR = 2, MAY_BE_OWN = 4 };
struct verdict {
  uint32_t kind, id;
  int32_t error;
  uint32_t flags, family;
  uint16_t port, unused;
  uint8_t address[16];
  char endpoint[ENDPOINT_CAP]; /* by which the record calls it; empty: by its address */
};

static struct pending {
  sem_t is_answered;
  bool is_used;
  uint32_t id;
  struct place place;
  struct verdict verdict;
} pending[MAX_PENDING];

static struct kept {
  uint64_t until_ns, told_ns;
  uint32_t uses, program;
  struct place place;
  struct verdict verdict;
} kept[KEPT_SLOTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, send_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t generation;
static atomic_uint forgotten; /* how often verdicts were taken back */
static bool is_closed;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- verdicts that hold for a while ---- */

static struct kept *slot_of(const struct place *place) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < sizeof *place; i++) hash = (hash ^ ((const uint8_t *)place)[i]) * 16777619u;
  return &kept[hash % KEPT_SLOTS];
}

/* ---- the channel to assay ---- */

/* Without `may_wait` a channel that is full, or in use, is not waited for. */
static bool send_question(const struct question *question, bool may_wait) {
  if (may_wait) pthread_mutex_lock(&send_lock);
  else if (pthread_mutex_trylock(&send_lock)) return false;
  ssize_t sent = send(DOORS_FD, question, sizeof *question, MSG_NOSIGNAL | (may_wait ? 0 : MSG_DONTWAIT));
  pthread_mutex_unlock(&send_lock);
  return sent == sizeof *question;
}

static struct question make_question(const struct place *place, uint32_t program, uint32_t flags) {
  struct question question = {.kind = QUESTION, .program = program, .port = place->port, .family = place->family, .flags = flags};
  memcpy(question.address, place->address, sizeof question.address);
  return question;
}

/* With the lock held. */
static void tell_uses(struct kept *slot, bool may_wait) {
  if (!slot->uses) return;
  struct question used = make_question(&slot->place, slot->program, IS_KEPT);
  used.id = slot->uses;
  if (send_question(&used, may_wait)) slot->uses = 0;
}

static bool find_kept(const struct request *r, const struct place *place, bool is_used, struct verdict *out) {
  struct kept *slot = slot_of(place);
  uint64_t now = now_ns();
  pthread_mutex_lock(&lock);
  bool is_found = slot->until_ns > now && !memcmp(&slot->place, place, sizeof *place);
  if (is_found) *out = slot->verdict;
  if (is_found && is_used) slot->uses++, slot->program = r->attempt->program;
  if (is_found && now - slot->told_ns > TOLD_NS) slot->told_ns = now, tell_uses(slot, false);
  pthread_mutex_unlock(&lock);
  return is_found;
}

static void forget_kept(bool may_wait) {
  for (size_t i = 0; i < KEPT_SLOTS; i++) tell_uses(&kept[i], may_wait);
  memset(kept, 0, sizeof kept);
}

static void keep(const struct place *place, const struct verdict *verdict) {
  struct kept *slot = slot_of(place);
  tell_uses(slot, false);
  *slot = (struct kept){.until_ns = now_ns() + KEPT_NS, .place = *place, .verdict = *verdict};
}

/* Kept here, in the order in which they come, so that none is kept that has been taken back. */
static void take_answer(const struct verdict *verdict) {
  struct pending *one = &pending[verdict->id % MAX_PENDING];
  if (!one->is_used || one->id != verdict->id) return;
  one->verdict = *verdict;
  one->verdict.endpoint[ENDPOINT_CAP - 1] = 0;
  if (verdict->flags & MAY_KEEP) keep(&one->place, &one->verdict);
  sem_post(&one->is_answered);
}

static void *read_answers(void *unused) {
  struct verdict verdict;
  (void)unused;
  while (recv(DOORS_FD, &verdict, sizeof verdict, MSG_WAITALL) == sizeof verdict) {
    pthread_mutex_lock(&lock);
    if (verdict.kind == FORGET) forget_kept(false), atomic_fetch_add(&forgotten, 1);
    else take_answer(&verdict);
    pthread_mutex_unlock(&lock);
    if (verdict.kind == FORGET) review_dialled();
  }
  pthread_mutex_lock(&lock);
  is_closed = true;
  memset(kept, 0, sizeof kept);
  for (size_t i = 0; i < MAX_PENDING; i++) {
    if (!pending[i].is_used) continue;
    pending[i].verdict.error = EACCES;
    sem_post(&pending[i].is_answered);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

void judge_start(void) {
  pthread_t thread;
  fcntl(DOORS_FD, F_SETFL, fcntl(DOORS_FD, F_GETFL) & ~O_NONBLOCK);
  if (pthread_create(&thread, NULL, read_answers, NULL)) die("broker", "cannot start");
}

static struct pending *begin_question(const struct place *place) {
  struct pending *one = NULL;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < MAX_PENDING && !one && !is_closed; i++)
    if (!pending[i].is_used) one = &pending[i];
  if (one) {
    one->is_used = true;
    one->id = ++generation * MAX_PENDING + (uint32_t)(one - pending);
    one->place = *place;
    memset(&one->verdict, 0, sizeof one->verdict);
    one->verdict.error = EACCES; /* until it is said otherwise */
    sem_init(&one->is_answered, 0, 0);
  }
  pthread_mutex_unlock(&lock);
  return one;
}

static struct timespec answer_deadline(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += ANSWER_SECONDS;
  return end;
}

/* A signal for the program ends the wait, as it would end that of the kernel. */
static int wait_for_answer(const struct request *r, struct pending *one) {
  struct timespec end = answer_deadline();
  while (sem_timedwait(&one->is_answered, &end)) {
    if (errno == ETIMEDOUT) return -ETIMEDOUT;
    if (!is_still_waiting(r) || has_signal_due(r->tid)) return -EINTR;
  }
  return 0;
}

/* The programs are gone; assay is told of the last uses. */
void judge_finish(void) {
  pthread_mutex_lock(&lock);
  forget_kept(true);
  pthread_mutex_unlock(&lock);
}

static void end_question(struct pending *one, struct verdict *out) {
  pthread_mutex_lock(&lock);
  *out = one->verdict;
  one->is_used = false;
  pthread_mutex_unlock(&lock);
}

static int ask(const struct request *r, const struct place *place, uint32_t flags, struct verdict *out) {
  struct pending *one = begin_question(place);
  if (!one) return is_closed ? -EACCES : -EAGAIN;
  struct question question = make_question(place, r->attempt->program, flags);
  question.id = one->id;
  int error = send_question(&question, true) ? wait_for_answer(r, one) : -EACCES;
  end_question(one, out);
  return error;
}

/* Of a connection that stands. One that nobody answers about is not kept. */
bool is_still_allowed(const struct place *place) {
  struct verdict verdict = {.error = EACCES};
  struct timespec end = answer_deadline();
  struct pending *one = begin_question(place);
  if (!one) return !is_closed; /* asked again with the next change */
  struct question question = make_question(place, 0, IS_REVIEW);
  question.id = one->id;
  int failed = send_question(&question, true) ? 0 : EACCES;
  while (!failed && sem_timedwait(&one->is_answered, &end)) failed = errno == EINTR ? 0 : errno;
  end_question(one, &verdict);
  return !failed && !verdict.error;
}

/* ---- addresses ---- */

static int read_place(int sock, int domain, const union address *asked, socklen_t len, struct place *out) {
  memset(out, 0, sizeof *out);
  if (len < sizeof asked->any.sa_family) return -EINVAL;
  /* Whatever is no plain TCP, and taking a socket back to where it is not connected, is not needed here. */
  if (option_of(sock, SO_PROTOCOL) != IPPROTO_TCP || asked->any.sa_family == AF_UNSPEC) return -EACCES;
  if (len < (domain == AF_INET ? sizeof asked->in : offsetof(struct sockaddr_in6, sin6_scope_id))) return -EINVAL;
  if (asked->any.sa_family != domain) return -EAFNOSUPPORT;
  out->port = ntohs(asked->in.sin_port);
  if (domain == AF_INET || IN6_IS_ADDR_V4MAPPED(&asked->in6.sin6_addr)) {
    uint32_t loopback = htonl(INADDR_LOOPBACK), none = INADDR_ANY;
    out->family = 4;
    memcpy(out->address, domain == AF_INET ? (const void *)&asked->in.sin_addr : &asked->in6.sin6_addr.s6_addr[12], 4);
    if (!memcmp(out->address, &none, 4)) memcpy(out->address, &loopback, 4);
  } else {
    out->family = 6;
    memcpy(out->address, IN6_IS_ADDR_UNSPECIFIED(&asked->in6.sin6_addr) ? &in6addr_loopback : &asked->in6.sin6_addr, 16);
  }
  return 0;
}

/* In the family of the socket; 0 when it cannot be said there. */
static socklen_t write_address(int domain, const struct verdict *to, const union address *asked, union address *out) {
  memset(out, 0, sizeof *out);
  out->any.sa_family = (sa_family_t)domain;
  out->in.sin_port = htons(to->port);
  if (domain == AF_INET) {
    memcpy(&out->in.sin_addr, to->address, 4);
    return to->family == 4 ? sizeof out->in : 0;
  }
  if (to->family == 4) {
    out->in6.sin6_addr.s6_addr[10] = out->in6.sin6_addr.s6_addr[11] = 0xff;
    memcpy(&out->in6.sin6_addr.s6_addr[12], to->address, 4);
  } else {
    memcpy(&out->in6.sin6_addr, to->address, 16);
    /* Which of the links a link-local address is on. */
    if (!memcmp(&asked->in6.sin6_addr, to->address, 16)) out->in6.sin6_scope_id = asked->in6.sin6_scope_id;
  }
  return sizeof out->in6;
}

/* ---- connecting ---- */

/* The socket may be one that waits. Here nothing may, so it is begun as if it were not, and what is there at once, as
   on this machine, is seen by asking again. */
static int dial(int sock, const union address *to, socklen_t len) {
  int flags = fcntl(sock, F_GETFL);
  if (flags & O_NONBLOCK || is_in_own_thread()) return connect(sock, &to->any, len) ? -errno : 0;
  fcntl(sock, F_SETFL, flags | O_NONBLOCK);
  int error = connect(sock, &to->any, len) ? -errno : 0;
  if (error == -EINPROGRESS) error = connect(sock, &to->any, len) ? -errno : 0;
  fcntl(sock, F_SETFL, flags);
  return error == -EALREADY ? ELSEWHERE : error;
}

/* Others on this machine can knock at the same door: assay lets in who is announced by his port. */
static void announce(const struct request *r, int sock, const struct verdict *door) {
  union address own = {0};
  socklen_t len = sizeof own;
  struct question came = {.kind = CAME, .program = r->attempt->program, .port = door->port};
  if (getsockname(sock, &own.any, &len)) return;
  came.own_port = ntohs(own.in.sin_port);
  if (r->broker->plan->flags & PLAN_RECORD) record_socket(r->broker, came.program, door->endpoint, came.own_port);
  send_question(&came, is_in_own_thread());
}

/* Does it lead to this machine itself? A datagram socket is sent nowhere by connecting it, and has then the address that
   packets would come from: that of the other end, only where both are here. */
static bool leads_home(const union address *to, socklen_t len) {
  union address own = {0};
  socklen_t own_len = sizeof own;
  int sock = socket(to->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (sock < 0) return true; /* not known */
  bool is_routed = !connect(sock, &to->any, len) && !getsockname(sock, &own.any, &own_len);
  close(sock);
  if (!is_routed) return false;
  return to->any.sa_family == AF_INET ? own.in.sin_addr.s_addr == to->in.sin_addr.s_addr
                                      : !memcmp(&own.in6.sin6_addr, &to->in6.sin6_addr, sizeof own.in6.sin6_addr);
}

static bool is_begun(int sock) {
  struct tcp_info info = {0};
  socklen_t len = sizeof info;
  return !getsockopt(sock, IPPROTO_TCP, TCP_INFO, &info, &len) && info.tcpi_state != TCP_CLOSE;
}

static int find_verdict(const struct request *r, int sock, const struct place *place, struct verdict *out) {
  uint32_t again = is_begun(sock) ? IS_AGAIN : 0;
  if (find_kept(r, place, !again, out)) return 0;
  return is_in_own_thread() ? ask(r, place, again, out) : ELSEWHERE;
}

bool is_judged(const struct broker *b, int domain) { return b->plan->flags & PLAN_BROKERED && (domain == AF_INET || domain == AF_INET6); }

int connect_judged(const struct request *r, int sock, int domain, const union address *asked, socklen_t len, char described[ADDRESS_CAP]) {
  struct place place;
  struct verdict verdict = {0};
  union address to;
  unsigned before = atomic_load(&forgotten);
  int error = read_place(sock, domain, asked, len, &place);
  describe_address(sock, asked, len, described);
  if (error == -EACCES) refuse_address(r, "connect", described, NO_RULE);
  if (error) return error;
  error = find_verdict(r, sock, &place, &verdict);
  if (error) return error;
  if (verdict.endpoint[0]) snprintf(described, ADDRESS_CAP, "%s", verdict.endpoint);
  if (verdict.error == EACCES) refuse_address(r, "connect", described, NO_RULE);
  if (verdict.error) return -verdict.error;
  socklen_t to_len = write_address(domain, &verdict, asked, &to);
  if (!to_len) return -ENETUNREACH;
  if (!(verdict.flags & (IS_DOOR | MAY_BE_OWN)) && leads_home(&to, to_len)) {
    refuse_address(r, "connect", described, NO_RULE);
    return -EACCES;
  }
  if (!(verdict.flags & IS_DOOR) && !note_dialled(sock, &place)) return -EAGAIN;
  error = dial(sock, &to, to_len);
  /* Once more, now that the kernel knows of it as well. The verdict may have been taken back before that. */
  if (!(verdict.flags & IS_DOOR) && (!error || error == -EINPROGRESS || error == ELSEWHERE)) note_dialled(sock, &place);
  if (before != atomic_load(&forgotten)) review_dialled();
  if (error == -EALREADY && r->attempt->is_begun) error = -EINPROGRESS; /* to the program it is the first time */
  r->attempt->is_begun = error == ELSEWHERE;
  if (verdict.flags & IS_DOOR && (!error || error == -EINPROGRESS)) announce(r, sock, &verdict);
  return error;
}
