/* What every attack program shares. An attack is a function; its result is judged from outside, or by a secret
 * that only the victim's files, memory or sockets hold. Nothing here helps an attack: it only saves typing. */
#ifndef ATTACK_H
#define ATTACK_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct attack {
    const char *id;
    void (*run)(void);
};

extern const struct attack READS[], DENIES[], WRITES[], ATTRIBUTES[], RACES[], CONFIGS[], PROCESSES[], SIGNALS[],
    SOCKETS[], PACKETS[], SYSCALLS[], IPCS[], PRIVILEGES[], LIMITS[], DAEMONS[], TOOLS[], RECORD_RACES[],
    RECORD_ORDER[], SAID[], RECORD_EXECS[], RECORD_STILL[], RECORD_FLOODS[], RECORD_KEEPER[], RECORD_SOCKETS[];

extern const char *base;  /* the fixture: home, outside, work and sock are below it */
extern const char *token; /* what a write attack plants */
extern const char *option; /* a last argument, such as how often; may be empty */

char *at(const char *relative);    /* base/relative, never freed */
char *conf(const char *key);       /* a fact about the victim, from ./victim.conf; exits when absent */
long conf_number(const char *key);
void fail(const char *what);       /* says why and exits 1 */
void print_descriptor(int fd);     /* copies what can be read to stdout */
void print_file(const char *path); /* opens for reading and prints, or fails */
void put(int fd, const char *text); /* writes all of it, or fails */
void put_file(const char *path, const char *text);
void wait_for(const char *path);   /* prints "ready" and waits at most 8 s for the file to appear */
void become_root_in_userns(int more_flags); /* as root: only the flags; else a user namespace with uid 0 */
double seconds(void);

#endif
