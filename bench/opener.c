/* Calls to be recorded: `opener read COUNT FILE` opens one file over and over, `opener make COUNT` makes so many. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  char name[32];
  if (argc < 3) return 2;
  int is_read = !strcmp(argv[1], "read"), count = atoi(argv[2]);
  for (int i = 0; i < count; i++) {
    snprintf(name, sizeof name, "made%d", i);
    int fd = is_read ? open(argv[3], O_RDONLY) : open(name, O_CREAT | O_WRONLY, 0600);
    if (fd < 0) return 1;
    close(fd);
  }
  return 0;
}
