# map
map-columns = Columns
map-disagreements = Source and dry run disagree in { $count } cells (source ≠ dry run).
