/* Programs that are hard to see: each image that comes to run says so itself, which is what the record is held against. */
#include "attack.h"
#include <pthread.h>
#ifdef __x86_64__
#include <asm/prctl.h>
#endif

struct shared {
    volatile int is_over;
    char path[64];
};

static struct shared *shared;

static void share(const char *path) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("mmap");
    strcpy(shared->path, path);
}

/* What runs now, and the last letters of its file. */
static void say(void) {
    char line[PATH_MAX + 64], image[PATH_MAX], tag[9] = "";
    ssize_t len = readlink("/proc/self/exe", image, sizeof image - 1);
    image[len > 0 ? len : 0] = 0;
    int fd = open("/proc/self/exe", O_RDONLY);
    lseek(fd, -8, SEEK_END);
    if (read(fd, tag, 8) != 8) tag[0] = 0;
    len = snprintf(line, sizeof line, "ran %s %s\n", image, tag);
    write(1, line, (size_t)len);
}

static char *words[] = {"said", "record-say", NULL, NULL, NULL};

static pid_t start(const char *path) {
    pid_t child = fork();
    if (child) return child;
    execve(path, words, environ);
    _exit(1);
}

static void run(const char *path) { waitpid(start(path), NULL, 0); }

static void prepare(void) {
    words[2] = (char *)base;
    words[3] = (char *)token;
}

/* ---- which file is executed changes while it is ---- */

static void exec_string(void) {
    prepare();
    share("p/a");
    pid_t other = fork();
    while (!other && !shared->is_over) shared->path[2] ^= 'a' ^ 'b';
    if (!other) _exit(0);
    for (int i = 0, count = atoi(option); i < count; i++) run(shared->path);
    shared->is_over = 1;
    waitpid(other, NULL, 0);
}

/* Of two scripts and a program, all with names of one length. */
static void exec_script_string(void) {
    prepare();
    share("p/a");
    pid_t other = fork();
    for (int i = 0; !other && !shared->is_over; i++) shared->path[2] = "astu"[i & 3];
    if (!other) _exit(0);
    for (int i = 0, count = atoi(option); i < count; i++) run(shared->path);
    shared->is_over = 1;
    waitpid(other, NULL, 0);
}

static void exec_link(void) {
    prepare();
    share("p/link");
    symlink("a", "p/link");
    pid_t other = fork();
    for (int i = 0; !other && !shared->is_over; i++)
        if (!symlink(i & 1 ? "a" : "t", "p/new")) rename("p/new", "p/link");
    if (!other) _exit(0);
    for (int i = 0, count = atoi(option); i < count; i++) run("p/link");
    shared->is_over = 1;
    waitpid(other, NULL, 0);
}

/* Another file takes the place of the program while it starts. */
static void exec_replaced(void) {
    prepare();
    for (int i = 0, count = atoi(option); i < count; i++) {
        unlink("p/now");
        link(i & 1 ? "p/b" : "p/a", "p/now");
        link(i & 1 ? "p/a" : "p/b", "p/next");
        pid_t child = start("p/now");
        rename("p/next", "p/now");
        waitpid(child, NULL, 0);
    }
}

/* ---- unusual ways to execute ---- */

static void *exec_now(void *path) {
    execve(path, words, environ);
    _exit(1);
}

static void copy_into(int to, const char *path) {
    char bytes[65536];
    int from = open(path, O_RDONLY);
    for (ssize_t n; (n = read(from, bytes, sizeof bytes)) > 0;) write(to, bytes, (size_t)n);
    close(from);
}

static void exec_ways(void) {
    prepare();
    pid_t child = fork(); /* by descriptor */
    if (!child) {
        int fd = open("p/a", O_PATH);
        syscall(SYS_execveat, fd, "", words, environ, AT_EMPTY_PATH);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = fork(); /* relative to a directory */
    if (!child) {
        int fd = open("p", O_PATH | O_DIRECTORY);
        syscall(SYS_execveat, fd, "b", words, environ, 0);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = fork(); /* from memory */
    if (!child) {
        int fd = memfd_create("in-memory", MFD_CLOEXEC);
        copy_into(fd, "p/a");
        fexecve(fd, words, environ);
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
        fexecve(fd, words, environ);
        _exit(1);
    }
    waitpid(child, NULL, 0);
    child = vfork();
    if (!child) {
        execve("p/c", words, environ);
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
    run("p/s");
    run("p/chain");
    run("p/relative");
    run("p/bare");
}

/* ---- what does not come to run ---- */

static void exec_failures(void) {
    prepare();
    run("p/text");        /* ENOEXEC */
    run("p/unexecutable"); /* EACCES */
    run("p/orphan");      /* its interpreter does not exist */
    run("p");             /* a directory */
    run("p/absent");
    pid_t child = vfork();
    if (!child) {
        execve("p/text", words, environ);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

/* After a failed exec, the call that every new program makes: as if it had worked. */
static void exec_pretended(void) {
    prepare();
    execve("p/text", words, environ);
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

static void still_exit(void) { waitpid(start_still("exit", ""), NULL, 0); }
static void still_crash(void) { waitpid(start_still("crash", ""), NULL, 0); }

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

/* An image that may be executed and not read. */
static void exec_unreadable(void) {
    prepare();
    chmod("p/unreadable", 0111);
    run("p/unreadable");
    run("p/unreadable");
}

/* A crowd of generations: the one that acts has lost all that came before it. */
static void outlive(void) {
    prepare();
    int ends[2];
    char byte;
    if (pipe(ends)) fail("pipe");
    if (!fork()) {
        setsid();
        if (fork()) _exit(0);
        usleep(50000);
        mkdir("orphan", 0755);
        run("p/a");
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

const struct attack RECORD_PROGRAMS[] = {
    {"record-say", say},
    {"record-exec-string", exec_string},
    {"record-exec-script", exec_script_string},
    {"record-exec-link", exec_link},
    {"record-exec-replaced", exec_replaced},
    {"record-exec-ways", exec_ways},
    {"record-exec-failures", exec_failures},
    {"record-exec-pretended", exec_pretended},
    {"record-exec-unreadable", exec_unreadable},
    {"record-still-mkdir", still_programs},
    {"record-still-exit", still_exit},
    {"record-still-crash", still_crash},
    {"record-still-killed", still_killed},
    {"record-still-crowd", still_crowd},
    {"record-numbers", reuse_numbers},
    {"record-outlive", outlive},
    {"record-thread", act_in_thread},
    {NULL, NULL},
};
