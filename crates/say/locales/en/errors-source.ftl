# Trees
source-tree-missing = { $path }: no such file or directory; specify a directory, REPO@REV, or a .crate, .tar.gz or .zip archive
source-tree-no-repository = { $repo }: not a git repository (neither .git nor a bare repository was found)
source-tree-no-revision = { $repo }: there is no revision { $rev }{ $hint }: { $said }
source-tree-shallow = {" "}(the clone is shallow)
source-tree-no-git = git could not be run: { $error }; install git, or specify a checked-out directory
source-tree-git = git { $what } in { $repo } failed: { $said }
source-tree-content-missing = { $path }: its content is not in this clone (shallow or partial); fetch it, or use a full clone
source-tree-file-too-large = { $path } is { COUNT($size, "byte", "bytes") }, over the limit of { $limit } for one source file
source-tree-too-large = { $path } has more than { $limit } of sources; specify the directory that contains ggml
source-tree-archive = { $path } is not a supported archive ({ $what }); supported: .crate, .tar.gz, .tar and .zip
source-tree-archive-damaged = { $path }: the archive is truncated or damaged after { COUNT($members, "member", "members") } ({ $what }); fetch it again
source-archive-name = the name of a member is longer than { $most } bytes
source-git-silent = no message
source-git-unknown = unknown name or commit
source-git-no-pipes = the pipes to git could not be opened
source-git-ended = git ended early
source-git-more = git listed more commits than requested
source-git-fewer = git listed fewer commits than requested
source-limit-files = 400,000 files
source-limit-sources = 1 GiB or 400,000 files

# Rules and devices
source-no-dispatcher = { $tree } has no ggml dispatcher: none of its .cu files has a case for { $op }. Specify the root of a llama.cpp, ggml, whisper.cpp or Ollama tree{ $hint }
source-no-sources = {" "}(this tree has no sources at all)
source-unit-unread = . One file could not be read: { $error }
source-no-vulkan = { $tree } has no Vulkan backend: it contains no ggml-vulkan.cpp
source-no-metal = { $tree } has no Metal backend that can be read: it contains no ggml-metal.cpp. Trees before b6501 (17 September 2025) have the whole backend in ggml-metal.m, which is not read
source-dispatcher-unreadable = { $place }: { $why }; the dispatcher cannot be read
source-device-apple = { $name } is an Apple GPU: its rules are those of the Metal backend, which only `source TREE --gpu { $name }` and `diff TREE TREE --gpu { $name }` evaluate
source-device-unknown = { $name } is not a known GPU. Specify a target (gfx1201, sm_90) or a card (rx-9070-xt, mi300x)

# What a user gives a build and its program
source-input-unread = { $tree }: the defines of the backend are unknown, because its build files could not be read to the end ({ $why })
source-input-option = --cmake { $name }: no CMake file of { $tree } has this option{ $near }
source-input-no-cmake = --cmake { $name }: CMake is not used to build { $tree } here (preset { $preset }); set the define itself with -D
source-input-variable = --env { $name }: no source in { $tree } reads this environment variable{ $near }
source-input-near = ; did you mean { $best }?

# Where the reading of build files stopped
source-cmake-steps = { $file } runs more than { $most } commands
source-cmake-depth = { $file } nests calls more than { $most } deep
source-cmake-values = { $file }: a value has more than { $one } bytes, or all values together have more than { $all } bytes
source-cmake-loop = { $file }: a loop has more than { $most } values
source-cmake-files = { $file }: more than { $most } files have defines
source-cmake-defines = { $file }: more than { $most } defines

# Histories and atlases
source-history-nothing = no commit between { $since } and { $until } changes the GPU backend, so there is no history to show
source-history-no-ancestor = { $since } is not an ancestor of { $until } on the main line: a history follows first parents from an ancestor to a descendant. Specify the older revision with --since; if neither revision is an ancestor of the other, compare them with `diff`
source-atlas-not-ours = { $folder } contains other files and no atlas: specify an empty or a new folder
source-atlas-other-question = { $folder }/state.json was written with other options or by another version: specify another folder, or remove this one
source-atlas-no-release = { $repo } has no release to read: it has no tag such as b6000{ $since }
source-atlas-since = {" "}since { $since }

# Graphs of models
source-graph-architecture = the graph of the architecture `{ $name }` is not supported; supported are: { $known }
source-graph-no-program = the tree has no src/llama-model.cpp, so its graph of this architecture is unknown; record a graph with `whichkernel dryrun --write-graph FILE -- PROGRAM`
source-graph-unreadable = the tree's program could not be read: { $why }
source-graph-not-followed = the tree's program was not followed at { $at }: { $what }; record a graph with `whichkernel dryrun --write-graph FILE -- PROGRAM`
source-graph-ended = the tree's program refuses this model at { $at }: { $code }
source-graph-unclaimed = the tree's program does not use { COUNT($count, "tensor", "tensors") } of the model, such as { $first }
source-graph-missing = the model has no { $what }, which its graph needs
source-graph-experts = the model uses { $used } experts at a time, but has only { $count }
source-graph-dimensions = the tensor { $name } has the dimensions { $dims }, which no graph of this family has
source-graph-too-large = { $what } is larger than in any model
source-graph-sizes = a dimension of the model is zero, or larger than in any model
source-trace-no-evaluation = { $trace } contains no evaluation of { COUNT($columns, "column", "columns") }
source-trace-too-many = { $trace }: { $count } launches are too many to compare

# Graphs in files
source-written-line = line { $line } is not a tensor (NAME = [OPERATION] TYPE SIZES ...): { $what }
source-written-outside = line { $line } is outside of any graph: { $what }
source-written-unknown = line { $line } refers to { $name }, which is not defined above it
source-written-too-large = line { $line }: a tensor of this size is larger than any memory
source-written-too-many = line { $line }: the tensor has more sources or parameters than ggml allows
source-written-mixed = line { $line }: some lines have addresses and others have none
source-written-read = line { $line } does not contain all the data that was read back (ADDRESS BYTES WORDS): { COUNT($length, "byte", "bytes") } from { $address }
source-written-empty = the graph computes nothing
source-written-split = line { $line }: the tensor is split over several GPUs, which is not supported
source-written-refused = the program could not write the graph: { $why }

# Cards that vulkaninfo describes
source-reported-too-large = the file is larger than any file that vulkaninfo writes
source-reported-not-json = this is not JSON: { $why }
source-reported-lacks = this is not output of `vulkaninfo --json`: it has no { $field }
source-reported-vendor = { $name } is from vendor { $vendor }: only AMD cards (0x1002) are supported
source-reported-driver = { $name } uses the driver { $driver }, but the supported matrix sizes are known only for RADV
source-reported-not-played = { $name } is not a card that Mesa's stand-in supports, so no dry run is possible. The rules can still be evaluated: `source TREE --backend vulkan --vulkan-device FILE`
source-reported-properties = { $name } reports { $what }, unlike { $card } with the driver used here, so a dry run would simulate a different card. The rules can still be evaluated: `source TREE --backend vulkan --vulkan-device FILE`
source-property-integer-dot = integer dot products
source-property-halves = half precision
source-property-half-dot = half-precision dot products
source-property-matrices = cooperative matrices
source-property-bf16-matrices = cooperative matrices of bfloat16
source-property-subgroup = a subgroup size
source-property-shared-memory = shared memory
source-property-without = no { $what }
source-property-of = { $what } of { $own }
source-property-list = { $list }, { $next }
source-archive-large = the archive unpacks to more than { $most } GiB
source-skipped-broken-link = a broken link
source-skipped-deep = deeper than { $most } directories
source-skipped-large = over the limit of { $most } bytes for one file
source-skipped-linked = a link to a directory, which is not followed
source-skipped-outside = the name points outside the archive
source-skipped-size = { COUNT($bytes, "byte", "bytes") }, over the limit of { $most } for one file
source-skipped-special = not a regular file
source-skipped-utf8 = the name is not UTF-8
source-skipped-left-out = left out: the tree has more source text than can be read at once, and the largest files are left out first
source-no-archives = this build of whichkernel cannot read archives; unpack the archive first
source-skipped-not-followed = the file has { COUNT($bytes, "byte", "bytes") } and is too large for its includes to be followed

# Why a row is undetermined
source-open-place = { $place } { $why }
source-open-code = { $why }: `{ $code }`
source-open-either = { $why } ({ $either })
source-open-absent = { $file } is included but is not in the tree; { $why }
source-open-absent-more = { $file } and { $count } more files are included but are not in the tree; { $why }
source-open-abort = the program would abort: `{ $what }`
source-open-not-defined = { $name } is not defined in the tree
source-open-no-launch = the evaluation reached no launch
source-open-tile-width = the width of the tile is unknown
source-open-other-device = { $function } returns device { $device }, but the evaluation is for device 0
source-open-missing = the tree has no { $what }
source-open-no-block = the tree has no block size for { $name }
source-open-block = no such tensor exists: a row of { $values } values is not a multiple of the block size of { $name }, { $block }
source-open-not-compiled = the build does not compile this file
source-open-no-target = no target of the build contains this file
source-open-needed = { $name } is needed, but the build does not compile the file that contains it
source-open-compiled = it is unknown whether the build compiles this file, which depends on { $at }
source-open-supports = the function that accepts or refuses operations is not understood
source-open-refused = { $name } refuses this operation, so the backend does not receive it
source-open-accepts = the result of { $name } for this operation is unknown
source-open-one-define = no build file states whether { $name } is defined; the result depends on it
source-open-several-defines = no build file states whether { $names } are defined; the result depends on them
source-open-version-value = the value of { $name } is unknown (set it with -D { $name }=VALUE); the result for { $value }, the assumed value, differs from that for { $other }
source-open-call = this call is not followed
source-open-occupancy = the number of blocks of the kernel that fit on a multiprocessor (1 to { $most }) depends on the kernel's registers
source-open-occupancy-code = the number of blocks of the kernel that fit on a multiprocessor (1 to { $most }) depends on the kernel's registers, but the given code does not contain the kernel
source-open-fused-count = the number of fused nodes is unknown
source-open-fused-inline = nodes are fused in the loop itself, which is not supported
source-open-not-dispatched = the dispatcher does not accept this operation
source-open-dispatched = it is unknown whether the dispatcher accepts this operation
source-open-unmarked = it is not understood how nodes without { $flag } are treated
source-open-read-back = data that the program read back here cannot be distinguished from earlier data
source-open-hook = the code that prepares a tensor is not understood
source-open-hook-writes = { $name } may change a tensor before it is computed
source-open-reordered = { $name } may change nodes before they are computed
source-open-compute = the code that computes a graph is not understood
source-open-way = the calls from { $top } to { $dispatcher } are not understood
source-open-loop = { $function } { $what }
source-open-loop-works = contains code that is not understood
source-open-loop-call = calls the dispatcher in a way that is not understood
source-open-loop-statement = contains a statement that is not understood
source-open-loop-goes-on = may continue without computing the node
source-open-loop-skips = may skip a node
source-open-loop-condition = computes the nodes under a condition that is not understood
source-open-loop-fused = continues after fused nodes in a way that is not understood
source-open-loop-twice = computes a node more than once
source-open-loop-way = computes nodes in a way that is not understood
source-open-vulkan-query = the driver's answer is unknown
source-open-backend-bound = the pipeline that is dispatched is unknown
source-open-backend-define = the build files do not settle whether { $name } is defined
source-open-backend-none = the backend dispatches no pipeline for this product
source-open-backend-step = the backend has no { $what } that can be evaluated
source-open-backend-unsupported = the backend does not support this operation on this card, so another backend computes it
source-open-backend-aborts = the backend would stop the program here: { $code }
source-open-metal-property = the answer depends on { $property }, which is not known for this card
source-shape-part = { $part }: { $why }
