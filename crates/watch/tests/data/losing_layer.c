// A Vulkan layer between ours and the driver that loses the device: the LOSE_AT'th call of LOSE (submit, wait, status, queue, device)
// returns VK_ERROR_DEVICE_LOST, and so does every later submission; waits succeed again, as a driver may do after a loss.
// With UNTIMED, no queue family writes timestamps. Structures by their layout (vulkan_core.h, vk_layer.h).
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void *Object;
typedef uint64_t Handle;
typedef void (*Any)(void);
typedef Any (*Get)(Object, const char *);
typedef struct { uint32_t type; void *next; } Base;
typedef struct Link { struct Link *next; Get instance; Get device; } Link;
typedef struct { Base base; uint32_t function; Link *link; } LayerInfo;
typedef struct { uint32_t type; void *next; uint32_t version; Get instance; Get device; void *physical; } Negotiate;
typedef struct { uint32_t flags, count, bits, granularity[3]; } Family;

static Get below_instance, below_device;
static Object the_instance, the_device;
static int lost;

static LayerInfo *find(const void *info, uint32_t type) {
    for (Base *at = ((Base *)info)->next; at; at = at->next)
        if (at->type == type && ((LayerInfo *)at)->function == 0) return (LayerInfo *)at;
    return 0;
}

// Whether this call loses the device.
static int now(const char *what) {
    static int calls;
    const char *lose = getenv("LOSE"), *at = getenv("LOSE_AT");
    if (!lose || strcmp(lose, what) || lost) return 0;
    if (++calls < (at ? atoi(at) : 1)) return 0;
    return lost = 1;
}

#define BELOW(name, ...) ((int (*)(__VA_ARGS__))below_device(the_device, name))

static int submit(Object queue, uint32_t count, const void *infos, Handle fence) {
    if (now("submit") || lost) return -4;
    return BELOW("vkQueueSubmit", Object, uint32_t, const void *, Handle)(queue, count, infos, fence);
}

static int wait(Object device, uint32_t count, const Handle *fences, uint32_t all, uint64_t timeout) {
    if (now("wait")) return -4;
    return BELOW("vkWaitForFences", Object, uint32_t, const Handle *, uint32_t, uint64_t)(device, count, fences, all, timeout);
}

static int status(Object device, Handle fence) {
    if (now("status")) return -4;
    return BELOW("vkGetFenceStatus", Object, Handle)(device, fence);
}

static int queue_idle(Object queue) {
    if (now("queue")) return -4;
    return BELOW("vkQueueWaitIdle", Object)(queue);
}

static int device_idle(Object device) {
    if (now("device")) return -4;
    return BELOW("vkDeviceWaitIdle", Object)(device);
}

static void families(Object physical, uint32_t *count, Family *list) {
    ((void (*)(Object, uint32_t *, Family *))below_instance(the_instance, "vkGetPhysicalDeviceQueueFamilyProperties"))(physical, count, list);
    if (list && getenv("UNTIMED")) for (uint32_t i = 0; i < *count; i++) list[i].bits = 0;
}

static int create_instance(const void *info, const void *allocator, Object *instance) {
    LayerInfo *layer = find(info, 47);
    below_instance = layer->link->instance;
    layer->link = layer->link->next;
    int result = ((int (*)(const void *, const void *, Object *))below_instance(0, "vkCreateInstance"))(info, allocator, instance);
    the_instance = *instance;
    return result;
}

static int create_device(Object physical, const void *info, const void *allocator, Object *device) {
    LayerInfo *layer = find(info, 48);
    Get instance = layer->link->instance;
    below_device = layer->link->device;
    layer->link = layer->link->next;
    int result = ((int (*)(Object, const void *, const void *, Object *))instance(the_instance, "vkCreateDevice"))(physical, info, allocator, device);
    the_device = *device;
    return result;
}

static Any get_device(Object device, const char *name);

static Any own(const char *name) {
    if (!strcmp(name, "vkGetDeviceProcAddr")) return (Any)get_device;
    if (!strcmp(name, "vkQueueSubmit")) return (Any)submit;
    if (!strcmp(name, "vkWaitForFences")) return (Any)wait;
    if (!strcmp(name, "vkGetFenceStatus")) return (Any)status;
    if (!strcmp(name, "vkQueueWaitIdle")) return (Any)queue_idle;
    if (!strcmp(name, "vkDeviceWaitIdle")) return (Any)device_idle;
    return 0;
}

static Any get_device(Object device, const char *name) {
    Any found = own(name);
    return found ? found : below_device(device, name);
}

static Any get_instance(Object instance, const char *name) {
    if (!strcmp(name, "vkCreateInstance")) return (Any)create_instance;
    if (!strcmp(name, "vkCreateDevice")) return (Any)create_device;
    if (!strcmp(name, "vkGetInstanceProcAddr")) return (Any)get_instance;
    if (!strcmp(name, "vkGetPhysicalDeviceQueueFamilyProperties")) return (Any)families;
    Any found = own(name);
    return found ? found : below_instance ? below_instance(instance, name) : 0;
}

__attribute__((visibility("default"))) int vkNegotiateLoaderLayerInterfaceVersion(Negotiate *with) {
    with->version = 2;
    with->instance = get_instance;
    with->device = get_device;
    with->physical = 0;
    return 0;
}
