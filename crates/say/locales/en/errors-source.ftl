# Trees
source-tree-missing = { $path }: no such file or directory; give a directory, REPO@REV, or a .crate, .tar.gz or .zip archive
source-tree-no-repository = { $repo }: no git repository here (looked for .git and for a bare one)
source-tree-no-revision = { $repo }: there is no revision { $rev }{ $hint }: { $said }
source-tree-shallow = {" "}(the clone is shallow)
source-tree-no-git = git could not be run: { $error }; install git, or give a checked-out directory
source-tree-git = git { $what } in { $repo } failed: { $said }
source-tree-content-missing = { $path }: its content is not in this clone (shallow or partial); fetch it, or use a full clone
source-tree-file-too-large = { $path } is { $size } bytes, over the limit of { $limit } for one source file
source-tree-too-large = { $path } has more than { $limit } of sources; give the directory that contains ggml
source-tree-archive = { $path } is not an archive that can be read ({ $what }); .crate, .tar.gz, .tar and .zip can
source-tree-archive-damaged = { $path }: the archive is truncated or damaged after { $members } members ({ $what }); fetch it again
source-archive-name = the name of a member is longer than { $most } bytes
source-git-silent = no message
source-git-unknown = unknown name or commit
source-git-no-pipes = no pipes
source-git-ended = it ended early
source-git-more = it listed more commits than requested
source-git-fewer = it listed fewer commits than requested
source-limit-files = 400,000 files
source-limit-sources = 1 GiB or 400,000 files

# Rules and devices
source-no-dispatcher = { $tree } has no ggml dispatcher: none of its .cu files has a case for { $op }. Give the root of a llama.cpp, ggml, whisper.cpp or Ollama tree{ $hint }
source-no-sources = {" "}(this one has no sources at all)
source-unit-unread = . This file could not be read: { $error }
source-no-vulkan = { $tree } has no Vulkan backend: it contains no ggml-vulkan.cpp
source-dispatcher-unreadable = { $place }: { $why }; the dispatcher cannot be read
source-device-unknown = { $name } is not a known GPU. Give a target (gfx1201, sm_90) or a card (rx-9070-xt, mi300x)

# What a user gives a build and its program
source-input-unread = { $tree }: the defines of the backend are not known, because its build files could not be read to the end ({ $why })
source-input-option = --cmake { $name }: no CMake file of { $tree } has this option{ $near }
source-input-no-cmake = --cmake { $name }: { $tree } is not built by CMake here (preset { $preset }); set the define itself with -D
source-input-variable = --env { $name }: no source in { $tree } reads this environment variable{ $near }
source-input-near = ; did you mean { $best }?

# Where the reading of build files stopped
source-cmake-steps = { $file } runs more than { $most } commands
source-cmake-depth = { $file } nests calls more than { $most } deep
source-cmake-values = { $file }: a value of more than { $one } bytes, or more than { $all } bytes of values
source-cmake-loop = { $file }: a loop over more than { $most } values
source-cmake-files = { $file }: defines of more than { $most } files
source-cmake-defines = { $file }: more than { $most } defines

# Histories and atlases
source-history-nothing = no commit between { $since } and { $until } changes the GPU backend: there is no history to show
source-history-no-ancestor = { $since } is not on the way to { $until }: a history follows the main line (first parents) from an ancestor to a descendant. Give the older revision to --since; to compare two revisions of which neither is an ancestor of the other, use `diff`
source-atlas-not-ours = { $folder } contains other files and no atlas: give an empty or a new folder
source-atlas-other-question = { $folder }/state.json was written for another question or by another version: give another folder, or remove this one
source-atlas-no-release = { $repo } has no release to read: it has no tag such as b6000{ $since }
source-atlas-since = {" "}since { $since }

# Graphs of models
source-graph-architecture = the graph of the architecture `{ $name }` is not supported; supported are: { $known }
source-graph-missing = the model has no { $what }, which its graph needs
source-graph-experts = the model uses { $used } experts at a time, but has { $count }
source-graph-dimensions = the tensor { $name } has the dimensions { $dims }, which no graph of this family has
source-graph-too-large = { $what } is larger than in any model
source-graph-sizes = a dimension of the model is zero, or larger than in any model
source-trace-no-evaluation = { $trace }: no evaluation of { $columns } columns in it
source-trace-too-many = { $trace }: { $count } launches are too many to compare

# Graphs in files
source-written-line = line { $line } is not a tensor (NAME = [OPERATION] TYPE SIZES ...): { $what }
source-written-outside = line { $line } is outside of any graph: { $what }
source-written-unknown = line { $line } names { $name }, which no line above it defines
source-written-too-large = line { $line }: a tensor of this size is larger than any memory
source-written-too-many = line { $line }: the tensor has more sources or parameters than ggml allows
source-written-mixed = line { $line }: some lines have addresses and others have none
source-written-read = line { $line } does not have all the data that was read back (ADDRESS BYTES WORDS): { $length } bytes from { $address }
source-written-empty = the graph computes nothing
source-written-split = line { $line }: the tensor is split over several GPUs, which is not supported
source-written-refused = the program could not write the graph: { $why }

# Cards that vulkaninfo describes
source-reported-too-large = the file is larger than any file that vulkaninfo writes
source-reported-not-json = this is not JSON: { $why }
source-reported-lacks = this is not what `vulkaninfo --json` writes: it has no { $field }
source-reported-vendor = { $name } is of vendor { $vendor }: only AMD's cards (0x1002) are evaluated
source-reported-driver = { $name } uses the driver { $driver }: the matrix sizes that it supports are known for RADV only
source-reported-architecture = the architecture of { $name } cannot be determined from the file: it has no wavefrontsPerSimd, and the chip is not a known one
source-reported-not-played = { $name } is not a card that Mesa's stand-in supports, so nothing can be run for it; the rules can be evaluated: `source TREE --backend vulkan --vulkan-device FILE`
source-reported-properties = { $name } reports { $what }, unlike { $card } with the driver that is used here: the run would be that of another card; the rules can be evaluated: `source TREE --backend vulkan --vulkan-device FILE`
source-property-integer-dot = integer dot products
source-property-halves = halves
source-property-half-dot = dot products of halves
source-property-matrices = cooperative matrices
source-property-bf16-matrices = cooperative matrices of bfloat16
source-property-subgroup = a subgroup size
source-property-shared-memory = a shared memory
source-property-without = no { $what }
source-property-of = { $what } of { $own }
source-property-list = { $list }, { $next }
source-archive-large = it unpacks to more than { $most } GiB
source-skipped-broken-link = a broken link
source-skipped-deep = deeper than { $most } directories
source-skipped-large = over the limit of { $most } bytes for one file
source-skipped-linked = a link to a directory, which is not followed
source-skipped-outside = the name leads out of the archive
source-skipped-size = { $bytes } bytes, over the limit of { $most } for one file
source-skipped-special = not a regular file
source-skipped-utf8 = the name is not UTF-8
source-skipped-left-out = left out: the tree has more source text than is read at once; the largest files are left out first
source-skipped-not-followed = { $bytes } bytes, too large to follow its includes
source-no-archives = this build reads no archives; unpack it first
