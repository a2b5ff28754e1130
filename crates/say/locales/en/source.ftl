# source
source-preset = { $vendor } build ({ $preset }): { $defines }
source-open-define = No build file defines { $name }. Some rows depend on it and are reported as UNDETERMINED. Set it with -D { $name } or -U { $name }.
source-open-version = The value of { $name } is unknown. Some rows depend on it and are reported as UNDETERMINED. Set it with -D { $name }=VALUE.
source-assumed = Assumed values: { $list }. Override one with -D NAME=VALUE. Rows that depend on an assumed value are reported as UNDETERMINED.
source-assumed-fixed = Assumed values: { $list }. Other values were not tried, because `source` tries them for at most 64 rows. Set one with -D NAME=VALUE.
source-assumed-architectures = Assumed: the CUDA build has code for the GPU's own architecture. Override with -D __CUDA_ARCH_LIST__=500,610,...
source-environment = Environment variables that the rules read: { $list }. Set one with --env NAME=VALUE.
source-env-unset = { $name } (not set)
source-skipped = Left out: { $what }
source-skipped-more = Left out: { $count } more.
source-column-gpu = GPU
source-column-type = Type
source-column-operation = Operation
source-column-columns = Columns
source-column-path = Path
source-column-variant = Tile
source-column-kernel = Kernel
source-column-grid = Grid
source-column-block = Block
source-column-warps = Warps
source-column-shared = Shared
source-column-differs = Differs
source-shape-open = The { $part } is not determined in { COUNT($rows, "row", "rows") }: { $why }
source-why = Why, at { COUNT($what, "column", "columns") }:
source-narrow = To see the conditions here, ask for fewer GPUs, types and columns; --format json always has them.
source-bypass = Fused operations bypass this choice: { $function } calls { $calls } ({ $path }) directly at { $at }.
source-bypass-switch = The environment variable { $name } turns this off.
source-cannot-show = This is the source rule for this build (rung Declared). It does not show that the kernel is in a binary, was loaded, or ran.
source-recorded = { $count ->
    [one] One rule
   *[other] { $count } rules
} recorded (Declared).
source-pin-taken = Using { $tree } at { $pin }, the version that the Ollama tree pins.
source-pin-other = The Ollama tree pins llama.cpp { $pin }; using { $tree } as given.
source-vulkan-card = { $given }: no Vulkan profile for this card. Known cards: { $known }
source-vulkan-env = { $name }: the Vulkan backend of this tree does not read this variable
source-metal-card = { $given }: no profile of an Apple GPU has this name. Known GPUs: { $known }
source-metal-env = { $name }: the Metal backend of this tree does not read this variable
source-metal-unheeded = { $flags }: not supported for Apple GPUs
source-metal-launches = All launches, in order (kernel, function constants, threadgroups, threads per threadgroup, bytes of threadgroup memory):
source-metal-unknown = Properties that are not known: { $names }. The rules were evaluated with each possible value; a number that depends on one of them is shown as ?.
source-metal-observed = This is the source rule for macOS on Apple silicon (rung Declared). Nothing was observed on an Apple GPU.
metal-constants = Constants
metal-threadgroups = Threadgroups
metal-threads = Threads
metal-memory = Memory
source-graph-one-gpu = --graph takes exactly one GPU: specify it with --gpu
source-graph-nodes = Nodes: built by whichkernel for the llama family, in the order of llama.cpp's builder (2026): one sequence, flash attention, all layers on the GPU, the token embedding on the host. The tree's own code decides the launches of each node.
source-graph-nodes-tree = Nodes: built by the tree's own program, which is evaluated on the model's header: one sequence, default parameters, all layers on the GPU. The tree's own code decides the launches of each node.
source-graph-memory-tree = Memory: as the tree's own allocator places tensors.
source-graph-nodes-written = Nodes: read from the file, in the order of its lines. The tree's own code decides the launches of each node.
source-graph-has-its-size = a graph file has a fixed size: --columns and --kv apply to models only
source-graph-memory = Memory: this assumes separate memory for each tensor. ggml's allocator shares memory, which can prevent fusion.
source-code-target = --code does not support this target
source-code-one-gpu = --code needs exactly one GPU (--gpu)
source-code-none = { $file }: no code for { $target }; it has { $has }
source-graph-nodes-computed = Nodes: recorded from a program that ran on a stand-in GPU. The tree's own code decides the launches of each node.
source-graph-memory-placed = Memory: as the program allocated its tensors.
source-graph-routing-read = Routing: as the program read it back from the GPU while computing these graphs.
source-graph-routing-even = Routing: each token gets the next experts in turn, as requested.
source-graph-routing-first = Routing: each token gets the first experts, as requested.
source-graph-evaluation-computed = { $target }, on { $backend }: { COUNT($nodes, "node", "nodes") }, { COUNT($launches, "launch", "launches") } predicted
source-graph-cut = { $count } { $count ->
    [one] graph of the file is
   *[other] graphs of the file are
} truncated because the program ended while computing them; they are skipped
source-graph-more = the program computed more graphs than the { $count } that were recorded
source-graph-not-compared = { COUNT($count, "launch of the trace was", "launches of the trace were") } not compared: not part of any of these evaluations
source-graph-evaluation = { $target }, { COUNT($columns, "column", "columns") }, { COUNT($positions, "position", "positions") } in the KV cache: { COUNT($nodes, "node", "nodes") }, { COUNT($launches, "launch", "launches") } predicted
source-graph-evaluation-written = { $target }: { COUNT($nodes, "node", "nodes") }, { COUNT($launches, "launch", "launches") } predicted
source-graph-column-node = Node
source-graph-column-name = Name
source-graph-column-operations = Operations
source-graph-column-grid = Grid
source-graph-column-block = Block
source-graph-compared = Of { COUNT($seen, "launch", "launches") } seen (evaluations: { $evaluations }): { $exact } predicted with kernel, grid and block; { $arguments } with the kernel, but a template argument undetermined; { $without } with the kernel, but the grid undetermined; { $refused } predicted and refused by the driver; { $missing } predicted, but possibly missing from the trace; { $open } not predicted; { $different } different.
