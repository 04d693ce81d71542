/* Times TCP to a port of this machine, in a process of its own, so that it can be run inside a sandbox and outside.
   `dialer connect PORT COUNT` prints the nanoseconds of each connect(), `dialer bulk PORT MIB COUNT` those of fetching
   that much from the server of the benchmark. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int dial(int port, long long *took) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int sock = socket(AF_INET, SOCK_STREAM, 0);
  long long from = now_ns();
  if (connect(sock, (struct sockaddr *)&to, sizeof to)) exit(1);
  *took = now_ns() - from;
  return sock;
}

/* Goes away with a reset, so that no port is kept waiting. */
static void hang_up(int sock) {
  struct linger none = {1, 0};
  setsockopt(sock, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  close(sock);
}

static long long fetch(int port, int mib) {
  static char chunk[1 << 18];
  unsigned char want[2] = {2, (unsigned char)mib};
  long long took, left = (long long)mib << 20;
  int sock = dial(port, &took);
  long long from = now_ns();
  if (write(sock, want, sizeof want) != sizeof want) exit(1);
  for (ssize_t got; left > 0 && (got = read(sock, chunk, sizeof chunk)) > 0;) left -= got;
  if (left) exit(1);
  took = now_ns() - from;
  hang_up(sock);
  return took;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  int port = atoi(argv[2]), is_bulk = !strcmp(argv[1], "bulk"), count = atoi(argv[argc - 1]);
  for (int i = 0; i < count; i++) {
    long long took;
    if (is_bulk) took = fetch(port, atoi(argv[3]));
    else hang_up(dial(port, &took));
    printf("%lld\n", took);
  }
  return 0;
}
