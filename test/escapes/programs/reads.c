/* Reading base/outside/secret.txt, which no policy of these rows allows. */
#include "attack.h"
#include <dirent.h>
#include <sys/sysmacros.h>

#define SECRET "outside/secret.txt"

static void direct(void) { print_file(at(SECRET)); }

static void dot_dot(void) { print_file("../" SECRET); }

static void by_new_symlink(void) {
    if (symlink(at(SECRET), "link")) fail("symlink");
    print_file("link");
}

/* The repository came with a symlink that leads out. */
static void by_old_symlink(void) { print_file("hostile-link"); }

static void by_symlinked_directory(void) { print_file("hostile-dir/secret.txt"); }

static void by_proc_self_root(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/self/root%s", at(SECRET));
    print_file(path);
}

static void by_proc_task_root(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/thread-self/root%s", at(SECRET));
    print_file(path);
}

/* The root directory of any other process that can be seen. */
static void by_other_root(void) {
    DIR *proc = opendir("/proc");
    char path[PATH_MAX];
    struct dirent *entry;
    if (!proc) fail("/proc");
    while ((entry = readdir(proc))) {
        if (strtol(entry->d_name, NULL, 10) <= 0) continue;
        snprintf(path, sizeof path, "/proc/%s/root%s", entry->d_name, at(SECRET));
        int fd = open(path, O_RDONLY);
        if (fd < 0) continue;
        print_descriptor(fd);
        return;
    }
    errno = EACCES;
    fail("no usable root");
}

/* The victim's working directory is base/outside. */
static void by_victim_cwd(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%ld/cwd/secret.txt", conf_number("pid"));
    print_file(path);
}

static void by_own_cwd(void) { print_file("/proc/self/cwd/../" SECRET); }

/* The victim has the secret open. */
static void by_victim_descriptor(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%ld/fd/%ld", conf_number("pid"), conf_number("secret_fd"));
    print_file(path);
}

/* O_PATH needs no right to read; opening it again through /proc might inherit that. */
static void by_opath_reopen(void) {
    int fd = open(at(SECRET), O_PATH);
    if (fd < 0) fail("O_PATH");
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    print_file(path);
}

static void by_opath_directory(void) {
    int dir = open(at("outside"), O_PATH | O_DIRECTORY);
    if (dir < 0) fail("O_PATH");
    int fd = openat(dir, "secret.txt", O_RDONLY);
    if (fd < 0) fail("openat");
    print_descriptor(fd);
}

static void by_hard_link(void) {
    if (link(at(SECRET), "hard")) fail("link");
    print_file("hard");
}

static void by_chdir(void) {
    if (chdir(at("outside"))) fail("chdir");
    print_file("secret.txt");
}

static void by_openat2(void) {
    struct { uint64_t flags, mode, resolve; } how = {O_RDONLY, 0, 0};
    int fd = (int)syscall(437, AT_FDCWD, at(SECRET), &how, sizeof how);
    if (fd < 0) fail("openat2");
    print_descriptor(fd);
}

/* File handles name an inode, not a path, and skip every directory on the way. */
static void by_handle(void) {
    struct { struct file_handle handle; unsigned char room[MAX_HANDLE_SZ]; } h;
    int mount_id;
    h.handle.handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(AT_FDCWD, at(SECRET), &h.handle, &mount_id, 0)) fail("name_to_handle_at");
    int mount_fd = open(".", O_RDONLY | O_DIRECTORY);
    int fd = open_by_handle_at(mount_fd, &h.handle, O_RDONLY);
    if (fd < 0) fail("open_by_handle_at");
    print_descriptor(fd);
}

static void by_child_program(void) {
    execlp("cat", "cat", at(SECRET), (char *)NULL);
    fail("exec cat");
}

/* Names in a directory are information too: one of them holds the secret. */
static void by_listing(void) {
    DIR *dir = opendir(at("outside/names"));
    if (!dir) fail("opendir");
    for (struct dirent *entry; (entry = readdir(dir));) puts(entry->d_name);
}

static void by_chroot(void) {
    become_root_in_userns(0 | CLONE_NEWNS);
    if (chroot(at("outside"))) fail("chroot");
    print_file("/secret.txt");
}

static void by_bind_mount(void) {
    become_root_in_userns(CLONE_NEWNS);
    mkdir("mnt", 0755);
    if (mount(at("outside"), "mnt", NULL, MS_BIND, NULL)) fail("mount");
    print_file("mnt/secret.txt");
}

static void by_overlay(void) {
    become_root_in_userns(CLONE_NEWNS);
    mkdir("mnt", 0755), mkdir("empty", 0755);
    char options[PATH_MAX * 2];
    snprintf(options, sizeof options, "lowerdir=%s:empty", at("outside"));
    if (mount("overlay", "mnt", "overlay", 0, options)) fail("mount");
    print_file("mnt/secret.txt");
}

static void by_open_tree(void) {
    become_root_in_userns(CLONE_NEWNS);
    int tree = (int)syscall(428, AT_FDCWD, at("outside"), 1 | O_CLOEXEC);
    if (tree < 0) fail("open_tree");
    int fd = openat(tree, "secret.txt", O_RDONLY);
    if (fd < 0) fail("openat");
    print_descriptor(fd);
}

/* The root of the file system itself, from a block device node made here. Prints what the superblock holds. */
static void by_block_device(void) {
    unsigned char block[64];
    struct stat st;
    if (stat(".", &st)) fail("stat");
    if (mknod("disk", S_IFBLK | 0600, st.st_dev)) fail("mknod");
    int fd = open("disk", O_RDONLY);
    if (fd < 0) fail("open device");
    if (pread(fd, block, sizeof block, 1024 + 0x68) != sizeof block) fail("pread");
    printf("superblock ");
    for (int i = 0; i < 16; i++) printf("%02x", block[i]);
    puts("");
}

/* Any other device: the kernel's log, by a node of our own. */
static void by_device_node(void) {
    char text[512];
    if (mknod("log", S_IFCHR | 0600, makedev(1, 11))) fail("mknod");
    int fd = open("log", O_RDONLY | O_NONBLOCK);
    if (fd < 0 || read(fd, text, sizeof text) <= 0) fail("open device");
    puts("got a device");
}

static void from_host_tmp(void) { print_file(conf("host_tmp")); }

static void from_dev_shm(void) { print_file(conf("shm_file")); }

static void inherited_file(void) { print_descriptor(9); }

static void inherited_directory(void) {
    int fd = openat(9, "secret.txt", O_RDONLY);
    if (fd < 0) fail("openat");
    print_descriptor(fd);
}

/* A shell tells what it could not make sense of. */
static void by_exec_as_script(void) {
    dup2(1, 2);
    execlp("sh", "sh", "-v", at(SECRET), (char *)NULL);
    fail("exec");
}

/* This program is a link in the workspace to one in a private directory. */
static void beside_program(void) { print_file(at("private/bin/secret")); }

const struct attack READS[] = {
    {"read-beside-program", beside_program},
    {"read-direct", direct},
    {"read-dot-dot", dot_dot},
    {"read-new-symlink", by_new_symlink},
    {"read-old-symlink", by_old_symlink},
    {"read-symlinked-directory", by_symlinked_directory},
    {"read-proc-self-root", by_proc_self_root},
    {"read-proc-thread-root", by_proc_task_root},
    {"read-proc-other-root", by_other_root},
    {"read-proc-victim-cwd", by_victim_cwd},
    {"read-proc-own-cwd", by_own_cwd},
    {"read-proc-victim-fd", by_victim_descriptor},
    {"read-opath-reopen", by_opath_reopen},
    {"read-opath-directory", by_opath_directory},
    {"read-hard-link", by_hard_link},
    {"read-chdir", by_chdir},
    {"read-openat2", by_openat2},
    {"read-handle", by_handle},
    {"read-child-program", by_child_program},
    {"read-listing", by_listing},
    {"read-chroot", by_chroot},
    {"read-bind-mount", by_bind_mount},
    {"read-overlay", by_overlay},
    {"read-open-tree", by_open_tree},
    {"read-block-device", by_block_device},
    {"read-device-node", by_device_node},
    {"read-host-tmp", from_host_tmp},
    {"read-dev-shm", from_dev_shm},
    {"read-inherited-file", inherited_file},
    {"read-inherited-directory", inherited_directory},
    {"read-script", by_exec_as_script},
    {NULL, NULL},
};
