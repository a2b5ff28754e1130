# source --chain
chain-title = From POST { $route } to the kernel launch, as the source declares it ({ $count ->
    [one] one way
   *[other] { $count } ways
}).
chain-way = Way { $number } of { $count }
chain-next-process = -- next process --
chain-open = The chain stops here: { $why }.
chain-branches = From the dispatcher on, one row per kernel launch or library call:
chain-beside = Beside the chain:
chain-or = { $name } (or { $others })
chain-or-count = { $name } (or { $count } others)
chain-column-chain = Way
chain-column-step = Step
chain-column-kind = Kind
chain-column-from = From
chain-column-to = To
chain-column-at = At
chain-column-others = Or
chain-column-branch = Branch
chain-column-ends = Launches or calls
chain-column-lines = Lines on the way
chain-column-subject = Subject
chain-column-line = Line
chain-note-split-default = No Go code sets the split mode: the default of the C library stands, and row mode, the only one with split buffers, is not asked for.
chain-note-graph-splits = "graph splits" counts the parts that the scheduler cuts a graph into, one per change of backend (the token embedding stays on the CPU, so 2 is normal). It says nothing about split buffers.
chain-cannot-show = What this cannot show: the rung is Declared. A step is taken only where scope, package, receiver and type settle whom it means; a step marked "or" may go elsewhere, and no step says that it was taken.
chain-unresolved = { $count ->
    [one] One call
   *[other] { $count } calls
 } on the way could not be resolved: no declaration gives the type of what they are called on. They were not followed; the nearest: { $named }
rocblas-title = How this rocBLAS tells GPUs apart, as the source declares it.
rocblas-column-target = Target
rocblas-column-processor = Processor
rocblas-column-enumerator = Enumerator at
rocblas-column-branch = Branch at
rocblas-no-branch = no branch
rocblas-no-enumerator = no enumerator
rocblas-orphans = In the enumeration, but recognised by no branch: { $targets }.
rocblas-initialize = rocblas_initialize():
rocblas-initialize-defined = defined here
rocblas-initialize-empty = defined here, with an empty body
rocblas-initialize-called = callers of it: { $what }
rocblas-initialize-no-caller = called by no function of the library's sources
rocblas-paths = Where the kernel catalog is looked for, in the order of the source:
rocblas-cannot-show = What this cannot show: the rung is Declared. A branch for a target is no kernel for it; see `whichkernel inspect DIR --gpu TARGET` for what a library ships.
chain-recorded = Recorded: { $count } observations.
chain-between = From { $from } to { $to }:
chain-no-way = No way from { $from } to { $to } over calls that the tree's declarations settle. Calls through values of unknown type were not followed.
