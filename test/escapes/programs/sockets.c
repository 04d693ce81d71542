/* The victim listens on unix sockets (base/sock, base/work, abstract) and on loopback. A stream connection is
 * answered with the secret; a datagram is logged. */
#include "attack.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

static void print_reply(int fd) {
    struct timeval patience = {2, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    print_descriptor(fd);
}

static socklen_t unix_address(struct sockaddr_un *address, const char *path) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (path[0] == '@') {
        memcpy(address->sun_path + 1, path + 1, strlen(path) - 1);
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    }
    snprintf(address->sun_path, sizeof address->sun_path, "%s", path);
    return sizeof *address;
}

static int connect_unix(int type, const char *path) {
    struct sockaddr_un address;
    socklen_t length = unix_address(&address, path);
    int fd = socket(AF_UNIX, type, 0);
    if (fd < 0) fail("socket");
    if (connect(fd, (struct sockaddr *)&address, length)) fail(path);
    return fd;
}

static void stream_outside(void) { print_reply(connect_unix(SOCK_STREAM, at("sock/victim.sock"))); }

static void stream_in_workspace(void) { print_reply(connect_unix(SOCK_STREAM, at("work/victim.sock"))); }

/* What lies in the private tmp is not for that reason ours. */
static void stream_moved_to_tmp(void) {
    char path[PATH_MAX];
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/s", tmp ? tmp : at("work/sub"));
    if (rename(at("work/victim.sock"), path)) fail("rename");
    print_reply(connect_unix(SOCK_STREAM, path));
}

static void stream_relative(void) {
    if (chdir(at("sock"))) fail("chdir");
    print_reply(connect_unix(SOCK_STREAM, "victim.sock"));
}

static void stream_symlink(void) {
    if (symlink(at("sock/victim.sock"), "door")) fail("symlink");
    print_reply(connect_unix(SOCK_STREAM, "door"));
}

static void stream_proc_fd(void) {
    char path[64];
    int fd = open(at("sock/victim.sock"), O_PATH);
    if (fd < 0) fail("O_PATH");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    print_reply(connect_unix(SOCK_STREAM, path));
}

/* A daemon's door in a directory the policy lets us read, as /run/docker.sock would be. */
static void docker(void) {
    int fd = connect_unix(SOCK_STREAM, at("sock/docker.sock"));
    send(fd, "GET /containers/json HTTP/1.0\r\n\r\n", 33, MSG_NOSIGNAL);
    print_reply(fd);
}

static void abstract_stream(void) { print_reply(connect_unix(SOCK_STREAM, conf("abstract"))); }

static void abstract_packets(void) { print_reply(connect_unix(SOCK_SEQPACKET, conf("abstract_packets"))); }

/* The name is then one of ours, but with this type only. */
static void abstract_twin(void) {
    struct sockaddr_un address;
    int own = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    socklen_t length = unix_address(&address, conf("abstract"));
    if (own < 0 || bind(own, (struct sockaddr *)&address, length) || listen(own, 1)) fail("bind");
    abstract_stream();
}

static void datagram_sendto(void) {
    struct sockaddr_un address;
    socklen_t length = unix_address(&address, at("sock/victim.dgram"));
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (sendto(fd, token, strlen(token), 0, (struct sockaddr *)&address, length) < 0) fail("sendto");
}

static void datagram_message(const char *path) {
    struct sockaddr_un address;
    struct iovec part = {(void *)token, strlen(token)};
    struct msghdr message = {&address, unix_address(&address, path), &part, 1, NULL, 0, 0};
    if (sendmsg(socket(AF_UNIX, SOCK_DGRAM, 0), &message, 0) < 0) fail("sendmsg");
}

static void datagram_sendmsg(void) { datagram_message(at("sock/victim.dgram")); }

static void abstract_datagram(void) { datagram_message(conf("abstract_dgram")); }

static void datagram_sendmmsg(void) {
    struct sockaddr_un address;
    struct iovec part = {(void *)token, strlen(token)};
    struct mmsghdr message = {{&address, unix_address(&address, at("sock/victim.dgram")), &part, 1, NULL, 0, 0}, 0};
    if (sendmmsg(socket(AF_UNIX, SOCK_DGRAM, 0), &message, 1, 0) < 1) fail("sendmmsg");
}

static void datagram_connect(void) { put(connect_unix(SOCK_DGRAM, at("sock/victim.dgram")), token); }

/* The victim hands out a descriptor of the secret to whoever asks. */
static void scm_rights(void) {
    char byte, room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {NULL, 0, &part, 1, room, sizeof room, 0};
    if (recvmsg(connect_unix(SOCK_STREAM, at("sock/rights.sock")), &message, 0) <= 0) fail("recvmsg");
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    int fd;
    if (!header) fail("no descriptor came");
    memcpy(&fd, CMSG_DATA(header), sizeof fd);
    print_descriptor(fd);
}

static struct sockaddr_in loopback(long port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void connect_inet(int protocol) {
    struct sockaddr_in address = loopback(conf_number("tcp"));
    int fd = socket(AF_INET, SOCK_STREAM, protocol);
    if (fd < 0) fail("socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    print_reply(fd);
}

static void tcp(void) { connect_inet(0); }

static void mptcp(void) { connect_inet(262); }

static void tcp6(void) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)conf_number("tcp6"))};
    address.sin6_addr = in6addr_loopback;
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    if (fd < 0) fail("socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    print_reply(fd);
}

/* An IPv4 address in IPv6 clothes. */
static void tcp_mapped(void) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)conf_number("tcp"))};
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    if (fd < 0) fail("socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    print_reply(fd);
}

static void own_address(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)conf_number("own_port"))};
    inet_aton(conf("own"), &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    print_reply(fd);
}

/* By the proxy, where there is one. */
static void own_address_by_proxy(void) {
    char text[128];
    struct sockaddr_in proxy = loopback(3128);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (!getenv("http_proxy")) return own_address();
    if (fd < 0 || connect(fd, (struct sockaddr *)&proxy, sizeof proxy)) fail("connect");
    snprintf(text, sizeof text, "CONNECT %s:%ld HTTP/1.1\r\n\r\n", conf("own"), conf_number("own_port"));
    put(fd, text);
    print_reply(fd);
}

/* TCP Fast Open connects in the first send, without connect(2). */
static void fast_open(void) {
    struct sockaddr_in address = loopback(conf_number("tcp"));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address) < 0) fail("sendto");
    print_reply(fd);
}

static void fast_open_message(void) {
    struct sockaddr_in address = loopback(conf_number("tcp"));
    struct iovec part = {"x", 1};
    struct msghdr message = {&address, sizeof address, &part, 1, NULL, 0, 0};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (sendmsg(fd, &message, MSG_FASTOPEN) < 0) fail("sendmsg");
    print_reply(fd);
}

static void udp_sendto(void) {
    struct sockaddr_in address = loopback(conf_number("udp"));
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0) fail("socket");
    if (sendto(fd, token, strlen(token), 0, (struct sockaddr *)&address, sizeof address) < 0) fail("sendto");
}

static void udp_connect(void) {
    struct sockaddr_in address = loopback(conf_number("udp"));
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) fail("connect");
    put(fd, token);
}

static void udp_sendmmsg(void) {
    struct sockaddr_in address = loopback(conf_number("udp"));
    struct iovec part = {(void *)token, strlen(token)};
    struct mmsghdr message = {{&address, sizeof address, &part, 1, NULL, 0, 0}, 0};
    if (sendmmsg(socket(AF_INET, SOCK_DGRAM, 0), &message, 1, 0) < 1) fail("sendmmsg");
}

static void udp_lite(void) {
    struct sockaddr_in address = loopback(conf_number("udplite"));
    int fd = socket(AF_INET, SOCK_DGRAM, 136);
    if (fd < 0) fail("socket");
    if (sendto(fd, token, strlen(token), 0, (struct sockaddr *)&address, sizeof address) < 0) fail("sendto");
}

/* A server that can be reached from outside: the harness connects to the port and wants the token. */
static void serve(int fd) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    struct timeval patience = {2, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (listen(fd, 4)) fail("listen");
    if (getsockname(fd, (struct sockaddr *)&address, &length)) fail("getsockname");
    printf("listening %d\n", ntohs(address.sin_port));
    fflush(stdout);
    int peer = accept(fd, NULL, NULL);
    if (peer < 0) fail("accept");
    put(peer, token);
}

static void listen_without_bind(void) { serve(socket(AF_INET, SOCK_STREAM, 0)); }

static void listen_bound(void) {
    struct sockaddr_in address = loopback(0);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address)) fail("bind");
    serve(fd);
}

static void listen_mptcp(void) { serve(socket(AF_INET, SOCK_STREAM, 262)); }

const struct attack SOCKETS[] = {
    {"unix-stream", stream_outside},
    {"unix-workspace", stream_in_workspace},
    {"unix-moved-to-tmp", stream_moved_to_tmp},
    {"unix-relative", stream_relative},
    {"unix-symlink", stream_symlink},
    {"unix-proc-fd", stream_proc_fd},
    {"unix-docker", docker},
    {"unix-abstract", abstract_stream},
    {"unix-abstract-of-host", abstract_stream},
    {"unix-abstract-packets", abstract_packets},
    {"unix-abstract-twin", abstract_twin},
    {"unix-dgram-sendto", datagram_sendto},
    {"unix-dgram-sendmsg", datagram_sendmsg},
    {"unix-dgram-sendmmsg", datagram_sendmmsg},
    {"unix-dgram-connect", datagram_connect},
    {"unix-abstract-dgram", abstract_datagram},
    {"unix-scm-rights", scm_rights},
    {"net-tcp", tcp},
    {"net-tcp6", tcp6},
    {"net-tcp-mapped", tcp_mapped},
    {"net-mptcp", mptcp},
    {"net-own", own_address},
    {"net-own-proxy", own_address_by_proxy},
    {"net-fast-open", fast_open},
    {"net-fast-open-message", fast_open_message},
    {"net-udp-sendto", udp_sendto},
    {"net-udp-connect", udp_connect},
    {"net-udp-sendmmsg", udp_sendmmsg},
    {"net-udplite", udp_lite},
    {"net-listen-unbound", listen_without_bind},
    {"net-listen-bound", listen_bound},
    {"net-listen-mptcp", listen_mptcp},
    {NULL, NULL},
};
