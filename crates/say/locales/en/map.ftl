# map
map-columns = Columns
map-agreement = Source compared with dry run (a difference is shown as source ≠ dry run): { $what }
map-legend-warps = ·8w: 8 warps (waves) per block.
map-declared = Declared: the choices of the source rules. No program was run.
