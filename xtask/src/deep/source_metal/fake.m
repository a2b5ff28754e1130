// A Metal device that is not there: it answers for the GPU in WK_NAME and WK_FAMILY, and prints every launch.
#include "apple.h"
#include <sys/mman.h>

static NSString * string(const char *s) { return [[NSString alloc] initWithBytes:s length:strlen(s) encoding:4]; }
static long number(const char *name) { const char *v = getenv(name); return v ? atol(v) : 0; }

@implementation NSObject
+ (void) load {}
+ (void) initialize {}
+ (id) alloc { return class_createInstance(self, 0); }
+ (id) new { return [[self alloc] init]; }
+ (Class) class { return self; }
- (id) init { return self; } - (id) retain { return self; } - (void) release {} - (NSString *) description { return string("object"); }
@end
@implementation NSConstantString
- (const char *) UTF8String { return text; }
- (id) retain { return self; }
@end
@implementation NSString
+ (NSString *) stringWithUTF8String:(const char *)s { return string(s); }
+ (NSString *) stringWithCString:(const char *)s encoding:(NSUInteger)e { return string(s); }
+ (NSString *) stringWithFormat:(NSString *)f, ... { return f; }
+ (NSString *) stringWithContentsOfFile:(NSString *)f encoding:(NSUInteger)e error:(id *)error { return nil; }
+ (NSString *) pathWithComponents:(NSArray *)a { return nil; }
- (id) initWithBytes:(const void *)b length:(NSUInteger)n encoding:(NSUInteger)e { text = strndup(b, n); length = n; return self; }
- (const char *) UTF8String { return text; }
- (bool) containsString:(NSString *)s { return strstr(text, [s UTF8String]) != NULL; }
- (NSUInteger) length { return length; }
- (bool) isEqualToString:(NSString *)s { return strcmp(text, [s UTF8String]) == 0; }
- (NSString *) substringToIndex:(NSUInteger)i { return self; }
- (bool) hasPrefix:(NSString *)s { return strncmp(text, [s UTF8String], strlen([s UTF8String])) == 0; }
@end
@implementation NSMutableString @end
@implementation NSArray
- (NSUInteger) count { return n; }
- (id) objectAtIndexedSubscript:(NSUInteger)i { return items[i]; }
- (NSUInteger) countByEnumeratingWithState:(NSFastEnumerationState *)s objects:(id *)b count:(NSUInteger)room {
    if (s->state) { return 0; }
    static unsigned long still; s->state = 1; s->itemsPtr = items; s->mutationsPtr = &still; return n;
}
+ (id) arrayWithObjects:(const id *)o count:(NSUInteger)n { NSMutableArray *a = [NSMutableArray new]; for (NSUInteger i = 0; i < n; i++) { [a addObject:o[i]]; } return a; }
@end
@implementation NSMutableArray
- (void) addObject:(id)o { items = realloc(items, (n + 1)*sizeof(id)); items[n++] = o; }
- (void) removeObject:(id)o {}
- (void) removeAllObjects { n = 0; }
@end
@implementation NSDictionary
- (id) objectForKey:(id)k { for (NSUInteger i = 0; i < n; i++) { if (!strcmp([keys[i] UTF8String], [k UTF8String])) { return values[i]; } } return nil; }
// Which of the libraries has a kernel decides nothing here.
- (id) objectForKeyedSubscript:(id)k { id v = [self objectForKey:k]; return v ? v : [NSNumber numberWithInt:0]; }
+ (id) dictionaryWithObjects:(const id *)o forKeys:(const id *)k count:(NSUInteger)n { return [NSMutableDictionary new]; }
+ (id) dictionary { return [NSMutableDictionary new]; }
@end
@implementation NSMutableDictionary
- (void) setObject:(id)o forKey:(id)k { keys = realloc(keys, (n + 1)*sizeof(id)); values = realloc(values, (n + 1)*sizeof(id)); keys[n] = k; values[n++] = o; }
- (void) setObject:(id)o forKeyedSubscript:(id)k { [self setObject:o forKey:k]; }
@end
@implementation NSSet - (bool) containsObject:(id)o { return false; } + (id) setWithArray:(id)a { return [self new]; } + (id) set { return [self new]; } @end
@implementation NSMutableSet - (void) addObject:(id)o {} @end
@implementation NSNumber + (NSNumber *) numberWithInt:(int)n { NSNumber *v = [self new]; v->number = n; return v; } - (int) intValue { return number; } @end
@implementation NSError - (NSString *) localizedDescription { return string("error"); } + (id) errorWithDomain:(id)d code:(NSInteger)c userInfo:(id)u { return [self new]; } @end
@implementation NSLock - (void) lock {} - (void) unlock {} @end
@implementation NSURL + (id) fileURLWithPath:(id)p { return [self new]; } @end
@implementation NSAutoreleasePool - (void) drain {} @end
@implementation NSBundle @end
@implementation NSFileManager + (id) defaultManager { return [self new]; } - (bool) isReadableFileAtPath:(id)p { return false; } @end
@implementation NSProcessInfo + (NSProcessInfo *) processInfo { return [self new]; } - (NSDictionary *) environment { return nil; } - (NSArray *) arguments { return nil; } @end
@implementation NSScanner @synthesize charactersToBeSkipped; + (NSScanner *) scannerWithString:(id)s { return [self new]; }
- (bool) scanString:(id)s intoString:(id *)t { return false; } - (bool) scanUpToString:(id)s intoString:(id *)t { return false; } @end
@implementation NSCharacterSet + (id) whitespaceCharacterSet { return [self new]; } @end
@implementation MTLFunctionConstantValues
- (void) setConstantValue:(const void *)v type:(NSUInteger)t atIndex:(NSUInteger)i {
    long value = t == MTLDataTypeInt ? *(const int32_t *) v : t == MTLDataTypeShort ? *(const int16_t *) v : *(const bool *) v;
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%lu=%ld", *text ? " " : "", i, value);
}
@end
@implementation MTLCompileOptions @synthesize preprocessorMacros, languageVersion; @end
@implementation MTLResidencySetDescriptor @synthesize label, initialCapacity; @end
@implementation MTLCaptureDescriptor @synthesize captureObject, outputURL, destination; @end
@implementation MTLCaptureManager + (id) sharedCaptureManager { return [self new]; } - (bool) startCaptureWithDescriptor:(id)d error:(NSError **)e { return false; } @end

// One class for all objects of the device.
@interface Fake : NSObject { @public char kernel[256]; char constants[1024]; Fake *bound; char memory[128]; } @end
@implementation Fake
- (NSString *) name { return string(getenv("WK_NAME")); }
- (bool) hasUnifiedMemory { return true; }
- (NSUInteger) maxBufferLength { return 1ul << 36; } - (NSUInteger) recommendedMaxWorkingSetSize { return 1ul << 36; } - (NSUInteger) currentAllocatedSize { return 0; }
- (NSUInteger) maxThreadgroupMemoryLength { return 32768; } - (uint64_t) registryID { return 1; } - (NSUInteger) location { return 0; }
- (NSUInteger) maxTotalThreadsPerThreadgroup { return number("WK_THREADS"); } - (NSUInteger) threadExecutionWidth { return 32; }
- (bool) supportsFamily:(NSInteger)f {
    if (f >= 5001) { return f == 5001 || (f == 5002 && number("WK_MACOS") >= 26); }
    return f >= 1001 && f < 2000 ? f - 1000 <= number("WK_FAMILY") : f == 2002 || (f >= 3001 && f <= 3003);
}
- (id) newCommandQueue { return [Fake new]; } - (id) newSharedEvent { return [Fake new]; }
- (id) newLibraryWithSource:(NSString *)s options:(MTLCompileOptions *)o error:(NSError **)e {
    if ([s containsString:string("tensor<device bfloat")] && !number("WK_TENSOR_BFLOAT")) { *e = [NSError new]; return nil; }
    return [Fake new];
}
- (NSArray *) functionNames { return [NSMutableArray new]; }
- (id) newFunctionWithName:(NSString *)n { Fake *f = [Fake new]; snprintf(f->kernel, sizeof(f->kernel), "%s", [n UTF8String]); return f; }
- (id) newFunctionWithName:(NSString *)n constantValues:(MTLFunctionConstantValues *)v error:(NSError **)e {
    Fake *f = [self newFunctionWithName:n]; strcpy(f->constants, v->text); return f;
}
- (id) newComputePipelineStateWithFunction:(id)f error:(NSError **)e { Fake *p = [Fake new]; p->bound = f; return p; }
- (id) newBufferWithLength:(NSUInteger)n options:(NSUInteger)o { return [Fake new]; }
- (id) newBufferWithBytes:(const void *)b length:(NSUInteger)n options:(NSUInteger)o { return [Fake new]; }
- (id) newBufferWithBytesNoCopy:(void *)b length:(NSUInteger)n options:(NSUInteger)o deallocator:(id)d { return [Fake new]; }
- (id) newResidencySetWithDescriptor:(id)d error:(NSError **)e { *e = nil; return [Fake new]; }
- (void) addAllocation:(id)a {} - (void) requestResidency {} - (void) endResidency {} - (void) removeAllAllocations {}
- (id) commandBuffer { return [Fake new]; } - (id) commandBufferWithUnretainedReferences { return [Fake new]; }
- (id) computeCommandEncoder { return [Fake new]; } - (id) computeCommandEncoderWithDispatchType:(NSUInteger)t { return [Fake new]; } - (id) blitCommandEncoder { return [Fake new]; }
- (void) enqueue {} - (void) commit {} - (void) waitUntilCompleted {} - (MTLCommandBufferStatus) status { return 4; } - (NSError *) error { return nil; }
- (void) fillBuffer:(id)b range:(NSRange)r value:(uint8_t)v {}
- (void) setComputePipelineState:(id)p { bound = p; *memory = 0; }
- (void) setBytes:(const void *)b length:(NSUInteger)n atIndex:(NSUInteger)i {} - (void) setBuffer:(id)b offset:(NSUInteger)o atIndex:(NSUInteger)i {}
- (void) setThreadgroupMemoryLength:(NSUInteger)n atIndex:(NSUInteger)i { sprintf(memory + strlen(memory), "%s%lu=%lu", *memory ? " " : "", i, n); }
- (void) dispatchThreadgroups:(MTLSize)g threadsPerThreadgroup:(MTLSize)t {
    Fake *f = bound->bound;
    printf("\t%s|%s|%lux%lux%lu|%lux%lux%lu|%s", f->kernel, f->constants, g.width, g.height, g.depth, t.width, t.height, t.depth, memory);
}
- (void) memoryBarrierWithScope:(NSUInteger)s {} - (void) endEncoding {} - (void) pushDebugGroup:(NSString *)s {} - (void) popDebugGroup {}
@end
id MTLCreateSystemDefaultDevice(void) { return [Fake new]; }
NSArray * MTLCopyAllDevices(void) { return [NSMutableArray new]; }

struct work { void (^blocks[256])(void); int n; };
dispatch_group_t dispatch_group_create(void) { return calloc(1, sizeof(struct work)); }
void dispatch_group_async(dispatch_group_t g, dispatch_queue_t q, void (^b)(void)) { g->blocks[g->n++] = Block_copy(b); }
long dispatch_group_wait(dispatch_group_t g, uint64_t t) { for (int i = 0; i < g->n; i++) { g->blocks[i](); } g->n = 0; return 0; }
void dispatch_apply(size_t n, dispatch_queue_t q, void (^b)(size_t)) { for (size_t i = 0; i < n; i++) { b(i); } }
kern_return_t vm_allocate(vm_map_t m, void *address, size_t n, int flags) {
    *(void **) address = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0); return 0;
}
