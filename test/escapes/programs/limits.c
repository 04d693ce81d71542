/* Using more than the limits of the row allow. Every one is bounded, since it must also run without a sandbox. */
#include "attack.h"
#include <pthread.h>

#define MIB (1024UL * 1024)

/* 200 processes at once, against a limit of 64. */
static void fork_bomb(void) {
    pid_t children[200];
    int count = 0;
    for (int i = 0; i < 200; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            sleep(3);
            _exit(0);
        }
        if (pid > 0) children[count++] = pid;
    }
    printf("forked %d\n", count);
    fflush(stdout);
    for (int i = 0; i < count; i++) kill(children[i], SIGKILL);
    while (waitpid(-1, NULL, 0) > 0) {}
}

static void *idle(void *unused) {
    sleep(2);
    return unused;
}

/* Threads are tasks as well. */
static void thread_bomb(void) {
    pthread_attr_t attr;
    pthread_t thread;
    int count = 0;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 65536);
    for (int i = 0; i < 200; i++) count += pthread_create(&thread, &attr, idle, NULL) == 0;
    printf("forked %d\n", count);
    fflush(stdout);
}

static void hold(size_t bytes) {
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("mmap");
    for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
    usleep(1200000);
}

/* 300 MiB against a limit of 128 MiB. */
static void memory_hog(void) {
    hold(300 * MIB);
    printf("held memory\n");
}

/* The same, spread over four processes. */
static void memory_tree(void) {
    for (int i = 0; i < 4; i++)
        if (fork() == 0) hold(80 * MIB), _exit(0);
    int status, whole = 0;
    while (wait(&status) > 0) whole += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (whole == 4) printf("held memory\n");
}

/* Memory that is mapped nowhere and so is in nobody's resident set. */
static void memory_memfd(void) {
    static char block[MIB];
    int fd = memfd_create("hog", 0);
    if (fd < 0) fail("memfd_create");
    memset(block, 1, sizeof block);
    for (int i = 0; i < 300; i++)
        if (write(fd, block, sizeof block) != (ssize_t)sizeof block) fail("write");
    usleep(1200000);
    printf("held memory\n");
}

/* Writes `mib` MiB, 1 MiB at a time and slowly enough for a limit that polls. */
static void fill(int fd, int mib) {
    static char block[MIB];
    memset(block, 1, sizeof block);
    for (int i = 0; i < mib; i++) {
        if (write(fd, block, sizeof block) != (ssize_t)sizeof block) fail("write");
        usleep(25000);
    }
    printf("filled\n");
}

/* 48 MiB against a limit of 16 MiB. */
static void disk_workspace(void) { fill(open("fill", O_WRONLY | O_CREAT, 0644), 48); }

static void disk_many(void) {
    for (int i = 0; i < 48; i++) {
        char name[32];
        snprintf(name, sizeof name, "fill%d", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0644);
        if (fd < 0) fail("open");
        static char block[MIB];
        if (write(fd, block, sizeof block) != (ssize_t)sizeof block) fail("write");
        close(fd);
        usleep(25000);
    }
    printf("filled\n");
}

static void disk_tmp(void) {
    char path[PATH_MAX];
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/assay-fill-%s", tmp ? tmp : "/tmp", token);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd < 0) fail(path);
    unlink(path);
    fill(fd, 48);
}

/* A file without a name: no walk of a directory finds it. */
static void disk_unlinked(void) {
    int fd = open("fill", O_WRONLY | O_CREAT, 0644);
    if (fd < 0) fail("open");
    unlink("fill");
    fill(fd, 48);
}

static void disk_fallocate(void) {
    int fd = open("fill", O_WRONLY | O_CREAT, 0644);
    if (fd < 0) fail("open");
    if (fallocate(fd, 0, 0, (off_t)(48 * MIB))) fail("fallocate");
    usleep(1200000);
    printf("filled\n");
}

/* 600 new names against a limit of 200. */
static void inodes(void) {
    int count = 0;
    for (int i = 0; i < 600; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%d", i);
        count += i % 2 ? mkdir(name, 0755) == 0 : mknod(name, S_IFREG | 0644, 0) == 0;
        if (i % 10 == 0) usleep(20000);
    }
    printf("created %d\n", count);
}

static void burn(double cpu_seconds) {
    while ((double)clock() / CLOCKS_PER_SEC < cpu_seconds) {}
}

/* 2.4 s of processor time against a limit of 1 s. */
static void cpu_burner(void) {
    burn(2.4);
    printf("burned\n");
}

/* The same in four processes, one after the other, none of which uses a second. */
static void cpu_tree(void) {
    int whole = 0, status;
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) burn(0.6), _exit(0);
        wait(&status);
        whole += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    if (whole == 4) printf("burned\n");
}

/* Fills the pipe to whoever reads our output, deaf to SIGTERM, for 8 s: the time limit is 1 s. */
static void output_flood(void) {
    static char block[65536];
    signal(SIGTERM, SIG_IGN);
    alarm(8);
    memset(block, 'x', sizeof block);
    for (double end = seconds() + 8; seconds() < end;)
        if (write(1, block, sizeof block) < 0) break;
}

/* Ignores every signal that can be ignored: the time limit is 1 s. */
static void deaf(void) {
    for (int signal_number = 1; signal_number < 65; signal_number++) signal(signal_number, SIG_IGN);
    for (double end = seconds() + 8; seconds() < end;) usleep(100000);
    printf("slept\n");
}

const struct attack LIMITS[] = {
    {"limit-forks", fork_bomb},
    {"limit-threads", thread_bomb},
    {"limit-memory", memory_hog},
    {"limit-memory-tree", memory_tree},
    {"limit-memory-memfd", memory_memfd},
    {"limit-disk", disk_workspace},
    {"limit-disk-many", disk_many},
    {"limit-disk-tmp", disk_tmp},
    {"limit-disk-unlinked", disk_unlinked},
    {"limit-disk-fallocate", disk_fallocate},
    {"limit-inodes", inodes},
    {"limit-cpu", cpu_burner},
    {"limit-cpu-tree", cpu_tree},
    {"limit-output", output_flood},
    {"limit-deaf", deaf},
    {NULL, NULL},
};
