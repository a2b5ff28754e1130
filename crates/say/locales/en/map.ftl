# map
map-columns = Columns
map-agreement = Source and dry run (source ≠ dry run): { $what }
map-declared = Declared: what the source chooses. No program was run.
