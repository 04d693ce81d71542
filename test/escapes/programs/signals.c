/* Ending the victim, which is of the same user, by every call that can carry a signal. */
#include "attack.h"

static pid_t victim(void) { return (pid_t)conf_number("pid"); }

static void by_kill(void) {
    if (kill(victim(), SIGKILL)) fail("kill");
}

static void by_tgkill(void) {
    if (syscall(SYS_tgkill, victim(), victim(), SIGKILL)) fail("tgkill");
}

static void by_tkill(void) {
    if (syscall(SYS_tkill, victim(), SIGKILL)) fail("tkill");
}

static void by_queue(void) {
    siginfo_t info = {.si_signo = SIGKILL, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    if (syscall(SYS_rt_sigqueueinfo, victim(), SIGKILL, &info)) fail("rt_sigqueueinfo");
}

static void by_pidfd(void) {
    int fd = (int)syscall(434, victim(), 0);
    if (fd < 0) fail("pidfd_open");
    if (syscall(424, fd, SIGKILL, NULL, 0)) fail("pidfd_send_signal");
}

/* A descriptor of /proc/PID is a pidfd too. */
static void by_proc_directory(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d", victim());
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) fail(path);
    if (syscall(424, fd, SIGKILL, NULL, 0)) fail("pidfd_send_signal");
}

/* The process group of the victim. */
static void by_group(void) {
    if (kill(-victim(), SIGKILL)) fail("kill");
}

/* The kernel sends it for us, when a pipe becomes readable. */
static void by_sigio(void) {
    int ends[2];
    if (pipe(ends)) fail("pipe");
    if (fcntl(ends[0], F_SETOWN, victim()) || fcntl(ends[0], F_SETSIG, SIGKILL)) fail("F_SETOWN");
    if (fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK)) fail("O_ASYNC");
    put(ends[1], "x");
    usleep(100000);
}

const struct attack SIGNALS[] = {
    {"signal-kill", by_kill},
    {"signal-tgkill", by_tgkill},
    {"signal-tkill", by_tkill},
    {"signal-queue", by_queue},
    {"signal-pidfd", by_pidfd},
    {"signal-proc-directory", by_proc_directory},
    {"signal-group", by_group},
    {"signal-sigio", by_sigio},
    {NULL, NULL},
};
