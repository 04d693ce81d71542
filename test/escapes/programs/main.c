/* attack ID BASE TOKEN: prints "started TOKEN", so that a run that never got this far is not taken for a refusal. */
#include "attack.h"

const char *base, *token, *option;

static const struct attack *const TABLES[] = {READS,   DENIES,  WRITES,   ATTRIBUTES, RACES,      CONFIGS, PROCESSES, SIGNALS,
                                              SOCKETS, PACKETS, SYSCALLS, IPCS,       PRIVILEGES, LIMITS,  DAEMONS,   TOOLS,
                                              SAID, RECORD_RACES, RECORD_ORDER, RECORD_EXECS, RECORD_STILL, RECORD_FLOODS, RECORD_KEEPER, RECORD_SOCKETS};

void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    fflush(stdout);
    _exit(1);
}

char *at(const char *relative) {
    char *path;
    if (asprintf(&path, "%s/%s", base, relative) < 0) fail("asprintf");
    return path;
}

char *conf(const char *key) {
    static char line[4096];
    FILE *file = fopen("victim.conf", "re");
    if (!file) fail("victim.conf");
    size_t length = strlen(key);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, key, length) || line[length] != '=') continue;
        line[strcspn(line, "\n")] = 0;
        fclose(file);
        return strdup(line + length + 1);
    }
    errno = ENOENT;
    fail(key);
    return NULL;
}

long conf_number(const char *key) { return strtol(conf(key), NULL, 0); }

void print_descriptor(int fd) {
    char buffer[4096];
    ssize_t n;
    for (int i = 0; i < 64 && (n = read(fd, buffer, sizeof buffer)) > 0; i++) fwrite(buffer, 1, (size_t)n, stdout);
    fflush(stdout);
}

void print_file(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail(path);
    print_descriptor(fd);
    close(fd);
}

void put(int fd, const char *text) {
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) fail("write");
}

void put_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) fail(path);
    put(fd, text);
    close(fd);
}

void wait_for(const char *path) {
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 400 && access(path, F_OK); i++) usleep(20000);
}

double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void become_root_in_userns(int more_flags) {
    uid_t uid = getuid();
    gid_t gid = getgid();
    if (uid == 0) {
        /* A root that kept its capabilities needs no user namespace. */
        if (more_flags && unshare(more_flags) == 0) return;
    }
    if (unshare(CLONE_NEWUSER | more_flags)) fail("unshare");
    char map[64];
    int fd = open("/proc/self/setgroups", O_WRONLY);
    if (fd >= 0) put(fd, "deny"), close(fd);
    snprintf(map, sizeof map, "0 %u 1", uid);
    fd = open("/proc/self/uid_map", O_WRONLY);
    if (fd < 0) fail("uid_map");
    put(fd, map), close(fd);
    snprintf(map, sizeof map, "0 %u 1", gid);
    fd = open("/proc/self/gid_map", O_WRONLY);
    if (fd < 0) fail("gid_map");
    put(fd, map), close(fd);
}

int main(int argc, char **argv) {
    if (argc < 4) return 64;
    base = argv[2];
    token = argv[3];
    option = argc > 4 ? argv[4] : "";
    printf("started %s\n", token);
    fflush(stdout);
    for (size_t t = 0; t < sizeof TABLES / sizeof *TABLES; t++)
        for (const struct attack *a = TABLES[t]; a->id; a++)
            if (!strcmp(a->id, argv[1])) {
                a->run();
                fflush(stdout);
                return 0;
            }
    fprintf(stderr, "no such attack: %s\n", argv[1]);
    return 64;
}
