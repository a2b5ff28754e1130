# skeleton: a model without weights
skeleton-written = { $file }: { $shape } with { COUNT($layers, "layer", "layers") } in { $mix } ({ $types }). { $megabytes } MiB of zeros, { $kilobytes } KiB on disk. Results computed with it are meaningless.
skeleton-shape = Shape
skeleton-architecture = Architecture
skeleton-layers = Layers
skeleton-width = Width
skeleton-experts = Experts
skeleton-mixes = Mixes: { $mixes }; or one tensor type for all matrices (Q4_K, F16, ...).
skeleton-absent = Not computed at prompt width, because they occur only in the last layer or in no layer: { $list }. Use more layers (--layers) to include them.
