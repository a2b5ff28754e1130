vulkan-other-writer = このトレースを書いたのは Vulkan レイヤーではありません
