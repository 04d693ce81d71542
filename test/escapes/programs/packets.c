/* Socket families beyond the usual ones, and sockets that show or take part in the host's traffic. */
#include "attack.h"
#include <arpa/inet.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/if_ether.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

/* Every family of the kernel with every type, but the four that ordinary programs need. */
static void families(void) {
    static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW, SOCK_RDM};
    for (int family = 0; family < 46; family++) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            int fd = socket(family, types[t], 0);
            if (fd < 0) continue;
            printf("opened family %d type %d\n", family, types[t]);
            close(fd);
        }
    }
}

static void vsock(void) {
    int fd = socket(40, SOCK_STREAM, 0);
    if (fd < 0) fail("socket");
    puts("opened family 40");
}

static void patience(int fd) {
    struct timeval time = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
}

/* A raw socket: an echo request of our own making, to loopback. */
static void raw(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    struct icmphdr echo = {.type = ICMP_ECHO};
    unsigned char reply[256];
    int fd = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
    if (fd < 0) fail("socket");
    patience(fd);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    echo.checksum = (uint16_t)~ICMP_ECHO;
    if (sendto(fd, &echo, sizeof echo, 0, (struct sockaddr *)&address, sizeof address) < 0) fail("sendto");
    if (recv(fd, reply, sizeof reply, 0) <= 0) fail("recv");
    puts("raw reply");
}

/* A packet socket sees the traffic of others; the victim sends the secret to itself by UDP. */
static void packet(void) {
    int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
    char text[2048];
    if (fd < 0) fail("socket");
    patience(fd);
    for (double end = seconds() + 2; seconds() < end;) {
        ssize_t n = recv(fd, text, sizeof text, 0);
        if (n > 0) fwrite(text, 1, (size_t)n, stdout);
    }
}

/* The kernel's list of listening TCP sockets: is the victim's port there? */
static void sock_diag(void) {
    struct { struct nlmsghdr header; struct inet_diag_req_v2 body; } request = {
        {sizeof request, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 1, 0},
        {.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP, .idiag_states = ~0U}};
    static char reply[65536];
    long wanted = conf_number("tcp");
    int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
    if (fd < 0 || send(fd, &request, sizeof request, 0) < 0) fail("sock_diag");
    patience(fd);
    for (int i = 0; i < 32; i++) {
        ssize_t n = recv(fd, reply, sizeof reply, 0);
        if (n <= 0) break;
        for (struct nlmsghdr *h = (void *)reply; NLMSG_OK(h, n); h = NLMSG_NEXT(h, n)) {
            if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) return;
            struct inet_diag_msg *socket_info = NLMSG_DATA(h);
            if (ntohs(socket_info->id.idiag_sport) == wanted) {
                puts("victim's port seen");
                return;
            }
        }
    }
}

/* Names of abstract sockets, one of which holds the secret. */
static void proc_net_unix(void) { print_file("/proc/net/unix"); }

/* The feed of every process of the machine: does the victim's name come up? It forks all the time. */
static void process_feed(void) {
    struct { struct nlmsghdr header; struct cn_msg connector; enum proc_cn_mcast_op op; } __attribute__((packed)) request;
    struct sockaddr_nl own = {.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC};
    static char reply[65536];
    long wanted = conf_number("pid");
    int fd = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_CONNECTOR);
    if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof own)) fail("NETLINK_CONNECTOR");
    memset(&request, 0, sizeof request);
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = NLMSG_DONE;
    request.connector.id.idx = CN_IDX_PROC;
    request.connector.id.val = CN_VAL_PROC;
    request.connector.len = sizeof request.op;
    request.op = PROC_CN_MCAST_LISTEN;
    if (send(fd, &request, sizeof request, 0) < 0) fail("send");
    patience(fd);
    for (double end = seconds() + 2; seconds() < end;) {
        ssize_t n = recv(fd, reply, sizeof reply, 0);
        if (n <= 0) continue;
        struct cn_msg *message = NLMSG_DATA((struct nlmsghdr *)reply);
        struct proc_event *event = (void *)message->data;
        if (event->event_data.fork.parent_tgid == wanted) {
            puts("victim's fork seen");
            return;
        }
    }
}

const struct attack PACKETS[] = {
    {"net-families", families},
    {"net-vsock", vsock},
    {"net-raw", raw},
    {"net-packet", packet},
    {"net-sock-diag", sock_diag},
    {"net-proc-unix", proc_net_unix},
    {"net-process-feed", process_feed},
    {NULL, NULL},
};
