/* A program without a C library: it makes the calls named by its arguments and none that a library would make. */
#include <sys/syscall.h>

#define SIGCHLD 17
#define THREAD_THAT_IS_WAITED_FOR 0x14900 /* CLONE_THREAD, CLONE_VFORK, CLONE_SIGHAND, CLONE_VM */

static long call(long number, long a, long b, long c) {
    long result;
#ifdef __x86_64__
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    result = x0;
#endif
    return result;
}

#define HERE (-100) /* AT_FDCWD */

/* Whoever calls first is not the process that was started. */
static void act_in_fork(const char *name, int is_to_outlive) {
    long self = call(SYS_getpid, 0, 0, 0), child = call(SYS_clone, SIGCHLD, 0, 0);
    if (child) {
        if (is_to_outlive) __builtin_trap();
        call(SYS_wait4, child, 0, 0);
        return;
    }
    while (is_to_outlive && call(SYS_getppid, 0, 0, 0) == self) {
    }
    call(SYS_mkdirat, HERE, (long)name, 0755);
    call(SYS_exit_group, 0, 0, 0);
}

__attribute__((used)) void begin(long *stack) {
    char **argv = (char **)(stack + 1), letter = stack[0] > 1 ? argv[1][0] : 'e';
    if (letter == 'c') __builtin_trap();
    while (letter == 's') {
    }
    char byte;
    while (letter == 'w' && call(SYS_read, 0, (long)&byte, 1) > 0) {
    }
    if (letter == 'f' || letter == 'o') act_in_fork(argv[2], letter == 'o');
    if (letter == 't' && !call(SYS_clone, THREAD_THAT_IS_WAITED_FOR, 0, 0)) {
        call(SYS_mkdirat, HERE, (long)argv[2], 0755);
        call(SYS_exit, 0, 0, 0);
    }
    if (letter == 'm' || letter == 'w') call(SYS_mkdirat, HERE, (long)argv[2], 0755);
    call(SYS_exit_group, 0, 0, 0);
}

#ifdef __x86_64__
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall begin\n");
#else
__asm__(".globl _start\n_start: mov x0, sp\nbl begin\n");
#endif
