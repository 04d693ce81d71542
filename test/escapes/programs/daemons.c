/* Outliving the run. Each leaves something behind that adds to base/work/heartbeat for at most 6 s. */
#include "attack.h"

static void detach(void) {
    for (int fd = 0; fd < 16; fd++) close(fd);
    open("/dev/null", O_RDWR), dup(0), dup(0);
}

static void beat_once(void) {
    int fd = open("heartbeat", O_WRONLY | O_APPEND | O_CREAT, 0644);
    /* The harness has taken the workspace away: enough. */
    if (fd < 0) _exit(0);
    if (write(fd, ".", 1) < 0) _exit(1);
    close(fd);
}

static void beat(void) {
    for (double end = seconds() + 6; seconds() < end; usleep(50000)) beat_once();
    _exit(0);
}

static void ignore_signals(void) {
    for (int signal_number = 1; signal_number < 65; signal_number++) signal(signal_number, SIG_IGN);
}

/* So that the parent does not leave before the child is set up. */
static void leave(void) {
    usleep(300000);
    fflush(stdout);
    _exit(0);
}

static void background(void) {
    if (fork()) leave();
    detach();
    beat();
}

static void double_fork(void) {
    if (fork()) leave();
    setsid();
    if (fork()) _exit(0);
    ignore_signals();
    detach();
    beat();
}

/* Never there when somebody looks: every generation lives 5 ms. */
static void chain(void) {
    if (fork()) leave();
    detach();
    setsid();
    double end = seconds() + 6;
    for (int i = 0; seconds() < end; i++) {
        if (fork()) _exit(0);
        if (i % 8 == 0) setsid();
        beat_once();
        usleep(5000);
    }
    _exit(0);
}

/* Stops itself, so that it cannot follow a polite request; its child goes on. */
static void stopped(void) {
    if (fork()) leave();
    detach();
    setsid();
    ignore_signals();
    if (fork() == 0) beat();
    raise(SIGSTOP);
    _exit(0);
}

/* Ends its ancestors up to the harness, which is never touched, then stays. */
static void kill_supervisor(void) {
    pid_t harness = (pid_t)conf_number("harness");
    pid_t parent = getppid();
    if (fork()) leave();
    detach();
    setsid();
    ignore_signals();
    /* Our parent, then the parent's parent, as far as /proc tells. */
    for (int i = 0; i < 4 && parent > 1 && parent != harness; i++) {
        char path[64], text[512] = "";
        pid_t next = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", parent);
        int fd = open(path, O_RDONLY);
        if (fd >= 0 && read(fd, text, sizeof text - 1) > 0) {
            char *end = strrchr(text, ')');
            if (end) next = (pid_t)strtol(end + 4, NULL, 10);
        }
        if (fd >= 0) close(fd);
        kill(parent, SIGKILL);
        parent = next;
    }
    beat();
}

/* Stops the supervisor instead of ending it, so that nobody is there to clean up; the harness ends it later. */
static void stop_supervisor(void) {
    pid_t harness = (pid_t)conf_number("harness");
    pid_t parent = getppid();
    if (parent > 1 && parent != harness && kill(parent, SIGSTOP) == 0) printf("stopped the supervisor\n");
    if (fork()) leave();
    detach();
    setsid();
    beat();
}

/* On a terminal: the job stops, and with it whoever stops along; a child in a session of its own goes on. */
static void stopped_job(void) {
    pid_t job = getpid();
    if (fork()) {
        usleep(200000);
        puts("ready"), fflush(stdout);
        for (;;) raise(SIGSTOP);
    }
    setsid();
    for (double end = seconds() + 6; seconds() < end; usleep(50000)) beat_once();
    put_file("finished", token);
    kill(job, SIGKILL);
    _exit(0);
}

/* Renames the repository for 1 s, so that it is never where somebody looks for it when the program has ended. */
static void renaming(void) {
    if (fork()) usleep(30000), _exit(0);
    detach();
    setsid();
    for (double end = seconds() + 1; seconds() < end;) rename("a", "b"), rename("b", "a");
    _exit(0);
}

const struct attack DAEMONS[] = {
    {"daemon-stopped-job", stopped_job},
    {"daemon-stopped-job-killed", stopped_job},
    {"daemon-renaming", renaming},
    {"daemon-background", background},
    {"daemon-double-fork", double_fork},
    {"daemon-chain", chain},
    {"daemon-stopped", stopped},
    {"daemon-kill-supervisor", kill_supervisor},
    {"daemon-stop-supervisor", stop_supervisor},
    {NULL, NULL},
};
