# source
source-preset = { $vendor } build ({ $preset }): { $defines }
source-open-define = No build file says whether { $name } is defined, and it changes answers: those are UNDETERMINED. Decide it with -D { $name } or -U { $name }.
source-open-version = Nobody said what { $name } is, and it changes answers: those are UNDETERMINED. Give it with -D { $name }=VALUE.
source-assumed = Assumed, because nobody gave them: { $list }. Give another with -D NAME=VALUE; a row that hangs on one is UNDETERMINED.
source-assumed-fixed = Assumed, because nobody gave them: { $list }. Others were not tried here: `source` tries them for at most 64 rows; -D NAME=VALUE gives one.
source-assumed-architectures = Assumed: the CUDA build has code for the GPU's own architecture. Give what it was built for with -D __CUDA_ARCH_LIST__=500,610,...
source-environment = Asked of the environment on the way: { $list }. Set one with --env NAME=VALUE.
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
source-why = Why, at { $what } columns:
source-narrow = Ask for fewer GPUs, types and columns to see the conditions here, or take --format json, which has them all.
source-bypass = Fused operations go past this choice: { $function } calls { $calls } ({ $path }) itself at { $at }.
source-bypass-switch = { $name } in the environment turns that off.
source-cannot-show = This is what the source declares (rung Declared) for this build. It does not show that such a kernel is in a binary, was loaded, or ran.
source-recorded = { $count ->
    [one] One rule
   *[other] { $count } rules
} recorded (Declared).
source-pin-taken = { $tree } is taken at { $pin }, which the Ollama tree names.
source-pin-other = The Ollama tree names llama.cpp { $pin }; what is read is { $tree }, as it was given.
source-vulkan-card = { $given }: no profile of such a card for Vulkan. There are: { $known }
source-vulkan-env = { $name }: what this variable does to the rules of the Vulkan backend is not evaluated. Known: { $known }
source-graph-one-gpu = --graph is about one GPU: give it with --gpu
source-graph-nodes = Nodes: laid out by this program for the llama family, in the order of llama.cpp's builder (2026): one sequence, flash attention, all layers on the GPU, the token embedding on the host. What each launches is decided by the tree's own code.
source-graph-nodes-written = Nodes: those of the file, in the order of its lines. What each launches is decided by the tree's own code.
source-graph-has-its-size = a graph that is written down has its size: --columns and --kv are for models
source-graph-memory = Memory: every tensor is taken to have its own. ggml's allocator shares memory, which can keep nodes from being fused.
source-code-amd = --code is for AMD's GPUs: what CUDA computes of registers is not told here
source-code-none = { $file }: no code for { $target } in it; it has { $has }
source-graph-nodes-computed = Nodes: those that a program had ggml compute, written down while it ran on a stand-in GPU. What each launches is decided by the tree's own code.
source-graph-memory-placed = Memory: where the program had laid its tensors.
source-graph-routing-read = Routing: as the program read it back from the GPU while it computed these graphs.
source-graph-routing-even = Routing: every token gets the next experts in turn, as was asked for.
source-graph-routing-first = Routing: every token gets the first experts, as was asked for.
source-graph-evaluation-computed = { $target }, on { $backend }: { $nodes } nodes, { $launches } launches named
source-graph-cut = { $count } graphs of the file have no end, because the program ended within them; they are left out
source-graph-more = the program had more graphs computed than the { $count } that were written down
source-graph-not-compared = { $count } launches of the trace are in none of these evaluations and were not compared
source-graph-evaluation = { $target }, { $columns } columns, { $positions } positions in the KV cache: { $nodes } nodes, { $launches } launches named
source-graph-evaluation-written = { $target }: { $nodes } nodes, { $launches } launches named
source-graph-column-node = Node
source-graph-column-name = Name
source-graph-column-operations = Operations
source-graph-column-grid = Grid
source-graph-column-block = Block
source-graph-compared = Of { $seen } launches seen (evaluations: { $evaluations }): { $exact } predicted with kernel, grid and block; { $arguments } with the kernel, a template argument undetermined; { $without } with the kernel, the grid undetermined; { $refused } predicted and refused by the driver; { $missing } predicted, and the trace may miss them; { $open } not predicted; { $different } otherwise.
