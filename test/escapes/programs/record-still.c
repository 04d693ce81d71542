/* Programs that are hard to see since they hardly act, are gone or are threads. */
#include "said.h"
#include <pthread.h>

/* ---- programs that make few calls or none; ./still is one without a C library ---- */

static pid_t start_still(const char *what, const char *name) {
    pid_t child = fork();
    if (child) return child;
    execl("./still", "still", what, name, NULL);
    _exit(1);
}

static void still_programs(void) {
    waitpid(start_still("mkdir", "made"), NULL, 0);
}

static void still_fork(void) { waitpid(start_still("fork", "made"), NULL, 0); }
static void still_thread(void) { waitpid(start_still("thread", "made"), NULL, 0); }

/* Its fork has lost it by the time that it acts. */
static void still_orphan(void) {
    int ends[2];
    char byte;
    if (pipe(ends)) fail("pipe");
    waitpid(start_still("orphan", "made"), NULL, 0);
    close(ends[1]);
    read(ends[0], &byte, 1);
}

static void still_exit(void) { waitpid(start_still("exit", ""), NULL, 0); }
static void still_crash(void) { waitpid(start_still("crash", ""), NULL, 0); }

/* Nobody sees them: the interpreter of a script, and a program that another file then replaces. */
static void still_unseen(void) {
    said_words[1] = "crash";
    run_said("p/crash");
    run_said("p/crasher");
    rename("p/b", "p/crasher");
}

static void still_killed(void) {
    pid_t child = start_still("spin", "");
    usleep(100000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Many at once that have started and not made a call that anybody looks at. */
static void still_crowd(void) {
    int ends[2], count = atoi(option);
    char name[32];
    if (pipe(ends)) fail("pipe");
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "crowd-%d", i);
        pid_t child = fork();
        if (child > 0) continue;
        if (child < 0) fail("fork");
        dup2(ends[0], 0);
        close(ends[1]);
        execl("./still", "still", "wait", name, NULL);
        _exit(1);
    }
    usleep(200000);
    close(ends[1]);
    while (wait(NULL) > 0) {
    }
}

/* Programs that die as they start leave numbers behind which others get. */
static void reuse_numbers(void) {
    int count = atoi(option);
    pid_t lowest = INT_MAX, highest = 0;
    for (int i = 0; i < count; i++) {
        pid_t child = start_still("crash", "");
        waitpid(child, NULL, 0);
    }
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "reused-%d", i);
        pid_t child = fork();
        if (!child) {
            mkdir(name, 0755);
            _exit(0);
        }
        if (child < lowest) lowest = child;
        if (child > highest) highest = child;
        waitpid(child, NULL, 0);
    }
    printf("numbers %d %d\n", lowest, highest);
}

/* A thread becomes the first of its process as it executes, and another process gets its number. */
static int told[2];

static void *exec_still(void *unused) {
    pid_t self = gettid();
    (void)unused;
    write(told[1], &self, sizeof self);
    execl("./still", "still", "wait", "by-still", NULL);
    _exit(1);
}

static void reuse_number_of_thread(void) {
    int wake[2];
    char byte;
    pid_t number;
    if (pipe2(told, O_CLOEXEC) || pipe(wake)) fail("pipe");
    pid_t still = fork();
    if (!still) {
        pthread_t thread;
        dup2(wake[0], 0);
        close(wake[1]);
        pthread_create(&thread, NULL, exec_still, NULL);
        for (;;) pause();
    }
    close(told[1]);
    if (read(told[0], &number, sizeof number) != sizeof number || read(told[0], &byte, 1)) fail("exec");
    for (pid_t last = 0; last != number;) {
        last = fork();
        if (last < 0) fail("fork");
        if (!last) {
            if (getpid() == number) mkdir("by-other", 0755);
            _exit(0);
        }
        waitpid(last, NULL, 0);
    }
    close(wake[1]);
    waitpid(still, NULL, 0);
}

/* A crowd of generations: the one that acts has lost all that came before it. */
static void outlive(void) {
    prepare_said();
    int ends[2];
    char byte;
    if (pipe(ends)) fail("pipe");
    if (!fork()) {
        setsid();
        if (fork()) _exit(0);
        usleep(50000);
        mkdir("orphan", 0755);
        run_said("p/a");
        _exit(0);
    }
    wait(NULL);
    close(ends[1]);
    read(ends[0], &byte, 1);
}

static void *make_in_thread(void *name) {
    mkdir(name, 0755);
    return NULL;
}

static void act_in_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, make_in_thread, "by-thread");
    pthread_join(thread, NULL);
}

const struct attack RECORD_STILL[] = {
    {"record-still-mkdir", still_programs},
    {"record-still-fork", still_fork},
    {"record-still-thread", still_thread},
    {"record-still-orphan", still_orphan},
    {"record-still-unseen", still_unseen},
    {"record-still-exit", still_exit},
    {"record-still-crash", still_crash},
    {"record-still-killed", still_killed},
    {"record-still-crowd", still_crowd},
    {"record-numbers", reuse_numbers},
    {"record-number-of-thread", reuse_number_of_thread},
    {"record-outlive", outlive},
    {"record-thread", act_in_thread},
    {NULL, NULL},
};
