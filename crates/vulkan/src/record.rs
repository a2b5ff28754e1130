//! The layer's records of a program's Vulkan calls, as in the trace file.
//!
//! Only `core` is used, because the layer includes this file by path. File, header and heads are those of every launch
//! trace (`crates/launch/src/record.rs`); this file defines the bodies. Handles are opaque numbers.

/// Kinds of records, apart from those of HIP and CUDA.
pub mod kind {
    /// A logical device was created. [`super::Device`], then the names.
    pub const DEVICE: u32 = 64;
    /// A shader module, possibly inline. [`super::Module`], then its words.
    pub const MODULE: u32 = 65;
    /// A compute pipeline. [`super::Pipeline`], then constants, their data and the entry's name.
    pub const PIPELINE: u32 = 66;
    /// A name that the program gave to an object. [`super::Name`], then the text.
    pub const NAME: u32 = 67;
    /// A command buffer begins again or is reset. [`super::Buffer`].
    pub const BEGIN: u32 = 68;
    /// [`super::Bind`].
    pub const BIND: u32 = 69;
    /// [`super::Push`], then the bytes.
    pub const PUSH: u32 = 70;
    /// [`super::Dispatch`].
    pub const DISPATCH: u32 = 71;
    /// A label begins. [`super::Name`] with the command buffer as its handle, then the text.
    pub const LABEL: u32 = 72;
    /// A label ends. [`super::Buffer`].
    pub const LABEL_END: u32 = 73;
    /// Secondary buffers are executed. [`super::Submit`] with the primary as its queue, then handles.
    pub const EXECUTE: u32 = 74;
    /// [`super::Submit`], then handles of command buffers.
    pub const SUBMIT: u32 = 75;
    /// A fence was seen signalled, or a queue or device idle. [`super::Done`].
    pub const DONE: u32 = 76;
    /// The driver compiler's statistics of a pipeline: [`super::Name`] with the pipeline as its handle, with the value's format
    /// as its object, then the value and its name.
    pub const STATISTIC: u32 = 77;
    /// The driver's assembly of a pipeline, encoded like [`STATISTIC`], in consecutive pieces.
    pub const ASSEMBLY: u32 = 78;
    /// A command buffer's pool was reset or the buffer freed, so its content is gone. [`super::Buffer`].
    pub const RESET: u32 = 79;
    /// Timestamps of the last submission of a command buffer. [`super::Times`], then the begin and end of each dispatch
    /// as two 64-bit ticks.
    pub const TIMES: u32 = 80;
}

/// Followed by the device's name, the driver's name and the driver's version text.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    pub handle: u64,
    pub vendor: u32,
    pub device: u32,
    /// VkPhysicalDeviceType: 1 integrated, 2 discrete, 3 virtual, 4 a CPU.
    pub device_type: u32,
    pub api: u32,
    pub driver: u32,
    pub driver_id: u32,
    pub name_len: u32,
    pub driver_len: u32,
    pub info_len: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module {
    pub handle: u64,
    /// The size of the whole module.
    pub size: u64,
    /// The FNV-1a hash of all bytes of the module.
    pub hash: u64,
    /// The number of bytes that follow; fewer than `size` if it is too large for a record.
    pub len: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    pub handle: u64,
    pub device: u64,
    /// The handle of the pipeline's module; 0 for an inline module: the last MODULE record of `inline`.
    pub module: u64,
    /// Our own number for an inline module.
    pub inline: u64,
    /// The required subgroup size; 0: the driver's choice.
    pub subgroup: u32,
    pub flags: u32,
    /// Specialization constants, each a [`Constant`].
    pub constants: u32,
    /// The size of their data in bytes.
    pub data_len: u32,
    pub entry_len: u32,
    pub reserved: u32,
}

/// A VkSpecializationMapEntry.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant {
    pub id: u32,
    pub offset: u32,
    pub size: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    pub handle: u64,
    /// VkObjectType, for a name.
    pub object: u32,
    pub len: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffer {
    pub buffer: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bind {
    pub buffer: u64,
    pub pipeline: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Push {
    pub buffer: u64,
    pub offset: u32,
    pub len: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dispatch {
    pub buffer: u64,
    /// Work groups; zeros if the device reads them from memory.
    pub groups: [u32; 3],
    /// The kind of dispatch, one of `how::*`. The bits from `how::TIMED` on are its number among the timed dispatches
    /// of its buffer, 0 if it is not timed.
    pub how: u32,
}

/// Timestamps, if the parent requested them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    pub buffer: u64,
    /// Nanoseconds per tick, as the bits of a float.
    pub period: u32,
    /// The number of valid bits of a tick.
    pub bits: u32,
    /// The number of the first dispatch, starting at 1.
    pub first: u32,
    pub count: u32,
}

pub mod how {
    pub const TIMED: u32 = 8;
    pub const DIRECT: u32 = 0;
    pub const INDIRECT: u32 = 1;
    pub const BASE: u32 = 2;
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submit {
    pub time_ns: u64,
    /// The queue (or primary buffer) that received the buffers.
    pub queue: u64,
    pub fence: u64,
    /// VkResult.
    pub result: i32,
    pub count: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    pub time_ns: u64,
    pub handle: u64,
    /// The kind of completion, one of `done::*`.
    pub what: u32,
    pub reserved: u32,
}

pub mod done {
    pub const FENCE: u32 = 1;
    pub const QUEUE: u32 = 2;
    pub const DEVICE: u32 = 3;
    /// The device was lost: none of its work completes any more.
    pub const LOST: u32 = 4;
}
