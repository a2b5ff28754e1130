// A stand-in for Vulkan's loader with scripted results: refused submissions, a lost device, calls of every shape.
// Built twice: as libvulkan.so.1 (-DLOADER), and as the program that calls it.
#include <stdint.h>
#include <stddef.h>

typedef void *Object;
typedef uint64_t Handle;
typedef struct { uint32_t type; const void *next; uint32_t waits; const Handle *wait; const uint32_t *stages; uint32_t count; const Object *buffers; uint32_t signals; const Handle *signal; } SubmitInfo;
typedef struct { uint32_t type; const void *next; Object buffer; uint32_t mask; } BufferInfo2;
typedef struct { uint32_t type; const void *next; uint32_t flags; uint32_t waits; const void *wait; uint32_t count; const BufferInfo2 *buffers; uint32_t signals; const void *signal; } SubmitInfo2;
typedef struct { uint32_t type; const void *next; Handle layout; uint32_t stages; uint32_t offset; uint32_t size; const void *values; } PushInfo;

#ifdef LOADER
#define SAYS __attribute__((visibility("default"), noinline)) int
static int said;
SAYS whichkernel_next(int result) { said = result; return 0; }
SAYS vkBeginCommandBuffer(Object buffer, const void *info) { return 0; }
SAYS vkCmdBindPipeline(Object buffer, uint32_t what, Handle pipeline) { return 0; }
SAYS vkCmdPushConstants(Object buffer, Handle layout, uint32_t stages, uint32_t offset, uint32_t size, const void *values) { return 0; }
SAYS vkCmdPushConstants2(Object buffer, const PushInfo *info) { return 0; }
SAYS vkCmdDispatch(Object buffer, uint32_t x, uint32_t y, uint32_t z) { return 0; }
SAYS vkCmdDispatchBase(Object buffer, uint32_t fx, uint32_t fy, uint32_t fz, uint32_t x, uint32_t y, uint32_t z) { return 0; }
SAYS vkQueueSubmit(Object queue, uint32_t count, const SubmitInfo *infos, Handle fence) { return said; }
SAYS vkQueueSubmit2(Object queue, uint32_t count, const SubmitInfo2 *infos, Handle fence) { return said; }
SAYS vkWaitForFences(Object device, uint32_t count, const Handle *fences, uint32_t all, uint64_t timeout) { return said; }
SAYS vkQueueWaitIdle(Object queue) { return said; }
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;
#define AT(name, ...) ((int (*)(__VA_ARGS__))dlsym(library, #name))
static Object device = (Object)0x1000, queue = (Object)0x2000;

static void record(Object buffer, uint32_t first, uint32_t count) {
    AT(vkBeginCommandBuffer, Object, const void *)(buffer, NULL);
    AT(vkCmdBindPipeline, Object, uint32_t, Handle)(buffer, 0, 0x9999); // graphics, which is not observed
    AT(vkCmdBindPipeline, Object, uint32_t, Handle)(buffer, 1, 0x7001);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = first + i;
        AT(vkCmdPushConstants, Object, Handle, uint32_t, uint32_t, uint32_t, const void *)(buffer, 1, 0x20, 0, 4, &number);
        AT(vkCmdDispatch, Object, uint32_t, uint32_t, uint32_t)(buffer, 1, 2, 3);
    }
}

static int submit(Object buffer, int result, Handle fence) {
    SubmitInfo info = {4, NULL, 0, NULL, NULL, 1, &buffer, 0, NULL};
    AT(whichkernel_next, int)(result);
    return AT(vkQueueSubmit, Object, uint32_t, const SubmitInfo *, Handle)(queue, 1, &info, fence);
}

static int await(Handle fence, int result) {
    AT(whichkernel_next, int)(result);
    return AT(vkWaitForFences, Object, uint32_t, const Handle *, uint32_t, uint64_t)(device, 1, &fence, 1, ~0ull);
}

int main(int argc, char **argv) {
    library = dlopen(argv[1], RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); return 3; }
    Object buffer = malloc(64), other = malloc(64);
    if (!strcmp(argv[2], "lost")) {
        record(buffer, 0, 2);
        submit(buffer, 0, 0x51);
        await(0x51, 2); // VK_TIMEOUT proves nothing
        await(0x51, 0);
        record(buffer, 10, 3);
        submit(buffer, 0, 0x52);
        await(0x52, -4);
    } else if (!strcmp(argv[2], "refused")) {
        record(buffer, 0, 2);
        submit(buffer, -1, 0);
        submit(buffer, 0, 0);
        AT(whichkernel_next, int)(0);
        AT(vkQueueWaitIdle, Object)(queue);
    } else if (!strcmp(argv[2], "shapes")) {
        uint32_t values[70];
        for (uint32_t i = 0; i < 70; i++) values[i] = 1000 + i;
        AT(vkBeginCommandBuffer, Object, const void *)(buffer, NULL);
        AT(vkCmdBindPipeline, Object, uint32_t, Handle)(buffer, 1, 0x7001);
        PushInfo info = {1000545002, NULL, 1, 0x20, 0, sizeof values, values};
        AT(vkCmdPushConstants2, Object, const PushInfo *)(buffer, &info);
        AT(vkCmdDispatchBase, Object, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t)(buffer, 9, 9, 9, 4, 5, 6);
        record(other, 7, 1);
        BufferInfo2 list[3] = {{1000314006, NULL, other, 0}, {1000314006, NULL, buffer, 0}, {1000314006, NULL, other, 0}};
        SubmitInfo2 infos[2] = {{1000314004, NULL, 0, 0, NULL, 2, list, 0, NULL}, {1000314004, NULL, 0, 0, NULL, 1, list + 2, 0, NULL}};
        AT(whichkernel_next, int)(0);
        AT(vkQueueSubmit2, Object, uint32_t, const SubmitInfo2 *, Handle)(queue, 2, infos, 0);
        // Only a fence: it signals after all earlier work.
        AT(vkQueueSubmit, Object, uint32_t, const SubmitInfo *, Handle)(queue, 0, NULL, 0x61);
        await(0x61, 0);
    }
    return 0;
}
#endif
