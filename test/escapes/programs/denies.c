/* A deny inside an allow: base/home is allowed, base/home/.ssh is not (other rows: base/outside with one denied
 * entry, or a glob). */
#include "attack.h"

#define KEY "home/.ssh/id_rsa"

static void direct(void) { print_file(at(KEY)); }

static void by_proc_root(void) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/proc/self/root%s", at(KEY));
    print_file(path);
}

static void by_symlink(void) {
    if (symlink(at("home/.ssh"), at("home/link"))) fail("symlink");
    print_file(at("home/link/id_rsa"));
}

static void by_hard_link(void) {
    if (link(at(KEY), at("home/hard"))) fail("link");
    print_file(at("home/hard"));
}

static void by_hard_link_fd(void) {
    int fd = open(at(KEY), O_PATH);
    char path[64];
    if (fd < 0) fail("O_PATH");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, AT_FDCWD, at("home/hard"), AT_SYMLINK_FOLLOW)) fail("linkat");
    print_file(at("home/hard"));
}

static void by_rename(void) {
    if (rename(at("home/.ssh"), at("home/moved"))) fail("rename");
    print_file(at("home/moved/id_rsa"));
}

static void by_file_rename(void) {
    if (rename(at(KEY), at("home/moved"))) fail("rename");
    print_file(at("home/moved"));
}

/* outside/a/b/secret.txt is denied: move its grandparent, then the name no longer matches. */
static void by_parent_rename(void) {
    if (rename(at("outside/a"), at("outside/z"))) fail("rename");
    print_file(at("outside/z/b/secret.txt"));
}

/* The same without rights on the denied name: exchange the parent with another directory. */
static void by_parent_exchange(void) {
    mkdir(at("outside/z"), 0755);
    if (renameat2(AT_FDCWD, at("outside/a"), AT_FDCWD, at("outside/z"), RENAME_EXCHANGE)) fail("renameat2");
    print_file(at("outside/z/b/secret.txt"));
}

static void by_chdir(void) {
    if (chdir(at("home/.ssh"))) fail("chdir");
    print_file("id_rsa");
}

static void by_opath_reopen(void) {
    int fd = open(at(KEY), O_PATH);
    char path[64];
    if (fd < 0) fail("O_PATH");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    print_file(path);
}

/* What covers the denied entry may be a mount: take it off in a namespace of our own. */
static void by_umount(void) {
    become_root_in_userns(CLONE_NEWNS);
    umount2(at("home/.ssh"), MNT_DETACH);
    umount2(at(KEY), MNT_DETACH);
    print_file(at(KEY));
}

/* A non-recursive copy of the tree above it does not carry the cover along. */
static void by_open_tree(void) {
    become_root_in_userns(CLONE_NEWNS);
    int tree = (int)syscall(428, AT_FDCWD, at("home"), 1 | O_CLOEXEC);
    if (tree < 0) fail("open_tree");
    int fd = openat(tree, ".ssh/id_rsa", O_RDONLY);
    if (fd < 0) fail("openat");
    print_descriptor(fd);
}

static void by_bind(void) {
    become_root_in_userns(CLONE_NEWNS);
    mkdir(at("home/mnt"), 0755);
    if (mount(at("home"), at("home/mnt"), NULL, MS_BIND, NULL)) fail("mount");
    print_file(at("home/mnt/.ssh/id_rsa"));
}

static void by_handle(void) {
    struct { struct file_handle handle; unsigned char room[MAX_HANDLE_SZ]; } h;
    int mount_id;
    h.handle.handle_bytes = MAX_HANDLE_SZ;
    if (name_to_handle_at(AT_FDCWD, at(KEY), &h.handle, &mount_id, 0)) fail("name_to_handle_at");
    int fd = open_by_handle_at(open(at("home"), O_RDONLY | O_DIRECTORY), &h.handle, O_RDONLY);
    if (fd < 0) fail("open_by_handle_at");
    print_descriptor(fd);
}

/* The harness replaces, or makes, the denied entry from outside once this says "ready". */
static void after_replacement(void) {
    wait_for(at("work/go"));
    print_file(at("outside/entry"));
}

static void after_directory_replacement(void) {
    wait_for(at("work/go"));
    print_file(at("outside/dir/entry"));
}

/* A descriptor of the file is had before the harness puts another in its place: its name is then gone. */
static void hold_through_replacement(const char *path) {
    char link[64];
    int fd = open(path, O_PATH);
    if (fd < 0) fail("O_PATH");
    wait_for(at("work/go"));
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    print_file(link);
}

static void held_entry(void) { hold_through_replacement(at("outside/entry")); }

static void glob_held(void) { hold_through_replacement("sub/key.pem"); }

/* A glob on names: base/work/sub/.env.local and base/work/sub/key.pem. */
static void glob_file(void) { print_file("sub/.env.local"); }

static void glob_late(void) {
    wait_for("go");
    print_file("sub/late.pem");
}

static void glob_deep_late(void) {
    wait_for("go");
    print_file("sub/new/dir/.env");
}

static void glob_rename(void) {
    if (rename("sub/.env.local", "sub/plain")) fail("rename");
    print_file("sub/plain");
}

static void glob_hard_link(void) {
    if (link("sub/.env.local", "sub/plain")) fail("link");
    print_file("sub/plain");
}

static void glob_exchange(void) {
    put_file("sub/plain", "x");
    if (renameat2(AT_FDCWD, "sub/.env.local", AT_FDCWD, "sub/plain", RENAME_EXCHANGE)) fail("renameat2");
    print_file("sub/plain");
}

/* A name that does not match the glob leads to one that does. */
static void glob_symlink(void) {
    if (symlink(".env.local", "sub/plain")) fail("symlink");
    print_file("sub/plain");
}

static void glob_directory_rename(void) {
    if (rename("sub", "moved")) fail("rename");
    print_file("moved/.env.local");
}

static void glob_overwrite(void) { put_file("sub/.env.local", token); }

const struct attack DENIES[] = {
    {"deny-direct", direct},
    {"deny-proc-root", by_proc_root},
    {"deny-symlink", by_symlink},
    {"deny-hard-link", by_hard_link},
    {"deny-hard-link-fd", by_hard_link_fd},
    {"deny-rename", by_rename},
    {"deny-file-rename", by_file_rename},
    {"deny-parent-rename", by_parent_rename},
    {"deny-parent-exchange", by_parent_exchange},
    {"deny-chdir", by_chdir},
    {"deny-opath-reopen", by_opath_reopen},
    {"deny-umount", by_umount},
    {"deny-open-tree", by_open_tree},
    {"deny-bind", by_bind},
    {"deny-handle", by_handle},
    {"deny-replaced-outside", after_replacement},
    {"deny-directory-replaced", after_directory_replacement},
    {"deny-late", after_replacement},
    {"deny-late-directory", after_directory_replacement},
    {"deny-held-descriptor", held_entry},
    {"glob-held-descriptor", glob_held},
    {"glob-direct", glob_file},
    {"glob-late", glob_late},
    {"glob-deep-late", glob_deep_late},
    {"glob-rename", glob_rename},
    {"glob-hard-link", glob_hard_link},
    {"glob-exchange", glob_exchange},
    {"glob-symlink", glob_symlink},
    {"glob-directory-rename", glob_directory_rename},
    {"glob-overwrite", glob_overwrite},
    {NULL, NULL},
};
