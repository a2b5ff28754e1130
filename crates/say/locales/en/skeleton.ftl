# skeleton: a model without weights
skeleton-written = { $file }: { $shape } with { $layers } layers in { $mix } ({ $types }). { $megabytes } MiB that read as zeros, { $kilobytes } KiB on disk. What a program computes with it means nothing.
skeleton-shape = Shape
skeleton-architecture = Architecture
skeleton-layers = Layers
skeleton-width = Width
skeleton-experts = Experts
skeleton-mixes = Mixes: { $mixes }; or one tensor type for all matrices (Q4_K, F16, ...).
skeleton-absent = Not at the width of a prompt, because only the last layer holds them, or none: { $list }. More layers (--layers) bring them.
