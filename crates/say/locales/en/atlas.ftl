# The atlas: all releases at once.
atlas-evaluated = { $name } ({ $at } of { $of }): evaluated
atlas-done = { COUNT($releases, "release", "releases") }: { $tables } have a table of their own; the others each have the same choices and deciding lines as an earlier release. Checked in this run: { $looked }. Evaluated: { $evaluated }. Without a readable dispatcher: { $unreadable }. Site ({ $kilobytes } kB): { $index }
atlas-title = Kernel choices by release
atlas-target-title = Kernel choices by release on { $target }
atlas-lead = { COUNT($releases, "release", "releases") }, evaluated for all column counts from 1 to { $columns }. In { $changed } of them, the path changed for at least one target and type; in { $lines } more, only the deciding lines moved. { $unreadable } could not be read.
atlas-launches = Launches:
atlas-blocks = Block (warps):
atlas-first = first release
atlas-back = All releases
atlas-column-release = Release
atlas-column-date = Date
atlas-column-changed = Types whose path changed, by target
atlas-unreadable = Releases that could not be read
atlas-column-why = Why
atlas-cannot = Limits: this is the source rule (rung Declared) for matrix products with 4096x4096 weights. It does not show that the kernel is in a binary, was loaded, or ran.
