# The atlas: all releases at once.
atlas-evaluated = { $name } ({ $at } of { $of }): evaluated
atlas-done = { COUNT($releases, "release", "releases") }, { $tables } with their own table; the others have the same choices and the same deciding lines as an earlier one. Checked now: { $looked }, evaluated: { $evaluated }, without a readable dispatcher: { $unreadable }. The site has { $kilobytes } kB: { $index }
atlas-title = Kernel choices by release
atlas-target-title = Kernel choices by release on { $target }
atlas-lead = { COUNT($releases, "release", "releases") }. { $changed } of them changed the path of some target and type; { $lines } more only moved the deciding lines. { $unreadable } could not be read. All column counts from 1 to { $columns } were evaluated.
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
