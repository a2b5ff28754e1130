/* Launches, forbids itself nearly every system call, and continues to launch. `sealed prctl|syscall COUNT` */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
typedef struct { uint32_t x, y, z; } dim3;
int hipLaunchKernel(void *, dim3, dim3, void **, size_t, void *);
void **__hipRegisterFatBinary(void *);
void __hipRegisterFunction(void **, void *, char *, const char *, unsigned, void *, void *, void *, void *, int *);
#define ALLOW(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(int argc, char **argv) {
    static char kernel;
    static struct { uint32_t magic, version; void *binary, *unused; } wrapper = {0x48495046, 1, &kernel, 0};
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(__NR_write), ALLOW(__NR_exit_group), ALLOW(__NR_exit), ALLOW(__NR_rt_sigreturn),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    dim3 g = {2, 1, 1}, b = {64, 1, 1};
    long count = argc > 2 ? atol(argv[2]) : 0;
    __hipRegisterFunction(__hipRegisterFatBinary(&wrapper), &kernel, 0, "k0", 0, 0, 0, 0, 0, 0);
    hipLaunchKernel(&kernel, g, b, 0, 0, 0);
    printf("begun 1\n");
    fflush(stdout);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!strcmp(argv[1], "prctl") ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) : syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)) return 7;
    for (long i = 1; i < count; i++) hipLaunchKernel(&kernel, g, b, 0, 0, 0);
    return 0;
}
