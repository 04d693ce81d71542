/* Programs that are hard to see since it is hard to tell which file comes to run. */
#include "said.h"
#include <pthread.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

struct shared {
    volatile int is_over;
    char path[PATH_MAX];
};

static struct shared *shared;

static void share(const char *path) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("mmap");
    strcpy(shared->path, path);
}

/* ---- which file is executed changes while it is ---- */

static void exec_string(void) {
    prepare_said();
    share("p/a");
    pid_t other = fork();
    while (!other && !shared->is_over) shared->path[2] ^= 'a' ^ 'b';
    if (!other) _exit(0);
    for (int i = 0, count = atoi(option); i < count; i++) run_said(shared->path);
    shared->is_over = 1;
    waitpid(other, NULL, 0);
}

/* Of two that lie in directories next to each other: one may be executed, the other not. */
static void exec_refused_string(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/work/still", base);
    share(path);
    char *name = strrchr(shared->path, '/') - 4;
    pid_t other = fork();
    for (int i = 0; !other && !shared->is_over; i++) memcpy(name, i & 1 ? "work" : "data", 4);
    if (!other) _exit(0);
    for (int i = 0, count = atoi(option); i < count; i++) {
        char made[32];
        snprintf(made, sizeof made, "made-%d", i);
        pid_t child = fork();
        if (!child) {
            mkdir("own", 0755);
            execl(shared->path, "still", "mkdir", made, NULL);
            _exit(1);
        }
        waitpid(child, NULL, 0);
    }
    shared->is_over = 1;
    waitpid(other, NULL, 0);
}

/* Of two scripts and a program, all with names of one length. */
static void exec_script_string(void) {
    prepare_said();
    share("p/a");
    pid_t other = fork();
    for (int i = 0; !other && !shared->is_over; i++) shared->path[2] = "astu"[i & 3];
    if (!other) _exit(0);
    for (int i = 0, count = atoi(option); i < count; i++) run_said(shared->path);
    shared->is_over = 1;
    waitpid(other, NULL, 0);
}

static void exec_link(void) {
    prepare_said();
    share("p/link");
    symlink("a", "p/link");
    pid_t other = fork();
    for (int i = 0; !other && !shared->is_over; i++)
        if (!symlink(i & 1 ? "a" : "t", "p/new")) rename("p/new", "p/link");
    if (!other) _exit(0);
    for (int i = 0, count = atoi(option); i < count; i++) run_said("p/link");
    shared->is_over = 1;
    waitpid(other, NULL, 0);
}

/* Another file takes the place of the program while it starts. */
static void exec_replaced(void) {
    prepare_said();
    for (int i = 0, count = atoi(option); i < count; i++) {
        unlink("p/now");
        link(i & 1 ? "p/b" : "p/a", "p/now");
        link(i & 1 ? "p/a" : "p/b", "p/next");
        pid_t child = start_said("p/now");
        rename("p/next", "p/now");
        waitpid(child, NULL, 0);
    }
}

/* Two threads of one process execute a script each, and one of them gets its way. */
static pthread_barrier_t both;

static void *exec_with_other(void *path) {
    pthread_barrier_wait(&both);
    execve(path, said_words, environ);
    return NULL;
}

static void exec_threads(void) {
    prepare_said();
    for (int i = 0, count = atoi(option); i < count; i++) {
        pid_t child = fork();
        if (!child) {
            pthread_t thread;
            pthread_barrier_init(&both, NULL, 2);
            pthread_create(&thread, NULL, exec_with_other, "p/s");
            pthread_create(&thread, NULL, exec_with_other, "p/t");
            for (;;) pause();
        }
        waitpid(child, NULL, 0);
    }
}

/* ---- unusual ways to execute ---- */

static void *exec_now(void *path) {
    execve(path, said_words, environ);
    _exit(1);
}

static void copy_into(int to, const char *path) {
    char bytes[65536];
    int from = open(path, O_RDONLY);
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;) write(to, bytes, (size_t)n);
    close(from);
}

static void exec_ways(void) {
    prepare_said();
    pid_t child = fork(); /* by descriptor */
    if (!child) {
        int fd = open("p/a", O_PATH);
        syscall(SYS_execveat, fd, "", said_words, environ, AT_EMPTY_PATH);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = fork(); /* relative to a directory */
    if (!child) {
        int fd = open("p", O_PATH | O_DIRECTORY);
        syscall(SYS_execveat, fd, "b", said_words, environ, 0);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = fork(); /* from memory */
    if (!child) {
        int fd = memfd_create("/../usr/bin/in-memory", MFD_CLOEXEC);
        copy_into(fd, "p/a");
        fexecve(fd, said_words, environ);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = fork(); /* a script from memory */
    if (!child) {
        int fd = memfd_create("script", 0);
        copy_into(fd, "p/s");
        fexecve(fd, said_words, environ);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = fork(); /* from a file without a name, which may be executed once nobody can write to it any more */
    if (!child) {
        int writable = open("p", O_TMPFILE | O_RDWR, 0755);
        char link[32];
        copy_into(writable, "p/a");
        snprintf(link, sizeof link, "/proc/self/fd/%d", writable);
        int fd = open(link, O_RDONLY | O_CLOEXEC);
        close(writable);
        fexecve(fd, said_words, environ);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = vfork();
    if (!child) {
        execve("p/c", said_words, environ);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = fork(); /* by a thread that is not the first, while the first waits */
    if (!child) {
        pthread_t thread;
        pthread_create(&thread, NULL, exec_now, "p/d");
        pause();
    }
    waitpid(child, NULL, 0);
    run_said("p/s");
    run_said("p/chain");
    run_said("p/relative");
    run_said("p/bare");
}

/* Executes itself `option` times, then p/a; which then executes p/b. */
static void exec_deep(void) {
    static char left[16], *again[] = {"attack", "record-exec-deep", NULL, NULL, left, NULL};
    int count = atoi(option);
    prepare_said();
    again[2] = said_words[2];
    again[3] = said_words[3];
    snprintf(left, sizeof left, "%d", count - 1);
    if (count > 0) execve("attack", again, environ);
    if (count == 0) execve("p/a", again, environ);
    execve("p/b", said_words, environ);
}

/* ---- what does not come to run ---- */

static void exec_failures(void) {
    prepare_said();
    run_said("p/text");        /* ENOEXEC */
    run_said("p/unexecutable"); /* EACCES */
    run_said("p/orphan");      /* its interpreter does not exist */
    run_said("p");             /* a directory */
    run_said("p/absent");
    pid_t child = vfork();
    if (!child) {
        execve("p/text", said_words, environ);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

/* After a failed exec, the call that every new program makes: as if it had worked. */
static void exec_pretended(void) {
    prepare_said();
    execve("p/text", said_words, environ);
#ifdef __x86_64__
    unsigned long pointer;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &pointer);
    syscall(SYS_arch_prctl, ARCH_SET_FS, pointer);
#else
    int tid;
    syscall(SYS_set_tid_address, &tid);
#endif
    mkdir("after", 0755);
}

/* An exec that has failed, and no call after it. */
static void exec_failed_and_killed(void) {
    prepare_said();
    pid_t child = fork();
    if (!child) {
        execve("p/text", said_words, environ);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
}

/* Killed at any moment: in a call, in an exec, in the first call after it. */
static void kill_in_calls(void) {
    prepare_said();
    for (int i = 0, count = atoi(option); i < count; i++) {
        pid_t child = fork();
        if (!child) {
            if (i % 2) execve("p/s", said_words, environ);
            for (;;) mkdir("made", 0700);
        }
        for (volatile int wait = i * 7919 % 100000; wait > 0; wait--) continue;
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

/* An image that may be executed and not read. */
static void exec_unreadable(void) {
    prepare_said();
    chmod("p/unreadable", 0111);
    run_said("p/unreadable");
    run_said("p/unreadable");
}

const struct attack RECORD_EXECS[] = {
    {"record-exec-string", exec_string},
    {"record-exec-refused", exec_refused_string},
    {"record-exec-script", exec_script_string},
    {"record-exec-link", exec_link},
    {"record-exec-replaced", exec_replaced},
    {"record-exec-threads", exec_threads},
    {"record-exec-ways", exec_ways},
    {"record-exec-deep", exec_deep},
    {"record-exec-failures", exec_failures},
    {"record-exec-pretended", exec_pretended},
    {"record-exec-unreadable", exec_unreadable},
    {"record-exec-killed", exec_failed_and_killed},
    {"record-killed-in-calls", kill_in_calls},
    {NULL, NULL},
};
