/* Routes to a protected file of the workspace that a shell cannot take. */
#include "attack.h"

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

const struct attack CONFIGS[] = {
    {"config-renamed-dirfd", renamed_dirfd},
    {"config-renamed-file", renamed_file},
    {"config-tmpfile", tmpfile_link},
    {"config-exchange", exchange},
    {"config-hard-link-in", hard_link_from_plain},
    {"config-hooks-dirfd", hooks_dirfd},
    {"config-git-config-reopen", read_only_descriptor},
    {NULL, NULL},
};
