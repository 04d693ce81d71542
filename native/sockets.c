/* connect and bind. Unix sockets have names in the file tree that Landlock does not guard; they are guarded here. */
#define _GNU_SOURCE
#include "sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SO_NETNS_COOKIE_ 71

static int fetch_address(const struct request *r, union address *address, socklen_t *len) {
  memset(address, 0, sizeof *address);
  if (r->args[2] > sizeof address->bytes) return -EINVAL;
  *len = (socklen_t)r->args[2];
  return *len ? fetch_bytes(r, r->args[1], address, *len) : 0;
}

static bool is_pathname(const union address *address, socklen_t len) {
  return address->any.sa_family == AF_UNIX && len > offsetof(struct sockaddr_un, sun_path) && address->un.sun_path[0];
}

/* sun_path need not be terminated. */
static void copy_socket_path(const union address *address, socklen_t len, char out[128]) {
  size_t max = len - offsetof(struct sockaddr_un, sun_path);
  snprintf(out, 128, "%.*s", (int)(max > 108 ? 108 : max), address->un.sun_path);
}

static int domain_of(int sock) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(sock, SOL_SOCKET, SO_DOMAIN, &domain, &size) ? -errno : domain;
}

int option_of(int sock, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(sock, SOL_SOCKET, option, &value, &size) ? 0 : value;
}

/* Where one binds to or sends to, sockets of IPv4 take an address that names no family for one of theirs. */
void settle_family(int sock, union address *address) {
  if (address->any.sa_family == AF_UNSPEC && domain_of(sock) == AF_INET) address->any.sa_family = AF_INET;
}

/* The name of an abstract socket may hold zeros, and is shown as the kernel shows it. */
static void copy_abstract(const char *name, size_t len, char out[128]) {
  for (size_t i = 0; i < len; i++) out[i] = name[i] ? name[i] : '@';
  out[len] = 0;
}

/* `tcp:127.0.0.1:80`, `udp:[::1]:53`, `unix:/path`, `unix:@name`, or the number of another family. */
void describe_address(int sock, const union address *address, socklen_t len, char out[ADDRESS_CAP]) {
  char host[INET6_ADDRSTRLEN], name[128];
  const size_t before = offsetof(struct sockaddr_un, sun_path) + 1;
  int type = option_of(sock, SO_TYPE);
  const char *kind = type == SOCK_STREAM ? "tcp" : type == SOCK_DGRAM ? "udp" : "raw";
  int family = address->any.sa_family;
  if (family == AF_INET && inet_ntop(AF_INET, &address->in.sin_addr, host, sizeof host))
    snprintf(out, ADDRESS_CAP, "%s:%s:%u", kind, host, ntohs(address->in.sin_port));
  else if (family == AF_INET6 && inet_ntop(AF_INET6, &address->in6.sin6_addr, host, sizeof host))
    snprintf(out, ADDRESS_CAP, "%s:[%s]:%u", kind, host, ntohs(address->in6.sin6_port));
  else if (family == AF_UNIX && len > before && !address->un.sun_path[0]) {
    copy_abstract(address->un.sun_path + 1, len - before, name);
    snprintf(out, ADDRESS_CAP, "unix:@%s", name);
  } else snprintf(out, ADDRESS_CAP, "af%d:", family);
}

static void describe_path(const char *path, char out[ADDRESS_CAP]) { snprintf(out, ADDRESS_CAP, "unix:%s", path); }

void refuse_address(const struct request *r, const char *op, const char *address, uint32_t rule) {
  record_fact(r, (struct fact){.op = op, .path = address, .rule = rule, .error = EACCES});
}

/* The run's network is its own loopback alone: that nothing leads further is the boundary's doing. */
bool is_beyond(const struct broker *b, int error) {
  return error == ENETUNREACH && b->plan->namespaces & NS_NET && (b->plan->flags & (PLAN_OFF_NETWORK | PLAN_DOORS)) == PLAN_OFF_NETWORK;
}

/* The one that it stands in for may be connected already. */
static int connect_once(const struct request *r, int sock, const union address *to, socklen_t len) {
  return r->attempt->socket_error ? r->attempt->socket_error : connect(sock, &to->any, len) ? -errno : 0;
}

/* Sockets that the run made itself are its own; any other must be named by the policy, wherever it is now. */
static int connect_pathname(const struct request *r, int sock, const char *path, char described[ADDRESS_CAP]) {
  struct broker *b = r->broker;
  struct target t;
  int base = open_base(r, AT_FDCWD, path);
  describe_path(path, described);
  if (base < 0) return base;
  int error = resolve(r, base, path, FOLLOW, &t);
  close_base(r, base);
  if (error) return error;
  describe_path(t.path, described);
  if (!t.exists) error = -ENOENT;
  bool is_ours = !error && is_held(b, &b->bound_sockets, &t.st);
  uint32_t rule = error ? 0 : find_refusal(b, t.path, OP_CONNECT);
  /* What is no socket refuses by itself. */
  if (!error && !rule && S_ISSOCK(t.st.st_mode) && !is_ours && !is_covered(b, t.path, OP_CONNECT)) rule = NO_RULE;
  if (rule) refuse_address(r, "connect", described, rule), error = -EACCES;
  if (!error) {
    union address own = {.un = {.sun_family = AF_UNIX}};
    snprintf(own.un.sun_path, sizeof own.un.sun_path, "/proc/self/fd/%d", t.object);
    error = connect_once(r, sock, &own, sizeof own.un);
  }
  release(&t);
  return error;
}

static bool is_internet(const union address *address) { return address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6; }

/* Of the network that a socket was made in; 0 where the kernel does not say (before Linux 5.14). */
static uint64_t network_of(int sock) {
  uint64_t cookie = 0;
  socklen_t len = sizeof cookie;
  return getsockopt(sock, SOL_SOCKET, SO_NETNS_COOKIE_, &cookie, &len) ? 0 : cookie;
}

/* A socket stays in the network where it was made. One of the host's, which somebody outside has handed over, would lead
   past every door, and what it is connected to would stand in the record as if it were of the run's own network. */
static bool is_foreign(const struct broker *b, int sock, const union address *to, socklen_t len) {
  static atomic_ullong own;
  int domain = domain_of(sock);
  bool is_ip = domain == AF_INET || domain == AF_INET6;
  if (!is_ip && (domain != AF_UNIX || !is_abstract(to, len))) return false;
  if (!(b->plan->namespaces & NS_NET)) return is_ip && b->plan->flags & PLAN_OFF_NETWORK; /* the run has none, and can make none */
  if (!atomic_load(&own)) {
    int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (one < 0) return true; /* nobody knows */
    atomic_store(&own, network_of(one));
    close(one);
  }
  return network_of(sock) != atomic_load(&own);
}

/* Where there are doors, assay has the other end. */
static void note_local_port(const struct request *r, int sock, const union address *asked, const char *described) {
  union address own = {0};
  socklen_t len = sizeof own;
  unsigned wanted = PLAN_DOORS | PLAN_RECORD;
  if ((r->broker->plan->flags & wanted) != wanted || !is_internet(asked)) return;
  if (!getsockname(sock, &own.any, &len) && own.in.sin_port) record_socket(r->broker, r->attempt->program, described, ntohs(own.in.sin_port));
}

/* Only a socket in blocking mode can make us wait. */
static bool may_wait(int sock) { return !is_in_own_thread() && !(fcntl(sock, F_GETFL) & O_NONBLOCK); }

void perform_connect(const struct request *r) {
  union address address;
  socklen_t len;
  char path[128], described[ADDRESS_CAP] = "";
  int error = fetch_address(r, &address, &len), sock = -1;
  if (!error) sock = error = fetch_socket(r);
  if (error >= 0) error = is_still_waiting(r) ? domain_of(sock) : -ESRCH;
  if (error >= 0 && is_judged(r->broker, error)) {
    error = connect_judged(r, sock, error, &address, len, described);
  } else if (error >= 0 && is_foreign(r->broker, sock, &address, len)) {
    describe_address(sock, &address, len, described);
    refuse_address(r, "connect", described, FOREIGN_RULE);
    error = -EACCES;
  } else if (error >= 0 && may_wait(sock)) {
    error = ELSEWHERE;
  } else if (error == AF_UNIX && is_pathname(&address, len)) {
    copy_socket_path(&address, len, path);
    error = connect_pathname(r, sock, path, described);
  } else if (error == AF_UNIX && is_abstract(&address, len)) {
    describe_address(sock, &address, len, described);
    error = connect_abstract(r, sock, &address, len, described);
  } else if (error >= 0) {
    describe_address(sock, &address, len, described);
    bool is_lazy = r->broker->plan->flags & PLAN_LAZY_DOORS && option_of(sock, SO_TYPE) == SOCK_STREAM;
    bool has_way = !is_lazy || make_lazy_door(r->broker->plan, &address.any, len);
    error = !has_way ? -ECONNREFUSED : connect_once(r, sock, &address, len);
    if (error == -EACCES) refuse_address(r, "connect", described, NO_RULE);
    if (is_beyond(r->broker, -error))
      record_fact(r, (struct fact){.op = "connect", .path = described, .error = -error, .rule = NO_RULE, .flags = FACT_KERNEL});
    if (!error || error == -EINPROGRESS) note_local_port(r, sock, &address, described);
  }
  if (!error || error == -EINPROGRESS) put_socket(r, sock);
  if (sock >= 0) close(sock);
  if (error == ELSEWHERE) {
    if (!in_own_thread(r, perform_connect)) answer(r, 0, -EAGAIN);
    return;
  }
  note_outcome(r, (struct fact){.op = "connect", .path = described, .error = -error});
  answer(r, 0, error);
}

/* Does the path lead the kernel, from here, to the directory that was checked? Not where it leads through /proc, which
   is another one to each process. */
static bool names_directory(int base, const char *path, int directory) {
  char above[128];
  struct stat found, checked;
  snprintf(above, sizeof above, "%s", path);
  char *slash = strrchr(above, '/');
  if (slash) slash[slash == above] = 0;
  struct open_how_abi how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_NO_MAGICLINKS_};
  int fd = (int)syscall(SYS_openat2, base, slash ? above : ".", &how, sizeof how);
  bool is_same = fd >= 0 && !fstat(fd, &found) && !fstat(directory, &checked) && found.st_dev == checked.st_dev && found.st_ino == checked.st_ino;
  if (fd >= 0) close(fd);
  return is_same;
}

static bool enter(int directory) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
  return !chdir(link);
}

/* The socket keeps the name by which it was bound, and programs ask for it: so it is bound by the very text, from the
   caller's directory, which this thread enters. Nothing is renamed meanwhile. Where the text leads elsewhere from here,
   the socket is bound in the directory that was checked, and called by its last name. */
static int bind_at(const struct request *r, int sock, const struct target *t, const union address *asked, socklen_t asked_len, const char *path,
                   struct name_hold *held) {
  struct broker *b = r->broker;
  union address own = *asked;
  socklen_t own_len = asked_len;
  int base = open_base(r, AT_FDCWD, path);
  if (base < 0) return base;
  hold_all_names(b, held);
  use_umask_of(r);
  bool is_by_text = names_directory(base, path, t->parent);
  if (!is_by_text) {
    size_t len = strlen(t->name), room = sizeof own.un.sun_path;
    memcpy(own.un.sun_path, t->name, len < room ? len + 1 : room); /* a name that fills the room has no end mark */
    own_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (len < room));
  }
  int error = strlen(t->name) > sizeof own.un.sun_path ? -EINVAL : !enter(is_by_text ? base : t->parent) ? -errno : 0;
  if (!error) error = bind(sock, &own.any, own_len) ? -errno : 0;
  let_mask_go();
  if (!error) hold(b, &b->bound_sockets, t->parent, t->name, false);
  close_base(r, base);
  if (!error) guard_note(b, t);
  return error;
}

static int bind_pathname(const struct request *r, int sock, const union address *asked, socklen_t len, char described[ADDRESS_CAP]) {
  struct name_hold held = {0};
  struct target t;
  char path[128];
  copy_socket_path(asked, len, path);
  describe_path(path, described);
  int base = open_base(r, AT_FDCWD, path);
  int error = base < 0 ? base : resolve(r, base, path, NAME_ONLY, &t);
  if (base >= 0) close_base(r, base);
  if (error) return error;
  describe_path(t.path, described);
  uint32_t rule = refusal_of(r->broker, &t, OP_WRITE);
  if (rule) refuse_address(r, "bind", described, rule), error = -EACCES;
  if (!error && (t.exists || !t.name[0])) error = -EADDRINUSE;
  if (!error && t.must_be_dir) error = -ENOENT;
  if (!error) error = bind_at(r, sock, &t, asked, len, path, &held);
  if (!error) note_outcome(r, (struct fact){.op = "mknod", .path = t.path}); /* a file is there that was not */
  let_names_go(&held);
  if (error == -EACCES && !rule) refuse_address(r, "bind", described, NO_RULE);
  release(&t);
  return error;
}

/* The port that the kernel chose, where the choice was left to it. */
static void describe_chosen_port(int sock, const union address *asked, char out[16]) {
  union address got = {0};
  socklen_t len = sizeof got;
  bool is_open = is_internet(asked) && !asked->in.sin_port;
  out[0] = 0;
  if (is_open && !getsockname(sock, &got.any, &len)) snprintf(out, 16, "%u", ntohs(got.in.sin_port));
}

void perform_bind(const struct request *r) {
  union address address;
  socklen_t len;
  char described[ADDRESS_CAP] = "", port[16] = "";
  int error = fetch_address(r, &address, &len), sock = -1;
  if (!error) sock = error = fetch_socket(r);
  if (error >= 0) error = is_still_waiting(r) ? domain_of(sock) : -ESRCH;
  if (error == AF_UNIX && is_pathname(&address, len)) {
    error = bind_pathname(r, sock, &address, len, described);
  } else if (error >= 0 && (is_judged(r->broker, error) || is_foreign(r->broker, sock, &address, len))) {
    describe_address(sock, &address, len, described);
    refuse_address(r, "bind", described, is_judged(r->broker, error) ? NO_RULE : FOREIGN_RULE);
    error = -EACCES;
  } else if (error >= 0) {
    union address meant = address;
    settle_family(sock, &meant);
    describe_address(sock, &meant, len, described);
    error = error == AF_UNIX ? bind_unnamed(r, sock, &address, len) : bind(sock, &address.any, len) ? -errno : 0;
    if (!error) describe_chosen_port(sock, &meant, port);
    len = sizeof meant;
    if (!error && meant.any.sa_family == AF_UNIX && !getsockname(sock, &meant.any, &len)) describe_address(sock, &meant, len, described);
  }
  if (!error) put_socket(r, sock);
  if (sock >= 0) close(sock);
  note_outcome(r, (struct fact){.op = "bind", .path = described, .target = port, .error = -error});
  answer(r, 0, error);
}

/* A socket that listens unbound gets a port, which is as good as to bind it; where none may be taken it is refused. Others
   are left to the kernel, which tells whoever connects who it was that listened; but not where a port that somebody puts
   in their place meanwhile would be one of this machine. */
void perform_listen(const struct request *r) {
  union address own = {0};
  socklen_t len = sizeof own;
  char described[ADDRESS_CAP] = "", port[16] = "";
  if (!can_copy(r)) return (void)answer_continue(r); /* nothing that stands in would be bound */
  int sock = fetch_descriptor(r, (int)r->args[0]);
  int error = sock < 0 ? sock : is_still_waiting(r) ? domain_of(sock) : -ESRCH;
  if (error >= 0 && error != AF_INET && error != AF_INET6 && !(r->broker->plan->flags & PLAN_BROKERED)) {
    close(sock);
    answer_continue(r);
    return;
  }
  bool is_unbound = error >= 0 && !getsockname(sock, &own.any, &len) && is_internet(&own) && !own.in.sin_port;
  if (is_unbound) describe_address(sock, &own, len, described);
  if (error >= 0 && (is_judged(r->broker, error) || (is_unbound && is_foreign(r->broker, sock, &own, len)))) {
    if (!is_unbound) describe_address(sock, &own, len, described);
    refuse_address(r, "bind", described, is_judged(r->broker, error) ? NO_RULE : FOREIGN_RULE);
    error = -EACCES;
  } else if (error >= 0) {
    error = listen(sock, (int)r->args[1]) ? -errno : 0;
    if (!error && is_unbound) describe_chosen_port(sock, &own, port);
  }
  if (sock >= 0) close(sock);
  if (!error) note_outcome(r, (struct fact){.op = "bind", .path = described, .target = port});
  answer(r, 0, error);
}
