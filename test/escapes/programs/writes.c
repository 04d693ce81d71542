/* Changing what lies outside the workspace: base/outside/target.txt holds "original", base/outside/empty is an
 * empty directory, base/outside/planted does not exist. The workspace itself is writable. */
#include "attack.h"

#define TARGET "outside/target.txt"
#define PLANTED "outside/planted"

static void by_open(void) { put_file(at(TARGET), token); }

static void by_append(void) {
    int fd = open(at(TARGET), O_WRONLY | O_APPEND);
    if (fd < 0) fail("open");
    put(fd, token);
}

static void by_create(void) { put_file(at(PLANTED), token); }

static void by_shell(void) {
    execlp("sh", "sh", "-c", "echo \"$1\" > ../" TARGET, "sh", token, (char *)NULL);
    fail("exec");
}

static void by_truncate(void) {
    if (truncate(at(TARGET), 1)) fail("truncate");
}

static void by_o_trunc(void) {
    /* Read-only with O_TRUNC: the kernel truncates although nothing may be written. */
    if (open(at(TARGET), O_RDONLY | O_TRUNC) < 0) fail("open");
}

/* Readable, so a descriptor can be had; reopening it for writing must not be. */
static void by_reopen(void) {
    int fd = open(at(TARGET), O_RDONLY);
    char path[64];
    if (fd < 0) fail("open");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    put_file(path, token);
}

static void by_opath_reopen(void) {
    int fd = open(at(TARGET), O_PATH);
    char path[64];
    if (fd < 0) fail("open");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    put_file(path, token);
}

static void by_new_symlink(void) {
    if (symlink(at(TARGET), "link")) fail("symlink");
    put_file("link", token);
}

static void by_hard_link(void) {
    if (link(at(TARGET), "hard")) fail("link");
    put_file("hard", token);
}

static void by_rename_out(void) {
    put_file("mine", token);
    if (rename("mine", at(PLANTED))) fail("rename");
}

static void by_rename_over(void) {
    put_file("mine", token);
    if (rename("mine", at(TARGET))) fail("rename");
}

static void by_rename_in(void) {
    if (rename(at(TARGET), "stolen")) fail("rename");
}

static void by_exchange(void) {
    put_file("mine", token);
    if (renameat2(AT_FDCWD, "mine", AT_FDCWD, at(TARGET), RENAME_EXCHANGE)) fail("renameat2");
}

static void by_link_out(void) {
    put_file("mine", token);
    if (link("mine", at(PLANTED))) fail("link");
}

static void by_symlink_out(void) {
    if (symlink(token, at(PLANTED))) fail("symlink");
}

static void by_mknod(void) {
    if (mknod(at(PLANTED), S_IFIFO | 0600, 0)) fail("mknod");
}

static void by_bind_socket(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", at(PLANTED));
    if (bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address)) fail("bind");
}

static void by_mkdir(void) {
    if (mkdir(at(PLANTED), 0755)) fail("mkdir");
}

static void by_unlink(void) {
    if (unlink(at(TARGET))) fail("unlink");
}

static void by_rmdir(void) {
    if (rmdir(at("outside/empty"))) fail("rmdir");
}

static void by_tmpfile(void) {
    int fd = open(at("outside"), O_TMPFILE | O_RDWR, 0644);
    char path[64];
    if (fd < 0) fail("O_TMPFILE");
    put(fd, token);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, AT_FDCWD, at(PLANTED), AT_SYMLINK_FOLLOW)) fail("linkat");
}

static void by_tmpfile_from_inside(void) {
    int fd = open(".", O_TMPFILE | O_RDWR, 0644);
    char path[64];
    if (fd < 0) fail("O_TMPFILE");
    put(fd, token);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, AT_FDCWD, at(PLANTED), AT_SYMLINK_FOLLOW)) fail("linkat");
}

static void by_fallocate(void) {
    int fd = open(at(TARGET), O_WRONLY);
    if (fd < 0) fail("open");
    if (fallocate(fd, 0, 0, 65536)) fail("fallocate");
}

static void by_mmap(void) {
    int fd = open(at(TARGET), O_RDWR);
    if (fd < 0) fail("open");
    char *map = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) fail("mmap");
    memcpy(map, "CHANGED!", 8);
}

static void by_dirfd(void) {
    int dir = open(at("outside"), O_PATH | O_DIRECTORY);
    if (dir < 0) fail("O_PATH");
    int fd = openat(dir, "planted", O_WRONLY | O_CREAT, 0644);
    if (fd < 0) fail("openat");
    put(fd, token);
}

static void by_proc_root(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/self/root%s", at(TARGET));
    put_file(path, token);
}

static void by_handle(void) {
    struct { struct file_handle handle; unsigned char room[MAX_HANDLE_SZ]; } h;
    int mount_id;
    h.handle.handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(AT_FDCWD, at(TARGET), &h.handle, &mount_id, 0)) fail("name_to_handle_at");
    int fd = open_by_handle_at(open(".", O_RDONLY | O_DIRECTORY), &h.handle, O_WRONLY | O_TRUNC);
    if (fd < 0) fail("open_by_handle_at");
    put(fd, token);
}

static void by_bind_mount(void) {
    become_root_in_userns(CLONE_NEWNS);
    mkdir("mnt", 0755);
    if (mount(at("outside"), "mnt", NULL, MS_BIND, NULL)) fail("mount");
    put_file("mnt/target.txt", token);
}

/* What is read-only by a mount flag may be made writable again. */
static void by_remount(void) {
    become_root_in_userns(CLONE_NEWNS);
    mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL);
    mount(NULL, at("outside"), NULL, MS_REMOUNT | MS_BIND, NULL);
    put_file(at(TARGET), token);
}

/* mount_setattr over the whole tree. */
static void by_mount_setattr(void) {
    struct { uint64_t set, clear, propagation, userns; } attr = {0, 1, 0, 0};
    become_root_in_userns(CLONE_NEWNS);
    syscall(442, AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof attr);
    put_file(at(TARGET), token);
}

static void home_bashrc(void) {
    int fd = open(at("home/.bashrc"), O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (fd < 0) fail("open");
    put(fd, token);
}

static void home_gitconfig(void) {
    execlp("git", "git", "config", "--global", "alias.st", token, (char *)NULL);
    fail("exec");
}

static void home_authorized_keys(void) { put_file(at("home/.ssh/authorized_keys"), token); }

static void host_tmp(void) { put_file(conf("host_tmp_plant"), token); }

static void dev_shm(void) { put_file(conf("shm_plant"), token); }

/* Kernel settings; each adds one to a number and the harness puts it back. */
static void bump(const char *path) {
    char text[64] = "";
    int fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0) fail(path);
    close(fd);
    snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
    fd = open(path, O_WRONLY);
    if (fd < 0) fail(path);
    put(fd, text);
}

static void proc_sys(void) { bump("/proc/sys/kernel/printk_ratelimit_burst"); }

static void sys(void) { bump("/sys/kernel/mm/transparent_hugepage/khugepaged/alloc_sleep_millisecs"); }

static void cgroup(void) {
    if (mkdir(conf("cgroup_plant"), 0755)) fail("mkdir");
}

static void kmsg(void) {
    int fd = open("/dev/kmsg", O_WRONLY);
    if (fd < 0) fail("/dev/kmsg");
    put(fd, token);
    put(fd, "\n");
}

const struct attack WRITES[] = {
    {"write-open", by_open},
    {"write-append", by_append},
    {"write-create", by_create},
    {"write-shell", by_shell},
    {"write-truncate", by_truncate},
    {"write-o-trunc", by_o_trunc},
    {"write-reopen", by_reopen},
    {"write-opath-reopen", by_opath_reopen},
    {"write-new-symlink", by_new_symlink},
    {"write-hard-link", by_hard_link},
    {"write-rename-out", by_rename_out},
    {"write-rename-over", by_rename_over},
    {"write-rename-in", by_rename_in},
    {"write-exchange", by_exchange},
    {"write-link-out", by_link_out},
    {"write-symlink-out", by_symlink_out},
    {"write-mknod", by_mknod},
    {"write-bind-socket", by_bind_socket},
    {"write-mkdir", by_mkdir},
    {"write-unlink", by_unlink},
    {"write-rmdir", by_rmdir},
    {"write-tmpfile", by_tmpfile},
    {"write-tmpfile-inside", by_tmpfile_from_inside},
    {"write-fallocate", by_fallocate},
    {"write-mmap", by_mmap},
    {"write-dirfd", by_dirfd},
    {"write-proc-root", by_proc_root},
    {"write-handle", by_handle},
    {"write-bind-mount", by_bind_mount},
    {"write-remount", by_remount},
    {"write-mount-setattr", by_mount_setattr},
    {"write-home-bashrc", home_bashrc},
    {"write-home-gitconfig", home_gitconfig},
    {"write-home-authorized-keys", home_authorized_keys},
    {"write-host-tmp", host_tmp},
    {"write-dev-shm", dev_shm},
    {"write-proc-sys", proc_sys},
    {"write-sys", sys},
    {"write-cgroup", cgroup},
    {"write-kmsg", kmsg},
    {NULL, NULL},
};
