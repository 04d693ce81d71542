/* Abstract names of unix sockets belong to a network. In that of the host anybody may listen by any of them: there the
   run's own are those that the broker has bound, for as long as that very socket lives. */
#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_NAMES 4096 /* beyond that the oldest count as names of others */
#define PATH_OFFSET offsetof(struct sockaddr_un, sun_path)
#define PAUSE_NS 10000000

/* The kernel tells names apart by their length and by the type of their sockets as well. */
struct name {
  socklen_t len; /* 0: none */
  int type;
  union address address;
};

static struct own_name {
  struct name name;
  ino_t ino;
  pid_t tid; /* who bound it, and by which number */
  int number;
} names[MOST_NAMES];
static size_t next;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool is_abstract(const union address *address, socklen_t len) {
  return address->any.sa_family == AF_UNIX && len > PATH_OFFSET && !address->un.sun_path[0];
}

static bool is_same(const struct name *a, const struct name *b) {
  return a->len == b->len && a->type == b->type && !memcmp(&a->address, &b->address, a->len);
}

static struct own_name *find_name(const struct name *wanted) {
  for (size_t i = 0; i < MOST_NAMES; i++)
    if (names[i].name.len && is_same(&names[i].name, wanted)) return &names[i];
  return NULL;
}

/* With the name that the kernel chose, where the choice was left to it. */
static void note_name(const struct request *r, int sock) {
  struct own_name own = {.name = {.len = sizeof own.name.address, .type = option_of(sock, SO_TYPE)}, .tid = r->tid, .number = (int)r->args[0]};
  struct stat st;
  if (getsockname(sock, &own.name.address.any, &own.name.len) || !is_abstract(&own.name.address, own.name.len) || fstat(sock, &st)) return;
  own.ino = st.st_ino;
  struct own_name *slot = find_name(&own.name);
  if (!slot) slot = &names[next++ % MOST_NAMES];
  *slot = own;
}

int bind_unnamed(const struct request *r, int sock, const union address *asked, socklen_t len) {
  pthread_mutex_lock(&lock);
  int error = bind(sock, &asked->any, len) ? -errno : 0;
  if (!error) note_name(r, sock);
  pthread_mutex_unlock(&lock);
  return error;
}

struct holder {
  ino_t ino;
  int copy;
};

static bool take(pid_t tid, int number, ino_t ino, void *context) {
  struct holder *holder = context;
  if (ino == holder->ino) holder->copy = copy_socket(tid, number, ino);
  return holder->copy >= 0;
}

/* As long as there is a copy, the name is nobody else's. -1 when the run has closed it. */
static int hold_socket(const struct own_name *own) {
  struct holder holder = {own->ino, copy_socket(own->tid, own->number, own->ino)};
  if (holder.copy < 0) search_processes(take, &holder);
  return holder.copy;
}

/* Of a name that was the run's own. The kernel looks at nothing else before it says so. */
static bool is_taken(const struct name *name) {
  int probe = socket(AF_UNIX, name->type | SOCK_CLOEXEC, 0);
  bool is_free = probe >= 0 && !bind(probe, &name->address.any, name->len);
  if (probe >= 0) close(probe);
  return !is_free;
}

static int connect_once(int sock, const struct name *to) {
  struct own_name own = {.ino = 0};
  pthread_mutex_lock(&lock);
  struct own_name *found = find_name(to);
  if (found) own = *found;
  int copy = found ? hold_socket(&own) : -1;
  int error = copy >= 0 ? 0 : found && !is_taken(to) ? -ECONNREFUSED : -EACCES;
  pthread_mutex_unlock(&lock);
  if (error) return error;
  int flags = fcntl(sock, F_GETFL);
  if (!(flags & O_NONBLOCK)) fcntl(sock, F_SETFL, flags | O_NONBLOCK);
  error = connect(sock, &to->address.any, to->len) ? -errno : 0;
  if (!(flags & O_NONBLOCK)) fcntl(sock, F_SETFL, flags);
  close(copy);
  return error;
}

/* Nothing here waits while it has a copy: the program could not close its socket, and so wake up who waits for it. */
int connect_abstract(const struct request *r, int sock, const union address *asked, socklen_t len, const char *described) {
  const struct broker *b = r->broker;
  struct name to = {.len = len, .type = option_of(sock, SO_TYPE), .address = *asked};
  if (r->attempt->socket_error) return r->attempt->socket_error;
  /* A scoped Landlock domain holds the broker as well. */
  bool is_kept = b->plan->namespaces & NS_NET || (!can_copy(r) && b->plan->ll_scope & LL_SCOPE_ABSTRACT);
  if (is_kept || b->plan->flags & PLAN_OBSERVE_ONLY) return connect(sock, &asked->any, len) ? -errno : 0;
  if (len > sizeof asked->un) return -EINVAL;
  int error = connect_once(sock, &to);
  while (error == -EAGAIN && is_in_own_thread()) {
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    if (!is_still_waiting(r) || has_signal_due(r->tid)) return -EINTR;
    error = connect_once(sock, &to);
  }
  if (error == -EACCES) refuse_address(r, "connect", described, NO_RULE);
  return error;
}
