/* Where directories are. Asking the kernel for the path of a descriptor costs more than the open itself, so what it
   said is kept for a moment: until a name is changed inside, or long enough for nobody outside to notice. */
#define _GNU_SOURCE
#include "broker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define MAX_PLACES 256
#define PLACE_PATH_CAP 512
#define KEEP_MS 20

struct place {
  uint64_t mount, ino;
  uint32_t major, minor, turn;
  uint64_t until_ms;
  char path[PLACE_PATH_CAP];
};

static __thread struct place *places; /* of a receiver */

static uint64_t coarse_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A directory has another path now, or a link leads elsewhere. */
void forget_places(struct broker *b) { atomic_fetch_add(&b->place_turn, 1); }

/* As canonical_path(), for a directory. */
void directory_path(struct broker *b, int fd, char *out, size_t cap) {
  struct statx st;
  uint32_t turn = atomic_load(&b->place_turn);
  if (!places && !is_in_own_thread()) places = calloc(MAX_PLACES, sizeof *places);
  if (!places || statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_MNT_ID_, &st) || !(st.stx_mask & STATX_MNT_ID_)) return canonical_path(fd, out, cap);
  uint64_t mount = ((const uint64_t *)&st)[STATX_MNT_ID_WORD];
  struct place *place = &places[(st.stx_ino ^ mount * 31) % MAX_PLACES];
  bool is_known = place->path[0] && place->ino == st.stx_ino && place->mount == mount && place->major == st.stx_dev_major &&
                  place->minor == st.stx_dev_minor && place->turn == turn && coarse_ms() < place->until_ms;
  if (is_known && strlen(place->path) < cap) {
    strcpy(out, place->path);
    return;
  }
  canonical_path(fd, out, cap);
  if (strlen(out) >= PLACE_PATH_CAP) return;
  *place = (struct place){mount, st.stx_ino, st.stx_dev_major, st.stx_dev_minor, turn, coarse_ms() + KEEP_MS, ""};
  strcpy(place->path, out);
}
