/* Calls with right and wrong arguments; prints what each one returned. It also runs bare and as root: no call that
   changes something may name a path outside the workspace. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

/* A descriptor is reported as a number too: inside, the lowest free one must be given out as well. */
#define T(call)                                                                                                     \
  do {                                                                                                              \
    errno = 0;                                                                                                      \
    long result_ = (long)(call);                                                                                    \
    printf("%3d %s = %ld %s\n", __LINE__, #call, result_, result_ < 0 ? strerrorname_np(errno) : "");               \
  } while (0)
/* The same for calls that open something, which is closed again. */
#define O(call)                                                                                                     \
  do {                                                                                                              \
    errno = 0;                                                                                                      \
    int result_ = (int)(call);                                                                                      \
    printf("%3d %s = %d %s", __LINE__, #call, result_, result_ < 0 ? strerrorname_np(errno) : "");                  \
    if (result_ >= 0) printf("fl=%o fd=%d", fcntl(result_, F_GETFL), fcntl(result_, F_GETFD)), close(result_);      \
    putchar('\n');                                                                                                  \
  } while (0)

static char long_name[300], long_path[5000], long_link[5000];
static char *const BAD = (char *)16;

static void put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) perror(path);
  close(fd);
}

static void show(const char *path) {
  struct stat st;
  if (lstat(path, &st)) printf("    %s: %s\n", path, strerrorname_np(errno));
  else
    printf("    %s: mode=%o links=%lu size=%ld%s\n", path, st.st_mode, (unsigned long)st.st_nlink,
           S_ISDIR(st.st_mode) ? 0L : (long)st.st_size, st.st_mtime < 1700000000 ? " old" : "");
}

static long open2(int dir, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve, size_t size) {
  struct open_how how = {flags, mode, resolve};
  return syscall(SYS_openat2, dir, path, &how, size);
}

static void set_up(void) {
  memset(long_name, 'n', 290);
  for (size_t i = 0; i < 4990; i += 2) memcpy(long_path + i, "./", 2);
  memset(long_link, 'l', 4500);
  put("file", "hello\n");
  put("other", "other\n");
  mkdir("dir", 0755);
  mkdir("empty", 0755);
  mkdir("full", 0755);
  put("full/inner", "x");
  symlink("file", "to-file");
  symlink("dir", "to-dir");
  symlink("nowhere", "dangling");
  symlink("dir/made-through-link", "dangling-into-dir");
  symlink("loop-b", "loop-a");
  symlink("loop-a", "loop-b");
  symlink("self", "self");
  put("locked", "x");
  chmod("locked", 0);
  mkdir("sealed", 0755);
  put("sealed/inner", "x");
  chmod("sealed", 0);
  mkdir("fixed", 0755);
  put("fixed/inner", "x");
  chmod("fixed", 0555);
  put("read-only", "x");
  chmod("read-only", 0444);
}

static void opens(void) {
  O(open("file", O_RDONLY));
  O(open("file", O_RDWR));
  O(open("file", O_WRONLY | O_APPEND));
  O(open("file", O_RDWR | O_CLOEXEC));
  O(open("file", O_WRONLY | O_NONBLOCK));
  O(open("file", O_WRONLY | O_SYNC));
  O(open("file", O_WRONLY | O_NOATIME));
  O(open("file", O_WRONLY | O_DIRECT));
  O(open("file", O_ACCMODE));
  O(open("missing", O_RDONLY));
  O(open("missing", O_RDWR));
  O(open("missing/x", O_RDWR | O_CREAT, 0600));
  O(open("file/x", O_RDWR | O_CREAT, 0600));
  O(open("file/x", O_RDONLY));
  O(open("file/", O_RDONLY));
  O(open("file/", O_RDWR));
  O(open("file/", O_RDWR | O_CREAT, 0600));
  O(open("new/", O_RDWR | O_CREAT, 0600));
  O(open("new/", O_RDONLY | O_CREAT, 0600));
  O(open("new/", O_RDWR));
  O(open("file/.", O_RDWR));
  O(open("file/..", O_RDONLY));
  O(open("", O_RDONLY));
  O(open("", O_RDWR | O_CREAT, 0600));
  O(open(NULL, O_RDWR));
  O(open(BAD, O_RDWR));
  O(open(BAD, O_RDONLY));
  O(open("dir", O_RDONLY));
  O(open("dir", O_RDWR));
  O(open("dir", O_WRONLY));
  O(open("dir", O_RDONLY | O_CREAT, 0600));
  O(open("dir", O_RDWR | O_CREAT, 0600));
  O(open("dir", O_RDWR | O_CREAT | O_EXCL, 0600));
  O(open("dir", O_RDONLY | O_TRUNC));
  O(open("dir/", O_RDWR | O_CREAT, 0600));
  O(open(".", O_RDWR));
  O(open(".", O_RDWR | O_CREAT, 0600));
  O(open(".", O_RDWR | O_CREAT | O_EXCL, 0600));
  O(open("..", O_WRONLY));
  O(open("/", O_WRONLY));
  O(open("/", O_RDWR | O_CREAT, 0600));
  O(open("dir/..", O_RDWR | O_CREAT, 0600));
  O(open("file", O_RDWR | O_CREAT | O_EXCL, 0600));
  O(open("to-file", O_RDWR | O_CREAT | O_EXCL, 0600));
  O(open("dangling", O_RDWR | O_CREAT | O_EXCL, 0600));
  O(open("dangling", O_RDWR));
  O(open("dangling", O_RDONLY | O_NOFOLLOW));
  O(open("dangling", O_RDWR | O_NOFOLLOW));
  O(open("dangling", O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  O(open("dangling/", O_RDWR | O_CREAT, 0600));
  O(open("dangling", O_RDWR | O_CREAT, 0640));
  show("nowhere");
  T(unlink("nowhere"));
  O(open("dangling-into-dir", O_WRONLY | O_CREAT, 0604));
  show("dir/made-through-link");
  T(unlink("dir/made-through-link"));
  O(open("to-file", O_RDWR));
  O(open("to-file", O_RDWR | O_NOFOLLOW));
  O(open("to-file", O_RDONLY | O_NOFOLLOW));
  O(open("to-file", O_PATH | O_NOFOLLOW));
  O(open("to-file/", O_RDWR));
  O(open("to-dir", O_RDWR));
  O(open("to-dir", O_RDONLY | O_DIRECTORY));
  O(open("to-dir", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  O(open("to-dir/", O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  O(open("to-dir", O_RDWR | O_DIRECTORY));
  O(open("file", O_RDONLY | O_DIRECTORY));
  O(open("file", O_RDWR | O_DIRECTORY));
  O(open("file", O_RDWR | O_DIRECTORY | O_CREAT, 0600));
  O(open("missing", O_RDWR | O_DIRECTORY | O_CREAT, 0600));
  O(open("missing", O_RDWR | O_DIRECTORY));
  O(open("loop-a", O_RDONLY));
  O(open("loop-a", O_RDWR));
  O(open("loop-a", O_RDWR | O_CREAT, 0600));
  O(open("loop-a", O_RDWR | O_CREAT | O_EXCL, 0600));
  O(open("self/x", O_RDWR | O_CREAT, 0600));
  O(open(long_name, O_RDWR | O_CREAT, 0600));
  O(open(long_name, O_RDONLY));
  O(open(long_path, O_RDWR | O_CREAT, 0600));
  O(open("locked", O_RDONLY));
  O(open("locked", O_RDWR));
  O(open("locked", O_RDWR | O_CREAT, 0600));
  O(open("locked", O_RDWR | O_CREAT | O_EXCL, 0600));
  O(open("read-only", O_RDWR));
  O(open("read-only", O_WRONLY | O_TRUNC));
  O(open("read-only", O_RDONLY | O_TRUNC));
  O(open("sealed/inner", O_RDWR));
  O(open("sealed/inner", O_RDONLY));
  O(open("sealed/new", O_RDWR | O_CREAT, 0600));
  O(open("sealed", O_RDONLY));
  O(open("fixed/inner", O_RDWR));
  O(open("fixed/new", O_RDWR | O_CREAT, 0600));
  O(open("new-444", O_RDWR | O_CREAT | O_EXCL, 0444));
  O(open("new-444", O_RDWR | O_CREAT, 0444));
  O(open("new-0", O_RDWR | O_CREAT | O_EXCL, 0));
  O(open("new-1777", O_RDWR | O_CREAT | O_EXCL, 01777));
  show("new-444"), show("new-0"), show("new-1777");
  O(open("file", O_RDONLY | O_CREAT, 0600));
  O(open("new-by-reader", O_RDONLY | O_CREAT, 0640));
  show("new-by-reader");
  O(open("new-trunc", O_RDONLY | O_CREAT | O_TRUNC, 0640));
  O(open(".", O_TMPFILE | O_RDWR, 0600));
  O(open("dir", O_TMPFILE | O_WRONLY, 0600));
  O(open(".", O_TMPFILE | O_RDONLY, 0600));
  O(open("file", O_TMPFILE | O_RDWR, 0600));
  O(open("missing", O_TMPFILE | O_RDWR, 0600));
  O(open("to-dir", O_TMPFILE | O_RDWR, 0600));
  O(open("to-dir", O_TMPFILE | O_RDWR | O_NOFOLLOW, 0600));
  O(open(".", O_TMPFILE | O_RDWR | O_EXCL, 0600));
  O(open("fixed", O_TMPFILE | O_RDWR, 0600));
  O(creat("created", 0666));
  O(creat("dir", 0666));
  O(creat("", 0666));
  O(open("file", O_PATH | O_RDWR));
  O(open("dir", O_PATH | O_CREAT, 0600));
  O(open("/dev/null", O_RDWR));
  O(open("/dev/null", O_RDWR | O_CREAT | O_TRUNC, 0666));
  O(open("/dev/null", O_RDWR | O_CREAT | O_EXCL, 0666));
  O(open("/dev/null/x", O_RDWR));
  O(open("/dev/zero", O_RDONLY));
  O(open("/dev/full", O_WRONLY));
  O(open("/dev/tty", O_RDWR));
  O(open("/dev/fd/77", O_RDWR));
  O(open("/proc/self/fd/77", O_RDWR));
  O(open("/proc/self/missing", O_RDWR));
  O(open("/proc/self/cwd", O_RDWR));
  O(open("/proc/self/cwd/file", O_RDWR));
  O(open("/proc/self/cwd/../work/file", O_RDWR));
  O(open("/proc/thread-self/cwd/to-file", O_RDWR));
}

static void opens_at(void) {
  int dir = open("dir", O_RDONLY | O_DIRECTORY), file = open("file", O_RDONLY), path = open("dir", O_PATH);
  int path_file = open("file", O_PATH);
  char name[64];
  O(openat(dir, "a", O_RDWR | O_CREAT, 0600));
  O(openat(path, "a", O_RDWR));
  O(openat(dir, "../file", O_RDWR));
  O(openat(dir, ".", O_RDWR));
  O(openat(dir, "", O_RDWR));
  O(openat(file, "a", O_RDWR | O_CREAT, 0600));
  O(openat(file, "a", O_RDONLY));
  O(openat(file, "", O_RDWR));
  O(openat(file, ".", O_RDWR));
  O(openat(path_file, "a", O_RDWR));
  O(openat(-1, "a", O_RDWR));
  O(openat(999, "a", O_RDWR | O_CREAT, 0600));
  O(openat(999, "/dev/null", O_RDWR));
  O(openat(-1, "/missing-in-root", O_RDWR));
  O(openat(999, "", O_RDWR));
  O(openat(999, NULL, O_RDWR));
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  O(open(name, O_RDWR));
  O(open(name, O_RDWR | O_NOFOLLOW));
  O(open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
  O(open(name, O_WRONLY | O_APPEND));
  snprintf(name, sizeof name, "/proc/self/fd/%d", path_file);
  O(open(name, O_RDWR));
  snprintf(name, sizeof name, "/proc/self/fd/%d/a", dir);
  O(open(name, O_RDWR));
  snprintf(name, sizeof name, "/dev/fd/%d/a", dir);
  O(open(name, O_RDWR));
  O(open2(AT_FDCWD, "file", O_RDWR, 0, 0, sizeof(struct open_how)));
  O(open2(AT_FDCWD, "file", O_RDONLY, 0, 0, sizeof(struct open_how)));
  O(open2(AT_FDCWD, "file", O_RDWR, 0600, 0, sizeof(struct open_how)));
  O(open2(AT_FDCWD, "new-2", O_RDWR | O_CREAT, 0640, 0, sizeof(struct open_how)));
  O(open2(AT_FDCWD, "new-3", O_RDWR | O_CREAT, 0200640, 0, sizeof(struct open_how)));
  O(open2(AT_FDCWD, "file", O_RDWR, 0, 0, 8));
  O(open2(AT_FDCWD, "file", O_RDWR, 0, 1ull << 40, sizeof(struct open_how)));
  O(syscall(SYS_openat2, AT_FDCWD, "file", NULL, sizeof(struct open_how)));
  close(dir), close(file), close(path), close(path_file);
}

static void makes(void) {
  T(mkdir("d1", 0755));
  T(mkdir("d1", 0755));
  T(mkdir("d2/", 0700));
  T(mkdir("d3//", 07777));
  show("d3");
  T(mkdir("file", 0755));
  T(mkdir("file/", 0755));
  T(mkdir("file/x", 0755));
  T(mkdir("missing/x", 0755));
  T(mkdir(".", 0755));
  T(mkdir("..", 0755));
  T(mkdir("/", 0755));
  T(mkdir("d1/.", 0755));
  T(mkdir("d1/..", 0755));
  T(mkdir("d9/.", 0755));
  T(mkdir("", 0755));
  T(mkdir(NULL, 0755));
  T(mkdir(BAD, 0755));
  T(mkdir(long_name, 0755));
  T(mkdir(long_path, 0755));
  T(mkdir("dangling", 0755));
  T(mkdir("dangling/", 0755));
  T(mkdir("to-dir", 0755));
  T(mkdir("to-dir/", 0755));
  T(mkdir("self", 0755));
  T(mkdir("self/x", 0755));
  T(mkdir("loop-a/", 0755));
  T(mkdir("fixed/x", 0755));
  T(mkdir("fixed/inner", 0755));
  T(mkdir("sealed/x", 0755));
  T(mkdirat(-1, "x", 0755));
  T(mkdirat(999, "", 0755));
  T(mknod("fifo", S_IFIFO | 0644, 0));
  T(mknod("fifo", S_IFIFO | 0644, 0));
  T(mknod("fifo-dir/", S_IFIFO | 0644, 0));
  T(mknod("file/", S_IFIFO | 0644, 0));
  T(mknod("dir/", S_IFREG | 0644, 0));
  T(mknod(".", S_IFREG | 0644, 0));
  T(mknod("", S_IFREG | 0644, 0));
  T(mknod("plain", S_IFREG | 0640, 0));
  T(mknod("plain-0", 0600, 0));
  T(mknod("sock", S_IFSOCK | 0644, 0));
  T(mknod("as-dir", S_IFDIR | 0755, 0));
  T(mknod("odd", 0170000 | 0644, 0));
  T(mknod("dangling", S_IFREG | 0644, 0));
  show("plain"), show("plain-0"), show("sock"), show("fifo");
  O(open("fifo", O_WRONLY | O_NONBLOCK));
  O(open("fifo", O_RDONLY | O_NONBLOCK));
  O(open("fifo", O_RDWR));
  O(open("sock", O_RDWR));
  O(open("sock", O_RDONLY));
  T(symlink("x", "s1"));
  T(symlink("x", "s1"));
  T(symlink("x", "s2/"));
  T(symlink("x", "file/"));
  T(symlink("x", "dir/"));
  T(symlink("x", "dir"));
  T(symlink("x", "."));
  T(symlink("", "s3"));
  T(symlink("x", ""));
  T(symlink(NULL, "s3"));
  T(symlink("x", NULL));
  T(symlink(BAD, "file"));
  T(symlink(long_link, "s3"));
  T(symlink(long_link + 420, "s4"));
  T(symlink("x", long_name));
  T(symlink("x", "missing/s"));
  T(symlink("x", "dangling"));
  T(symlink("x", "fixed/s"));
  T(symlinkat("x", -1, "s5"));
  T(symlinkat("a\nb\\c ü", AT_FDCWD, "s6"));
  show("s6");
}

static void links(void) {
  int file = open("file", O_RDONLY), temp = open(".", O_TMPFILE | O_RDWR, 0640), excl = open(".", O_TMPFILE | O_RDWR | O_EXCL, 0600);
  char name[64];
  T(link("file", "l1"));
  T(link("file", "l1"));
  T(link("file", "file"));
  T(link("missing", "l2"));
  T(link("missing", "file"));
  T(link("dir", "l2"));
  T(link("dir", "file"));
  T(link(".", "l2"));
  T(link("file/", "l2"));
  T(link("dir/", "l2/"));
  T(link("file", "l2/"));
  T(link("file", "dir/"));
  T(link("file", "dir"));
  T(link("file", "."));
  T(link("file", "missing/l"));
  T(link("file", "file/l"));
  T(link("", "l2"));
  T(link("file", ""));
  T(link(NULL, "l2"));
  T(link("file", NULL));
  T(link("to-file", "l-link"));
  show("l-link");
  T(link("dangling", "l-dangling"));
  show("l-dangling");
  T(linkat(AT_FDCWD, "to-file", AT_FDCWD, "l-followed", AT_SYMLINK_FOLLOW));
  show("l-followed");
  T(linkat(AT_FDCWD, "dangling", AT_FDCWD, "l3", AT_SYMLINK_FOLLOW));
  T(linkat(AT_FDCWD, "file", AT_FDCWD, "l3", 0x8000));
  T(linkat(AT_FDCWD, "file", AT_FDCWD, "l3", AT_SYMLINK_NOFOLLOW));
  T(linkat(-1, "file", AT_FDCWD, "l3", 0));
  T(linkat(AT_FDCWD, "file", -1, "l3", 0));
  T(linkat(file, "", AT_FDCWD, "l-empty", AT_EMPTY_PATH));
  T(linkat(file, "", AT_FDCWD, "l-empty", 0));
  T(linkat(temp, "", AT_FDCWD, "l-temp", AT_EMPTY_PATH));
  snprintf(name, sizeof name, "/proc/self/fd/%d", temp);
  T(linkat(AT_FDCWD, name, AT_FDCWD, "l-temp-2", AT_SYMLINK_FOLLOW));
  show("l-temp-2");
  snprintf(name, sizeof name, "/proc/self/fd/%d", excl);
  T(linkat(AT_FDCWD, name, AT_FDCWD, "l-excl", AT_SYMLINK_FOLLOW));
  T(linkat(AT_FDCWD, name, AT_FDCWD, "l-excl", 0));
  T(link("file", "fixed/l"));
  T(link("sealed/inner", "l3"));
  T(link("locked", "l-locked"));
  T(link("fifo", "l-fifo"));
  T(link("file", long_name));
  close(file), close(temp), close(excl);
}

static void removes(void) {
  int dir = open("dir", O_RDONLY);
  put("u1", "x");
  T(unlink("u1"));
  T(unlink("u1"));
  T(unlink("dir"));
  T(unlink("dir/"));
  T(unlink("file/"));
  T(unlink("missing/"));
  T(unlink("."));
  T(unlink(".."));
  T(unlink("/"));
  T(unlink("dir/."));
  T(unlink("dir/.."));
  T(unlink(""));
  T(unlink(NULL));
  T(unlink(long_name));
  T(unlink("file/x"));
  T(unlink("missing/x"));
  T(unlink("to-dir/"));
  T(unlink("to-file/"));
  T(unlink("dangling/"));
  T(unlink("self/x"));
  T(unlink("fixed/inner"));
  T(unlink("fixed/missing"));
  T(unlink("sealed/inner"));
  T(unlink("l-link"));
  T(unlinkat(AT_FDCWD, "file", 0x8000));
  T(unlinkat(-1, "file", 0));
  T(unlinkat(dir, "a", 0));
  T(unlinkat(dir, "a", AT_REMOVEDIR));
  T(unlinkat(AT_FDCWD, "file", AT_REMOVEDIR));
  T(rmdir("full"));
  T(rmdir("empty/"));
  T(rmdir("file"));
  T(rmdir("file/"));
  T(rmdir("missing"));
  T(rmdir("missing/"));
  T(rmdir("."));
  T(rmdir(".."));
  T(rmdir("/"));
  T(rmdir("d1/."));
  T(rmdir("d1/.."));
  T(rmdir("full/."));
  T(rmdir("full/.."));
  T(rmdir(""));
  T(rmdir(NULL));
  T(rmdir("to-dir"));
  T(rmdir("to-dir/"));
  T(rmdir("dangling"));
  T(rmdir("self/"));
  T(rmdir("fixed/inner"));
  T(rmdir("d1"));
  close(dir);
}

static void renames(void) {
  put("r1", "1");
  put("r2", "22");
  mkdir("rd1", 0755), mkdir("rd2", 0755), mkdir("rd3", 0755), mkdir("rd3/sub", 0755);
  put("rd3/inner", "x");
  int dir = open("rd1", O_RDONLY);
  T(rename("r1", "r3"));
  T(rename("r3", "r3"));
  T(rename("missing", "r4"));
  T(rename("missing", "missing"));
  T(rename("r2", "rd1"));
  T(rename("rd1", "r2"));
  T(rename("rd1", "rd3"));
  T(rename("rd3", "rd3/sub/x"));
  T(rename("rd3", "rd3/sub"));
  T(rename("rd3/sub", "rd3"));
  T(rename("rd3", "rd3"));
  T(rename("rd1", "rd2"));
  T(rename("rd2/", "rd1/"));
  T(rename("rd1/", "rd2"));
  T(rename("rd2", "rd1/"));
  T(rename("r2/", "r4"));
  T(rename("r2", "r4/"));
  T(rename("r2", "rd1/"));
  T(rename("to-dir/", "r4"));
  T(rename("dangling/", "r4"));
  T(rename("r2", "dangling/"));
  T(rename("rd1", "dangling/"));
  T(rename(".", "r4"));
  T(rename("..", "r4"));
  T(rename("/", "r4"));
  T(rename("r2", "."));
  T(rename("rd1", "."));
  T(rename("rd1", ".."));
  T(rename("rd1/.", "r4"));
  T(rename("rd3/..", "r4"));
  T(rename("missing", "."));
  T(rename("", "r4"));
  T(rename("r2", ""));
  T(rename("", ""));
  T(rename(NULL, "r4"));
  T(rename("r2", NULL));
  T(rename("missing", NULL));
  T(rename(BAD, BAD));
  T(rename(long_name, "r4"));
  T(rename("r2", long_name));
  T(rename("r2", "missing/x"));
  T(rename("r2", "file/x"));
  T(rename("file/x", "r4"));
  T(rename("file/x", "missing/x"));
  T(rename("self/x", "r4"));
  T(rename("r2", "fixed/x"));
  T(rename("fixed/inner", "r4"));
  T(rename("sealed/inner", "r4"));
  T(rename("r2", "sealed/x"));
  T(rename("sealed", "sealed-2"));
  T(rename("sealed-2", "sealed"));
  T(rename("r2", "to-file"));
  show("to-file");
  T(unlink("to-file"));
  T(symlink("file", "to-file"));
  T(rename("to-file", "r-link"));
  T(rename("r-link", "to-file"));
  T(rename("l1", "file"));
  show("file");
  put("r2", "22");
  T(renameat(-1, "r2", AT_FDCWD, "r4"));
  T(renameat(AT_FDCWD, "r2", -1, "r4"));
  T(renameat(AT_FDCWD, "r2", dir, "r4"));
  T(renameat(dir, "r4", AT_FDCWD, "r2"));
  T(renameat2(AT_FDCWD, "r2", AT_FDCWD, "r3", RENAME_NOREPLACE));
  T(renameat2(AT_FDCWD, "r2", AT_FDCWD, "r5", RENAME_NOREPLACE));
  T(renameat2(AT_FDCWD, "r5", AT_FDCWD, "r3", RENAME_EXCHANGE));
  show("r3"), show("r5");
  T(renameat2(AT_FDCWD, "r5", AT_FDCWD, "rd1", RENAME_EXCHANGE));
  show("r5"), show("rd1");
  T(renameat2(AT_FDCWD, "r5", AT_FDCWD, "missing", RENAME_EXCHANGE));
  T(renameat2(AT_FDCWD, "missing", AT_FDCWD, "r5", RENAME_NOREPLACE));
  T(renameat2(AT_FDCWD, "rd3", AT_FDCWD, "rd3/sub", RENAME_EXCHANGE));
  T(renameat2(AT_FDCWD, "r5", AT_FDCWD, "r6", RENAME_EXCHANGE | RENAME_NOREPLACE));
  T(renameat2(AT_FDCWD, "r5", AT_FDCWD, "r6", 64));
  T(renameat2(AT_FDCWD, "r5", AT_FDCWD, ".", RENAME_NOREPLACE));
  T(renameat2(AT_FDCWD, "r5", AT_FDCWD, "/", RENAME_NOREPLACE));
  T(renameat2(AT_FDCWD, "r3", AT_FDCWD, "file/", RENAME_NOREPLACE));
  T(renameat2(AT_FDCWD, "r3", AT_FDCWD, "r6/", RENAME_NOREPLACE));
  close(dir);
}

static void attributes(void) {
  int file = open("file", O_RDWR), read_only = open("file", O_RDONLY), path = open("file", O_PATH), dir = open("dir", O_RDONLY);
  struct timespec old[2] = {{1000, 5}, {2000, 6}}, now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}}, omit[2] = {{0, UTIME_OMIT}, {0, UTIME_OMIT}};
  struct timespec half[2] = {{0, UTIME_OMIT}, {3000, 7}}, wrong[2] = {{0, 1000000000}, {0, 0}}, minus[2] = {{-5, 0}, {-5, 999999999}};
  struct timeval tv[2] = {{4000, 1}, {5000, 2}}, bad_tv[2] = {{1, 1000000}, {1, -1}};
  struct utimbuf buf = {6000, 7000};
  T(chmod("file", 0600));
  T(chmod("file", 01777));
  show("file");
  T(chmod("file", 0644 | 0200000));
  T(chmod("dir", 02755));
  show("dir");
  T(chmod("dir", 0755));
  T(chmod("dir/", 01755));
  T(chmod(".", 0755));
  T(chmod("dir/..", 0755));
  T(chmod("missing", 0600));
  T(chmod("file/", 0600));
  T(chmod("file/x", 0600));
  T(chmod("", 0600));
  T(chmod(NULL, 0600));
  T(chmod("dangling", 0600));
  T(chmod("self", 0600));
  T(chmod("to-file", 0640));
  show("file");
  T(chmod("sealed/inner", 0600));
  T(fchmod(file, 0604));
  T(fchmod(path, 0600));
  T(fchmod(-1, 0600));
  T(fchmod(read_only, 0644));
  T(fchmodat(AT_FDCWD, "to-file", 0600, AT_SYMLINK_NOFOLLOW));
  T(fchmodat(dir, "../file", 0644, 0));
  T(fchmodat(-1, "file", 0644, 0));
  T(syscall(SYS_fchmodat, AT_FDCWD, "", 0644));
  T(syscall(452, AT_FDCWD, "file", 0640, 0));
  T(syscall(452, AT_FDCWD, "to-file", 0640, AT_SYMLINK_NOFOLLOW));
  T(syscall(452, file, "", 0644, AT_EMPTY_PATH));
  T(syscall(452, file, "", 0644, 0));
  T(syscall(452, AT_FDCWD, "file", 0644, 0x8000));
  T(chown("file", -1, -1));
  T(chown("file", getuid(), getgid()));
  T(chown("file", getuid() + 1, -1));
  T(chown("file", -1, 12345));
  T(chown("missing", -1, -1));
  T(chown("dangling", -1, -1));
  T(chown("file/", -1, -1));
  T(chown("", -1, -1));
  T(chown(NULL, -1, -1));
  T(lchown("dangling", -1, -1));
  T(lchown("dangling", getuid(), getgid()));
  T(fchown(file, -1, getgid()));
  T(fchown(path, -1, -1));
  T(fchown(-1, -1, -1));
  T(fchownat(file, "", -1, -1, AT_EMPTY_PATH));
  T(fchownat(file, "", -1, -1, 0));
  T(fchownat(AT_FDCWD, "", -1, -1, AT_EMPTY_PATH));
  T(fchownat(AT_FDCWD, "file", -1, -1, 0x8000));
  T(fchownat(AT_FDCWD, "to-file", -1, -1, AT_SYMLINK_NOFOLLOW));
  T(utimensat(AT_FDCWD, "file", old, 0));
  show("file");
  T(utimensat(AT_FDCWD, "file", omit, 0));
  show("file");
  T(utimensat(AT_FDCWD, "file", now, 0));
  show("file");
  T(utimensat(AT_FDCWD, "file", half, 0));
  show("file");
  T(utimensat(AT_FDCWD, "file", NULL, 0));
  show("file");
  T(utimensat(AT_FDCWD, "file", wrong, 0));
  T(utimensat(AT_FDCWD, "file", minus, 0));
  T(utimensat(AT_FDCWD, "file", (void *)BAD, 0));
  T(utimensat(AT_FDCWD, "missing", omit, 0));
  T(utimensat(AT_FDCWD, "missing", old, 0));
  T(utimensat(AT_FDCWD, "missing", wrong, 0));
  T(utimensat(AT_FDCWD, "to-file", old, AT_SYMLINK_NOFOLLOW));
  show("to-file");
  T(utimensat(AT_FDCWD, "dangling", old, 0));
  T(utimensat(AT_FDCWD, "dangling", old, AT_SYMLINK_NOFOLLOW));
  T(utimensat(AT_FDCWD, "", old, 0));
  T(utimensat(AT_FDCWD, "file", old, 0x8000));
  T(syscall(SYS_utimensat, AT_FDCWD, NULL, old, 0));
  T(syscall(SYS_utimensat, file, NULL, old, 0));
  T(syscall(SYS_utimensat, file, NULL, old, AT_SYMLINK_NOFOLLOW));
  T(syscall(SYS_utimensat, path, NULL, old, 0));
  T(syscall(SYS_utimensat, -1, NULL, old, 0));
  T(syscall(SYS_utimensat, -1, NULL, omit, 0));
  T(utimensat(file, "", old, AT_EMPTY_PATH));
  T(utimensat(-1, "file", old, 0));
  T(utimensat(AT_FDCWD, "fixed", old, 0));
  T(utimensat(AT_FDCWD, "read-only", NULL, 0));
  T(futimens(read_only, now));
  T(futimens(path, now));
  T(utimes("file", tv));
  show("file");
  T(utimes("file", bad_tv));
  T(utimes("file", NULL));
  T(utimes("missing", tv));
  T(utimes(NULL, tv));
  T(syscall(SYS_utimes, "file/", tv));
  T(utime("file", &buf));
  show("file");
  T(utime("file", NULL));
  T(utime("", &buf));
  T(syscall(SYS_utime, "file", BAD));
  T(syscall(SYS_futimesat, AT_FDCWD, "file", tv));
  T(syscall(SYS_futimesat, file, NULL, tv));
  T(lutimes("to-file", tv));
  T(truncate("file", 100));
  show("file");
  T(truncate("file", 3));
  show("file");
  T(truncate("file", -1));
  T(truncate("missing", 0));
  T(truncate("missing", -1));
  T(truncate("dir", 0));
  T(truncate("file/", 0));
  T(truncate("", 0));
  T(truncate(NULL, 0));
  T(truncate("dangling", 0));
  T(truncate("to-file", 5));
  T(truncate("fifo", 0));
  T(truncate("read-only", 0));
  T(truncate("locked", 0));
  T(truncate("self", 0));
  T(truncate("file", 1L << 62));
  T(ftruncate(file, 7));
  T(ftruncate(read_only, 7));
  T(ftruncate(path, 7));
  T(ftruncate(dir, 7));
  T(ftruncate(-1, 7));
  T(fallocate(file, 0, 0, 4096));
  T(fallocate(read_only, 0, 0, 4096));
  T(access("file", W_OK));
  T(access("read-only", W_OK));
  T(access("locked", R_OK));
  T(access(".", W_OK));
  T(access("missing", W_OK));
  T(access("file/", F_OK));
  T(access("file", 99));
  T(access("/usr/bin/env", X_OK));
  T(faccessat(AT_FDCWD, "to-file", W_OK, AT_SYMLINK_NOFOLLOW));
  close(file), close(read_only), close(path), close(dir);
}

static void extended(void) {
  int file = open("file", O_RDWR), path = open("file", O_PATH);
  char out[64];
  static char big[70000];
  T(setxattr("file", "user.a", "value", 5, 0));
  T(setxattr("file", "user.a", "value", 5, XATTR_CREATE));
  T(setxattr("file", "user.b", "value", 5, XATTR_REPLACE));
  T(setxattr("file", "user.a", "v", 1, XATTR_REPLACE));
  T(setxattr("file", "user.a", "v", 1, XATTR_REPLACE | XATTR_CREATE));
  T(setxattr("file", "user.a", "v", 1, 77));
  T(setxattr("file", "user.e", NULL, 0, 0));
  T(setxattr("file", "user.e", "", 0, 0));
  T(setxattr("file", "user.n", NULL, 5, 0));
  T(setxattr("file", "user.n", BAD, 5, 0));
  T(setxattr("file", "user.big", big, 65537, 0));
  T(setxattr("file", "user.big", big, 65536, 0));
  T(setxattr("file", "", "v", 1, 0));
  T(setxattr("file", "user.", "v", 1, 0));
  T(setxattr("file", "nonsense", "v", 1, 0));
  T(setxattr("file", "trusted.a", "v", 1, 0));
  T(setxattr("file", "security.a", "v", 1, 0));
  T(setxattr("file", "security.capability", "v", 1, 0));
  T(setxattr("file", "system.posix_acl_access", "v", 1, 0));
  T(setxattr("file", long_name, "v", 1, 0));
  T(setxattr("file", NULL, "v", 1, 0));
  T(setxattr("missing", "user.a", "v", 1, 0));
  T(setxattr("file/", "user.a", "v", 1, 0));
  T(setxattr("", "user.a", "v", 1, 0));
  T(setxattr("dangling", "user.a", "v", 1, 0));
  T(setxattr("to-file", "user.through", "v", 1, 0));
  T(lsetxattr("to-file", "user.a", "v", 1, 0));
  T(lsetxattr("dangling", "user.a", "v", 1, 0));
  T(setxattr("dir", "user.d", "v", 1, 0));
  T(setxattr("fifo", "user.d", "v", 1, 0));
  T(setxattr("read-only", "user.d", "v", 1, 0));
  T(fsetxattr(file, "user.f", "v", 1, 0));
  T(fsetxattr(path, "user.f", "v", 1, 0));
  T(fsetxattr(-1, "user.f", "v", 1, 0));
  T(getxattr("file", "user.a", out, sizeof out));
  T(getxattr("file", "user.a", out, 0));
  T(getxattr("file", "user.through", out, sizeof out));
  T(getxattr("file", "user.missing", out, sizeof out));
  T(getxattr("missing", "user.a", out, sizeof out));
  T(listxattr("file", out, 1));
  T(listxattr("file", out, sizeof out));
  T(removexattr("file", "user.a"));
  T(removexattr("file", "user.a"));
  T(removexattr("file", ""));
  T(removexattr("file", NULL));
  T(removexattr("missing", "user.a"));
  T(removexattr("to-file", "user.through"));
  T(lremovexattr("to-file", "user.a"));
  T(fremovexattr(file, "user.f"));
  T(fremovexattr(path, "user.f"));
  T(fremovexattr(-1, "user.f"));
  close(file), close(path);
}

static struct sockaddr_un *name_socket(const char *path) {
  static struct sockaddr_un address;
  memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  strncpy(address.sun_path, path, sizeof address.sun_path);
  return &address;
}

#define ADDR(path) (struct sockaddr *)name_socket(path), sizeof(struct sockaddr_un)

static void sockets(void) {
  int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0), extra = socket(AF_UNIX, SOCK_STREAM, 0);
  int file = open("file", O_RDONLY);
  struct sockaddr_un got;
  socklen_t len = sizeof got;
  char full[109];
  memset(full, 'f', 108), full[108] = 0;
  T(bind(server, ADDR("un")));
  show("un");
  T(bind(server, ADDR("un-2")));
  T(bind(extra, ADDR("un")));
  T(bind(extra, ADDR("file")));
  T(bind(extra, ADDR("dir")));
  T(bind(extra, ADDR("new/")));
  T(bind(extra, ADDR("missing/un")));
  T(bind(extra, ADDR("file/un")));
  T(bind(extra, ADDR("dangling")));
  T(bind(extra, ADDR("fixed/un")));
  T(bind(extra, ADDR(".")));
  T(bind(extra, (struct sockaddr *)name_socket("x"), 1));
  T(bind(extra, (struct sockaddr *)name_socket("x"), 500));
  T(bind(extra, (struct sockaddr *)BAD, sizeof got));
  T(bind(extra, NULL, 0));
  T(bind(file, ADDR("un-3")));
  T(bind(-1, ADDR("un-3")));
  T(bind(999, ADDR("un-3")));
  T(bind(extra, ADDR(full)));
  show(full);
  T(connect(client, ADDR("un")));
  T(listen(server, 5));
  T(connect(client, ADDR("missing")));
  T(connect(client, ADDR("file")));
  T(connect(client, ADDR("dir")));
  T(connect(client, ADDR("file/x")));
  T(connect(client, ADDR("un/")));
  T(connect(client, ADDR("dangling")));
  T(connect(client, (struct sockaddr *)name_socket("un"), 1));
  T(connect(client, (struct sockaddr *)name_socket("un"), 500));
  T(connect(client, (struct sockaddr *)BAD, sizeof got));
  T(connect(file, ADDR("un")));
  T(connect(-1, ADDR("un")));
  T(symlink("un", "to-un"));
  T(connect(client, ADDR("to-un")));
  T(connect(client, ADDR("un")));
  T(getpeername(client, (struct sockaddr *)&got, &len));
  printf("    peer %d '%s' %d\n", got.sun_family, got.sun_path, (int)len);
  len = sizeof got;
  memset(&got, 0, sizeof got);
  T(getsockname(server, (struct sockaddr *)&got, &len));
  printf("    name %d '%s' %d\n", got.sun_family, got.sun_path, (int)len);
  int accepted = accept(server, NULL, NULL);
  struct ucred cred;
  len = sizeof cred;
  T(getsockopt(client, SOL_SOCKET, SO_PEERCRED, &cred, &len));
  printf("    peer is self: %d %d\n", cred.pid == getpid(), cred.uid == getuid());
  len = sizeof cred;
  T(getsockopt(accepted, SOL_SOCKET, SO_PEERCRED, &cred, &len));
  printf("    other is self: %d\n", cred.uid == getuid()); /* not its pid: the broker connects */
  T(unlink("un"));
  close(server), close(client), close(extra), close(file), close(accepted);
}

static void places(void) {
  static char buffer[5000];
  struct statfs fs;
  T(chdir("file"));
  T(chdir("missing"));
  T(chdir("sealed"));
  T(chdir("to-dir"));
  T(getcwd(buffer, 3) ? 0 : -1);
  T(mkdir("../gone", 0755));
  T(chdir("../gone"));
  T(rmdir("../gone"));
  T(getcwd(buffer, sizeof buffer) ? 0 : -1);
  T(mkdir("x", 0755));
  O(open("x", O_RDWR | O_CREAT, 0600));
  O(open(".", O_RDONLY));
  T(unlink("x"));
  T(symlink("a", "x"));
  T(rename("x", "y"));
  T(chdir(".."));
  T(umask(0));
  O(open("u-0", O_RDWR | O_CREAT, 0666));
  T(umask(077));
  O(open("u-077", O_RDWR | O_CREAT, 0666));
  T(mkdir("ud-077", 0777));
  T(mknod("uf-077", S_IFIFO | 0666, 0));
  T(umask(0777));
  O(open("u-0777", O_RDWR | O_CREAT, 0666));
  T(mkdir("ud-0777", 0777));
  T(umask(022));
  show("u-0"), show("u-077"), show("ud-077"), show("uf-077"), show("u-0777"), show("ud-0777");
  T(statfs(".", &fs));
  T(statfs("missing", &fs));
  T(readlink("to-dir", buffer, sizeof buffer));
  T(readlink("file", buffer, sizeof buffer));
  T(readlink("missing", buffer, sizeof buffer));
  T(flock(-1, LOCK_EX));
  T(chmod("sealed", 0755));
  T(chmod("ud-0777", 0755));
}

int main(void) {
  char cwd[4096];
  setvbuf(stdout, NULL, _IOLBF, 0);
  umask(022);
  if (!getcwd(cwd, sizeof cwd)) return 1;
  set_up();
  opens();
  opens_at();
  makes();
  links();
  removes();
  renames();
  attributes();
  extended();
  sockets();
  places();
  chmod("locked", 0600);
  puts("done");
  return 0;
}
