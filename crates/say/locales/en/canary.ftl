# Known events that show that an observer works
canary-uprobe = { $seen } of { $calls } calls of { $symbol } in a test library were counted; { $place }
canary-probe-placed = the probe on { $library } is in place in process { $pid }
canary-probe-absent = the probe is not in the target
canary-probe-unread = it is unknown whether the probe is in place in process { $pid }, because its memory could not be read
canary-preload = { $seen } of { $calls } test calls through { $runtime }
canary-preload-unseen = only { $seen } of { $calls } test calls through { $runtime } were seen
canary-runtime-same = the same { $name } as in the target
canary-runtime-own = whichkernel's own runtime, because root does not load { $name } from the target
canary-no-child = the test process could not be started: { $error }
canary-other-file = { $path } is a different file here: it is in another root directory, or it was replaced
canary-device = the vkCreateDevice call of process { $pid }
canary-request = a one-token request to { $server } caused { $count ->
    [one] 1 launch
   *[other] { $count } launches
}
canary-first-requests = the first requests to { $server } caused { $count ->
    [one] 1 launch
   *[other] { $count } launches
}
canary-stand-in = the launches of this run passed through the stand-in
canary-layer = the dispatches of this run passed through the Vulkan layer
canary-own-mapping = the mapping of the program's own file
canary-kernel-ends = s_endpgm in { $ending } of { $kernels ->
    [one] 1 kernel
   *[other] { $kernels } kernels
}
canary-listed = the file { $name } in the same directory listing
canary-entry-points = an entry point in each of { $count ->
    [one] 1 module
   *[other] { $count } modules
}
canary-object-kernels = the kernels of the code object itself
canary-host-entries = the host entry of { $count ->
    [one] the only bundle
   *[other] all { $count } bundles
}
canary-archives = code in the archives for { $count ->
    [one] the only wrapper
   *[other] all { $count } wrappers
}
canary-images = an image in each of { $count ->
    [one] 1 container
   *[other] { $count } containers
}
canary-cpu-node = the CPU's own node in the topology
canary-libc = libc.so.6 in a library directory
