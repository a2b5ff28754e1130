# source --chain
chain-title = From POST { $route } to the kernel launch, according to the source ({ $count ->
    [one] one path
   *[other] { $count } paths
   }):
chain-way = Path { $number } of { $count }
chain-next-process = -- next process --
chain-open = The chain stops here: { $why }.
chain-branches = From the dispatcher, one row per kernel launch or library call:
chain-blas = hipBLAS passes these products to rocBLAS, which chooses a Tensile kernel (Cijk_*) from its catalog. Add `--gpu rx-9070-xt` to compute the kernel for a card
chain-beside = Related lines:
chain-or = { $name } (or { $others })
chain-or-count = { $name } (or { $count } others)
chain-column-chain = Path
chain-column-step = Step
chain-column-kind = Kind
chain-column-from = From
chain-column-to = To
chain-column-at = At
chain-column-others = Or
chain-column-branch = Branch
chain-column-ends = Launches or calls
chain-column-lines = Lines along the path
chain-column-subject = Subject
chain-column-line = Line
chain-note-split-default = No Go code sets the split mode, so the C library's default applies. Row mode, the only mode with split buffers, is not used.
chain-note-graph-splits = "graph splits" counts the parts into which the scheduler cuts a graph, one per change of backend. The token embedding stays on the CPU, so 2 is normal. It is unrelated to split buffers.
chain-cannot-show = Limits: this is the source rule (rung Declared); it does not show that a call was made. A call is followed only if its scope, package, receiver and type identify the function. A step marked "or" may call another function.
chain-unresolved = { $count ->
    [one] One call along the path could not be resolved, because no declaration gives the receiver's type. It was not followed
   *[other] { $count } calls along the path could not be resolved, because no declaration gives the receiver's type. They were not followed
}. Nearest: { $named }
rocblas-title = How this rocBLAS identifies GPUs, according to the source
rocblas-column-target = Target
rocblas-column-processor = Processor
rocblas-column-enumerator = Enumerator at
rocblas-column-branch = Branch at
rocblas-no-branch = no branch
rocblas-no-enumerator = no enumerator
rocblas-orphans = In the enumeration, but in no branch: { $targets }.
rocblas-initialize = rocblas_initialize():
rocblas-initialize-defined = defined here
rocblas-initialize-empty = defined here, with an empty body
rocblas-initialize-called = called by: { $what }
rocblas-initialize-no-caller = not called in the library's sources
rocblas-paths = Search paths for the kernel catalog, in source order:
rocblas-cannot-show = Limits: this is the source rule (rung Declared). A branch for a target does not mean that the library has kernels for it; check with `whichkernel inspect DIR --gpu TARGET`.
chain-recorded = Recorded: { $count } { $count ->
    [one] observation
   *[other] observations
}.
chain-between = From { $from } to { $to }:
chain-no-way = No path was found from { $from } to { $to } through calls that can be resolved. Calls on values of unknown type were not followed.
chain-open-elsewhere = POST { $path } goes to a program that is not in this tree
chain-open-elsewhere-named = POST { $path } goes to a program that is not in this tree: { $names } (add its sources with --with)
chain-open-no-switch = no GPU backend of this tree has a switch over { $operation }
chain-open-no-way = the declarations in the tree contain no call path from { $here } to { $there }
