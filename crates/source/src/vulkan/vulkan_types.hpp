namespace vk {
struct PhysicalDeviceLimits { unsigned maxStorageBufferRange; unsigned maxComputeWorkGroupCount[3]; unsigned maxComputeSharedMemorySize; };
struct PhysicalDeviceProperties { PhysicalDeviceLimits limits; };
enum class DriverId {
    eAmdProprietary = 1, eAmdOpenSource = 2, eMesaRadv = 3, eNvidiaProprietary = 4, eIntelProprietaryWindows = 5,
    eIntelOpenSourceMESA = 6, eImaginationProprietary = 7, eQualcommProprietary = 8, eArmProprietary = 9,
    eMesaTurnip = 18, eMesaNvk = 24, eImaginationOpenSourceMESA = 25, eMesaHoneykrisp = 26
};
}
