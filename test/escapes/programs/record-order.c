/* Two processes that take turns at the same names: what the second does works only after what the first did, so the
 * record has it after that. A third and a fourth keep the processors busy, so that the recorder is interrupted. */
#include "attack.h"

static int turn;

static char *name(const char *form) {
    static char names[2][64];
    char *out = names[turn++ & 1];
    snprintf(out, sizeof names[0], form, atoi(option));
    return out;
}

static int make(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    if (fd >= 0) close(fd);
    return fd < 0;
}

#define UNTIL_DONE(call) \
    while (call)         \
        if (errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) fail(#call)

static void lead(void) {
    if (make(name("made-%06d"))) fail("made");
    if (mkdir(name("dir-%06d"), 0755)) fail("dir");
    UNTIL_DONE(unlink(name("dir-%06d/file")));
    if (make(name("from-%06d")) || rename(name("from-%06d"), name("to-%06d"))) fail("rename");
    if (mkdir(name("old-%06d"), 0755) || rename(name("old-%06d"), name("new-%06d"))) fail("move");
}

static void follow(void) {
    UNTIL_DONE(unlink(name("made-%06d")));
    UNTIL_DONE(make(name("dir-%06d/file")));
    UNTIL_DONE(rmdir(name("dir-%06d")));
    UNTIL_DONE(unlink(name("to-%06d")));
    UNTIL_DONE(make(name("new-%06d/file")));
}

static pid_t start(void (*body)(void), int rounds) {
    static char number[16];
    pid_t pid = fork();
    if (pid) return pid;
    option = number;
    for (int i = 0; i < rounds; i++) snprintf(number, sizeof number, "%d", i), body();
    _exit(0);
}

static void burn(void) {
    for (;;) seconds();
}

static void take_turns(void) {
    int rounds = atoi(option), status, failures = 0;
    pid_t burners[2] = {start(burn, 1), start(burn, 1)}, pair[2] = {start(lead, rounds), start(follow, rounds)};
    for (int i = 0; i < 2; i++) waitpid(pair[i], &status, 0), failures += status != 0;
    for (int i = 0; i < 2; i++) kill(burners[i], SIGKILL), waitpid(burners[i], NULL, 0);
    if (failures) exit(1);
}

/* One gives a mode to a file, by its name or by a descriptor in turn, while the other renames it. */
static void move_beside(void) {
    int rounds = atoi(option);
    volatile int *arrived = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char own[32], kept[32];
    pid_t pid = fork();
    for (int i = 0; i < rounds; i++) {
        snprintf(own, sizeof own, "own-%06d", i);
        snprintf(kept, sizeof kept, "kept-%06d", i);
        int fd = pid ? open(own, O_RDONLY | O_CREAT, 0600) : -1;
        __sync_fetch_and_add(arrived, 1);
        while (*arrived < 2 * i + 2) sched_yield();
        for (volatile int late = pid ? 0 : i % 200 * 50; late > 0; late--) {
        }
        if (!pid) rename(own, kept);
        else if (i % 2) fchmod(fd, 0700);
        else chmod(own, 0700);
        if (fd >= 0) close(fd);
    }
    if (!pid) _exit(0);
    waitpid(pid, NULL, 0);
}

const struct attack RECORD_ORDER[] = {
    {"record-order-modes", move_beside},
    {"record-order", take_turns},
    {NULL, NULL},
};
