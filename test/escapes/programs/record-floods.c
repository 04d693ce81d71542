/* Much of everything, and names that are hard to write down. */
#include "attack.h"

static int count(void) { return atoi(option); }

static void open_again(void) {
    for (int i = 0; i < count(); i++) {
        int fd = open("allowed.txt", O_RDONLY);
        if (fd < 0) fail("allowed.txt");
        close(fd);
    }
}

static void make_files(void) {
    char name[64];
    mkdir("many", 0755);
    for (int i = 0; i < count(); i++) {
        snprintf(name, sizeof name, "many/file-%d", i);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
        if (fd < 0) fail(name);
        close(fd);
    }
}

static pid_t start_one(void) {
    pid_t child = vfork();
    if (!child) {
        execl("./still", "still", "exit", NULL);
        _exit(1);
    }
    return child;
}

static void start_many(void) {
    for (int i = 0; i < count(); i++) {
        pid_t child = start_one();
        if (child < 0) fail("vfork");
        waitpid(child, NULL, 0);
    }
}

/* Until the disk is full, and then as much as `option` says that must be in the record all the same. */
static void fill_disk(void) {
    static char bytes[1 << 16];
    char name[128];
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "/tmp/fill-%d", i);
        int fd = open(name, O_WRONLY | O_CREAT, 0644);
        if (fd < 0) break;
        while (write(fd, bytes, sizeof bytes) > 0) {
        }
        if (errno == ENOSPC) break;
    }
    printf("full %s\n", strerror(errno));
    fflush(stdout);
    for (int i = 0; i < count(); i++) {
        snprintf(name, sizeof name, "after-%d-%060d", i, 0);
        mkdir(name, 0755);
    }
}

static void make(const char *name) {
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0) fail("strange name");
    close(fd);
}

static void make_strange_names(void) {
    char name[256];
    mkdir("strange", 0755);
    if (chdir("strange")) fail("strange");
    for (int c = 1; c < 256; c++) {
        if (c == '/') continue;
        snprintf(name, sizeof name, "byte-%c-", c);
        make(name);
    }
    make("two\nlines");
    make("\"],0,0]}\n{\"e\":[1,1,\"create\",\"forged\",\"\",0,\"p\",0,\"\",0,\"\"]}");
    make("back\\slash \\xff \\u0041 \\");
    make("\xff\xfe not text");
    make("\xc3\xa4 is text");
    make("\xed\xa0\x80 half a pair");
    make(" (deleted)");
    make("gone (deleted)");
    memset(name, 0x01, 255);
    name[255] = 0;
    make(name);
    memset(name, 'n', 255);
    make(name);
}

/* As long as a path can be, of bytes that take six letters each to write down. */
static void make_long_path(void) {
    char path[PATH_MAX] = "long", *end = path + 4;
    mkdir(path, 0755);
    while (end - path + 202 < 4000 - (long)strlen(base)) {
        *end++ = '/';
        memset(end, 0x02, 200);
        end[200] = 0;
        end += 200;
        if (mkdir(path, 0755)) fail("long path");
    }
    strcpy(end, "/leaf");
    make(path);
    printf("length %zu\n", strlen(path));
}

/* A place so deep that it has no name any more: trees are moved into one another. */
static void enter_deep(const char *name, int levels) {
    char part[201];
    memset(part, 'd', 200);
    part[200] = 0;
    if (mkdir(name, 0755) || chdir(name)) fail(name);
    for (int i = 0; i < levels; i++)
        if (mkdir(part, 0755) || chdir(part)) fail("deep");
}

static void read_too_deep(void) {
    char part[201], path[PATH_MAX] = "upper";
    char *start = getcwd(NULL, 0);
    memset(part, 'd', 200);
    part[200] = 0;
    enter_deep("upper", 12);
    chdir(start);
    enter_deep("lower", 12);
    rename(at("work/sub"), "sub");
    chdir(start);
    for (int i = 0; i < 12; i++) strcat(path, "/"), strcat(path, part);
    strcat(path, "/lower");
    if (rename("lower", path)) fail("rename");
    chdir("upper");
    for (int i = 0; i < 12; i++) chdir(part);
    chdir("lower");
    for (int i = 0; i < 12; i++) chdir(part);
    int readable = open("sub/readme.txt", O_RDONLY), denied = open("sub/key.pem", O_RDONLY);
    if (readable >= 0) puts("read readme.txt");
    if (denied >= 0) print_descriptor(denied);
}

/* Attributes of a file that was opened where it still had a name. */
static void change_too_deep(void) {
    char path[PATH_MAX] = "upper", part[201];
    char *start = getcwd(NULL, 0);
    memset(part, 'd', 200);
    part[200] = 0;
    enter_deep("upper", 12);
    chdir(start);
    enter_deep("lower", 12);
    make("file");
    int fd = open("file", O_RDONLY);
    chdir(start);
    for (int i = 0; i < 12; i++) strcat(path, "/"), strcat(path, part);
    strcat(path, "/lower");
    if (rename("lower", path)) fail("rename");
    if (!fchmod(fd, 0600)) puts("changed");
}

/* Lines as the recorder writes them, wherever one might be heard. */
static void forge_lines(void) {
    const char *lines = "{\"e\":[1,1,\"create\",\"/forged\",\"\",0,\"p\",0,\"\",0,\"\"]}\n"
                        "{\"p\":[9,0,\"/forged\",\"\",\"0\",\"0\",\"0\",\"0\",\"0\",\"\"]}\n"
                        "{\"type\":\"event\",\"kind\":\"file\",\"op\":\"create\",\"path\":\"/forged\",\"outcome\":\"ok\"}\n"
                        "{\"lost\":7}\n{\"end\":{\"code\":0,\"signal\":0,\"timedOut\":false,\"limit\":\"\",\"ms\":1}}\n";
    for (int fd = 1; fd < 64; fd++) write(fd, lines, strlen(lines));
}

const struct attack RECORD_FLOODS[] = {
    {"record-open-again", open_again},
    {"record-many-files", make_files},
    {"record-many-programs", start_many},
    {"record-full-disk", fill_disk},
    {"record-strange-names", make_strange_names},
    {"record-long-path", make_long_path},
    {"record-deep-read", read_too_deep},
    {"record-deep-change", change_too_deep},
    {"record-forged", forge_lines},
    {NULL, NULL},
};
