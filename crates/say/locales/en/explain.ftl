# explain
explain-answer = { $gpu }, { $type }, { COUNT($columns, "token", "tokens") } -> { $kernel }
explain-answer-all = { $gpu }, { $type } -> { $kernel }
explain-rung = { $rung }, not observed
explain-version = Version
explain-between = { $what } has no table; its neighbours { $below } and { $above } make the same choice
explain-between-differ = { $what } has no table; its neighbours { $below } and { $above } make different choices
explain-beyond = { $what } has no table; the nearest version is { $below }
explain-why = Why
explain-by-tokens = By tokens
explain-by-gpu = By GPU
explain-by-version = By version
explain-on = { $path } on { $what }
explain-on-others = { $path } on the { $what } other GPUs compared
explain-through = { $path } through { $last }
explain-from = { $path } from { $first } through { $last }
explain-mix = In the file
explain-mix-text = { $name } is mostly { $main }; { $others }
explain-mix-same = { $type } takes the same path
explain-mix-other = { $type } takes { $path }
explain-mix-unknown = { $type } is not in any table
explain-code = Code object
explain-code-text = { $own } (falls back to { $generic })
explain-cannot = Limits
explain-cannot-text = This is the source rule for dense 4096x4096 weights, not a measurement
explain-blas = Its kernel
explain-see = Measure it
explain-column-what = What
explain-column-instead = Instead
explain-what-answer = answer
explain-what-neighbour = neighbour
explain-what-columns = columns
explain-what-gpu = GPU
explain-what-version = version
explain-range = { $from } to { $to } tokens
explain-range-one = { $from ->
    [1] 1 token
   *[other] { $from } tokens
}
explain-reason-few-tokens = For { $range }, the source picks a vector kernel.
explain-reason-wmma = The { $card } has WMMA matrix units, so the source picks the tile kernel, which multiplies quantized weights directly.
explain-reason-tensor-cores = The { $card } has integer tensor cores, so the source picks the tile kernel, which multiplies quantized weights directly.
explain-reason-generation = The source has a rule for the GPU generation of the { $card }: it picks the tile kernel for { $range }.
explain-reason-token-limit = On the { $card }, the source picks the tile kernel for { $range }.
explain-reason-no-limit = On the { $card }, the source picks the tile kernel for { $range }; no upper limit applies to this card.
explain-reason-always = For { $range }, the source picks the tile kernel for { $kind } without further conditions.
explain-reason-matrix-units = For { $range }, the source picks the tile kernel for unquantized weights. The rule requires matrix units, which the { $card } has.
explain-reason-no-tile-kernel = The tile kernel does not support { $kind }, so the source hands the product to the vendor's library.
explain-reason-above-limit = On the { $card }, the source picks its own kernel for up to { $limit ->
    [1] 1 token
   *[other] { $limit } tokens
}. Above that, the source hands the product to the vendor's library.
explain-reason-mfma-excluded = The { $card } has MFMA matrix units, but the source excludes the tile kernel for { $kind } at { $range }. The vendor's library computes the product.
explain-reason-generation-excluded = The source excludes the tile kernel on the GPU generation of the { $card } at { $range }. The vendor's library computes the product.
explain-reason-fallback = None of the source's own kernels accepts { $kind } at { $range }, so the source hands the product to the vendor's library.
explain-reason-no-such-type = This version does not have the type { $kind }.
explain-reason-aborts = This version stops with an error for { $kind }. { $place }: { $why }
explain-reason-not-evaluated = The rule could not be evaluated. { $place }: { $why }
explain-reason-not-recorded = The rule could not be evaluated; the table does not state why.
explain-column-name = Name
explain-column-title = Title
explain-column-of = Of
explain-what-type = type
