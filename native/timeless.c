/* File systems that are memory. What is written there by way of a mapping need not show in the times of the file. */
#define _GNU_SOURCE
#include "broker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#define MAX_DEVICES 256

static dev_t devices[MAX_DEVICES];
static size_t device_count;

/* Once: nothing is mounted in the run. */
void timeless_start(void) {
  FILE *file = fopen("/proc/self/mountinfo", "re");
  char *line = NULL;
  size_t room = 0;
  while (file && getline(&line, &room, file) >= 0) {
    unsigned major = 0, minor = 0;
    const char *kind = strstr(line, " - ");
    bool is_memory = kind && (!strncmp(kind + 3, "tmpfs ", 6) || !strncmp(kind + 3, "ramfs ", 6));
    if (is_memory && device_count < MAX_DEVICES && sscanf(line, "%*d %*d %u:%u", &major, &minor) == 2) devices[device_count++] = makedev(major, minor);
  }
  free(line);
  if (file) fclose(file);
}

bool is_timeless(dev_t device) {
  for (size_t i = 0; i < device_count; i++)
    if (devices[i] == device) return true;
  return device_count == MAX_DEVICES;
}
