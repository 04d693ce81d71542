/* Connections that the broker has made for programs and left to them. When a rule ends they are asked about again, and
   those that are not allowed any more are cut. The broker holds none of them, since a program could then not close one:
   it knows their numbers, and looks for who has them when that matters. */
#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 8192 /* of which three in four are used at most */
#define GONE ((ino_t)1)  /* there was one; no socket has this number */
#define HUNT_NS 50000000 /* a socket can be on its way between two programs, where nobody has it */

static struct dialled {
  ino_t ino; /* 0: free */
  struct place place;
  bool is_hunted, is_alive;
} dialled[SLOTS];

static size_t used; /* slots that are not free */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_reviewing, is_wanted;

static bool is_one(const struct dialled *slot) { return slot->ino > GONE; }

/* ---- all with the lock held ---- */

/* That of this socket, else where it is to be put. */
static struct dialled *find_slot(ino_t ino) {
  struct dialled *gone = NULL;
  size_t at = (size_t)(ino * 0x9e3779b97f4a7c15u >> 51) % SLOTS;
  for (; dialled[at].ino && dialled[at].ino != ino; at = (at + 1) % SLOTS)
    if (dialled[at].ino == GONE && !gone) gone = &dialled[at];
  return !dialled[at].ino && gone ? gone : &dialled[at];
}

/* Those of ours that are in the kernel's list of connections. */
static void mark_alive(const char *path) {
  FILE *file = fopen(path, "re");
  char line[512];
  unsigned long long ino;
  if (!file) return;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "%*d: %*s %*s %*x %*s %*s %*s %*u %*u %llu", &ino) != 1 || ino <= GONE) continue;
    struct dialled *slot = find_slot((ino_t)ino);
    if (slot->ino == (ino_t)ino) slot->is_alive = true;
  }
  fclose(file);
}

static void drop_closed(void) {
  static struct dialled kept[SLOTS];
  size_t count = 0;
  for (size_t i = 0; i < SLOTS; i++) dialled[i].is_alive = false;
  mark_alive("/proc/self/net/tcp");
  mark_alive("/proc/self/net/tcp6");
  for (size_t i = 0; i < SLOTS; i++)
    if (is_one(&dialled[i]) && dialled[i].is_alive) kept[count++] = dialled[i];
  memset(dialled, 0, sizeof dialled);
  for (size_t i = 0; i < count; i++) *find_slot(kept[i].ino) = kept[i];
  used = count;
}

/* ---- */

/* False when there are too many to keep count of. */
bool note_dialled(int sock, const struct place *place) {
  struct stat st;
  if (fstat(sock, &st)) return false;
  pthread_mutex_lock(&lock);
  if (used >= SLOTS * 3 / 4) drop_closed();
  struct dialled *slot = find_slot(st.st_ino);
  bool is_new = !slot->ino, has_room = !is_new || used < SLOTS * 3 / 4;
  if (has_room) *slot = (struct dialled){.ino = st.st_ino, .place = *place};
  if (has_room && is_new) used++;
  pthread_mutex_unlock(&lock);
  return has_room;
}

/* ---- cutting ---- */

static struct dialled *find_hunted(ino_t ino) {
  struct dialled *slot = find_slot(ino);
  return slot->ino == ino && slot->is_hunted ? slot : NULL;
}

static bool is_hunted_now(ino_t ino) {
  pthread_mutex_lock(&lock);
  bool is_one_of_them = find_hunted(ino) != NULL;
  pthread_mutex_unlock(&lock);
  return is_one_of_them;
}

/* Others may have it as well: the search goes on. */
static bool cut(pid_t tid, int number, ino_t ino, void *unused) {
  struct sockaddr none = {.sa_family = AF_UNSPEC};
  int sock = is_hunted_now(ino) ? copy_socket(tid, number, ino) : -1;
  (void)unused;
  if (sock < 0) return false;
  shutdown(sock, SHUT_RDWR); /* wakes up who waits for it */
  if (connect(sock, &none, sizeof none)) errno = 0; /* with a reset, where the kernel does that while somebody waits */
  close(sock);
  pthread_mutex_lock(&lock);
  struct dialled *found = find_hunted(ino);
  if (found) found->ino = GONE;
  pthread_mutex_unlock(&lock);
  return false;
}

/* ---- asking again ---- */

static bool has_hunted(void) {
  bool is_any = false;
  pthread_mutex_lock(&lock);
  drop_closed();
  for (size_t i = 0; i < SLOTS; i++) is_any |= is_one(&dialled[i]) && dialled[i].is_hunted;
  pthread_mutex_unlock(&lock);
  return is_any;
}

static void review_all(void) {
  static struct dialled all[SLOTS];
  pthread_mutex_lock(&lock);
  drop_closed();
  memcpy(all, dialled, sizeof all);
  pthread_mutex_unlock(&lock);
  for (size_t i = 0; i < SLOTS; i++) {
    if (!is_one(&all[i]) || all[i].is_hunted || is_still_allowed(&all[i].place)) continue;
    pthread_mutex_lock(&lock);
    struct dialled *slot = find_slot(all[i].ino);
    if (slot->ino == all[i].ino && !memcmp(&slot->place, &all[i].place, sizeof slot->place)) slot->is_hunted = true;
    pthread_mutex_unlock(&lock);
  }
}

static bool has_more_to_do(void) {
  pthread_mutex_lock(&lock);
  bool is_again = is_wanted;
  is_wanted = false;
  if (!is_again) is_reviewing = false;
  pthread_mutex_unlock(&lock);
  return is_again;
}

static void *review(void *unused) {
  (void)unused;
  do {
    review_all();
    while (has_hunted()) {
      search_processes(cut, NULL);
      if (has_hunted()) nanosleep(&(struct timespec){0, HUNT_NS}, NULL);
      pthread_mutex_lock(&lock);
      bool is_again = is_wanted;
      pthread_mutex_unlock(&lock);
      if (is_again) break;
    }
  } while (has_more_to_do());
  return NULL;
}

/* In a thread of its own: who calls reads the answers. */
void review_dialled(void) {
  pthread_t thread;
  pthread_mutex_lock(&lock);
  bool is_started = is_reviewing;
  is_reviewing = is_wanted = true;
  pthread_mutex_unlock(&lock);
  if (is_started) return;
  if (pthread_create(&thread, NULL, review, NULL)) die("broker", "cannot look at connections again");
  pthread_detach(thread);
}
