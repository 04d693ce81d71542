/* Installs the filter in argv[1] ("-": none), then either makes one system call and prints its
 * result and errno, or runs a program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

static void install(const char *path)
{
    static struct sock_filter code[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(90);
    }
    struct sock_fprog program = {
        .len = (unsigned short)fread(code, sizeof code[0], 4096, file),
        .filter = code,
    };
    fclose(file);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
        perror("seccomp");
        exit(91);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) return 92;
    if (strcmp(argv[1], "-") != 0) install(argv[1]);
    if (strcmp(argv[2], "run") == 0) {
        execv(argv[3], argv + 3);
        perror(argv[3]);
        return 93;
    }
#if defined(__x86_64__)
    if (strcmp(argv[2], "int80") == 0) {
        long result;
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(atol(argv[3])) : "memory");
        printf("%ld 0\n", result);
        return 0;
    }
#endif
    long values[7] = {0};
    for (int i = 3; i < argc && i < 10; i++) values[i - 3] = (long)strtoull(argv[i], NULL, 0);
    errno = 0;
    long result = syscall(values[0], values[1], values[2], values[3], values[4], values[5], values[6]);
    int error = errno;
    printf("%ld %d\n", result, error);
    return 0;
}
