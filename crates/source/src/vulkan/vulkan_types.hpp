// The part of the Vulkan headers (1.4.363) and of Vulkan-Hpp that ggml names, with the functions that the evaluator answers. Names
// that begin with wk_ are answered in dialect.rs. A type or a function that is missing here is unknown.
namespace std { template <typename A, typename B> struct pair { A first; B second; }; template <typename T> struct future { int state; void wait() {} void get() {} }; }
typedef unsigned VkBool32; typedef unsigned VkFlags; typedef unsigned long VkDeviceSize; typedef int VkStructureType; typedef int VkResult;
typedef int VkDriverId; typedef int VkComponentTypeKHR; typedef int VkScopeKHR; typedef int VkDeviceQueueCreateFlagBits;
struct VkBaseOutStructure { int sType; void * pNext; };
typedef void * PFN_vkCmdBeginDebugUtilsLabelEXT;
typedef void * PFN_vkCmdEndDebugUtilsLabelEXT;
typedef void * PFN_vkCmdInsertDebugUtilsLabelEXT;
typedef void * PFN_vkGetDeviceFaultInfoEXT;
typedef void * PFN_vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV;
typedef void * PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
typedef void * PFN_vkQueueBeginDebugUtilsLabelEXT;
typedef void * PFN_vkQueueEndDebugUtilsLabelEXT;
typedef void * PFN_vkSetDebugUtilsObjectNameEXT;
#define VK_TRUE 1
#define VK_FALSE 0
#define VK_NULL_HANDLE 0
#define VK_WHOLE_SIZE (~0ULL)
#define VK_API_VERSION_1_0 4194304
#define VK_API_VERSION_1_1 4198400
#define VK_API_VERSION_1_2 4202496
#define VK_API_VERSION_1_3 4206592
#define VK_API_VERSION_1_4 4210688
#define VK_HEADER_VERSION 363
#define VK_AMD_shader_core_properties 1
#define VK_AMD_shader_core_properties2 1
#define VK_EXT_debug_utils 1
#define VK_EXT_device_fault 1
#define VK_EXT_external_memory_host 1
#define VK_EXT_layer_settings 1
#define VK_EXT_memory_priority 1
#define VK_EXT_pci_bus_info 1
#define VK_EXT_pipeline_robustness 1
#define VK_EXT_shader_64bit_indexing 1
#define VK_EXT_shader_float8 1
#define VK_EXT_shader_ocp_microscaling_types 1
#define VK_EXT_subgroup_size_control 1
#define VK_EXT_validation_features 1
#define VK_KHR_cooperative_matrix 1
#define VK_KHR_internally_synchronized_queues 1
#define VK_KHR_maintenance4 1
#define VK_KHR_pipeline_executable_properties 1
#define VK_KHR_portability_enumeration 1
#define VK_KHR_shader_bfloat16 1
#define VK_KHR_shader_float16_int8 1
#define VK_KHR_shader_integer_dot_product 1
#define VK_KHR_shader_non_semantic_info 1
#define VK_NV_cooperative_matrix2 1
#define VK_NV_cooperative_matrix_decode_vector 1
#define VK_NV_shader_sm_builtins 1
#define VK_QCOM_cooperative_matrix_conversion 1
#define VK_VALVE_shader_mixed_float_dot_product 1
#define VK_EXT_MEMORY_BUDGET_EXTENSION_NAME "VK_EXT_memory_budget"
#define VK_EXT_SHADER_FLOAT8_EXTENSION_NAME "VK_EXT_shader_float8"
#define VK_EXT_SHADER_OCP_MICROSCALING_TYPES_EXTENSION_NAME "VK_EXT_shader_ocp_microscaling_types"
#define VK_KHR_INTERNALLY_SYNCHRONIZED_QUEUES_EXTENSION_NAME "VK_KHR_internally_synchronized_queues"
#define VK_KHR_SHADER_BFLOAT16_EXTENSION_NAME "VK_KHR_shader_bfloat16"
#define VK_NV_COOPERATIVE_MATRIX_DECODE_VECTOR_EXTENSION_NAME "VK_NV_cooperative_matrix_decode_vector"
#define VK_VALVE_SHADER_MIXED_FLOAT_DOT_PRODUCT_EXTENSION_NAME "VK_VALVE_shader_mixed_float_dot_product"
enum wk_enumerators { VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT = 2, VK_COMMAND_POOL_CREATE_TRANSIENT_BIT = 1, VK_COMPONENT_TYPE_BFLOAT16_KHR = 1000141000, VK_COMPONENT_TYPE_FLOAT16_KHR = 0, VK_COMPONENT_TYPE_FLOAT32_KHR = 1, VK_DEVICE_QUEUE_CREATE_INTERNALLY_SYNCHRONIZED_BIT_KHR = 4, VK_QUEUE_COMPUTE_BIT = 2, VK_QUEUE_GRAPHICS_BIT = 1, VK_QUEUE_TRANSFER_BIT = 4, VK_SCOPE_WORKGROUP_KHR = 2, VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FLEXIBLE_DIMENSIONS_PROPERTIES_NV = 1000593001, VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR = 1000506001, VK_STRUCTURE_TYPE_DEVICE_FAULT_COUNTS_EXT = 1000341001, VK_STRUCTURE_TYPE_DEVICE_FAULT_INFO_EXT = 1000341002, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_2_FEATURES_NV = 1000593000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_DECODE_VECTOR_FEATURES_NV = 1000689000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR = 1000506000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FAULT_FEATURES_EXT = 1000341000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2 = 1000059000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_INTERNALLY_SYNCHRONIZED_QUEUES_FEATURES_KHR = 1000504000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES = 1000413000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PRIORITY_FEATURES_EXT = 1000238000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR = 1000269000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_ROBUSTNESS_FEATURES_EXT = 1000068001, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_64_BIT_INDEXING_FEATURES_EXT = 1000627000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_BFLOAT16_FEATURES_KHR = 1000141000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT8_FEATURES_EXT = 1000567000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES_KHR = 1000280000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_MIXED_FLOAT_DOT_PRODUCT_FEATURES_VALVE = 1000673000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OCP_MICROSCALING_TYPES_FEATURES_EXT = 1000672000, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT = 1000225002, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES = 49, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES = 51, VK_SUCCESS = 0 };
namespace vk {
enum class AccessFlagBits { eShaderRead = 32, eShaderWrite = 64, eTransferRead = 2048, eTransferWrite = 4096, eHostRead = 8192 };
typedef unsigned AccessFlags;
enum class BufferUsageFlagBits { eTransferSrc = 1, eTransferDst = 2, eStorageBuffer = 32, eShaderDeviceAddress = 131072 };
typedef unsigned BufferUsageFlags;
enum class CommandBufferLevel { ePrimary = 0 };
enum class CommandBufferUsageFlagBits { eOneTimeSubmit = 1 };
typedef unsigned CommandBufferUsageFlags;
enum class ComponentTypeKHR { eFloat16 = 0, eFloat32 = 1, eFloat64 = 2, eSint8 = 3, eSint16 = 4, eSint32 = 5, eSint64 = 6, eUint8 = 7, eUint16 = 8, eUint32 = 9, eUint64 = 10, eBfloat16 = 1000141000, eSint8PackedNV = 1000491000, eUint8PackedNV = 1000491001, eFloat8E4M3EXT = 1000491002, eFloat8E5M2EXT = 1000491003, eFloat6E2M3EXT = 1000672000, eFloat6E3M2EXT = 1000672001, eFloat4E2M1EXT = 1000672002, eFloat8UnsignedE8M0EXT = 1000672003, eMxint8EXT = 1000672004 };
enum class DescriptorType { eStorageBuffer = 7 };
enum class DeviceQueueCreateFlagBits { eInternallySynchronizedKHR = 4 };
typedef unsigned DeviceQueueCreateFlags;
enum class DriverId { eAmdProprietary = 1, eAmdOpenSource = 2, eMesaRadv = 3, eNvidiaProprietary = 4, eIntelProprietaryWindows = 5, eIntelOpenSourceMESA = 6, eImaginationProprietary = 7, eQualcommProprietary = 8, eArmProprietary = 9, eGoogleSwiftshader = 10, eGgpProprietary = 11, eBroadcomProprietary = 12, eMesaLlvmpipe = 13, eMoltenvk = 14, eCoreaviProprietary = 15, eJuiceProprietary = 16, eVerisiliconProprietary = 17, eMesaTurnip = 18, eMesaV3Dv = 19, eMesaPanvk = 20, eSamsungProprietary = 21, eMesaVenus = 22, eMesaDozen = 23, eMesaNvk = 24, eImaginationOpenSourceMESA = 25, eMesaHoneykrisp = 26, eVulkanScEmulationOnVulkan = 27, eMesaKosmickrisp = 28, eMesaGfxstream = 29, eApeSoft = 30, eReserved31 = 31 };
enum class ExternalMemoryHandleTypeFlagBits { eHostAllocationEXT = 128 };
typedef unsigned ExternalMemoryHandleTypeFlags;
enum class FenceCreateFlagBits { eSignaled = 1 };
typedef unsigned FenceCreateFlags;
enum class InstanceCreateFlagBits { eEnumeratePortabilityKHR = 1 };
typedef unsigned InstanceCreateFlags;
enum class LayerSettingTypeEXT { eBool32 = 0 };
enum class MemoryAllocateFlagBits { eDeviceAddress = 2 };
typedef unsigned MemoryAllocateFlags;
enum class MemoryHeapFlagBits { eDeviceLocal = 1, eMultiInstance = 2, eTileMemoryQCOM = 8 };
typedef unsigned MemoryHeapFlags;
enum class MemoryPropertyFlagBits { eDeviceLocal = 1, eHostVisible = 2, eHostCoherent = 4, eHostCached = 8, eLazilyAllocated = 16, eProtected = 32, eDeviceCoherentAMD = 64, eDeviceUncachedAMD = 128, eRdmaCapableNV = 256 };
typedef unsigned MemoryPropertyFlags;
enum class ObjectType { ePipeline = 19 };
enum class PhysicalDeviceType { eOther = 0, eIntegratedGpu = 1, eDiscreteGpu = 2, eVirtualGpu = 3, eCpu = 4 };
enum class PipelineBindPoint { eCompute = 1 };
enum class PipelineCreateFlagBits { eCaptureStatisticsKHR = 64 };
typedef unsigned PipelineCreateFlags;
enum class PipelineCreateFlagBits2 { eCaptureStatisticsKHR = 64, e64BitIndexingEXT = 8796093022208 };
typedef unsigned PipelineCreateFlags2;
enum class PipelineExecutableStatisticFormatKHR { eBool32 = 0, eInt64 = 1, eUint64 = 2, eFloat64 = 3 };
enum class PipelineShaderStageCreateFlagBits { eRequireFullSubgroupsEXT = 2 };
typedef unsigned PipelineShaderStageCreateFlags;
enum class PipelineStageFlagBits { eComputeShader = 2048, eTransfer = 4096, eHost = 16384, eAllCommands = 65536 };
typedef unsigned PipelineStageFlags;
enum class QueryResultFlagBits { e64 = 1, eWait = 2 };
typedef unsigned QueryResultFlags;
enum class QueryType { eTimestamp = 2 };
enum class QueueFlagBits { eGraphics = 1, eCompute = 2, eTransfer = 4, eSparseBinding = 8, eProtected = 16, eVideoDecodeKHR = 32, eVideoEncodeKHR = 64, eOpticalFlowNV = 256, eDataGraphARM = 1024 };
typedef unsigned QueueFlags;
enum class Result { eSuccess = 0, eNotReady = 1, eErrorFeatureNotPresent = -8 };
enum class ScopeKHR { eDevice = 1, eWorkgroup = 2, eSubgroup = 3, eQueueFamily = 5 };
enum class SemaphoreType { eBinary = 0, eTimeline = 1 };
enum class ShaderStageFlagBits { eCompute = 32 };
typedef unsigned ShaderStageFlags;
enum class SharingMode { eExclusive = 0 };
enum class StructureType { eTimelineSemaphoreSubmitInfo = 1000207003 };
enum class SubgroupFeatureFlagBits { eBasic = 1, eVote = 2, eArithmetic = 4, eBallot = 8, eShuffle = 16, eShuffleRelative = 32, eClustered = 64, eQuad = 128, eRotate = 512, eRotateClustered = 1024, ePartitionedEXT = 256 };
typedef unsigned SubgroupFeatureFlags;
enum class ValidationFeatureEnableEXT { eBestPractices = 2 };
typedef unsigned PipelineLayoutCreateFlags;
typedef unsigned DeviceCreateFlags;
typedef unsigned DescriptorBindingFlags;
typedef unsigned CommandPoolCreateFlags;
typedef unsigned BufferCreateFlags;
typedef unsigned SemaphoreWaitFlags;
typedef unsigned long DeviceAddress; typedef unsigned long DeviceSize;
struct ConformanceVersion { unsigned char major = 0; unsigned char minor = 0; unsigned char subminor = 0; unsigned char patch = 0; };
struct VkConformanceVersion { unsigned char major; unsigned char minor; unsigned char subminor; unsigned char patch; };
struct CooperativeMatrixPropertiesKHR { int sType = 0; void * pNext = nullptr; unsigned MSize = 0; unsigned NSize = 0; unsigned KSize = 0; int AType = 0; int BType = 0; int CType = 0; int ResultType = 0; unsigned saturatingAccumulation = 0; int scope = 0; };
struct VkCooperativeMatrixPropertiesKHR { int sType; void * pNext; unsigned MSize; unsigned NSize; unsigned KSize; int AType; int BType; int CType; int ResultType; unsigned saturatingAccumulation; int scope; };
struct ExtensionProperties { const char * extensionName; unsigned specVersion = 0; };
struct VkExtensionProperties { const char * extensionName; unsigned specVersion; };
struct PhysicalDevice16BitStorageFeatures { int sType = 0; void * pNext = nullptr; unsigned storageBuffer16BitAccess = 0; unsigned uniformAndStorageBuffer16BitAccess = 0; unsigned storagePushConstant16 = 0; unsigned storageInputOutput16 = 0; };
struct VkPhysicalDevice16BitStorageFeatures { int sType; void * pNext; unsigned storageBuffer16BitAccess; unsigned uniformAndStorageBuffer16BitAccess; unsigned storagePushConstant16; unsigned storageInputOutput16; };
struct PhysicalDeviceCooperativeMatrix2FeaturesNV { int sType = 0; void * pNext = nullptr; unsigned cooperativeMatrixWorkgroupScope = 0; unsigned cooperativeMatrixFlexibleDimensions = 0; unsigned cooperativeMatrixReductions = 0; unsigned cooperativeMatrixConversions = 0; unsigned cooperativeMatrixPerElementOperations = 0; unsigned cooperativeMatrixTensorAddressing = 0; unsigned cooperativeMatrixBlockLoads = 0; };
struct VkPhysicalDeviceCooperativeMatrix2FeaturesNV { int sType; void * pNext; unsigned cooperativeMatrixWorkgroupScope; unsigned cooperativeMatrixFlexibleDimensions; unsigned cooperativeMatrixReductions; unsigned cooperativeMatrixConversions; unsigned cooperativeMatrixPerElementOperations; unsigned cooperativeMatrixTensorAddressing; unsigned cooperativeMatrixBlockLoads; };
struct PhysicalDeviceCooperativeMatrix2PropertiesNV { int sType = 0; void * pNext = nullptr; unsigned cooperativeMatrixWorkgroupScopeMaxWorkgroupSize = 0; unsigned cooperativeMatrixFlexibleDimensionsMaxDimension = 0; unsigned cooperativeMatrixWorkgroupScopeReservedSharedMemory = 0; };
struct VkPhysicalDeviceCooperativeMatrix2PropertiesNV { int sType; void * pNext; unsigned cooperativeMatrixWorkgroupScopeMaxWorkgroupSize; unsigned cooperativeMatrixFlexibleDimensionsMaxDimension; unsigned cooperativeMatrixWorkgroupScopeReservedSharedMemory; };
struct PhysicalDeviceCooperativeMatrixDecodeVectorFeaturesNV { int sType = 0; void * pNext = nullptr; unsigned cooperativeMatrixDecodeVector = 0; };
struct VkPhysicalDeviceCooperativeMatrixDecodeVectorFeaturesNV { int sType; void * pNext; unsigned cooperativeMatrixDecodeVector; };
struct PhysicalDeviceCooperativeMatrixFeaturesKHR { int sType = 0; void * pNext = nullptr; unsigned cooperativeMatrix = 0; unsigned cooperativeMatrixRobustBufferAccess = 0; };
struct VkPhysicalDeviceCooperativeMatrixFeaturesKHR { int sType; void * pNext; unsigned cooperativeMatrix; unsigned cooperativeMatrixRobustBufferAccess; };
struct PhysicalDeviceDriverProperties { int sType = 0; void * pNext = nullptr; int driverID = 0; const char * driverName; const char * driverInfo; ConformanceVersion conformanceVersion = {}; };
struct VkPhysicalDeviceDriverProperties { int sType; void * pNext; int driverID; const char * driverName; const char * driverInfo; VkConformanceVersion conformanceVersion; };
struct PhysicalDeviceExternalMemoryHostPropertiesEXT { int sType = 0; void * pNext = nullptr; unsigned long minImportedHostPointerAlignment = 0; };
struct VkPhysicalDeviceExternalMemoryHostPropertiesEXT { int sType; void * pNext; unsigned long minImportedHostPointerAlignment; };
struct PhysicalDeviceFaultFeaturesEXT { int sType = 0; void * pNext = nullptr; unsigned deviceFault = 0; unsigned deviceFaultVendorBinary = 0; };
struct VkPhysicalDeviceFaultFeaturesEXT { int sType; void * pNext; unsigned deviceFault; unsigned deviceFaultVendorBinary; };
struct PhysicalDeviceFeatures { unsigned robustBufferAccess = 0; unsigned shaderTessellationAndGeometryPointSize = 0; unsigned shaderUniformBufferArrayDynamicIndexing = 0; unsigned shaderStorageBufferArrayDynamicIndexing = 0; unsigned shaderFloat64 = 0; unsigned shaderInt64 = 0; unsigned shaderInt16 = 0; unsigned shaderResourceResidency = 0; unsigned shaderResourceMinLod = 0; };
struct VkPhysicalDeviceFeatures { unsigned robustBufferAccess; unsigned shaderTessellationAndGeometryPointSize; unsigned shaderUniformBufferArrayDynamicIndexing; unsigned shaderStorageBufferArrayDynamicIndexing; unsigned shaderFloat64; unsigned shaderInt64; unsigned shaderInt16; unsigned shaderResourceResidency; unsigned shaderResourceMinLod; };
struct PhysicalDeviceFeatures2 { int sType = 0; void * pNext = nullptr; PhysicalDeviceFeatures features = {}; };
struct VkPhysicalDeviceFeatures2 { int sType; void * pNext; VkPhysicalDeviceFeatures features; };
struct PhysicalDeviceIDProperties { int sType = 0; void * pNext = nullptr; unsigned char deviceUUID[16] = {}; unsigned char driverUUID[16] = {}; unsigned char deviceLUID[8] = {}; unsigned deviceNodeMask = 0; unsigned deviceLUIDValid = 0; };
struct VkPhysicalDeviceIDProperties { int sType; void * pNext; unsigned char deviceUUID[16]; unsigned char driverUUID[16]; unsigned char deviceLUID[8]; unsigned deviceNodeMask; unsigned deviceLUIDValid; };
struct PhysicalDeviceInternallySynchronizedQueuesFeaturesKHR { int sType = 0; void * pNext = nullptr; unsigned internallySynchronizedQueues = 0; };
struct VkPhysicalDeviceInternallySynchronizedQueuesFeaturesKHR { int sType; void * pNext; unsigned internallySynchronizedQueues; };
struct PhysicalDeviceLimits { unsigned maxUniformBufferRange = 0; unsigned maxStorageBufferRange = 0; unsigned maxPushConstantsSize = 0; unsigned maxMemoryAllocationCount = 0; unsigned long bufferImageGranularity = 0; unsigned maxComputeSharedMemorySize = 0; unsigned maxComputeWorkGroupCount[3] = {}; unsigned maxComputeWorkGroupInvocations = 0; unsigned maxComputeWorkGroupSize[3] = {}; unsigned long minMemoryMapAlignment = 0; unsigned long minUniformBufferOffsetAlignment = 0; unsigned long minStorageBufferOffsetAlignment = 0; unsigned timestampComputeAndGraphics = 0; float timestampPeriod = 0; };
struct VkPhysicalDeviceLimits { unsigned maxUniformBufferRange; unsigned maxStorageBufferRange; unsigned maxPushConstantsSize; unsigned maxMemoryAllocationCount; unsigned long bufferImageGranularity; unsigned maxComputeSharedMemorySize; unsigned maxComputeWorkGroupCount[3]; unsigned maxComputeWorkGroupInvocations; unsigned maxComputeWorkGroupSize[3]; unsigned long minMemoryMapAlignment; unsigned long minUniformBufferOffsetAlignment; unsigned long minStorageBufferOffsetAlignment; unsigned timestampComputeAndGraphics; float timestampPeriod; };
struct PhysicalDeviceMaintenance3Properties { int sType = 0; void * pNext = nullptr; unsigned maxPerSetDescriptors = 0; unsigned long maxMemoryAllocationSize = 0; };
struct VkPhysicalDeviceMaintenance3Properties { int sType; void * pNext; unsigned maxPerSetDescriptors; unsigned long maxMemoryAllocationSize; };
struct PhysicalDeviceMaintenance4Features { int sType = 0; void * pNext = nullptr; unsigned maintenance4 = 0; };
struct VkPhysicalDeviceMaintenance4Features { int sType; void * pNext; unsigned maintenance4; };
struct PhysicalDeviceMaintenance4Properties { int sType = 0; void * pNext = nullptr; unsigned long maxBufferSize = 0; };
struct VkPhysicalDeviceMaintenance4Properties { int sType; void * pNext; unsigned long maxBufferSize; };
struct PhysicalDeviceMemoryPriorityFeaturesEXT { int sType = 0; void * pNext = nullptr; unsigned memoryPriority = 0; };
struct VkPhysicalDeviceMemoryPriorityFeaturesEXT { int sType; void * pNext; unsigned memoryPriority; };
struct PhysicalDevicePCIBusInfoPropertiesEXT { int sType = 0; void * pNext = nullptr; unsigned pciDomain = 0; unsigned pciBus = 0; unsigned pciDevice = 0; unsigned pciFunction = 0; };
struct VkPhysicalDevicePCIBusInfoPropertiesEXT { int sType; void * pNext; unsigned pciDomain; unsigned pciBus; unsigned pciDevice; unsigned pciFunction; };
struct PhysicalDevicePipelineExecutablePropertiesFeaturesKHR { int sType = 0; void * pNext = nullptr; unsigned pipelineExecutableInfo = 0; };
struct VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR { int sType; void * pNext; unsigned pipelineExecutableInfo; };
struct PhysicalDevicePipelineRobustnessFeatures { int sType = 0; void * pNext = nullptr; unsigned pipelineRobustness = 0; };
struct VkPhysicalDevicePipelineRobustnessFeatures { int sType; void * pNext; unsigned pipelineRobustness; };
struct PhysicalDeviceProperties { unsigned apiVersion = 0; unsigned driverVersion = 0; unsigned vendorID = 0; unsigned deviceID = 0; int deviceType = 0; const char * deviceName; PhysicalDeviceLimits limits = {}; };
struct VkPhysicalDeviceProperties { unsigned apiVersion; unsigned driverVersion; unsigned vendorID; unsigned deviceID; int deviceType; const char * deviceName; VkPhysicalDeviceLimits limits; };
struct PhysicalDeviceProperties2 { int sType = 0; void * pNext = nullptr; PhysicalDeviceProperties properties = {}; };
struct VkPhysicalDeviceProperties2 { int sType; void * pNext; VkPhysicalDeviceProperties properties; };
struct PhysicalDeviceShader64BitIndexingFeaturesEXT { int sType = 0; void * pNext = nullptr; unsigned shader64BitIndexing = 0; };
struct VkPhysicalDeviceShader64BitIndexingFeaturesEXT { int sType; void * pNext; unsigned shader64BitIndexing; };
struct PhysicalDeviceShaderBfloat16FeaturesKHR { int sType = 0; void * pNext = nullptr; unsigned shaderBFloat16Type = 0; unsigned shaderBFloat16DotProduct = 0; unsigned shaderBFloat16CooperativeMatrix = 0; };
struct VkPhysicalDeviceShaderBfloat16FeaturesKHR { int sType; void * pNext; unsigned shaderBFloat16Type; unsigned shaderBFloat16DotProduct; unsigned shaderBFloat16CooperativeMatrix; };
struct PhysicalDeviceShaderCoreProperties2AMD { int sType = 0; void * pNext = nullptr; unsigned shaderCoreFeatures = 0; unsigned activeComputeUnitCount = 0; };
struct VkPhysicalDeviceShaderCoreProperties2AMD { int sType; void * pNext; unsigned shaderCoreFeatures; unsigned activeComputeUnitCount; };
struct PhysicalDeviceShaderCorePropertiesAMD { int sType = 0; void * pNext = nullptr; unsigned shaderEngineCount = 0; unsigned shaderArraysPerEngineCount = 0; unsigned computeUnitsPerShaderArray = 0; unsigned simdPerComputeUnit = 0; unsigned wavefrontsPerSimd = 0; unsigned wavefrontSize = 0; unsigned sgprsPerSimd = 0; unsigned minSgprAllocation = 0; unsigned maxSgprAllocation = 0; unsigned sgprAllocationGranularity = 0; unsigned vgprsPerSimd = 0; unsigned minVgprAllocation = 0; unsigned maxVgprAllocation = 0; unsigned vgprAllocationGranularity = 0; };
struct VkPhysicalDeviceShaderCorePropertiesAMD { int sType; void * pNext; unsigned shaderEngineCount; unsigned shaderArraysPerEngineCount; unsigned computeUnitsPerShaderArray; unsigned simdPerComputeUnit; unsigned wavefrontsPerSimd; unsigned wavefrontSize; unsigned sgprsPerSimd; unsigned minSgprAllocation; unsigned maxSgprAllocation; unsigned sgprAllocationGranularity; unsigned vgprsPerSimd; unsigned minVgprAllocation; unsigned maxVgprAllocation; unsigned vgprAllocationGranularity; };
struct PhysicalDeviceShaderFloat16Int8Features { int sType = 0; void * pNext = nullptr; unsigned shaderFloat16 = 0; unsigned shaderInt8 = 0; };
struct VkPhysicalDeviceShaderFloat16Int8Features { int sType; void * pNext; unsigned shaderFloat16; unsigned shaderInt8; };
struct PhysicalDeviceShaderFloat8FeaturesEXT { int sType = 0; void * pNext = nullptr; unsigned shaderFloat8 = 0; unsigned shaderFloat8CooperativeMatrix = 0; };
struct VkPhysicalDeviceShaderFloat8FeaturesEXT { int sType; void * pNext; unsigned shaderFloat8; unsigned shaderFloat8CooperativeMatrix; };
struct PhysicalDeviceShaderIntegerDotProductFeatures { int sType = 0; void * pNext = nullptr; unsigned shaderIntegerDotProduct = 0; };
struct VkPhysicalDeviceShaderIntegerDotProductFeatures { int sType; void * pNext; unsigned shaderIntegerDotProduct; };
struct PhysicalDeviceShaderIntegerDotProductProperties { int sType = 0; void * pNext = nullptr; unsigned integerDotProduct8BitUnsignedAccelerated = 0; unsigned integerDotProduct8BitSignedAccelerated = 0; unsigned integerDotProduct8BitMixedSignednessAccelerated = 0; unsigned integerDotProduct4x8BitPackedUnsignedAccelerated = 0; unsigned integerDotProduct4x8BitPackedSignedAccelerated = 0; unsigned integerDotProduct4x8BitPackedMixedSignednessAccelerated = 0; unsigned integerDotProduct16BitUnsignedAccelerated = 0; unsigned integerDotProduct16BitSignedAccelerated = 0; unsigned integerDotProduct16BitMixedSignednessAccelerated = 0; unsigned integerDotProduct32BitUnsignedAccelerated = 0; unsigned integerDotProduct32BitSignedAccelerated = 0; unsigned integerDotProduct32BitMixedSignednessAccelerated = 0; unsigned integerDotProduct64BitUnsignedAccelerated = 0; unsigned integerDotProduct64BitSignedAccelerated = 0; unsigned integerDotProduct64BitMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating8BitUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating8BitSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating16BitUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating16BitSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating32BitUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating32BitSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating64BitUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating64BitSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated = 0; };
struct VkPhysicalDeviceShaderIntegerDotProductProperties { int sType; void * pNext; unsigned integerDotProduct8BitUnsignedAccelerated; unsigned integerDotProduct8BitSignedAccelerated; unsigned integerDotProduct8BitMixedSignednessAccelerated; unsigned integerDotProduct4x8BitPackedUnsignedAccelerated; unsigned integerDotProduct4x8BitPackedSignedAccelerated; unsigned integerDotProduct4x8BitPackedMixedSignednessAccelerated; unsigned integerDotProduct16BitUnsignedAccelerated; unsigned integerDotProduct16BitSignedAccelerated; unsigned integerDotProduct16BitMixedSignednessAccelerated; unsigned integerDotProduct32BitUnsignedAccelerated; unsigned integerDotProduct32BitSignedAccelerated; unsigned integerDotProduct32BitMixedSignednessAccelerated; unsigned integerDotProduct64BitUnsignedAccelerated; unsigned integerDotProduct64BitSignedAccelerated; unsigned integerDotProduct64BitMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating8BitUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating8BitSignedAccelerated; unsigned integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated; unsigned integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating16BitUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating16BitSignedAccelerated; unsigned integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating32BitUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating32BitSignedAccelerated; unsigned integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating64BitUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating64BitSignedAccelerated; unsigned integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated; };
struct PhysicalDeviceShaderMixedFloatDotProductFeaturesVALVE { int sType = 0; void * pNext = nullptr; unsigned shaderMixedFloatDotProductFloat16AccFloat32 = 0; unsigned shaderMixedFloatDotProductFloat16AccFloat16 = 0; unsigned shaderMixedFloatDotProductBFloat16Acc = 0; unsigned shaderMixedFloatDotProductFloat8AccFloat32 = 0; };
struct VkPhysicalDeviceShaderMixedFloatDotProductFeaturesVALVE { int sType; void * pNext; unsigned shaderMixedFloatDotProductFloat16AccFloat32; unsigned shaderMixedFloatDotProductFloat16AccFloat16; unsigned shaderMixedFloatDotProductBFloat16Acc; unsigned shaderMixedFloatDotProductFloat8AccFloat32; };
struct PhysicalDeviceShaderOCPMicroscalingTypesFeaturesEXT { int sType = 0; void * pNext = nullptr; unsigned shaderFloat4 = 0; unsigned shaderFloat6 = 0; unsigned shaderFloat8UnsignedE8M0 = 0; unsigned shaderMXInt8 = 0; };
struct VkPhysicalDeviceShaderOCPMicroscalingTypesFeaturesEXT { int sType; void * pNext; unsigned shaderFloat4; unsigned shaderFloat6; unsigned shaderFloat8UnsignedE8M0; unsigned shaderMXInt8; };
struct PhysicalDeviceShaderSMBuiltinsPropertiesNV { int sType = 0; void * pNext = nullptr; unsigned shaderSMCount = 0; unsigned shaderWarpsPerSM = 0; };
struct VkPhysicalDeviceShaderSMBuiltinsPropertiesNV { int sType; void * pNext; unsigned shaderSMCount; unsigned shaderWarpsPerSM; };
struct PhysicalDeviceSubgroupProperties { int sType = 0; void * pNext = nullptr; unsigned subgroupSize = 0; unsigned supportedStages = 0; unsigned supportedOperations = 0; unsigned quadOperationsInAllStages = 0; };
struct VkPhysicalDeviceSubgroupProperties { int sType; void * pNext; unsigned subgroupSize; unsigned supportedStages; unsigned supportedOperations; unsigned quadOperationsInAllStages; };
struct PhysicalDeviceSubgroupSizeControlFeatures { int sType = 0; void * pNext = nullptr; unsigned subgroupSizeControl = 0; unsigned computeFullSubgroups = 0; };
struct VkPhysicalDeviceSubgroupSizeControlFeatures { int sType; void * pNext; unsigned subgroupSizeControl; unsigned computeFullSubgroups; };
struct PhysicalDeviceSubgroupSizeControlProperties { int sType = 0; void * pNext = nullptr; unsigned minSubgroupSize = 0; unsigned maxSubgroupSize = 0; unsigned maxComputeWorkgroupSubgroups = 0; unsigned requiredSubgroupSizeStages = 0; };
struct VkPhysicalDeviceSubgroupSizeControlProperties { int sType; void * pNext; unsigned minSubgroupSize; unsigned maxSubgroupSize; unsigned maxComputeWorkgroupSubgroups; unsigned requiredSubgroupSizeStages; };
struct PhysicalDeviceVulkan11Features { int sType = 0; void * pNext = nullptr; unsigned storageBuffer16BitAccess = 0; unsigned uniformAndStorageBuffer16BitAccess = 0; unsigned storagePushConstant16 = 0; unsigned storageInputOutput16 = 0; unsigned multiview = 0; unsigned multiviewGeometryShader = 0; unsigned multiviewTessellationShader = 0; unsigned variablePointersStorageBuffer = 0; unsigned variablePointers = 0; };
struct VkPhysicalDeviceVulkan11Features { int sType; void * pNext; unsigned storageBuffer16BitAccess; unsigned uniformAndStorageBuffer16BitAccess; unsigned storagePushConstant16; unsigned storageInputOutput16; unsigned multiview; unsigned multiviewGeometryShader; unsigned multiviewTessellationShader; unsigned variablePointersStorageBuffer; unsigned variablePointers; };
struct PhysicalDeviceVulkan11Properties { int sType = 0; void * pNext = nullptr; unsigned char deviceUUID[16] = {}; unsigned char driverUUID[16] = {}; unsigned char deviceLUID[8] = {}; unsigned deviceNodeMask = 0; unsigned deviceLUIDValid = 0; unsigned subgroupSize = 0; unsigned subgroupSupportedStages = 0; unsigned subgroupSupportedOperations = 0; unsigned subgroupQuadOperationsInAllStages = 0; unsigned maxMultiviewViewCount = 0; unsigned maxMultiviewInstanceIndex = 0; unsigned maxPerSetDescriptors = 0; unsigned long maxMemoryAllocationSize = 0; };
struct VkPhysicalDeviceVulkan11Properties { int sType; void * pNext; unsigned char deviceUUID[16]; unsigned char driverUUID[16]; unsigned char deviceLUID[8]; unsigned deviceNodeMask; unsigned deviceLUIDValid; unsigned subgroupSize; unsigned subgroupSupportedStages; unsigned subgroupSupportedOperations; unsigned subgroupQuadOperationsInAllStages; unsigned maxMultiviewViewCount; unsigned maxMultiviewInstanceIndex; unsigned maxPerSetDescriptors; unsigned long maxMemoryAllocationSize; };
struct PhysicalDeviceVulkan12Features { int sType = 0; void * pNext = nullptr; unsigned runtimeDescriptorArray = 0; unsigned storageBuffer8BitAccess = 0; unsigned uniformAndStorageBuffer8BitAccess = 0; unsigned storagePushConstant8 = 0; unsigned shaderBufferInt64Atomics = 0; unsigned shaderSharedInt64Atomics = 0; unsigned shaderFloat16 = 0; unsigned shaderInt8 = 0; unsigned shaderInputAttachmentArrayDynamicIndexing = 0; unsigned shaderUniformBufferArrayNonUniformIndexing = 0; unsigned shaderStorageBufferArrayNonUniformIndexing = 0; unsigned shaderInputAttachmentArrayNonUniformIndexing = 0; unsigned uniformBufferStandardLayout = 0; unsigned shaderSubgroupExtendedTypes = 0; unsigned hostQueryReset = 0; unsigned timelineSemaphore = 0; unsigned bufferDeviceAddress = 0; unsigned bufferDeviceAddressCaptureReplay = 0; unsigned bufferDeviceAddressMultiDevice = 0; unsigned vulkanMemoryModel = 0; unsigned vulkanMemoryModelDeviceScope = 0; unsigned vulkanMemoryModelAvailabilityVisibilityChains = 0; };
struct VkPhysicalDeviceVulkan12Features { int sType; void * pNext; unsigned runtimeDescriptorArray; unsigned storageBuffer8BitAccess; unsigned uniformAndStorageBuffer8BitAccess; unsigned storagePushConstant8; unsigned shaderBufferInt64Atomics; unsigned shaderSharedInt64Atomics; unsigned shaderFloat16; unsigned shaderInt8; unsigned shaderInputAttachmentArrayDynamicIndexing; unsigned shaderUniformBufferArrayNonUniformIndexing; unsigned shaderStorageBufferArrayNonUniformIndexing; unsigned shaderInputAttachmentArrayNonUniformIndexing; unsigned uniformBufferStandardLayout; unsigned shaderSubgroupExtendedTypes; unsigned hostQueryReset; unsigned timelineSemaphore; unsigned bufferDeviceAddress; unsigned bufferDeviceAddressCaptureReplay; unsigned bufferDeviceAddressMultiDevice; unsigned vulkanMemoryModel; unsigned vulkanMemoryModelDeviceScope; unsigned vulkanMemoryModelAvailabilityVisibilityChains; };
struct PhysicalDeviceVulkan12Properties { int sType = 0; void * pNext = nullptr; int driverID = 0; const char * driverName; const char * driverInfo; ConformanceVersion conformanceVersion = {}; int denormBehaviorIndependence = 0; int roundingModeIndependence = 0; unsigned shaderSignedZeroInfNanPreserveFloat16 = 0; unsigned shaderSignedZeroInfNanPreserveFloat32 = 0; unsigned shaderSignedZeroInfNanPreserveFloat64 = 0; unsigned shaderDenormPreserveFloat16 = 0; unsigned shaderDenormPreserveFloat32 = 0; unsigned shaderDenormPreserveFloat64 = 0; unsigned shaderDenormFlushToZeroFloat16 = 0; unsigned shaderDenormFlushToZeroFloat32 = 0; unsigned shaderDenormFlushToZeroFloat64 = 0; unsigned shaderRoundingModeRTEFloat16 = 0; unsigned shaderRoundingModeRTEFloat32 = 0; unsigned shaderRoundingModeRTEFloat64 = 0; unsigned shaderRoundingModeRTZFloat16 = 0; unsigned shaderRoundingModeRTZFloat32 = 0; unsigned shaderRoundingModeRTZFloat64 = 0; unsigned shaderUniformBufferArrayNonUniformIndexingNative = 0; unsigned shaderStorageBufferArrayNonUniformIndexingNative = 0; unsigned shaderInputAttachmentArrayNonUniformIndexingNative = 0; unsigned quadDivergentImplicitLod = 0; unsigned long maxTimelineSemaphoreValueDifference = 0; };
struct VkPhysicalDeviceVulkan12Properties { int sType; void * pNext; int driverID; const char * driverName; const char * driverInfo; VkConformanceVersion conformanceVersion; int denormBehaviorIndependence; int roundingModeIndependence; unsigned shaderSignedZeroInfNanPreserveFloat16; unsigned shaderSignedZeroInfNanPreserveFloat32; unsigned shaderSignedZeroInfNanPreserveFloat64; unsigned shaderDenormPreserveFloat16; unsigned shaderDenormPreserveFloat32; unsigned shaderDenormPreserveFloat64; unsigned shaderDenormFlushToZeroFloat16; unsigned shaderDenormFlushToZeroFloat32; unsigned shaderDenormFlushToZeroFloat64; unsigned shaderRoundingModeRTEFloat16; unsigned shaderRoundingModeRTEFloat32; unsigned shaderRoundingModeRTEFloat64; unsigned shaderRoundingModeRTZFloat16; unsigned shaderRoundingModeRTZFloat32; unsigned shaderRoundingModeRTZFloat64; unsigned shaderUniformBufferArrayNonUniformIndexingNative; unsigned shaderStorageBufferArrayNonUniformIndexingNative; unsigned shaderInputAttachmentArrayNonUniformIndexingNative; unsigned quadDivergentImplicitLod; unsigned long maxTimelineSemaphoreValueDifference; };
struct PhysicalDeviceVulkan13Features { int sType = 0; void * pNext = nullptr; unsigned shaderDemoteToHelperInvocation = 0; unsigned shaderTerminateInvocation = 0; unsigned subgroupSizeControl = 0; unsigned computeFullSubgroups = 0; unsigned shaderZeroInitializeWorkgroupMemory = 0; unsigned shaderIntegerDotProduct = 0; unsigned maintenance4 = 0; };
struct VkPhysicalDeviceVulkan13Features { int sType; void * pNext; unsigned shaderDemoteToHelperInvocation; unsigned shaderTerminateInvocation; unsigned subgroupSizeControl; unsigned computeFullSubgroups; unsigned shaderZeroInitializeWorkgroupMemory; unsigned shaderIntegerDotProduct; unsigned maintenance4; };
struct PhysicalDeviceVulkan13Properties { int sType = 0; void * pNext = nullptr; unsigned minSubgroupSize = 0; unsigned maxSubgroupSize = 0; unsigned maxComputeWorkgroupSubgroups = 0; unsigned requiredSubgroupSizeStages = 0; unsigned integerDotProduct8BitUnsignedAccelerated = 0; unsigned integerDotProduct8BitSignedAccelerated = 0; unsigned integerDotProduct8BitMixedSignednessAccelerated = 0; unsigned integerDotProduct4x8BitPackedUnsignedAccelerated = 0; unsigned integerDotProduct4x8BitPackedSignedAccelerated = 0; unsigned integerDotProduct4x8BitPackedMixedSignednessAccelerated = 0; unsigned integerDotProduct16BitUnsignedAccelerated = 0; unsigned integerDotProduct16BitSignedAccelerated = 0; unsigned integerDotProduct16BitMixedSignednessAccelerated = 0; unsigned integerDotProduct32BitUnsignedAccelerated = 0; unsigned integerDotProduct32BitSignedAccelerated = 0; unsigned integerDotProduct32BitMixedSignednessAccelerated = 0; unsigned integerDotProduct64BitUnsignedAccelerated = 0; unsigned integerDotProduct64BitSignedAccelerated = 0; unsigned integerDotProduct64BitMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating8BitUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating8BitSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating16BitUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating16BitSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating32BitUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating32BitSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated = 0; unsigned integerDotProductAccumulatingSaturating64BitUnsignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating64BitSignedAccelerated = 0; unsigned integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated = 0; unsigned long maxBufferSize = 0; };
struct VkPhysicalDeviceVulkan13Properties { int sType; void * pNext; unsigned minSubgroupSize; unsigned maxSubgroupSize; unsigned maxComputeWorkgroupSubgroups; unsigned requiredSubgroupSizeStages; unsigned integerDotProduct8BitUnsignedAccelerated; unsigned integerDotProduct8BitSignedAccelerated; unsigned integerDotProduct8BitMixedSignednessAccelerated; unsigned integerDotProduct4x8BitPackedUnsignedAccelerated; unsigned integerDotProduct4x8BitPackedSignedAccelerated; unsigned integerDotProduct4x8BitPackedMixedSignednessAccelerated; unsigned integerDotProduct16BitUnsignedAccelerated; unsigned integerDotProduct16BitSignedAccelerated; unsigned integerDotProduct16BitMixedSignednessAccelerated; unsigned integerDotProduct32BitUnsignedAccelerated; unsigned integerDotProduct32BitSignedAccelerated; unsigned integerDotProduct32BitMixedSignednessAccelerated; unsigned integerDotProduct64BitUnsignedAccelerated; unsigned integerDotProduct64BitSignedAccelerated; unsigned integerDotProduct64BitMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating8BitUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating8BitSignedAccelerated; unsigned integerDotProductAccumulatingSaturating8BitMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating4x8BitPackedUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating4x8BitPackedSignedAccelerated; unsigned integerDotProductAccumulatingSaturating4x8BitPackedMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating16BitUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating16BitSignedAccelerated; unsigned integerDotProductAccumulatingSaturating16BitMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating32BitUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating32BitSignedAccelerated; unsigned integerDotProductAccumulatingSaturating32BitMixedSignednessAccelerated; unsigned integerDotProductAccumulatingSaturating64BitUnsignedAccelerated; unsigned integerDotProductAccumulatingSaturating64BitSignedAccelerated; unsigned integerDotProductAccumulatingSaturating64BitMixedSignednessAccelerated; unsigned long maxBufferSize; };
struct QueueFamilyProperties { unsigned queueFlags = 0; unsigned queueCount = 0; unsigned timestampValidBits = 0; Extent3D minImageTransferGranularity = {}; };
struct VkQueueFamilyProperties { unsigned queueFlags; unsigned queueCount; unsigned timestampValidBits; VkExtent3D minImageTransferGranularity; };
typedef PhysicalDevicePipelineRobustnessFeatures PhysicalDevicePipelineRobustnessFeaturesEXT; typedef VkPhysicalDevicePipelineRobustnessFeatures VkPhysicalDevicePipelineRobustnessFeaturesEXT;
typedef PhysicalDeviceShaderIntegerDotProductFeatures PhysicalDeviceShaderIntegerDotProductFeaturesKHR; typedef VkPhysicalDeviceShaderIntegerDotProductFeatures VkPhysicalDeviceShaderIntegerDotProductFeaturesKHR;
typedef PhysicalDeviceShaderIntegerDotProductProperties PhysicalDeviceShaderIntegerDotProductPropertiesKHR; typedef VkPhysicalDeviceShaderIntegerDotProductProperties VkPhysicalDeviceShaderIntegerDotProductPropertiesKHR;
typedef PhysicalDeviceSubgroupSizeControlFeatures PhysicalDeviceSubgroupSizeControlFeaturesEXT; typedef VkPhysicalDeviceSubgroupSizeControlFeatures VkPhysicalDeviceSubgroupSizeControlFeaturesEXT;
typedef PhysicalDeviceSubgroupSizeControlProperties PhysicalDeviceSubgroupSizeControlPropertiesEXT; typedef VkPhysicalDeviceSubgroupSizeControlProperties VkPhysicalDeviceSubgroupSizeControlPropertiesEXT;
struct ApplicationInfo { void * pNext = nullptr; };
struct ArrayProxy { void * pNext = nullptr; };
struct BufferCopy { void * pNext = nullptr; };
struct BufferDeviceAddressInfo { void * pNext = nullptr; };
struct CommandPoolCreateInfo { void * pNext = nullptr; };
struct ComputePipelineCreateInfo { void * pNext = nullptr; };
struct DebugUtilsLabelEXT { void * pNext = nullptr; };
struct DebugUtilsObjectNameInfoEXT { void * pNext = nullptr; };
struct DescriptorBufferInfo { void * pNext = nullptr; };
struct DescriptorPoolCreateInfo { void * pNext = nullptr; };
struct DescriptorPoolSize { void * pNext = nullptr; };
struct DescriptorSetLayoutBinding { void * pNext = nullptr; };
struct DescriptorSetLayoutBindingFlagsCreateInfo { void * pNext = nullptr; };
struct DescriptorSetLayoutCreateInfo { void * pNext = nullptr; };
struct DeviceCreateInfo { void * pNext = nullptr; };
struct DeviceLostError { void * pNext = nullptr; };
struct DeviceQueueCreateInfo { void * pNext = nullptr; };
struct DeviceQueueInfo2 { void * pNext = nullptr; };
struct ExternalMemoryBufferCreateInfo { void * pNext = nullptr; };
struct ImportMemoryHostPointerInfoEXT { void * pNext = nullptr; };
struct InstanceCreateInfo { void * pNext = nullptr; };
struct LayerSettingEXT { void * pNext = nullptr; };
struct LayerSettingsCreateInfoEXT { void * pNext = nullptr; };
struct MemoryAllocateFlagsInfo { void * pNext = nullptr; };
struct MemoryHostPointerPropertiesEXT { void * pNext = nullptr; };
struct MemoryPriorityAllocateInfoEXT { void * pNext = nullptr; };
struct OutOfDeviceMemoryError { void * pNext = nullptr; };
struct PipelineCreateFlags2CreateInfo { void * pNext = nullptr; };
struct PipelineExecutableInfoKHR { void * pNext = nullptr; };
struct PipelineLayoutCreateInfo { void * pNext = nullptr; };
struct PipelineRobustnessBufferBehaviorEXT { void * pNext = nullptr; };
struct PipelineRobustnessCreateInfoEXT { void * pNext = nullptr; };
struct PipelineShaderStageCreateInfo { void * pNext = nullptr; };
struct PipelineShaderStageRequiredSubgroupSizeCreateInfoEXT { void * pNext = nullptr; };
struct PushConstantRange { void * pNext = nullptr; };
struct QueryPoolCreateInfo { void * pNext = nullptr; };
struct SemaphoreCreateInfo { void * pNext = nullptr; };
struct SemaphoreTypeCreateInfo { void * pNext = nullptr; };
struct SemaphoreWaitInfo { void * pNext = nullptr; };
struct ShaderModuleCreateInfo { void * pNext = nullptr; };
struct SpecializationInfo { void * pNext = nullptr; };
struct SpecializationMapEntry { void * pNext = nullptr; };
struct SubmitInfo { void * pNext = nullptr; };
struct SystemError { void * pNext = nullptr; };
struct TimelineSemaphoreSubmitInfo { void * pNext = nullptr; };
struct ValidationFeaturesEXT { void * pNext = nullptr; };
struct WriteDescriptorSet { void * pNext = nullptr; };
// Handles. Calls that are not declared here have no effect that a decision sees, and an unknown result.
struct Buffer { unsigned long handle = 0; unsigned long size = 0; };
struct DeviceMemory { unsigned long handle = 0; };
struct Fence { unsigned long handle = 0; };
struct Semaphore { unsigned long handle = 0; };
struct Event { unsigned long handle = 0; };
struct ShaderModule { unsigned long handle = 0; };
struct PipelineLayout { unsigned long handle = 0; };
struct DescriptorSetLayout { unsigned long handle = 0; };
struct DescriptorPool { unsigned long handle = 0; };
struct DescriptorSet { unsigned long handle = 0; };
struct QueryPool { unsigned long handle = 0; };
struct CommandPool { unsigned long handle = 0; };
struct Pipeline { unsigned long handle = 0; };
struct Queue { unsigned long handle = 0; };
struct CommandBuffer {
    unsigned long bound = 0;
    void bindPipeline(int point, const Pipeline & pipeline) { bound = pipeline.handle; }
    void dispatch(unsigned x, unsigned y, unsigned z) { wk_dispatch(bound); }
    void dispatchIndirect(const Buffer & buffer, unsigned long offset) { wk_dispatch(bound); }
    void dispatchBase(unsigned a, unsigned b, unsigned c, unsigned x, unsigned y, unsigned z) { wk_dispatch(bound); }
};
struct BufferCreateInfo {
    unsigned flags; unsigned long size; unsigned usage; int sharingMode; unsigned count; void * indices; void * pNext;
    void setPNext(void * next) { pNext = next; }
};
struct MemoryRequirements { unsigned long size; unsigned long alignment; unsigned memoryTypeBits; };
struct MemoryAllocateInfo { unsigned long allocationSize; unsigned memoryTypeIndex; void * pNext; };
struct MemoryType { unsigned propertyFlags; unsigned heapIndex; };
struct MemoryHeap { unsigned long size; unsigned flags; };
struct PhysicalDeviceMemoryProperties {
    unsigned memoryTypeCount; std::vector<MemoryType> memoryTypes; unsigned memoryHeapCount; std::vector<MemoryHeap> memoryHeaps;
};
struct PhysicalDeviceMemoryProperties2 { int sType; void * pNext; PhysicalDeviceMemoryProperties memoryProperties; };
struct DescriptorSetAllocateInfo { DescriptorPool descriptorPool; unsigned descriptorSetCount; const void * pSetLayouts; };
struct CommandBufferAllocateInfo { CommandPool commandPool; int level; unsigned commandBufferCount; };
struct PipelineResult { Result result; Pipeline value; };
struct ExecutableStatistic { const char * name; int format; };
struct Device {
    unsigned long handle = 0;
    Buffer createBuffer(const BufferCreateInfo & info) { Buffer made; made.handle = wk_handle(); made.size = info.size; return made; }
    MemoryRequirements getBufferMemoryRequirements(const Buffer & buffer) {
        MemoryRequirements found; found.size = buffer.size; found.alignment = 16; found.memoryTypeBits = 0xffffffffu; return found;
    }
    DeviceMemory allocateMemory(const MemoryAllocateInfo & info) { DeviceMemory made; made.handle = wk_handle(); return made; }
    unsigned long getBufferAddress(const BufferDeviceAddressInfo & info) { return wk_handle() * 0x100000000; }
    CommandPool createCommandPool(int info) { CommandPool made; made.handle = wk_handle(); return made; }
    Fence createFence(int info) { Fence made; made.handle = wk_handle(); return made; }
    Semaphore createSemaphore(int info) { Semaphore made; made.handle = wk_handle(); return made; }
    Event createEvent(int info) { Event made; made.handle = wk_handle(); return made; }
    ShaderModule createShaderModule(int info) { ShaderModule made; made.handle = wk_handle(); return made; }
    PipelineLayout createPipelineLayout(int info) { PipelineLayout made; made.handle = wk_handle(); return made; }
    DescriptorSetLayout createDescriptorSetLayout(int info) { DescriptorSetLayout made; made.handle = wk_handle(); return made; }
    DescriptorPool createDescriptorPool(int info) { DescriptorPool made; made.handle = wk_handle(); return made; }
    QueryPool createQueryPool(int info) { QueryPool made; made.handle = wk_handle(); return made; }
    std::vector<DescriptorSet> allocateDescriptorSets(const DescriptorSetAllocateInfo & info) {
        std::vector<DescriptorSet> made; made.resize(info.descriptorSetCount); return made;
    }
    std::vector<CommandBuffer> allocateCommandBuffers(const CommandBufferAllocateInfo & info) {
        std::vector<CommandBuffer> made; made.resize(info.commandBufferCount); return made;
    }
    PipelineResult createComputePipeline(int cache, int info) { PipelineResult made; made.result = Result::eSuccess; made.value.handle = wk_handle(); return made; }
    std::vector<ExecutableStatistic> getPipelineExecutableStatisticsKHR(int info) { std::vector<ExecutableStatistic> none; return none; }
    Result waitForFences(int fences, int all, unsigned long time) { return Result::eSuccess; }
    Result waitSemaphores(int info, unsigned long time) { return Result::eSuccess; }
    Result getFenceStatus(int fence) { return Result::eSuccess; }
    void * mapMemory(int memory, unsigned long offset, unsigned long size) { return (void *) 0x10000; }
    Queue getQueue(unsigned family, unsigned index) { Queue found; found.handle = wk_handle(); return found; }
    Queue getQueue2(int info) { Queue found; found.handle = wk_handle(); return found; }
};
struct PhysicalDevice {
    unsigned long handle = 0;
    PhysicalDeviceProperties getProperties() const { PhysicalDeviceProperties found; wk_fill(&found); return found; }
    void getProperties2(PhysicalDeviceProperties2 * found) const { wk_fill(found); }
    PhysicalDeviceFeatures getFeatures() const { PhysicalDeviceFeatures found; wk_fill(&found); return found; }
    void getFeatures2(PhysicalDeviceFeatures2 * found) const { wk_fill(found); }
    std::vector<ExtensionProperties> enumerateDeviceExtensionProperties() const { return wk_extensions(); }
    std::vector<QueueFamilyProperties> getQueueFamilyProperties() const { return wk_queues(); }
    PhysicalDeviceMemoryProperties getMemoryProperties() const { return wk_memory(); }
    void getMemoryProperties2(PhysicalDeviceMemoryProperties2 * found) const { found->memoryProperties = wk_memory(); }
    Device createDevice(int info) const { Device made; made.handle = wk_handle(); return made; }
};
struct Instance {
    unsigned long handle = 0;
    std::vector<PhysicalDevice> enumeratePhysicalDevices() const { std::vector<PhysicalDevice> found; found.resize(1); return found; }
    void * getProcAddr(const char * name) const { return wk_function(name); }
};
struct LayerProperties { const char * layerName; };
struct DispatchLoaderDynamic { void * vkEnumerateInstanceVersion; void init(int from) { vkEnumerateInstanceVersion = (void *) 0x1000; } };
Instance createInstance(int info) { Instance made; made.handle = wk_handle(); return made; }
unsigned enumerateInstanceVersion() { return 4210688; }
std::vector<ExtensionProperties> enumerateInstanceExtensionProperties() { std::vector<ExtensionProperties> none; return none; }
std::vector<LayerProperties> enumerateInstanceLayerProperties() { std::vector<LayerProperties> none; return none; }
}
typedef vk::PhysicalDevice VkPhysicalDevice;
void vkGetPhysicalDeviceFeatures2(const vk::PhysicalDevice & device, VkPhysicalDeviceFeatures2 * found) { wk_fill(found); }
void vkGetPhysicalDeviceProperties2(const vk::PhysicalDevice & device, VkPhysicalDeviceProperties2 * found) { wk_fill(found); }
int vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(const vk::PhysicalDevice & device, unsigned * count, VkCooperativeMatrixPropertiesKHR * list) { return wk_matrices(count, list); }
void * vkGetInstanceProcAddr(int instance, const char * name) { return wk_function(name); }
void * vkGetDeviceProcAddr(int device, const char * name) { return wk_function(name); }
