/* Changing attributes of base/outside/target.txt: Landlock has no right for these. */
#include "attack.h"
#include <linux/fs.h>
#include <sys/time.h>
#include <sys/xattr.h>

#define TARGET "outside/target.txt"

static int readable(void) {
    int fd = open(at(TARGET), O_RDONLY);
    if (fd < 0) fail("open");
    return fd;
}

static void by_chmod(void) {
    if (chmod(at(TARGET), 0777)) fail("chmod");
}

static void by_fchmod(void) {
    if (fchmod(readable(), 0777)) fail("fchmod");
}

static void by_chmod_proc_fd(void) {
    int fd = open(at(TARGET), O_PATH);
    char path[64];
    if (fd < 0) fail("O_PATH");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (chmod(path, 0777)) fail("chmod");
}

static void by_fchmodat2(void) {
    int fd = open(at(TARGET), O_PATH);
    if (fd < 0) fail("O_PATH");
    if (syscall(452, fd, "", 0777, AT_EMPTY_PATH)) fail("fchmodat2");
}

static void by_chmod_symlink(void) {
    if (symlink(at(TARGET), "link")) fail("symlink");
    if (chmod("link", 0777)) fail("chmod");
}

static void by_chown(void) {
    if (chown(at(TARGET), 12345, 12345)) fail("chown");
}

static void by_fchown(void) {
    if (fchown(readable(), 12345, 12345)) fail("fchown");
}

static void by_utimes(void) {
    struct timeval times[2] = {{1, 0}, {1, 0}};
    if (utimes(at(TARGET), times)) fail("utimes");
}

static void by_futimens(void) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    if (futimens(readable(), times)) fail("futimens");
}

static void by_setxattr(void) {
    if (setxattr(at(TARGET), "user.assay", token, strlen(token), 0)) fail("setxattr");
}

static void by_fsetxattr(void) {
    if (fsetxattr(readable(), "user.assay", token, strlen(token), 0)) fail("fsetxattr");
}

/* The newest of the family (6.13): easily forgotten by a list of system calls. */
static void by_setxattrat(void) {
    struct { uint64_t value; uint32_t size, flags; } args = {(uintptr_t)token, (uint32_t)strlen(token), 0};
    if (syscall(463, AT_FDCWD, at(TARGET), 0, "user.assay", &args, sizeof args)) fail("setxattrat");
}

static void by_setflags(void) {
    int flags = FS_NODUMP_FL;
    if (ioctl(readable(), FS_IOC_SETFLAGS, &flags)) fail("FS_IOC_SETFLAGS");
}

static void by_fssetxattr(void) {
    struct fsxattr attr = {0};
    int fd = readable();
    if (ioctl(fd, FS_IOC_FSGETXATTR, &attr)) fail("FS_IOC_FSGETXATTR");
    attr.fsx_xflags |= FS_XFLAG_NODUMP;
    if (ioctl(fd, FS_IOC_FSSETXATTR, &attr)) fail("FS_IOC_FSSETXATTR");
}

/* file_setattr (6.17) does the same without an ioctl. */
static void by_file_setattr(void) {
    struct { uint64_t xflags; uint32_t extsize, nextents, projid, cowextsize; } attr = {FS_XFLAG_NODUMP, 0, 0, 0, 0};
    if (syscall(469, AT_FDCWD, at(TARGET), &attr, sizeof attr, 0)) fail("file_setattr");
}

const struct attack ATTRIBUTES[] = {
    {"attr-chmod", by_chmod},
    {"attr-fchmod", by_fchmod},
    {"attr-chmod-proc-fd", by_chmod_proc_fd},
    {"attr-fchmodat2", by_fchmodat2},
    {"attr-chmod-symlink", by_chmod_symlink},
    {"attr-chown", by_chown},
    {"attr-fchown", by_fchown},
    {"attr-utimes", by_utimes},
    {"attr-futimens", by_futimens},
    {"attr-setxattr", by_setxattr},
    {"attr-fsetxattr", by_fsetxattr},
    {"attr-setxattrat", by_setxattrat},
    {"attr-setflags", by_setflags},
    {"attr-fssetxattr", by_fssetxattr},
    {"attr-file-setattr", by_file_setattr},
    {NULL, NULL},
};
