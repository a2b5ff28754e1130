# explain gemm, diff --gemm, map --library, inspect --lint
gemm-asked = { $product } on { $gpu } ({ $target }), { $library } { $version } of { $runtime }
gemm-chosen = Solution { $index }
gemm-set = One of { $count } solutions: no table has this size, so the library uses the solution that happens to be first in memory
gemm-none = No solution: the library has none for this product, or refuses the call
gemm-gemv = rocBLAS calls its own gemv kernel instead of a Tensile solution
gemm-not-computed = Not computed: { $why }
gemm-why-version = the rules for { $version } were not checked against the library
gemm-why-node = the catalog's tree has a { $kind } node, which is not implemented
gemm-why-predicate = the predicate { $name } is not implemented
gemm-why-missing = { $file } is missing
gemm-why-solution = the catalog refers to solution { $index } but does not contain it
gemm-why-damaged = { $file } cannot be read ({ $why })
gemm-why-altered = { $file } differs from the file in its package. Fetch the runtime again
gemm-why-hands-over = this rocBLAS is linked to hipBLASLt and passes some products on to it, by rules outside of the catalog
gemm-why-empty = a size is 0
gemm-why-too-large = a size is larger than the library's interface allows
gemm-why-pointers = hipBLASLt with arrays of pointers is not supported
gemm-why-grouped = grouped products are not supported
gemm-why-unclear = part of the product's description is not understood
gemm-kernel = Kernel
gemm-tile = Tile
gemm-tile-text = { $m } x { $n } x { $k }
gemm-tile-matrix = { $m } x { $n } x { $k }, matrix instruction { $instruction }
gemm-groups = Work groups
gemm-groups-text = { $groups } of { $threads } threads
gemm-code = Code object
gemm-code-text = { $vgprs } VGPRs, { $sgprs } SGPRs, { COUNT($lds, "byte", "bytes") } of LDS, waves of { $wave }
gemm-code-absent = not in this runtime
gemm-matrix = Instructions
gemm-matrix-none = no matrix instructions
gemm-why = Why
gemm-why-row = { $table } row ({ $key }) in { $leaf }
gemm-why-only = the only solution of this type, in { $leaf }
gemm-catalog = Catalog
gemm-catalog-checked = the catalog's files match the checksums of their package
gemm-catalog-unchecked = no package lists checksums for the catalog, so a changed value would not be detected
gemm-rejected = Rejected
gemm-rejected-text = solution { $index }: { $predicate }
gemm-rejected-more = and { $count } more
gemm-runner-up = Runner-up
gemm-otherwise = What would change it
gemm-same = same
gemm-of-runtime = { $library } { $version } of { $runtime }
gemm-column-what = Instead
gemm-column-id = Product
gemm-column-verdict = Verdict
gemm-column-index = Index
gemm-column-tile = Tile
gemm-column-kernel = Kernel
gemm-column-candidates = Candidates
gemm-verdict-set = set of { $count }
gemm-verdict-none = none
gemm-verdict-gemv = gemv
gemm-verdict-not-computed = not computed
gemm-limits = Computed from the catalog: this shows which kernel the library chooses, not how fast it is
gemm-diff-summary = { $total ->
    [one] 1 product: { $same } the same, { $tile } with another tile, { $kernel } with the same tile but another kernel, { $other } with other changes, { $unknown } not computed
   *[other] { $total } products: { $same } the same, { $tile } with another tile, { $kernel } with the same tile but another kernel, { $other } with other changes, { $unknown } not computed
}
gemm-diff-none = No products were compared
gemm-diff-change = Change
gemm-diff-tile = another tile
gemm-diff-kernel = another kernel
gemm-diff-other = another answer
gemm-diff-unknown = not computed
gemm-diff-more = { $count ->
    [one] 1 more product differs; --format csv lists all
   *[other] { $count } more products differ; --format csv lists all
}
gemm-map-title = { $library } { $version } of { $runtime } on { $gpu } ({ $target }): { $type } { $trans }, K = { $k }
gemm-map-axes = Rows are M, columns are N; each cell shows the macro tile (M x N)
gemm-lint-title = { $library } catalog for { $target }: { $count ->
    [0] no findings
    [one] 1 candidate
   *[other] { $count } candidates
}
gemm-lint-island = Islands: rows whose tile is at least 16 times smaller than the tiles of all their neighbours
gemm-lint-duplicate = Duplicate keys: several solutions for one size; only the first is used
gemm-lint-never-named = Solutions that no table refers to
gemm-lint-no-fallback = Exact sizes only: for other sizes, the choice depends on the order of addresses in memory
gemm-lint-other-units = Rows that apply only to certain numbers of compute units
gemm-lint-unreadable = Unreadable files
gemm-lint-row = ({ $key }) tile { $tile }, neighbours { $neighbours } in { $leaf }
gemm-lint-row-copied = ({ $key }) tile { $tile }, neighbours { $neighbours } in { $leaf } and { $more ->
    [one] 1 leaf with a copy of the table
   *[other] { $more } leaves with a copy of the table
}
gemm-lint-keys = ({ $key }) solutions { $solutions } in { $leaf }
gemm-lint-solutions = { $count ->
    [one] 1 solution
   *[other] { $count } solutions
} in { $leaf }
gemm-lint-more = and { $count } more; --format csv lists all
gemm-lint-note = Nothing was timed. Each line is a candidate that the library's authors can review, not a measured defect
gemm-lint-column-kind = Kind
gemm-lint-column-leaf = Leaf
gemm-lint-column-leaves = Leaves
gemm-lint-column-key = Key
gemm-lint-column-detail = Detail
gemm-library = { $library } { $version }
gemm-section = BLAS kernels, computed from the catalogs of the runtime. Solutions are numbered as in the catalog; the rocBLAS API adds 1:
gemm-launched-section = BLAS kernels in the catalogs of their libraries:
gemm-launched-row = { $kernel }: solutions { $solutions }; { $rows ->
    [one] 1 row refers to them
   *[other] { $rows } rows refer to them
} in { $leaf } ({ $catalog })
gemm-source-no-catalog = rocBLAS chooses the kernel of the BLAS rows, but there is no catalog to compute it from ({ $why }). With a catalog: { $command }
gemm-source-open = { COUNT($count, "BLAS call", "BLAS calls") } of the tree could not be followed to a kernel: an argument that describes the product is unknown
gemm-launched-other = The library launched another kernel: { $kernel }
gemm-page-title = Macro tiles of { $library } on { $target }, K = { $k }
gemm-page-lead = { $gpu } ({ $target }), { $library } of { $runtime }: { $type } { $trans }, K = { $k }. Rows are M, columns are N. Each cell shows the macro tile that the library chooses for the product.
gemm-page-shade = The darker a cell, the larger the tile.
gemm-page-set = the library chooses one of several solutions by their order in memory
gemm-page-none = no solution, or rocBLAS calls its own gemv kernel
gemm-page-unknown = not computed
gemm-page-tiles = Tiles
gemm-page-count = Products
gemm-page-written = Written: { $index }
