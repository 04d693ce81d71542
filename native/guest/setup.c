/* What makes one guest out of a snapshot that many are started from: its own time, chance, limits and files. */
#define _GNU_SOURCE
#include "agent.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/random.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define SEED 64
#define OWN_INODES 5 /* the tmpfs's root and the directories below it that are there from the start */

/* Guests of one snapshot would otherwise draw the same numbers. */
static int reseed(const unsigned char *seed) {
  struct {
    int entropy_count, buf_size;
    unsigned char bytes[SEED];
  } pool = {.entropy_count = SEED * 8, .buf_size = SEED};
  memcpy(pool.bytes, seed, SEED);
  int fd = open("/dev/urandom", O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = ioctl(fd, RNDADDENTROPY, &pool) || ioctl(fd, RNDRESEEDCRNG) ? errno : 0;
  close(fd);
  return error;
}

static void options(char out[128], uint64_t bytes, uint64_t inodes) {
  snprintf(out, 128, "size=%" PRIu64 ",nr_inodes=%" PRIu64 ",mode=0755", bytes, inodes + OWN_INODES);
}

static int share(const char *part, const char *path, mode_t mode, uid_t owner) {
  char source[128];
  snprintf(source, sizeof source, BOX "/%s", part);
  if (mkdir(source, 0700) || chown(source, owner, owner) || chmod(source, mode)) return errno;
  /* One file system for all, so that its size is the size of all together. */
  if (mount(source, path, NULL, MS_BIND, NULL)) return errno;
  return mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, NULL) ? errno : 0;
}

static int make_box(const struct box *box) {
  char text[128];
  options(text, box->disk_bytes, box->inodes);
  if (mount("box", BOX, "tmpfs", MS_NOSUID | MS_NODEV, text)) return errno;
  int error = share("workspace", WORKSPACE, 0755, CODE_UID);
  if (!error) error = share("tmp", "/tmp", 01777, 0);
  if (!error) error = share("shm", "/dev/shm", 01777, 0);
  if (!error) error = share("home", "/home", 0755, CODE_UID);
  return error;
}

int set_up(struct reader *payload, struct box *box) {
  struct limits limits = {0};
  uint64_t time_ns = take64(payload);
  limits.memory_bytes = take64(payload);
  limits.pids = take64(payload);
  limits.cpu_quota_us = take64(payload);
  box->disk_bytes = take64(payload);
  box->inodes = take64(payload);
  box->has_door = take32(payload) & 1;
  const unsigned char *seed = take_bytes(payload, SEED);
  if (payload->is_bad || payload->left || box->is_ready) return EINVAL;
  struct timespec time = {.tv_sec = (time_t)(time_ns / 1000000000), .tv_nsec = (long)(time_ns % 1000000000)};
  if (clock_settime(CLOCK_REALTIME, &time)) return errno;
  int error = reseed(seed);
  if (!error && group_make("box", &limits)) error = errno;
  if (!error) error = make_box(box);
  if (!error && box->has_door) door_open();
  box->is_ready = !error;
  return error;
}

/* Takes as much as is in use at least: what is there stays there. */
void resize_box(uint64_t bytes, uint64_t inodes) {
  struct statfs now;
  char text[128];
  if (statfs(BOX, &now)) die("size of the files");
  uint64_t used = (now.f_blocks - now.f_bfree) * (uint64_t)now.f_bsize, names = now.f_files - now.f_ffree;
  options(text, bytes > used ? bytes : used, inodes + OWN_INODES > names ? inodes : names - OWN_INODES);
  /* Code may have taken more since; then the larger size stays until the next time. */
  if (mount(NULL, BOX, NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, text) && errno != EINVAL) die("size of the files");
}

void box_usage(uint64_t *bytes, uint64_t *inodes, bool *is_full, bool *has_no_inodes) {
  struct statfs now;
  if (statfs(BOX, &now)) die("size of the files");
  *bytes = (now.f_blocks - now.f_bfree) * (uint64_t)now.f_bsize;
  *inodes = now.f_files - now.f_ffree - OWN_INODES;
  *is_full = now.f_bavail == 0;
  *has_no_inodes = now.f_ffree == 0;
}
