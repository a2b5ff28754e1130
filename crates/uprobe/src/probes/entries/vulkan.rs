//! Vulkan's functions: their arguments, and when their effect is known.

/// The role of a probed Vulkan function. The comments list the function's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vk {
    /// `(command buffer, info *)`
    Begin,
    /// `(command buffer, flags)`
    Reset,
    /// `(device, pool, how many, command buffers *)`
    Free,
    /// `(command buffer, what for, pipeline)`
    Bind,
    /// `(command buffer, layout, stages, offset, size, bytes *)`
    Push,
    /// `(command buffer, info *)`: the same through a pointer.
    PushInfo,
    /// `(command buffer, x, y, z)`
    Dispatch,
    /// `(command buffer, from x, from y, from z, x, y, z)`
    DispatchBase,
    /// `(command buffer, memory, offset)`
    DispatchIndirect,
    /// `(command buffer, how many, command buffers *)`
    Execute,
    /// `(queue, how many, VkSubmitInfo *, fence)`
    Submit,
    /// `(queue, how many, VkSubmitInfo2 *, fence)`
    Submit2,
    /// `(device, info *, allocator *, module *out)`
    MakeModule,
    /// `(device, cache, how many, info *, allocator *, pipelines *out)`
    MakePipelines,
    /// `(device, how many, fences *, all or any, timeout)`
    WaitFences,
    /// `(device, fence)`
    FenceStatus,
    /// `(queue)`
    QueueIdle,
    /// `(device, char *name)`: a program that gets a device function this way bypasses the loader.
    AskDevice,
}

impl Vk {
    /// Whether the function's effect is known only when it returns.
    pub fn answers(self) -> bool {
        matches!(
            self,
            Vk::Submit
                | Vk::Submit2
                | Vk::MakeModule
                | Vk::MakePipelines
                | Vk::WaitFences
                | Vk::FenceStatus
                | Vk::QueueIdle
        )
    }

    pub fn dispatches(self) -> bool {
        matches!(self, Vk::Dispatch | Vk::DispatchBase | Vk::DispatchIndirect)
    }

    /// Whether every call is counted in addition to its record.
    pub fn is_counted(self) -> bool {
        self.dispatches() || matches!(self, Vk::Submit | Vk::Submit2)
    }
}
