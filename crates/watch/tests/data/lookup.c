/* Looks up each function of NAMES in every way that the loader supports, and prints the library that contains the result.
 * -DLIBRARY builds the library that defines them all, -DBEHIND one that is linked before it and looks up the next definition. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#if defined(LIBRARY)
#define X(name) int name(void) { return 0; }
NAMES
#elif defined(BEHIND)
void *ask_next(const char *name) { return dlsym(RTLD_NEXT, name); }
#else
void *ask_next(const char *name);
static void say(const char *how, const char *name, void *found) {
    Dl_info info;
    const char *file = found && dladdr(found, &info) ? strrchr(info.dli_fname, '/') : 0;
    printf("%s %s %s\n", how, name, file ? file + 1 : "-");
}
int main(int argc, char **argv) {
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
#define X(name) #name,
    static const char *const names[] = {NAMES 0};
    for (int i = 0; names[i]; i++) {
        say("handle", names[i], dlsym(library, names[i]));
        say("default", names[i], dlsym(RTLD_DEFAULT, names[i]));
        say("next", names[i], ask_next(names[i]));
        say("version", names[i], dlvsym(library, names[i], "TEST_1"));
        say("default-version", names[i], dlvsym(RTLD_DEFAULT, names[i], "TEST_1"));
    }
    say("other", "printf", dlvsym(RTLD_DEFAULT, "printf", "GLIBC_2.2.5"));
    say("none", "hipLaunchKernel", dlvsym(library, "hipLaunchKernel", "NO_SUCH"));
    return 0;
}
#endif
