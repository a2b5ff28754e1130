// The part of Foundation, Metal, Dispatch and the macOS kernel that ggml's Metal backend uses, for a compiler of Objective-C on Linux.
#pragma once
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <objc/objc.h>
#include <objc/runtime.h>
#include <Block.h>
#undef nil
#define nil ((void *) 0)

typedef long NSInteger; typedef unsigned long NSUInteger; typedef unsigned vm_map_t; typedef int kern_return_t;
typedef struct { NSUInteger location, length; } NSRange;
typedef struct { NSUInteger width, height, depth; } MTLSize;
static inline NSRange NSMakeRange(NSUInteger a, NSUInteger b) { NSRange r = { a, b }; return r; }
static inline MTLSize MTLSizeMake(NSUInteger a, NSUInteger b, NSUInteger c) { MTLSize r = { a, b, c }; return r; }
typedef struct { unsigned long state; id *itemsPtr; unsigned long *mutationsPtr; unsigned long extra[5]; } NSFastEnumerationState;
enum {
    MTLGPUFamilyApple1 = 1001, MTLGPUFamilyApple6 = 1006, MTLGPUFamilyApple7 = 1007, MTLGPUFamilyCommon1 = 3001,
    MTLDataTypeInt = 29, MTLDataTypeShort = 37, MTLDataTypeBool = 53, MTLDispatchTypeConcurrent = 1, MTLBarrierScopeBuffers = 1,
    MTLResourceStorageModeShared = 0, MTLResourceStorageModePrivate = 32, MTLDeviceLocationExternal = 2, NSUTF8StringEncoding = 4,
    MTLCommandBufferStatusNotEnqueued = 0, MTLCommandBufferStatusCompleted = 4, MTLCommandBufferStatusError = 5,
    MTLCaptureDestinationGPUTraceDocument = 2, KERN_SUCCESS = 0, VM_FLAGS_ANYWHERE = 1,
};
typedef int MTLCommandBufferStatus; typedef NSUInteger MTLLanguageVersion;

@protocol NSObject @end
@class NSString, NSArray, NSDictionary;
__attribute__((objc_root_class)) @interface NSObject <NSObject> { Class isa; }
+ (id) alloc; + (id) new; + (Class) class;
- (id) init; - (id) retain; - (void) release; - (NSString *) description;
@end
@interface NSConstantString : NSObject { @public char *text; unsigned length; } @end
@interface NSString : NSObject { @public char *text; unsigned length; }
+ (NSString *) stringWithUTF8String:(const char *)s; + (NSString *) stringWithCString:(const char *)s encoding:(NSUInteger)e;
+ (NSString *) stringWithFormat:(NSString *)f, ...;
+ (NSString *) stringWithContentsOfFile:(NSString *)f encoding:(NSUInteger)e error:(id *)error;
+ (NSString *) pathWithComponents:(NSArray *)a;
- (id) initWithBytes:(const void *)b length:(NSUInteger)n encoding:(NSUInteger)e;
- (const char *) UTF8String; - (bool) containsString:(NSString *)s; - (NSUInteger) length; - (bool) isEqualToString:(NSString *)s;
- (NSString *) substringToIndex:(NSUInteger)i; - (bool) hasPrefix:(NSString *)s;
@end
@interface NSMutableString : NSString @end
@interface NSArray<T> : NSObject { @public id *items; NSUInteger n; }
@property (readonly) NSUInteger count;
- (T) objectAtIndexedSubscript:(NSUInteger)i; - (NSUInteger) countByEnumeratingWithState:(NSFastEnumerationState *)s objects:(id *)b count:(NSUInteger)n;
+ (id) arrayWithObjects:(const id *)o count:(NSUInteger)n;
@end
@interface NSMutableArray<T> : NSArray<T>
- (void) addObject:(id)o; - (void) removeObject:(id)o; - (void) removeAllObjects;
@end
@interface NSDictionary<K, V> : NSObject { @public id *keys, *values; NSUInteger n; }
- (V) objectForKeyedSubscript:(K)k; - (V) objectForKey:(K)k;
+ (id) dictionaryWithObjects:(const id *)o forKeys:(const id *)k count:(NSUInteger)n; + (id) dictionary;
@end
@interface NSMutableDictionary<K, V> : NSDictionary<K, V>
- (void) setObject:(id)o forKey:(id)k; - (void) setObject:(id)o forKeyedSubscript:(id)k;
@end
@interface NSSet<T> : NSObject - (bool) containsObject:(id)o; + (id) setWithArray:(id)a; + (id) set; @end
@interface NSMutableSet<T> : NSSet<T> - (void) addObject:(id)o; @end
@interface NSNumber : NSObject { @public long number; } + (NSNumber *) numberWithInt:(int)n; - (int) intValue; @end
@interface NSError : NSObject @property (readonly) NSString * localizedDescription; + (id) errorWithDomain:(id)d code:(NSInteger)c userInfo:(id)u; @end
@interface NSLock : NSObject - (void) lock; - (void) unlock; @end
@interface NSURL : NSObject + (id) fileURLWithPath:(id)p; @end
@interface NSAutoreleasePool : NSObject - (void) drain; @end
@interface NSBundle : NSObject @end
@interface NSFileManager : NSObject + (id) defaultManager; - (bool) isReadableFileAtPath:(id)p; @end
@interface NSProcessInfo : NSObject + (NSProcessInfo *) processInfo; @property (readonly) NSDictionary * environment; - (NSArray *) arguments; @end
@interface NSScanner : NSObject { id charactersToBeSkipped; } @property id charactersToBeSkipped; + (NSScanner *) scannerWithString:(id)s;
- (bool) scanString:(id)s intoString:(id *)t; - (bool) scanUpToString:(id)s intoString:(id *)t; @end
@interface NSCharacterSet : NSObject + (id) whitespaceCharacterSet; @end
#define NSLocalizedDescriptionKey @"description"
#define NSFileType @"type"
#define NSFileTypeSymbolicLink ((id) 0)

@class MTLFunctionConstantValues, MTLCompileOptions;
@protocol MTLFunction @end
@protocol MTLBuffer @end
@protocol MTLResidencySet @end
@protocol MTLCaptureScope @end
@protocol MTLComputePipelineState @property (readonly) NSUInteger maxTotalThreadsPerThreadgroup, threadExecutionWidth; @end
@protocol MTLLibrary
- (id) newFunctionWithName:(NSString *)n; - (id) newFunctionWithName:(NSString *)n constantValues:(MTLFunctionConstantValues *)v error:(NSError **)e;
- (NSArray *) functionNames;
@end
@protocol MTLComputeCommandEncoder
- (void) setComputePipelineState:(id)p; - (void) setBytes:(const void *)b length:(NSUInteger)n atIndex:(NSUInteger)i;
- (void) setBuffer:(id)b offset:(NSUInteger)o atIndex:(NSUInteger)i; - (void) setThreadgroupMemoryLength:(NSUInteger)n atIndex:(NSUInteger)i;
- (void) dispatchThreadgroups:(MTLSize)g threadsPerThreadgroup:(MTLSize)t;
- (void) memoryBarrierWithScope:(NSUInteger)s; - (void) endEncoding; - (void) pushDebugGroup:(NSString *)s; - (void) popDebugGroup;
@end
@protocol MTLBlitCommandEncoder
- (void) fillBuffer:(id)b range:(NSRange)r value:(uint8_t)v; - (void) endEncoding;
- (void) copyFromBuffer:(id)a sourceOffset:(NSUInteger)x toBuffer:(id)b destinationOffset:(NSUInteger)y size:(NSUInteger)n;
@end
@protocol MTLCommandBuffer
- (id) computeCommandEncoder; - (id) computeCommandEncoderWithDispatchType:(NSUInteger)t; - (id) blitCommandEncoder;
- (void) enqueue; - (void) commit; - (void) waitUntilCompleted; - (MTLCommandBufferStatus) status; - (NSError *) error;
- (void) encodeSignalEvent:(id)e value:(uint64_t)v; - (void) encodeWaitForEvent:(id)e value:(uint64_t)v; - (void) addCompletedHandler:(void (^)(id))h;
@end
@protocol MTLCommandQueue - (id) commandBuffer; - (id) commandBufferWithUnretainedReferences; @end
@protocol MTLSharedEvent - (bool) waitUntilSignaledValue:(uint64_t)v timeoutMS:(uint64_t)t; @end
@protocol MTLDevice
@property (readonly) NSString * name; @property (readonly) bool hasUnifiedMemory;
@property (readonly) NSUInteger maxBufferLength, maxThreadgroupMemoryLength, recommendedMaxWorkingSetSize, currentAllocatedSize;
@property (readonly) uint64_t registryID; @property (readonly) NSUInteger location;
- (bool) supportsFamily:(NSInteger)f; - (id) newCommandQueue; - (id) newSharedEvent;
- (id) newLibraryWithSource:(NSString *)s options:(MTLCompileOptions *)o error:(NSError **)e; - (id) newLibraryWithURL:(id)u error:(NSError **)e;
- (id) newComputePipelineStateWithFunction:(id)f error:(NSError **)e; - (id) newBufferWithLength:(NSUInteger)n options:(NSUInteger)o;
- (id) newBufferWithBytes:(const void *)b length:(NSUInteger)n options:(NSUInteger)o;
- (id) newBufferWithBytesNoCopy:(void *)b length:(NSUInteger)n options:(NSUInteger)o deallocator:(id)d;
- (id) newResidencySetWithDescriptor:(id)d error:(NSError **)e;
@end
@interface MTLFunctionConstantValues : NSObject { @public char text[1024]; } - (void) setConstantValue:(const void *)v type:(NSUInteger)t atIndex:(NSUInteger)i; @end
@interface MTLCompileOptions : NSObject { id preprocessorMacros; MTLLanguageVersion languageVersion; } @property id preprocessorMacros; @property MTLLanguageVersion languageVersion; @end
@interface MTLResidencySetDescriptor : NSObject { id label; NSUInteger initialCapacity; } @property id label; @property NSUInteger initialCapacity; @end
@interface MTLCaptureDescriptor : NSObject { id captureObject, outputURL; NSUInteger destination; } @property id captureObject, outputURL; @property NSUInteger destination; @end
@interface MTLCaptureManager : NSObject + (id) sharedCaptureManager; - (bool) startCaptureWithDescriptor:(id)d error:(NSError **)e; @end
id MTLCreateSystemDefaultDevice(void);
NSArray * MTLCopyAllDevices(void);

typedef struct work * dispatch_group_t; typedef void * dispatch_queue_t; typedef void * dispatch_semaphore_t;
static inline dispatch_semaphore_t dispatch_semaphore_create(long n) { return NULL; }
static inline long dispatch_semaphore_signal(dispatch_semaphore_t s) { return 0; }
static inline long dispatch_semaphore_wait(dispatch_semaphore_t s, uint64_t t) { return 0; }
#define DISPATCH_TIME_FOREVER (~0ull)
#define DISPATCH_QUEUE_CONCURRENT NULL
#define QOS_CLASS_DEFAULT 21
#define QOS_CLASS_USER_INITIATED 25
dispatch_group_t dispatch_group_create(void);
void dispatch_group_async(dispatch_group_t g, dispatch_queue_t q, void (^b)(void));
long dispatch_group_wait(dispatch_group_t g, uint64_t t);
void dispatch_apply(size_t n, dispatch_queue_t q, void (^b)(size_t));
static inline dispatch_queue_t dispatch_queue_create(const char *n, void *a) { return (void *) n; }
static inline dispatch_queue_t dispatch_get_global_queue(long a, unsigned long b) { return NULL; }
static inline void dispatch_release(void *p) {}
static inline vm_map_t mach_task_self(void) { return 0; }
kern_return_t vm_allocate(vm_map_t m, void *address, size_t n, int flags);
static inline int vm_deallocate(vm_map_t m, size_t a, size_t n) { return 0; }
typedef size_t vm_address_t; typedef size_t vm_size_t;
