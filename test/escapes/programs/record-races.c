/* Opens whose path, directory or links are changed meanwhile by somebody else. Each open has a name of its own in two
 * directories, so that every single one can be compared with its line in the record; what was really opened is told by
 * the descriptor. */
#include "attack.h"
#include <pthread.h>

struct shared {
    volatile int is_over;
    size_t spot;
    char path[PATH_MAX];
};

static struct shared *shared;
static const char *mode;
static int first, second, spot_fd;

static void flip_letter(void) {
    volatile char *letter = shared->path + shared->spot;
    while (!shared->is_over) *letter = 'a', *letter = 'b';
}

static void flip_link(void) {
    for (int i = 0; !shared->is_over; i++) {
        if (symlink(i & 1 ? "a" : "b", "link.new")) continue;
        rename("link.new", "link");
    }
}

static void flip_directories(void) {
    while (!shared->is_over) renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE);
}

static void flip_descriptor(void) {
    while (!shared->is_over) dup2(first, spot_fd), dup2(second, spot_fd);
}

static void flip_directory(void) {
    while (!shared->is_over) fchdir(first), fchdir(second);
}

static void *run(void *body) {
    ((void (*)(void))body)();
    return NULL;
}

static void tell(int fd) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len < 0) fail("readlink");
    path[len] = 0;
    printf("got %s\n", path);
    close(fd);
}

/* `form` holds a %06d for the number of the open. */
static void open_each(int at, const char *form) {
    int flags = strcmp(mode, "create") ? O_RDONLY : O_WRONLY | O_CREAT;
    char name[PATH_MAX];
    for (int i = 0, count = atoi(option); i < count; i++) {
        int len = snprintf(name, sizeof name, form, i);
        memcpy(shared->path + len - 6, name + len - 6, 7); /* the rest belongs to who changes it */
        int fd = openat(at, shared->path, flags, 0644);
        if (fd >= 0) tell(fd);
    }
    shared->is_over = 1;
}

static void begin(const char *form) {
    snprintf(shared->path, sizeof shared->path, form, 0);
    shared->spot = strlen(shared->path) - 8; /* of the directory's letter, where there is one */
    shared->is_over = 0;
    fflush(stdout);
}

static void race_threads(void (*flip)(void), int at, const char *form) {
    pthread_t thread;
    begin(form);
    if (pthread_create(&thread, NULL, run, flip)) fail("pthread_create");
    open_each(at, form);
    pthread_join(thread, NULL);
}

static void race_processes(void (*flip)(void), int at, const char *form) {
    begin(form);
    pid_t other = fork();
    if (!other) flip(), _exit(0);
    open_each(at, form);
    waitpid(other, NULL, 0);
}

static void enter(const char *variant) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/work/race/%s-%s", base, variant, mode);
    if (chdir(path)) fail(path);
    first = open("a", O_PATH | O_DIRECTORY);
    second = open("b", O_PATH | O_DIRECTORY);
    spot_fd = dup(first);
    if (first < 0 || second < 0 || spot_fd < 0) fail("directories");
}

static const char *const VARIANTS[] = {"absolute", "relative", "shared", "link", "exchange", "descriptor", "descriptor-below", "directory", "directory-below"};

/* Outside, before: what is read is there in both directories, in one of them, or below one of them. */
static void prepare_in(const char *how, const char *variant) {
    char path[PATH_MAX];
    int is_read = !strcmp(how, "read"), is_below = strstr(variant, "-below") != NULL, is_one = !strcmp(variant, "exchange");
    snprintf(path, sizeof path, "%s/work/race/%s-%s", base, variant, how);
    if (mkdir(path, 0755) || chdir(path) || mkdir("a", 0755) || mkdir("b", 0755) || (is_below && mkdir("a/s", 0755))) fail(path);
    if (!strcmp(variant, "link") && symlink("a", "link")) fail("link");
    for (int i = 0, count = atoi(option); is_read && i < count; i++)
        for (int side = 0; side < 2; side++) {
            if ((is_below && side) || (is_one && side != (i & 1))) continue;
            snprintf(path, sizeof path, "%c/%s%06d", "ab"[side], is_below ? "s/" : "", i);
            put_file(path, "");
        }
}

static void prepare_all(void) {
    mkdir(at("work/race"), 0755);
    for (size_t i = 0; i < sizeof VARIANTS / sizeof *VARIANTS; i++) prepare_in("read", VARIANTS[i]), prepare_in("create", VARIANTS[i]);
}

static void race_all_in(const char *how) {
    char form[PATH_MAX];
    mode = how;
    snprintf(form, sizeof form, "%s/work/race/absolute-%s/a/%%06d", base, mode);
    enter("absolute"), race_threads(flip_letter, AT_FDCWD, form);
    enter("relative"), race_threads(flip_letter, AT_FDCWD, "a/%06d");
    enter("shared"), race_processes(flip_letter, AT_FDCWD, "./a/%06d");
    enter("link"), race_threads(flip_link, AT_FDCWD, "link/%06d");
    enter("exchange"), race_threads(flip_directories, AT_FDCWD, "a/%06d");
    enter("descriptor"), race_threads(flip_descriptor, spot_fd, "%06d");
    enter("descriptor-below"), race_threads(flip_descriptor, spot_fd, "s/%06d");
    enter("directory"), race_threads(flip_directory, AT_FDCWD, "%06d");
    enter("directory-below"), race_threads(flip_directory, AT_FDCWD, "s/%06d");
}

static void race_all(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("mmap");
    race_all_in("read");
    race_all_in("create");
}

/* The text of a symbolic link is changed while the link is made: what it says can be read afterwards. */
static void race_link_text(void) {
    char name[32];
    pthread_t thread;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) fail("mmap");
    strcpy(shared->path, "target-a");
    shared->spot = 7;
    if (pthread_create(&thread, NULL, run, flip_letter)) fail("pthread_create");
    for (int i = 0, count = atoi(option); i < count; i++) {
        snprintf(name, sizeof name, "link-%06d", i);
        if (symlink(shared->path, name)) fail("symlink");
    }
    shared->is_over = 1;
    pthread_join(thread, NULL);
}

/* A file is removed and made again by others while it is opened with O_CREAT: who made it is known to the maker alone. */
static void *remove_again(void *unused) {
    while (!shared->is_over) unlink("flip");
    return unused;
}

static void race_creation(void) {
    pthread_t thread;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pthread_create(&thread, NULL, remove_again, NULL)) fail("start");
    umask(0);
    for (int i = 0, count = atoi(option); i < count; i++) {
        struct stat st;
        int fd = open("flip", O_WRONLY | O_CREAT, 0666);
        if (fd < 0) fail("flip");
        if (!fstat(fd, &st) && (st.st_mode & 0777) != 0666) printf("mode %o\n", st.st_mode & 0777);
        close(fd);
    }
    shared->is_over = 1;
    pthread_join(thread, NULL);
}

const struct attack RECORD_RACES[] = {
    {"record-races-prepare", prepare_all},
    {"record-races", race_all},
    {"record-link-text", race_link_text},
    {"record-creation", race_creation},
    {NULL, NULL},
};
