// The part of Objective-C, Foundation, Metal, Dispatch and the macOS kernel that ggml names, with the functions that the evaluator
// answers. Message sends are calls of objc_send_SELECTOR (objc.rs). Names that begin with wk_ are answered in dialect.rs. A type or
// a function that is missing here is unknown.
namespace std { template <typename A, typename B> struct pair { A first; B second; }; }
#define nil nullptr
#define YES true
#define NO false
typedef long NSInteger; typedef unsigned long NSUInteger; typedef bool BOOL; typedef long kern_return_t; typedef unsigned vm_map_t;
typedef const char NSString; typedef const char NSMutableString;
typedef unsigned long uintptr_t; typedef unsigned long atomic_uintptr_t; typedef bool atomic_bool; typedef int atomic_int;
typedef unsigned long vm_size_t; typedef unsigned long vm_address_t; typedef unsigned long dispatch_time_t;
enum objc_enumerators {
    MTLGPUFamilyApple1 = 1001, MTLGPUFamilyApple2 = 1002, MTLGPUFamilyApple3 = 1003, MTLGPUFamilyApple4 = 1004, MTLGPUFamilyApple5 = 1005,
    MTLGPUFamilyApple6 = 1006, MTLGPUFamilyApple7 = 1007, MTLGPUFamilyApple8 = 1008, MTLGPUFamilyApple9 = 1009, MTLGPUFamilyApple10 = 1010,
    MTLGPUFamilyMac1 = 2001, MTLGPUFamilyMac2 = 2002, MTLGPUFamilyCommon1 = 3001, MTLGPUFamilyCommon2 = 3002, MTLGPUFamilyCommon3 = 3003,
    MTLGPUFamilyMetal3 = 5001, MTLGPUFamilyMetal4 = 5002,
    MTLDataTypeInt = 29, MTLDataTypeUInt = 33, MTLDataTypeShort = 37, MTLDataTypeUShort = 41, MTLDataTypeBool = 53,
    MTLDispatchTypeSerial = 0, MTLDispatchTypeConcurrent = 1, MTLBarrierScopeBuffers = 1, MTLResourceStorageModeShared = 0,
    MTLResourceStorageModePrivate = 32, MTLDeviceLocationBuiltIn = 0, MTLDeviceLocationSlot = 1, MTLDeviceLocationExternal = 2,
    NSUTF8StringEncoding = 4, QOS_CLASS_DEFAULT = 21, QOS_CLASS_USER_INITIATED = 25, KERN_SUCCESS = 0, VM_FLAGS_ANYWHERE = 1, _SC_PAGESIZE = 29,
    memory_order_relaxed = 0, memory_order_acquire = 2, memory_order_release = 3, memory_order_seq_cst = 5, DISPATCH_QUEUE_CONCURRENT = 1,
    DISPATCH_QUEUE_SERIAL = 0, MTLCommandBufferStatusNotEnqueued = 0, MTLCommandBufferStatusCompleted = 4, MTLCommandBufferStatusError = 5,
    MTLCaptureDestinationGPUTraceDocument = 2
};
typedef int MTLCommandBufferStatus; typedef unsigned long MTLLanguageVersion;
#define DISPATCH_TIME_FOREVER 18446744073709551615UL
#define vm_page_size 16384
struct objc_object;
typedef objc_object * id;
typedef std::vector<id> NSArray; typedef std::vector<id> NSMutableArray;
typedef std::unordered_map<std::string, id> NSDictionary; typedef std::unordered_map<std::string, id> NSMutableDictionary;
// One struct for the objects of all classes.
struct objc_object {
    const char * name; bool hasUnifiedMemory; unsigned long maxBufferLength; unsigned long maxThreadgroupMemoryLength;
    unsigned long recommendedMaxWorkingSetSize; unsigned long currentAllocatedSize; unsigned long registryID;
    // Of a pipeline.
    unsigned long maxTotalThreadsPerThreadgroup; unsigned long threadExecutionWidth; id function;
    // Of a function: its constants are pairs of index and value. Of a library: where its source came from.
    const char * text; std::vector<long> constants;
    // Of an encoder: the bound pipeline and the threadgroup memory.
    id pipeline; std::vector<long> memory;
    // Of a number.
    long number;
    NSDictionary * preprocessorMacros; MTLLanguageVersion languageVersion; const char * label; unsigned long initialCapacity;
    const char * localizedDescription; id captureObject; int destination; id outputURL; NSDictionary * environment;
};
typedef objc_object NSLock; typedef objc_object NSError; typedef objc_object NSNumber; typedef objc_object NSURL; typedef objc_object NSObject;
typedef objc_object NSBundle; typedef objc_object NSFileManager; typedef objc_object NSProcessInfo; typedef objc_object NSSet; typedef objc_object NSMutableSet;
typedef objc_object MTLFunctionConstantValues; typedef objc_object MTLCompileOptions; typedef objc_object MTLResidencySetDescriptor;
typedef objc_object MTLCaptureDescriptor; typedef objc_object MTLCaptureManager; typedef objc_object NSScanner; typedef objc_object NSCharacterSet;
struct MTLSize { long width; long height; long depth; };
struct NSRange { unsigned long location; unsigned long length; };
inline MTLSize MTLSizeMake(long width, long height, long depth) { return { width, height, depth }; }
inline NSRange NSMakeRange(unsigned long location, unsigned long length) { return { location, length }; }
inline id objc_new() { return new objc_object(); }
inline id objc_number(long number) { id made = objc_new(); made->number = number; return made; }
// One launch: kernel, constants, threadgroups, threads per threadgroup, threadgroup memory by index.
struct objc_launch { const char * kernel; std::vector<long> constants; MTLSize groups; MTLSize threads; std::vector<long> memory; };
std::vector<objc_launch> objc_launches;
// The device.
inline id objc_device() {
    id made = objc_new();
    made->name = wk_text("name");
    made->hasUnifiedMemory = wk_fact("hasUnifiedMemory");
    made->maxBufferLength = wk_fact("maxBufferLength");
    made->maxThreadgroupMemoryLength = wk_fact("maxThreadgroupMemoryLength");
    made->recommendedMaxWorkingSetSize = wk_fact("recommendedMaxWorkingSetSize");
    made->currentAllocatedSize = wk_fact("currentAllocatedSize");
    made->registryID = wk_fact("registryID");
    return made;
}
inline id MTLCreateSystemDefaultDevice() { return objc_device(); }
inline NSArray * MTLCopyAllDevices() { NSArray * made = new NSArray(); made->push_back(objc_device()); return made; }
inline bool objc_send_supportsFamily_(id device, long family) { return wk_family(family); }
inline const char * objc_send_name(id object) { return object->name; }
inline int objc_send_location(id device) { return wk_fact("location"); }
inline id objc_send_newCommandQueue(id device) { return objc_new(); }
inline id objc_send_newSharedEvent(id device) { return objc_new(); }
inline id objc_send_newResidencySetWithDescriptor_error_(id device, id descriptor, NSError ** error) { *error = nullptr; return objc_new(); }
inline id objc_send_newBufferWithLength_options_(id device, unsigned long length, int options) { return objc_new(); }
inline id objc_send_newBufferWithBytesNoCopy_length_options_deallocator_(id device, void * data, unsigned long length, int options, void * after) { return objc_new(); }
// Libraries, functions and pipelines. Whether a shader compiles is a fact of the card and its system.
inline id objc_send_newLibraryWithSource_options_error_(id device, const char * source, id options, NSError ** error) {
    if (!wk_compiles(source)) { *error = objc_new(); return nullptr; }
    id made = objc_new(); made->text = source; return made;
}
inline NSArray * objc_send_functionNames(id library) { return wk_functions(library->text); }
inline id objc_function(id library, const char * name) {
    if (!wk_has_function(library->text, name)) { return nullptr; }
    id made = objc_new(); made->text = name; return made;
}
inline id objc_send_newFunctionWithName_(id library, const char * name) { return objc_function(library, name); }
inline id objc_send_newFunctionWithName_constantValues_error_(id library, const char * name, id values, NSError ** error) {
    id made = objc_function(library, name);
    if (!made) { *error = objc_new(); return nullptr; }
    made->constants = values->constants; return made;
}
inline id objc_send_newComputePipelineStateWithFunction_error_(id device, id function, NSError ** error) {
    id made = objc_new(); made->function = function;
    made->maxTotalThreadsPerThreadgroup = wk_fact("maxTotalThreadsPerThreadgroup"); made->threadExecutionWidth = wk_fact("threadExecutionWidth");
    return made;
}
template <typename T> void objc_send_setConstantValue_type_atIndex_(id values, T * value, int type, long index) { values->constants.push_back(index); values->constants.push_back(*value); }
// Command buffers and encoders.
inline id objc_send_commandBuffer(id queue) { return objc_new(); }
inline id objc_send_commandBufferWithUnretainedReferences(id queue) { return objc_new(); }
inline id objc_send_computeCommandEncoder(id buffer) { return objc_new(); }
inline id objc_send_computeCommandEncoderWithDispatchType_(id buffer, int type) { return objc_new(); }
inline id objc_send_blitCommandEncoder(id buffer) { return objc_new(); }
inline void objc_send_setComputePipelineState_(id encoder, id pipeline) { encoder->pipeline = pipeline; encoder->memory.clear(); }
inline void objc_send_setThreadgroupMemoryLength_atIndex_(id encoder, unsigned long length, long index) { encoder->memory.push_back(index); encoder->memory.push_back(length); }
inline void objc_send_dispatchThreadgroups_threadsPerThreadgroup_(id encoder, MTLSize groups, MTLSize threads) {
    objc_launches.push_back({ encoder->pipeline->function->text, encoder->pipeline->function->constants, groups, threads, encoder->memory });
    wk_launched();
}
template <typename T> void objc_send_setBytes_length_atIndex_(id encoder, T * data, unsigned long length, int index) {}
inline void objc_send_setBuffer_offset_atIndex_(id encoder, void * buffer, unsigned long offset, int index) {}
inline void objc_send_memoryBarrierWithScope_(id encoder, int scope) {}
inline void objc_send_endEncoding(id encoder) {}
inline void objc_send_pushDebugGroup_(id encoder, const char * name) {}
inline void objc_send_popDebugGroup(id encoder) {}
inline void objc_send_fillBuffer_range_value_(id encoder, id buffer, NSRange range, int value) {}
inline void objc_send_enqueue(id buffer) {}
inline void objc_send_commit(id object) {}
inline void objc_send_waitUntilCompleted(id buffer) {}
inline void objc_send_addAllocation_(id set, id buffer) {}
inline void objc_send_requestResidency(id set) {}
// Foundation.
template <typename T> T * objc_send_retain(T * object) { return object; }
template <typename T> void objc_send_release(T * object) {}
inline void objc_send_lock(id lock) {}
inline void objc_send_unlock(id lock) {}
inline void * objc_send_alloc(const char * name) { return wk_alloc(name); }
inline void * objc_send_new(const char * name) { return wk_alloc(name); }
template <typename T> T * objc_send_init(T * object) { return object; }
inline NSMutableDictionary * objc_send_dictionary(const char * name) { return new NSMutableDictionary(); }
inline void objc_send_setObject_forKey_(NSMutableDictionary * dictionary, const char * value, const char * key) {}
inline void objc_send_addObject_(NSMutableArray * array, id object) { array->push_back(object); }
inline void objc_send_removeAllObjects(NSMutableArray * array) { array->clear(); }
inline unsigned long objc_send_count(NSMutableArray * array) { return array->size(); }
inline int objc_send_intValue(id number) { return number->number; }
inline const char * objc_send_UTF8String(const char * text) { return wk_chars(text); }
inline const char * objc_send_stringWithUTF8String_(const char * name, const char * text) { return wk_string(text); }
inline const char * objc_send_stringWithCString_encoding_(const char * name, const char * text, int encoding) { return wk_string(text); }
inline const char * objc_send_initWithBytes_length_encoding_(void * object, const char * text, unsigned long length, int encoding) { return wk_string(text); }
inline bool objc_send_containsString_(const char * text, const char * part) { return strstr(text, part) != nullptr; }
inline bool objc_send_isEqualToString_(const char * text, const char * other) { return strcmp(text, other) == 0; }
inline bool objc_send_hasPrefix_(const char * text, const char * part) { return wk_prefix(text, part); }
inline bool objc_available(const char * versions) { return wk_available(versions); }
// Dispatch. Work of a group runs when it is waited for; a thread that nothing waits for decides nothing.
struct objc_group { std::vector<std::function<void()>> work; };
typedef objc_group * dispatch_group_t; typedef void * dispatch_queue_t;
inline dispatch_group_t dispatch_group_create() { return new objc_group(); }
inline void * dispatch_get_global_queue(long kind, unsigned long flags) { return objc_new(); }
inline void * dispatch_queue_create(const char * name, int kind) { return objc_new(); }
inline void dispatch_group_async(dispatch_group_t group, void * queue, std::function<void()> work) { group->work.push_back(work); }
inline long dispatch_group_wait(dispatch_group_t group, unsigned long time) { for (auto & work : group->work) { work(); } group->work.clear(); return 0; }
inline void dispatch_apply(unsigned long count, void * queue, std::function<void(unsigned long)> work) { for (unsigned long i = 0; i < count; ++i) { work(i); } }
template <typename T> void dispatch_release(T * object) {}
template <typename T> T Block_copy(T block) { return block; }
template <typename T> void Block_release(T block) {}
// Memory.
template <typename T, typename V> T atomic_fetch_add_explicit(T * place, V value, int order) { T old = *place; *place += value; return old; }
template <typename T, typename V> T atomic_fetch_sub_explicit(T * place, V value, int order) { T old = *place; *place -= value; return old; }
template <typename T, typename V> void atomic_store_explicit(T * place, V value, int order) { *place = value; }
template <typename T> T atomic_load_explicit(T * place, int order) { return *place; }
template <typename T, typename V> void atomic_store(T * place, V value) { *place = value; }
template <typename T> T atomic_load(T * place) { return *place; }
inline unsigned mach_task_self() { return 1; }
inline long sysconf(int name) { return 16384; }
inline int setenv(const char * name, const char * value, int overwrite) { return 0; }
template <typename T> long vm_allocate(unsigned task, T * address, unsigned long size, int flags) { *address = wk_memory(size); return 0; }
inline NSArray * objc_array() { return new NSArray(); }
inline NSDictionary * objc_dictionary() { return new NSDictionary(); }
inline std::vector<objc_launch> objc_recorded() { return objc_launches; }
