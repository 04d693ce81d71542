/* The victim: an ordinary process outside, of the same user, with the secret wherever a process can have one. It
 * says what an attacker could find out anyway (key=value lines), then serves until its standard input closes. */
#include "attack.h"
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>

enum { STREAM, STREAM_WORK, DOCKER, RIGHTS, ABSTRACT, ABSTRACT_PACKETS, TCP, TCP6, OWN, STREAMS, DGRAM = STREAMS, ABSTRACT_DGRAM, UDP, UDPLITE, TTY, PIPE, SOCKETS_END };

static char secret[128];
static volatile char canary[16] = "untouched";

static int listen_unix(int type, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (path[0] == '@') {
        memcpy(address.sun_path + 1, path + 1, strlen(path) - 1);
        length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    } else {
        snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    }
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, length)) fail(path);
    if (type != SOCK_DGRAM && listen(fd, 64)) fail("listen");
    return fd;
}

/* On a port of the kernel's choice; -1 where the kernel has no such protocol. */
static int listen_inet(int family, int type, int protocol, const char *name) {
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 got;
    socklen_t length = sizeof got;
    int fd = socket(family, type | SOCK_CLOEXEC, protocol);
    if (fd < 0) return -1;
    int failed = family == AF_INET ? bind(fd, (struct sockaddr *)&four, sizeof four) : bind(fd, (struct sockaddr *)&six, sizeof six);
    if (failed) return -1;
    if (type == SOCK_STREAM) listen(fd, 64);
    getsockname(fd, (struct sockaddr *)&got, &length);
    printf("%s=%d\n", name, ntohs(got.sin6_port));
    return fd;
}

/* At an address of this machine other than loopback; -1 where it has none. */
static int listen_own(void) {
    struct ifaddrs *all, *one;
    struct sockaddr_in own = {.sin_family = AF_INET};
    socklen_t length = sizeof own;
    if (getifaddrs(&all)) return -1;
    for (one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && !(one->ifa_flags & IFF_LOOPBACK)) break;
    if (one) own.sin_addr = ((struct sockaddr_in *)one->ifa_addr)->sin_addr;
    freeifaddrs(all);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!one || bind(fd, (struct sockaddr *)&own, sizeof own)) return -1;
    listen(fd, 64);
    getsockname(fd, (struct sockaddr *)&own, &length);
    printf("own=%s\nown_port=%d\n", inet_ntoa(own.sin_addr), ntohs(own.sin_port));
    return fd;
}

/* From one address to the same: it comes from this machine. */
static bool is_from_here(int peer) {
    struct sockaddr_in own = {0}, other = {0};
    socklen_t own_length = sizeof own, other_length = sizeof other;
    return !getsockname(peer, (struct sockaddr *)&own, &own_length) && !getpeername(peer, (struct sockaddr *)&other, &other_length) &&
           own.sin_addr.s_addr == other.sin_addr.s_addr;
}

static void send_descriptor(int peer, int fd) {
    char room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {"x", 1};
    struct msghdr message = {NULL, 0, &part, 1, room, sizeof room, 0};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    sendmsg(peer, &message, MSG_NOSIGNAL);
}

static void note(const char *kind, const char *text, size_t length) {
    FILE *log = fopen(at("victim.log"), "ae");
    if (!log) return;
    fprintf(log, "%s %.*s\n", kind, (int)length, text);
    fclose(log);
}

static void serve(int *fds) {
    struct pollfd wanted[SOCKETS_END + 1];
    struct sockaddr_in own;
    socklen_t own_length = sizeof own;
    int noise = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), is_canary_dead = 0;
    getsockname(fds[UDP], (struct sockaddr *)&own, &own_length);
    for (int i = 0; i < SOCKETS_END; i++) wanted[i] = (struct pollfd){fds[i], POLLIN, 0};
    wanted[SOCKETS_END] = (struct pollfd){0, POLLIN, 0};
    /* Standard input is the harness's leash; two minutes are the end in any case. */
    double next_noise = 0;
    for (double end = seconds() + 120; seconds() < end;) {
        poll(wanted, SOCKETS_END + 1, 100);
        if (wanted[SOCKETS_END].revents) return;
        for (int i = 0; i < SOCKETS_END; i++) {
            char text[512];
            if (!(wanted[i].revents & POLLIN)) continue;
            if (i < STREAMS) {
                int peer = accept4(fds[i], NULL, NULL, SOCK_CLOEXEC);
                if (i == RIGHTS) send_descriptor(peer, open(at("outside/secret.txt"), O_RDONLY | O_CLOEXEC));
                else if (i != OWN || is_from_here(peer)) send(peer, secret, strlen(secret), MSG_NOSIGNAL);
                close(peer);
                note("connection", "", 0);
            } else {
                ssize_t n = read(fds[i], text, sizeof text);
                if (n > 0 && !memmem(text, (size_t)n, secret, strlen(secret))) note("message", text, (size_t)n);
            }
        }
        if (!is_canary_dead && strcmp((const char *)canary, "untouched")) is_canary_dead = 1, note("canary", "changed", 7);
        /* Something for a packet socket and for the process feed to see. */
        if (seconds() < next_noise) continue;
        next_noise = seconds() + 0.1;
        sendto(noise, secret, strlen(secret), 0, (struct sockaddr *)&own, own_length);
        pid_t child = fork();
        if (child == 0) _exit(0);
        if (child > 0) waitpid(child, NULL, 0);
    }
}

/* What must be taken away also when an attack has ended the victim. */
struct leavings {
    int shm, msg;
    long key;
    char queue[64];
};

static void play(struct leavings *left) {
    int fds[SOCKETS_END];
    char name[256];
    struct { long type; char text[128]; } message = {1, ""};
    setpgid(0, 0);
    signal(SIGPIPE, SIG_IGN);
    /* The harness passes it as an argument and as a variable: both are places to find it. */
    snprintf(secret, sizeof secret, "%s", token);
    if (chdir(at("outside"))) fail("chdir");
    printf("pid=%d\naddress=%p\ncanary=%p\n", getpid(), (void *)secret, (void *)canary);
    printf("secret_fd=%d\n", open(at("outside/secret.txt"), O_RDONLY));
    int memory = memfd_create("victim", MFD_CLOEXEC), pipes[2];
    if (memory < 0 || write(memory, secret, strlen(secret)) < 0 || pipe2(pipes, O_CLOEXEC)) fail("nameless");
    fds[PIPE] = pipes[0];
    printf("memory_fd=%d\npipe_fd=%d\n", memory, pipes[1]);

    fds[STREAM] = listen_unix(SOCK_STREAM, at("sock/victim.sock"));
    fds[STREAM_WORK] = listen_unix(SOCK_STREAM, at("work/victim.sock"));
    fds[DOCKER] = listen_unix(SOCK_STREAM, at("sock/docker.sock"));
    fds[RIGHTS] = listen_unix(SOCK_STREAM, at("sock/rights.sock"));
    fds[DGRAM] = listen_unix(SOCK_DGRAM, at("sock/victim.dgram"));
    snprintf(name, sizeof name, "@assay-%d", getpid());
    printf("abstract=%s\n", name);
    fds[ABSTRACT] = listen_unix(SOCK_STREAM, name);
    snprintf(name, sizeof name, "@assay-packets-%d", getpid());
    printf("abstract_packets=%s\n", name);
    fds[ABSTRACT_PACKETS] = listen_unix(SOCK_SEQPACKET, name);
    snprintf(name, sizeof name, "@assay-dgram-%d", getpid());
    printf("abstract_dgram=%s\n", name);
    fds[ABSTRACT_DGRAM] = listen_unix(SOCK_DGRAM, name);
    snprintf(name, sizeof name, "@%s", secret);
    listen_unix(SOCK_STREAM, name);
    fds[TCP] = listen_inet(AF_INET, SOCK_STREAM, 0, "tcp");
    fds[TCP6] = listen_inet(AF_INET6, SOCK_STREAM, 0, "tcp6");
    fds[OWN] = listen_own();
    fds[UDP] = listen_inet(AF_INET, SOCK_DGRAM, 0, "udp");
    fds[UDPLITE] = listen_inet(AF_INET, SOCK_DGRAM, 136, "udplite");

    fds[TTY] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fds[TTY] < 0 || grantpt(fds[TTY]) || unlockpt(fds[TTY])) fail("pty");
    printf("tty=%s\n", ptsname(fds[TTY]));
    open(ptsname(fds[TTY]), O_RDWR | O_NOCTTY | O_CLOEXEC);

    left->shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    left->msg = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    strcpy(shmat(left->shm, NULL, 0), secret);
    strcpy(message.text, secret);
    msgsnd(left->msg, &message, strlen(secret) + 1, 0);
    snprintf(left->queue, sizeof left->queue, "/assay-%d", getpid());
    mqd_t queue = mq_open(left->queue, O_RDWR | O_CREAT, 0600, NULL);
    if (queue != (mqd_t)-1) mq_send(queue, secret, strlen(secret), 0);
    left->key = syscall(SYS_add_key, "user", left->queue + 1, secret, strlen(secret), -4L);
    printf("shm_id=%d\nmsg_id=%d\nmq=%s\nkey=%s\nready=1\n", left->shm, left->msg, left->queue, left->queue + 1);
    fflush(stdout);
    serve(fds);
    _exit(0);
}

void victim(void) {
    struct leavings *left = mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid = fork();
    if (pid == 0) play(left);
    waitpid(pid, NULL, 0);
    shmctl(left->shm, IPC_RMID, NULL);
    msgctl(left->msg, IPC_RMID, NULL);
    mq_unlink(left->queue);
    syscall(SYS_keyctl, 9 /* UNLINK */, left->key, -4L);
    _exit(0);
}
