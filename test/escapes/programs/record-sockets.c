/* Ways to reach or take an address that look like something else. Each says what has really come of it. */
#include "attack.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>

#define TCP_FASTOPEN_CONNECT_ 30
#define TCP_FASTOPEN_NO_COOKIE_ 34

static struct sockaddr_in own(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int sender;
static struct iovec word = {"word", 4};

/* The kernel takes it for an address of IPv4. */
static void send_unspecified(struct sockaddr_in to) {
    to.sin_family = AF_UNSPEC;
    sendto(sender, "word", 4, 0, (struct sockaddr *)&to, sizeof to);
}

/* The kernel cuts a name that is too long. */
static void send_long_name(struct sockaddr_in to) {
    char name[256] = "";
    struct msghdr message = {.msg_name = memcpy(name, &to, sizeof to), .msg_namelen = 200, .msg_iov = &word, .msg_iovlen = 1};
    sendmsg(sender, &message, 0);
}

/* The kernel takes 32 bits of the length. */
static void send_wide_length(struct sockaddr_in to) { syscall(SYS_sendto, sender, "word", 4, 0, &to, 0x100000000 + sizeof to); }

/* The kernel sends the first of two messages, and finds no memory where the second should be. */
static void send_first_of_two(struct sockaddr_in to) {
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page + 4096, 4096);
    struct mmsghdr *message = (void *)(page + 4096 - sizeof *message);
    message->msg_hdr = (struct msghdr){.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &word, .msg_iovlen = 1};
    sendmmsg(sender, message, 2, 0);
}

static void send_oddly(void) {
    void (*const ways[])(struct sockaddr_in) = {send_unspecified, send_long_name, send_wide_length, send_first_of_two};
    char text[8];
    sender = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 4; i++) {
        struct sockaddr_in to = own(7001 + i);
        int receiver = socket(AF_INET, SOCK_DGRAM, 0);
        if (bind(receiver, (struct sockaddr *)&to, sizeof to)) fail("bind");
        ways[i](to);
        if (recv(receiver, text, sizeof text, MSG_DONTWAIT) == 4) printf("reached udp:127.0.0.1:%d\n", 7001 + i);
    }
}

static void bind_oddly(void) {
    struct sockaddr_in any = {.sin_family = AF_UNSPEC, .sin_port = htons(7300)};
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0one\0two"};
    if (bind(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&any, sizeof any)) fail("bind without a family");
    if (bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&name, offsetof(struct sockaddr_un, sun_path) + 8)) fail("bind by a name");
    if (listen(socket(AF_INET, SOCK_STREAM, 0), 1)) fail("listen");
}

/* Nobody listens there. */
static void connect_later(void) {
    struct sockaddr_in nobody = own(9);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT_, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE_, &one, sizeof one);
    connect(fd, (struct sockaddr *)&nobody, sizeof nobody);
}

const struct attack RECORD_SOCKETS[] = {
    {"record-sends", send_oddly},
    {"record-binds", bind_oddly},
    {"record-connect-later", connect_later},
    {NULL, NULL},
};
