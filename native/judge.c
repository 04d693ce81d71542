/* What assay says about connections of a run that has no network of its own: it is asked, and some of its verdicts hold for
   a while. */
#define _GNU_SOURCE
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_PENDING 256
#define KEPT_SLOTS 512
#define KEPT_NS 1000000000 /* so long a verdict holds by itself, should assay be too busy to take it back */
#define TOLD_NS 20000000   /* uses of one are told together: who is woken for each is in the way of the next */
#define ANSWER_SECONDS 65

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
static atomic_uint forgotten;
static bool is_closed;

unsigned times_forgotten(void) { return atomic_load(&forgotten); }

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

bool send_question(const struct question *question, bool may_wait) {
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

bool find_kept(const struct request *r, const struct place *place, bool is_used, struct verdict *out) {
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

int ask(const struct request *r, const struct place *place, uint32_t flags, struct verdict *out) {
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
