//! The parts of Vulkan's C interface that pass through the layer (vulkan_core.h, vk_layer.h), by their layout.

use core::ffi::{c_char, c_void};

pub type Handle = *mut c_void;
pub type Result = i32;
pub type Function = Option<unsafe extern "C" fn()>;

pub const SUCCESS: Result = 0;
pub const ERROR_INITIALIZATION_FAILED: Result = -3;
pub const ERROR_DEVICE_LOST: Result = -4;

pub const LOADER_INSTANCE_CREATE_INFO: u32 = 47;
pub const LOADER_DEVICE_CREATE_INFO: u32 = 48;
pub const SHADER_MODULE_CREATE_INFO: u32 = 16;
pub const SUBGROUP_SIZE_CREATE_INFO: u32 = 1_000_225_001;
pub const PROPERTIES_2: u32 = 1_000_059_001;
pub const DRIVER_PROPERTIES: u32 = 1_000_196_000;
/// VK_LAYER_LINK_INFO
pub const LINK_INFO: u32 = 0;

/// The common beginning of every extensible structure.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Base {
    pub kind: u32,
    pub next: *mut Base,
}

#[repr(C)]
pub struct Negotiate {
    pub kind: u32,
    pub next: *mut c_void,
    pub version: u32,
    pub instance: Option<unsafe extern "C" fn(Handle, *const c_char) -> Function>,
    pub device: Option<unsafe extern "C" fn(Handle, *const c_char) -> Function>,
    pub physical: *mut c_void,
}

/// VkLayerInstanceCreateInfo and VkLayerDeviceCreateInfo: `link` is a chain with one entry for each layer.
#[repr(C)]
pub struct LayerInfo {
    pub base: Base,
    pub function: u32,
    pub link: *mut Link,
}

/// VkLayerInstanceLink and VkLayerDeviceLink.
#[repr(C)]
pub struct Link {
    pub next: *mut Link,
    pub instance: Option<unsafe extern "C" fn(Handle, *const c_char) -> Function>,
    /// For a device link: vkGetDeviceProcAddr.
    pub device: Option<unsafe extern "C" fn(Handle, *const c_char) -> Function>,
}

#[repr(C)]
pub struct ModuleInfo {
    pub base: Base,
    pub flags: u32,
    pub size: usize,
    pub code: *const u8,
}

#[repr(C)]
pub struct MapEntry {
    pub id: u32,
    pub offset: u32,
    pub size: usize,
}

#[repr(C)]
pub struct Specialization {
    pub count: u32,
    pub entries: *const MapEntry,
    pub size: usize,
    pub data: *const u8,
}

#[repr(C)]
pub struct Stage {
    pub base: Base,
    pub flags: u32,
    pub stage: u32,
    pub module: u64,
    pub entry: *const c_char,
    pub specialization: *const Specialization,
}

#[repr(C)]
pub struct SubgroupSize {
    pub base: Base,
    pub size: u32,
}

#[repr(C)]
pub struct ComputePipelineInfo {
    pub base: Base,
    pub flags: u32,
    pub stage: Stage,
    pub layout: u64,
    pub base_pipeline: u64,
    pub base_index: i32,
}

/// VkCommandPoolCreateInfo
#[repr(C)]
pub struct CommandPoolInfo {
    pub base: Base,
    pub flags: u32,
    pub family: u32,
}

/// VkCommandBufferAllocateInfo
#[repr(C)]
pub struct AllocateInfo {
    pub base: Base,
    pub pool: u64,
    pub level: u32,
    pub count: u32,
}

#[repr(C)]
pub struct ObjectName {
    pub base: Base,
    pub object: u32,
    pub handle: u64,
    pub name: *const c_char,
}

#[repr(C)]
pub struct Label {
    pub base: Base,
    pub name: *const c_char,
    pub colour: [f32; 4],
}

#[repr(C)]
pub struct PushInfo {
    pub base: Base,
    pub layout: u64,
    pub stages: u32,
    pub offset: u32,
    pub size: u32,
    pub values: *const u8,
}

#[repr(C)]
pub struct SubmitInfo {
    pub base: Base,
    pub waits: u32,
    pub wait: *const u64,
    pub stages: *const u32,
    pub count: u32,
    pub buffers: *const Handle,
    pub signals: u32,
    pub signal: *const u64,
}

#[repr(C)]
pub struct SubmitInfo2 {
    pub base: Base,
    pub flags: u32,
    pub waits: u32,
    pub wait: *const c_void,
    pub count: u32,
    pub buffers: *const BufferInfo,
    pub signals: u32,
    pub signal: *const c_void,
}

#[repr(C)]
pub struct BufferInfo {
    pub base: Base,
    pub buffer: Handle,
    pub mask: u32,
}

/// VkPhysicalDeviceProperties; only the tick length among its limits is used (`times`), but the driver writes all of
/// them.
#[repr(C, align(8))]
pub struct Properties {
    pub api: u32,
    pub driver: u32,
    pub vendor: u32,
    pub device: u32,
    pub device_type: u32,
    pub name: [u8; 256],
    pub rest: [u8; 1024],
}

#[repr(C)]
pub struct Properties2 {
    pub base: Base,
    pub properties: Properties,
}

#[repr(C)]
pub struct DriverProperties {
    pub base: Base,
    pub id: u32,
    pub name: [u8; 256],
    pub info: [u8; 256],
    pub conformance: [u8; 4],
}

/// VkDeviceCreateInfo
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DeviceInfo {
    pub base: Base,
    pub flags: u32,
    pub queues: u32,
    pub queue: *const c_void,
    pub layers: u32,
    pub layer: *const *const c_char,
    pub extensions: u32,
    pub extension: *const *const c_char,
    pub features: *const c_void,
}

/// VkExtensionProperties
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extension {
    pub name: [u8; 256],
    pub version: u32,
}
