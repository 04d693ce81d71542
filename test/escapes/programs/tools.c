/* The harness's own hands, never run inside the sandbox: a terminal for an attack, and looks at what Node cannot see. */
#include "attack.h"
#include <linux/fs.h>
#include <poll.h>
#include <sys/xattr.h>
#include <termios.h>

void victim(void);

/* Runs the words after "--" in base/pty.args (one a line) on a terminal of their own, then reads what is waiting
 * in the terminal's input, as the shell that started them would. */
static void pty_host(void) {
    char *words[64], line[4096];
    int count = 0;
    FILE *file = fopen(at("pty.args"), "re");
    if (!file) fail("pty.args");
    while (count < 63 && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        words[count++] = strdup(line);
    }
    words[count] = NULL;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) || unlockpt(master)) fail("pty");
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave < 0) fail("slave");
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        dup2(slave, 0), dup2(slave, 1), dup2(slave, 2);
        execvp(words[0], words);
        _exit(127);
    }
    int status = 0, is_over = 0;
    double stopped_at = 0;
    for (double end = seconds() + 15; !is_over && seconds() < end;) {
        struct pollfd wanted = {master, POLLIN, 0};
        is_over = waitpid(pid, &status, WNOHANG | WUNTRACED) == pid;
        if (is_over && WIFSTOPPED(status)) is_over = 0, stopped_at = seconds();
        /* As somebody types fg after a while, when everything else should be over. */
        if (stopped_at && seconds() > stopped_at + 7) stopped_at = 0, kill(pid, SIGCONT);
        while (poll(&wanted, 1, is_over ? 0 : 50) > 0 && wanted.revents & POLLIN) {
            ssize_t n = read(master, line, sizeof line);
            if (n <= 0) break;
            fwrite(line, 1, (size_t)n, stdout);
            fflush(stdout);
        }
    }
    if (!is_over) kill(pid, SIGKILL);
    fcntl(slave, F_SETFL, O_NONBLOCK);
    ssize_t n = read(slave, line, sizeof line - 1);
    printf("\nwaiting in the terminal: %.*s\n", n > 0 ? (int)n : 0, line);
    fflush(stdout);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void show_xattr(void) {
    char value[256] = "";
    if (getxattr(at("outside/target.txt"), "user.assay", value, sizeof value - 1) > 0) printf("xattr %s\n", value);
}

static void show_flags(void) {
    int flags = 0, fd = open(at("outside/target.txt"), O_RDONLY);
    if (!ioctl(fd, FS_IOC_GETFLAGS, &flags)) printf("flags %s\n", flags & FS_NODUMP_FL ? "nodump" : "none");
}

/* Finds the key an attack has planted and takes it away. */
static void show_key(void) {
    long key = syscall(SYS_keyctl, 10, -4, "user", token, 0);
    if (key < 0) return;
    printf("key found\n");
    syscall(SYS_keyctl, 9 /* UNLINK */, key, -4);
}

const struct attack TOOLS[] = {
    {"pty-host", pty_host},   {"show-xattr", show_xattr}, {"show-flags", show_flags},
    {"show-key", show_key},   {"victim", victim},         {NULL, NULL},
};
