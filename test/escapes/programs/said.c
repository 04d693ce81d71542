/* Each image that comes to run says so itself, which is what the record is held against. */
#include "said.h"

/* What runs now, and the last letters of its file. */
static void say(void) {
    char line[PATH_MAX + 64], image[PATH_MAX], tag[9] = "";
    ssize_t len = readlink("/proc/self/exe", image, sizeof image - 1);
    image[len > 0 ? len : 0] = 0;
    int fd = open("/proc/self/exe", O_RDONLY);
    lseek(fd, -8, SEEK_END);
    if (read(fd, tag, 8) != 8) tag[0] = 0;
    len = snprintf(line, sizeof line, "ran %s %s\n", image, tag);
    write(1, line, (size_t)len);
}

char *said_words[] = {"said", "record-say", NULL, NULL, NULL};

pid_t start_said(const char *path) {
    pid_t child = fork();
    if (child) return child;
    execve(path, said_words, environ);
    _exit(1);
}

void run_said(const char *path) { waitpid(start_said(path), NULL, 0); }

void prepare_said(void) {
    said_words[2] = (char *)base;
    said_words[3] = (char *)token;
}

const struct attack SAID[] = {
    {"record-say", say},
    {NULL, NULL},
};
