# What a watch did not see: `unseen-KEY` says what, `unseen-KEY-why` why. The English ones are the templates of crates/watch/src/gap/wording.rs.

unseen-unprobed-unreachable = launches through { $library }
unseen-unprobed-unreachable-why = no probe could be placed, because the library's file could not be opened through /proc
unseen-unprobed-over = launches through { $library }
unseen-unprobed-over-why = the process ended before the probes were in place
unseen-unprobed-none-there = launches through { $library }
unseen-unprobed-none-there-why = the library exports none of the watched functions
unseen-unprobed-refused = launches through { $library }
unseen-unprobed-refused-why = { $reason }
unseen-unread-over = launches through { $library }, if it is a runtime
unseen-unread-over-why = the process ended before the probes were in place
unseen-unread = launches through { $library }, if it is a runtime
unseen-unread-why = the library's file could not be opened through /proc
unseen-unrecognised = launches through { $symbol } of { $library }
unseen-unrecognised-why = neither the library's file name nor its SONAME is that of a known runtime; launches that the library does not pass on to a probed runtime were not seen
unseen-late-runtime = the first calls through { $library }
unseen-late-runtime-why = the process opened the library after the watch began, and the probes were in place { $late } ms later; calls in between were not seen
unseen-late-library = the first calls of { $library }
unseen-late-library-why = the process opened the library after the watch began, and the probes were in place { $late } ms later; calls in between were not seen
unseen-unknown-launch = launches through { $count } { $count ->
    [one] call
   *[other] calls
} of { $symbol } ({ $library })
unseen-unknown-launch-why = this version of whichkernel does not recognize the function; the library exports it, and it was called
unseen-unknown-graph = launches through graphs that { $count } { $count ->
    [one] call
   *[other] calls
} of { $symbol } ({ $library }) created or changed
unseen-unknown-graph-why = this version of whichkernel does not recognize the function; the library exports it, and it was called
unseen-unreturned = results of { $count } { $count ->
    [one] call
   *[other] calls
} of { $symbol } ({ $library })
unseen-unreturned-why = the function ends with a jump to an address outside its file, and a return probe could crash a program that throws an exception
unseen-pointer = launches through a pointer to { $call } in process { $process }
unseen-pointer-why = the process got the address from the runtime; the address is not that of an exported function, and no probe could be placed
unseen-late-pointer = the first launches through a pointer to { $call }
unseen-late-pointer-why = the process got the address from the runtime; the address is not that of an exported function, and the probe was in place { $late } ms later
unseen-inside = launches of { $program }
unseen-inside-why = the program contains { $symbol } itself; only runtimes in separate files are probed
unseen-reaches = launches of process { $process } ({ $program })
unseen-reaches-why = the process has { $device } open, but none of its libraries had probes
unseen-device-runtime = launches that the kernel { $kernel } makes on the device (the kernel was launched { $count } { $count ->
    [one] time
   *[other] times
})
unseen-device-runtime-why = the kernel's code calls the CUDA device runtime; launches made by a kernel do not pass through a host function
unseen-uncounted = launches through { $symbol } ({ $library })
unseen-uncounted-why = this version of whichkernel does not recognize the function, and without BPF it cannot tell whether the function was called
unseen-not-planted = launches through { $library } in process { $process }
unseen-not-planted-why = the probe is missing: the memory of process { $process } still has the file's original instruction at { $symbol }
unseen-nothing-probed = launches
unseen-nothing-probed-why = no GPU runtime of these processes had probes during the watch
unseen-processes-lost = some processes or libraries
unseen-processes-lost-why = the Linux kernel dropped { $count } fork and mapping records
unseen-reused = processes: a process ID was reused while records were lost
unseen-reused-why = launches that were only counted cannot be assigned to one of the two processes
unseen-new-threads = threads that started while the probes were being placed
unseen-new-threads-why = probes are placed on each thread separately
unseen-capture-under-way = launches through a graph capture that was in progress: { $count } are counted as launched
unseen-capture-under-way-why = the capture began before the probes were in place; replays of its graph are counted as unknown
unseen-changed-nodes = earlier launches of { $count } graph nodes that were changed
unseen-changed-nodes-why = the graphs were captured, and the runtime does not identify their nodes: the total number of launches is correct, but some may be assigned to the wrong kernel
unseen-unknown-nodes = launches of { $count } graph nodes that were removed, or switched on or off
unseen-unknown-nodes-why = the graphs were captured, and the runtime does not identify their nodes; replays are counted as unknown
unseen-loose-nodes = launches through { $count } nodes of graphs whose creation was not seen
unseen-loose-nodes-why = the graphs were created before `watch` attached, or by a function that is not watched
unseen-device-launch = launches through { $count } { $count ->
    [one] graph
   *[other] graphs
} that kernels can launch
unseen-device-launch-why = launches made by a kernel do not pass through a host function
unseen-untold = records of { $count } { $count ->
    [one] call
   *[other] calls
} about graphs, captures, names and refusals
unseen-untold-why = the records did not fit into the buffer, so the contents of replays and some names may be wrong
unseen-not-returned = results of { $count } { $count ->
    [one] call
   *[other] calls
} about graphs
unseen-not-returned-why = the calls did not return: they ended with an exception, or were still running when the observation ended; the launches of replays may be wrong
unseen-unchecked = whether { $count } of { $all } launches were accepted
unseen-unchecked-why = the launches came too fast to check their return values; rejected launches are counted as launched
unseen-no-returns = whether launches were accepted
unseen-no-returns-why = return values are not checked without BPF
unseen-names-before = names of functions that the program obtained before `watch` attached
unseen-names-before-why = the process memory that contains these names could not be read
unseen-names-guessed = certainty of some names
unseen-names-guessed-why = the names were read from the driver's internal objects, by a method that gave the right name for every known function
unseen-registrations = names of some kernels of { $library }
unseen-registrations-why = { $count } of the library's registration calls could not be read
unseen-no-late-names = names of functions that are loaded at run time
unseen-no-late-names-why = perf without BPF does not follow the pointers to these names
unseen-no-arguments = argument bytes and the column counts they contain
unseen-no-arguments-why = perf without BPF does not follow the pointers to the arguments
unseen-table-full = argument bytes of some kernels
unseen-table-full-why = there are more kernels than the BPF table can hold
unseen-no-columns = column counts
unseen-no-columns-why = some launches happened before whichkernel had read their library; they are counted without column counts
unseen-no-extents = matrix sizes in some calls of { $call }
unseen-no-extents-why = the matrix layouts were created before `watch` attached, or cannot be read without BPF
unseen-order-lost = order of { $count } { $count ->
    [one] call
   *[other] calls
} of { $call }
unseen-order-lost-why = the ring buffer was full: the calls are counted, but their order is unknown
unseen-canary = the canary
unseen-canary-why = { $told }
unseen-no-canary = whether a launch would have been seen
unseen-no-canary-why = no known event was generated to test this
unseen-left = processes
unseen-left-why = process { $process } called { $call }; programs that it started after that are not seen
unseen-outside-environment = launches of { $who } (process { $process })
unseen-outside-environment-why = the process had { $detail } mapped but not the preload library, because it was started with environment variables of its own
unseen-outside-static = launches of { $who } (process { $process })
unseen-outside-static-why = the program is statically linked and contains launch functions, so nothing can be preloaded into it
unseen-outside-loader = launches of { $who } (process { $process })
unseen-outside-loader-why = the program's loader is { $detail }, not glibc's; the program does not start with the preload library in its environment
unseen-outside-rights = launches of { $who } (process { $process })
unseen-outside-rights-why = the program runs with other privileges (set-user-ID or file capabilities), so its loader ignores LD_PRELOAD
unseen-outside-survivor = later launches of { $who } (process { $process })
unseen-outside-survivor-why = this process was still running when the program ended
unseen-outside-unrecorded = launches of { $who } (process { $process })
unseen-outside-unrecorded-why = the process loaded the preload library and a GPU runtime, but left no record
unseen-outside-second-runtime = launches through { $who } in process { $process }
unseen-outside-second-runtime-why = another library in the process has the same launch functions, and only that library is wrapped
unseen-outside-opened-apart = launches by { $who } in process { $process }
unseen-outside-opened-apart-why = this file was opened with { $detail }, so its calls do not reach the preload library
unseen-outside-address = launches by { $who } in process { $process }
unseen-outside-address-why = this file has the address of the runtime's own { $detail } and can call it directly
unseen-threw = { $count } { $count ->
    [one] call
   *[other] calls
} of process { $process } that ended in an exception
unseen-threw-why = a call that does not return has no status, so it is unknown whether the runtime accepted the launch
unseen-not-followed-launch = launches
unseen-not-followed-launch-why = process { $process } can call { $call }, a launch function that is not watched; its launches are not counted
unseen-not-followed-call = BLAS calls
unseen-not-followed-call-why = process { $process } can call { $call }, which is not watched; the kernels that this function launches are counted, but its calls are not
unseen-not-followed-graph = graphs
unseen-not-followed-graph-why = process { $process } called { $call }, which is not watched
unseen-graph-on-device = graphs
unseen-graph-on-device-why = process { $process } created a graph that the device can launch ({ $call }); these launches are not seen
unseen-graphs-unanswered = graphs
unseen-graphs-unanswered-why = the runtime did not report the nodes of { $count } { $count ->
    [one] graph
   *[other] graphs
} of process { $process }; they are counted as captured
unseen-nodes-unplaced = graphs
unseen-nodes-unplaced-why = { $count } { $count ->
    [one] node in process { $process } was
   *[other] nodes in process { $process } were
} changed in graphs that had been updated before; their kernels are counted as before the change
unseen-record-broken = records
unseen-record-broken-why = the record of process { $process } could not be read to its end: { $reason }
unseen-record-refused = records
unseen-record-refused-why = { $file } was not read: { $reason }
unseen-records-lost = records
unseen-records-lost-why = { $count } { $count ->
    [one] record was
   *[other] records were
} lost: the record directory was full, the reader was too slow, or the process was killed while writing
unseen-other-user = users
unseen-other-user-why = process { $process } ran as user { $user }; its record cannot be verified
unseen-other-grids = grids
unseen-other-grids-why = { $count } { $count ->
    [one] launch with a further grid size is
   *[other] launches with further grid sizes are
} counted by kernel only, without the grid
unseen-no-layouts = arguments
unseen-no-layouts-why = the libraries of the kernels in { $count } { $count ->
    [one] launch
   *[other] launches
} were not found beforehand, so column counts come from kernel names only
unseen-nobody-called = processes
unseen-nobody-called-why = no process called a wrapped function: the runtime is statically linked, the program resets its environment, or it does not use a GPU
unseen-nobody-opened-vulkan = processes
unseen-nobody-opened-vulkan-why = no process opened Vulkan with the whichkernel layer: the program does not use Vulkan, is set-user-ID, resets its environment, or has its own loader
unseen-layer-blind = { $what } in process { $process }
unseen-layer-blind-why = the layer does not inspect this
unseen-named-by-module = names
unseen-named-by-module-why = { $count } { $count ->
    [one] dispatch uses
   *[other] dispatches use
} pipelines without a known name; they are identified by the hash of their module. ggml 0.26 and later names pipelines with GGML_VK_DEBUG_MARKERS=1
unseen-named-from-memory = names
unseen-named-from-memory-why = { $count } { $count ->
    [one] dispatch uses
   *[other] dispatches use
} pipelines created before `watch` attached; their names were read from the program's memory, and their modules and constants are unknown
unseen-buffers-before = command buffers
unseen-buffers-before-why = { $count } { $count ->
    [one] submission
   *[other] submissions
} used command buffers that were not seen from their beginning; dispatches recorded before that are not counted
unseen-by-passed = { $call } of process { $process }
unseen-by-passed-why = the program got the function from the device (vkGetDeviceProcAddr); its calls bypass Vulkan's loader and are not seen
unseen-submitted-elsewhere = submissions
unseen-submitted-elsewhere-why = { $count } { $count ->
    [one] dispatch was
   *[other] dispatches were
} recorded into command buffers whose submission was not seen: they were submitted through a function that is not watched (vkQueueSubmit2KHR), or never
unseen-nothing-passed = Vulkan calls of process { $process }
unseen-nothing-passed-why = no submission passed through Vulkan's loader: either the program was idle, or it got the functions from the device before `watch` attached (vkGetDeviceProcAddr) and cannot be observed
unseen-indirect = grids
unseen-indirect-why = { $count } dispatches were indirect: the device read their group counts from its own memory
unseen-not-seen-to-end = completion
unseen-not-seen-to-end-why = { $count } { $count ->
    [one] dispatch was
   *[other] dispatches were
} submitted, but the program never waited for the fences, so the completion was not seen
unseen-device-lost = completion
unseen-device-lost-why = { $count } { $count ->
    [one] dispatch was
   *[other] dispatches were
} running when the device was lost
unseen-untimed = timestamps
unseen-untimed-why = { $count } { $count ->
    [one] dispatch has
   *[other] dispatches have
} no device timestamps: their completion was not seen, they were in a secondary command buffer, resubmitted before they ended, on a queue without timestamps, or on a stand-in GPU
unseen-no-log-line = logs
unseen-no-log-line-why = the log has no line in a known format: the libraries were built without logging, or another variable enables it
unseen-no-kernel-line = kernels
unseen-no-kernel-line-why = no line of the HIP runtime names a kernel; only the requests to BLAS libraries and the choices of these libraries are visible
unseen-told-twice = calls
unseen-told-twice-why = the calls were logged in several ways ({ $ways }) and counted once
unseen-write-ahead = the newest rows
unseen-write-ahead-why = the write-ahead log beside the file is not read; merge it with: sqlite3 FILE 'PRAGMA wal_checkpoint'
unseen-timeless = completion
unseen-timeless-why = { $count } { $count ->
    [one] dispatch without device timestamps is
   *[other] dispatches without device timestamps are
} not counted
unseen-graphs-whole = graph launches
unseen-graphs-whole-why = { $count } graph launches were traced as a whole, without their kernels; profile with --cuda-graph-trace=node
unseen-no-row = dispatches
unseen-no-row-why = the profile has no rows; this does not show that nothing ran
unseen-trace-graphs = graph launches
unseen-trace-graphs-why = { $count } captured launches and { $replays } replays are not counted, because the trace does not identify the graphs
unseen-damaged-lines = launches
unseen-damaged-lines-why = { $count } { $count ->
    [one] line of the trace cannot be read and is
   *[other] lines of the trace cannot be read and are
} not counted
unseen-cut-off = the end of the trace
unseen-cut-off-why = the last line is incomplete: the writer was interrupted, and everything after it is missing
unseen-no-end = the number of launches, and which of them were refused
unseen-no-end-why = the trace has no end record with totals: an older version of whichkernel wrote it, or it is truncated
unseen-missing-lines = { $count } { $count ->
    [one] line
   *[other] lines
} of the trace
unseen-missing-lines-why = the line numbers and the totals in the end record show that these lines are missing
unseen-repeated-lines = whether { $count } { $count ->
    [one] line of the trace is a separate launch
   *[other] lines of the trace are separate launches
}
unseen-repeated-lines-why = another line has the same number; identical lines are counted once
unseen-not-in-lines = the kernels of { $count } { $count ->
    [one] launch
   *[other] launches
}
unseen-not-in-lines-why = the writer of the trace counted these launches but recorded no lines for them
unseen-end-disagrees = whether all { $count } launches of the trace happened
unseen-end-disagrees-why = the end record counts { $counted }: the lines or the end record were changed
unseen-told = { $what }
unseen-told-why = reported by the writer of the trace: { $why }
unseen-only-words = launches
unseen-only-words-why = a server log does not contain launches; watch the server, or pass a trace with --read and this log with --said
