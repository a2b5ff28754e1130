# map
map-columns = Columns
map-agreement = Source and dry run (source ≠ dry run): { $what }
map-declared = Declared: the choices of the source rules. No program was run.
