vulkan-other-writer = this trace was not written by the Vulkan layer
