// A Vulkan program with cases that are difficult to count. Prints the number of submitted dispatches.
// Structures by their layout (vulkan_core.h), so that no header is needed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t Handle;
typedef void *Object;
typedef struct { uint32_t type; const void *next; } Base;
typedef struct { uint32_t type; const void *next; uint32_t flags; const void *app; uint32_t layers; const char *const *layer; uint32_t extensions; const char *const *extension; } InstanceInfo;
typedef struct { uint32_t type; const void *next; const char *app; uint32_t app_version; const char *engine; uint32_t engine_version; uint32_t api; } AppInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags; uint32_t family; uint32_t count; const float *priorities; } QueueInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags; uint32_t queues; const QueueInfo *queue; uint32_t layers; const char *const *layer; uint32_t extensions; const char *const *extension; const void *features; } DeviceInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags; size_t size; const uint32_t *code; } ModuleInfo;
typedef struct { uint32_t stages; uint32_t offset; uint32_t size; } PushRange;
typedef struct { uint32_t type; const void *next; uint32_t flags; uint32_t sets; const Handle *set; uint32_t ranges; const PushRange *range; } LayoutInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags; uint32_t stage; Handle module; const char *name; const void *specialization; } StageInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags; StageInfo stage; Handle layout; Handle base; int32_t index; } PipelineInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags; uint32_t family; } PoolInfo;
typedef struct { uint32_t type; const void *next; Handle pool; uint32_t level; uint32_t count; } AllocateInfo;
typedef struct { uint32_t type; const void *next; Handle pass; uint32_t subpass; Handle framebuffer; uint32_t occlusion; uint32_t query; uint32_t statistics; } Inheritance;
typedef struct { uint32_t type; const void *next; uint32_t flags; const Inheritance *inheritance; } BeginInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags; } FenceInfo;
typedef struct { uint32_t type; const void *next; uint32_t waits; const Handle *wait; const uint32_t *stages; uint32_t count; const Object *buffers; uint32_t signals; const Handle *signal; } SubmitInfo;
typedef struct { uint32_t type; const void *next; uint32_t flags; uint64_t size; uint32_t usage; uint32_t sharing; uint32_t families; const uint32_t *family; } BufferInfo;
typedef struct { uint64_t size; uint64_t alignment; uint32_t types; } Requirements;
typedef struct { uint32_t type; const void *next; uint64_t size; uint32_t index; } MemoryInfo;

typedef struct { uint32_t type; const void *next; uint32_t on; } Feature;
typedef struct { uint32_t type; const void *next; Object buffer; uint32_t mask; } BufferInfo2;
typedef struct { uint32_t type; const void *next; uint32_t flags; uint32_t waits; const void *wait; uint32_t count; const BufferInfo2 *buffers; uint32_t signals; const void *signal; } SubmitInfo2;

static void *library;
static void *own_of_device;
#define CALL(name, ...) ((int (*)())find(#name))(__VA_ARGS__)
static void *find(const char *name) {
    void *at = dlsym(library, name);
    // The device's own function, which bypasses the loader.
    if (own_of_device) at = ((void *(*)(void *, const char *))dlsym(library, "vkGetDeviceProcAddr"))(own_of_device, name);
    if (!at) { fprintf(stderr, "no %s\n", name); exit(3); }
    return at;
}
#define MUST(call) do { int result = (call); if (result) { fprintf(stderr, "%s: %d\n", #call, result); exit(3); } } while (0)

// An empty kernel of one invocation.
static const uint32_t CODE[] = {0x07230203, 0x00010000, 0, 6, 0, 0x00020011, 1, 0x0003000e, 0, 1, 0x0005000f, 5, 1, 0x6e69616d, 0,
    0x00060010, 1, 17, 1, 1, 1, 0x00020013, 2, 0x00030021, 3, 2, 0x00050036, 2, 1, 0, 3, 0x000200f8, 4, 0x000100fd, 0x00010038};

static Object device, queue;
static Handle layout, pipeline;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef void (*Dispatch)(Object, uint32_t, uint32_t, uint32_t);
typedef void (*Bind)(Object, uint32_t, Handle);
typedef void (*Push)(Object, Handle, uint32_t, uint32_t, uint32_t, const void *);

static Handle pool(void) {
    Handle made = 0;
    PoolInfo info = {39, 0, 2, 0};
    MUST(CALL(vkCreateCommandPool, device, &info, (void *)0, &made));
    return made;
}

static Object buffer(Handle from, uint32_t level) {
    Object made = 0;
    AllocateInfo info = {40, 0, from, level, 1};
    MUST(CALL(vkAllocateCommandBuffers, device, &info, &made));
    return made;
}

static void record(Object to, uint32_t count, uint32_t first) {
    Dispatch dispatch = (Dispatch)find("vkCmdDispatch");
    ((Bind)find("vkCmdBindPipeline"))(to, 1, pipeline);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = first + i;
        ((Push)find("vkCmdPushConstants"))(to, layout, 0x20, 0, 4, &number);
        dispatch(to, 1, 1 + number % 3, 1);
    }
}

static void begin(Object to, uint32_t flags, const Inheritance *inheritance) {
    BeginInfo info = {42, 0, flags, inheritance};
    MUST(CALL(vkBeginCommandBuffer, to, &info));
}

static void submit(Object what, int wait) {
    Handle fence = 0;
    FenceInfo fence_info = {8, 0, 0};
    SubmitInfo info = {4, 0, 0, 0, 0, 1, &what, 0, 0};
    if (wait) MUST(CALL(vkCreateFence, device, &fence_info, (void *)0, &fence));
    pthread_mutex_lock(&lock);
    MUST(((int (*)(Object, uint32_t, const void *, Handle))find("vkQueueSubmit"))(queue, 1, &info, fence));
    pthread_mutex_unlock(&lock);
    if (wait) MUST(((int (*)(Object, uint32_t, const Handle *, uint32_t, uint64_t))find("vkWaitForFences"))(device, 1, &fence, 1, ~0ull));
}

static void *one_thread(void *number) {
    Handle own = pool();
    Object to = buffer(own, 0);
    for (uint32_t round = 0; round < 50; round++) {
        begin(to, 1, 0);
        record(to, 10, (uint32_t)(uintptr_t)number * 1000);
        MUST(CALL(vkEndCommandBuffer, to));
        submit(to, 1);
    }
    return 0;
}

static Handle arguments(void) {
    Handle made = 0, memory = 0;
    BufferInfo info = {12, 0, 0, 64, 0x100, 0, 0, 0};
    MUST(CALL(vkCreateBuffer, device, &info, (void *)0, &made));
    Requirements needs;
    ((void (*)(Object, Handle, Requirements *))find("vkGetBufferMemoryRequirements"))(device, made, &needs);
    MemoryInfo memory_info = {5, 0, needs.size, (uint32_t)__builtin_ctz(needs.types)};
    MUST(CALL(vkAllocateMemory, device, &memory_info, (void *)0, &memory));
    MUST(((int (*)(Object, Handle, Handle, uint64_t))find("vkBindBufferMemory"))(device, made, memory, 0));
    uint32_t *at = 0;
    MUST(((int (*)(Object, Handle, uint64_t, uint64_t, uint32_t, void *))find("vkMapMemory"))(device, memory, 0, 64, 0, &at));
    at[0] = at[1] = at[2] = 1;
    return made;
}

static Object instance;

// `inline_module`: the pipeline has its module in the chain of its stage (maintenance5).
static void open_device(int inline_module) {
    Object physical = 0;
    AppInfo app = {0, 0, "dispatches", 1, 0, 0, 1u << 22 | 2u << 12};
    InstanceInfo info = {1, 0, 0, &app, 0, 0, 0, 0};
    MUST(CALL(vkCreateInstance, &info, (void *)0, &instance));
    uint32_t count = 1;
    int found = CALL(vkEnumeratePhysicalDevices, instance, &count, &physical);
    if (found < 0 || count != 1) exit(3);
    float priority = 1;
    QueueInfo queue_info = {2, 0, 0, 0, 1, &priority};
    const char *extensions[] = {"VK_KHR_synchronization2", "VK_KHR_dynamic_rendering", "VK_KHR_maintenance5"};
    Feature synchronization = {1000314007, 0, 1}, maintenance = {1000470000, &synchronization, 1};
    DeviceInfo device_info = {3, inline_module ? (void *)&maintenance : (void *)&synchronization, 0, 1, &queue_info, 0, 0, inline_module ? 3 : 1, extensions, 0};
    MUST(CALL(vkCreateDevice, physical, &device_info, (void *)0, &device));
    ((void (*)(Object, uint32_t, uint32_t, Object *))find("vkGetDeviceQueue"))(device, 0, 0, &queue);
    Handle module = 0;
    ModuleInfo module_info = {16, 0, 0, sizeof CODE, CODE};
    if (!inline_module) MUST(CALL(vkCreateShaderModule, device, &module_info, (void *)0, &module));
    PushRange range = {0x20, 0, 4};
    LayoutInfo layout_info = {30, 0, 0, 0, 0, 1, &range};
    MUST(CALL(vkCreatePipelineLayout, device, &layout_info, (void *)0, &layout));
    PipelineInfo pipeline_info = {29, 0, 0, {18, inline_module ? &module_info : 0, 0, 0x20, module, "main", 0}, layout, 0, -1};
    MUST(((int (*)(Object, Handle, uint32_t, const void *, const void *, Handle *))find("vkCreateComputePipelines"))(device, 0, 1, &pipeline_info, 0, &pipeline));
}

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (!library) { fprintf(stderr, "%s\n", dlerror()); return 3; }
    open_device(!strcmp(what, "inline"));
    Handle own = pool();
    Object primary = buffer(own, 0);
    long submitted = 0;
    if (!strcmp(what, "threads")) {
        pthread_t threads[4];
        for (uintptr_t i = 0; i < 4; i++) pthread_create(&threads[i], 0, one_thread, (void *)i);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
        submitted = 4 * 50 * 10;
    } else if (!strcmp(what, "secondary")) {
        Object secondary = buffer(own, 1);
        Inheritance inheritance = {41, 0, 0, 0, 0, 0, 0, 0};
        begin(secondary, 4, &inheritance);
        record(secondary, 3, 100);
        MUST(CALL(vkEndCommandBuffer, secondary));
        begin(primary, 0, 0);
        Object list[2] = {secondary, secondary};
        ((void (*)(Object, uint32_t, const Object *))find("vkCmdExecuteCommands"))(primary, 2, list);
        record(primary, 1, 200);
        MUST(CALL(vkEndCommandBuffer, primary));
        submit(primary, 1);
        submitted = 2 * 3 + 1;
    } else if (!strcmp(what, "again")) {
        begin(primary, 4, 0);
        record(primary, 2, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        for (int i = 0; i < 5; i++) submit(primary, 1);
        // Recorded, and never submitted.
        Object never = buffer(own, 0);
        begin(never, 0, 0);
        record(never, 7, 0);
        MUST(CALL(vkEndCommandBuffer, never));
        submitted = 10;
    } else if (!strcmp(what, "indirect")) {
        Handle from = arguments();
        begin(primary, 0, 0);
        ((Bind)find("vkCmdBindPipeline"))(primary, 1, pipeline);
        ((void (*)(Object, Handle, uint64_t))find("vkCmdDispatchIndirect"))(primary, from, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        submit(primary, 1);
        submitted = 1;
    } else if (!strcmp(what, "direct")) {
        own_of_device = device;
        begin(primary, 0, 0);
        record(primary, 3, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        submit(primary, 1);
        submitted = 3;
    } else if (!strcmp(what, "khr")) {
        // The instance's function of an extension: inside the loader, but not exported.
        Handle fence = 0;
        FenceInfo fence_info = {8, 0, 0};
        MUST(CALL(vkCreateFence, device, &fence_info, (void *)0, &fence));
        begin(primary, 0, 0);
        record(primary, 3, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        BufferInfo2 list = {1000314006, 0, primary, 0};
        SubmitInfo2 info = {1000314004, 0, 0, 0, 0, 1, &list, 0, 0};
        void *at = ((void *(*)(Object, const char *))find("vkGetInstanceProcAddr"))(instance, "vkQueueSubmit2KHR");
        if (!at) return 3;
        MUST(((int (*)(Object, uint32_t, const void *, Handle))at)(queue, 1, &info, fence));
        MUST(((int (*)(Object, uint32_t, const Handle *, uint32_t, uint64_t))find("vkWaitForFences"))(device, 1, &fence, 1, ~0ull));
        submitted = 3;
    } else if (!strcmp(what, "inline")) {
        begin(primary, 0, 0);
        record(primary, 3, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        submit(primary, 1);
        submitted = 3;
    } else if (!strcmp(what, "direct-before")) {
        // The device's functions are looked up before the observation begins.
        own_of_device = device;
        begin(primary, 4, 0);
        record(primary, 3, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        int (*to)(Object, uint32_t, const void *, Handle) = find("vkQueueSubmit");
        int (*idle)(Object) = find("vkQueueWaitIdle");
        SubmitInfo info = {4, 0, 0, 0, 0, 1, &primary, 0, 0};
        puts("open");
        fflush(stdout);
        getchar();
        for (int i = 0; i < 3; i++) { MUST(to(queue, 1, &info, 0)); MUST(idle(queue)); }
        submitted = 9;
    } else if (!strcmp(what, "lost")) {
        // Two dispatches that end, three in progress, and one that may be refused; each is awaited in every way, whatever the result.
        Object list[3] = {primary, buffer(own, 0), buffer(own, 0)};
        uint32_t counts[3] = {2, 3, 1};
        for (int i = 0; i < 3; i++) {
            Handle fence = 0;
            FenceInfo fence_info = {8, 0, 0};
            SubmitInfo info = {4, 0, 0, 0, 0, 1, &list[i], 0, 0};
            begin(list[i], 1, 0);
            record(list[i], counts[i], 10 * i);
            MUST(CALL(vkEndCommandBuffer, list[i]));
            MUST(CALL(vkCreateFence, device, &fence_info, (void *)0, &fence));
            int refused = ((int (*)(Object, uint32_t, const void *, Handle))find("vkQueueSubmit"))(queue, 1, &info, fence);
            const char *how = argc > 2 ? argv[2] : "wait";
            if (!strcmp(how, "queue")) ((int (*)(Object))find("vkQueueWaitIdle"))(queue);
            else if (!strcmp(how, "device")) ((int (*)(Object))find("vkDeviceWaitIdle"))(device);
            else if (strcmp(how, "status") || i == 0) ((int (*)(Object, uint32_t, const Handle *, uint32_t, uint64_t))find("vkWaitForFences"))(device, 1, &fence, 1, refused ? 1000000 : ~0ull);
            if (!strcmp(how, "status")) ((int (*)(Object, Handle))find("vkGetFenceStatus"))(device, fence);
        }
    } else if (!strcmp(what, "twice")) {
        // Submitted again before the first has ended: only the timestamps of the last submission remain.
        begin(primary, 4, 0);
        record(primary, 2, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        submit(primary, 0);
        submit(primary, 1);
        submitted = 4;
    } else if (!strcmp(what, "before")) {
        // Recorded before the observation begins, submitted afterwards; then one that is seen from its beginning.
        begin(primary, 0, 0);
        record(primary, 3, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        puts("open");
        fflush(stdout);
        getchar();
        submit(primary, 1);
        begin(primary, 0, 0);
        record(primary, 2, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        submit(primary, 1);
        submitted = 5;
    } else if (!strcmp(what, "held")) {
        // Waits until the input is closed.
        puts("open");
        fflush(stdout);
        getchar();
    } else if (!strcmp(what, "killed")) {
        for (int i = 0; i < 20; i++) {
            begin(primary, 1, 0);
            record(primary, 5, 0);
            MUST(CALL(vkEndCommandBuffer, primary));
            submit(primary, 1);
        }
        raise(SIGKILL);
    } else if (!strcmp(what, "unwaited")) {
        begin(primary, 0, 0);
        record(primary, 4, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        submit(primary, 0);
        submitted = 4;
        printf("%ld\n", submitted);
        fflush(stdout);
        _exit(0);
    } else if (!strcmp(what, "many")) {
        // 2 MB of records and more, in one buffer.
        begin(primary, 0, 0);
        record(primary, 30000, 0);
        MUST(CALL(vkEndCommandBuffer, primary));
        submit(primary, 1);
        submitted = 30000;
    } else if (!strcmp(what, "bench")) {
        Dispatch dispatch = (Dispatch)find("vkCmdDispatch");
        double best = 1e18;
        for (int round = 0; round < 15; round++) {
            begin(primary, 1, 0);
            ((Bind)find("vkCmdBindPipeline"))(primary, 1, pipeline);
            double start = nanoseconds();
            for (int i = 0; i < 20000; i++) dispatch(primary, 1, 1, 1);
            double each = (nanoseconds() - start) / 20000;
            if (each < best) best = each;
            MUST(CALL(vkEndCommandBuffer, primary));
        }
        printf("%.1f\n", best);
        return 0;
    }
    printf("%ld\n", submitted);
    return 0;
}
