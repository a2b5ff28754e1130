# The atlas: all releases at once.
atlas-evaluated = { $name } ({ $at } of { $of }): evaluated
atlas-done = { $releases } releases, { $tables } of them with a table of their own: in the others nothing was chosen otherwise, or by other lines. { $looked } were looked at now, { $evaluated } evaluated; { $unreadable } have no dispatcher that can be read. The site has { $kilobytes } kB: { $index }
atlas-title = What every release chooses
atlas-target-title = What every release chooses on { $target }
atlas-lead = { $releases } releases. At { $changed } of them a path became another for some target and type; at { $lines } more only the lines moved that decide. { $unreadable } could not be read. Every column count from 1 to { $columns } was asked.
atlas-first = the first
atlas-back = All releases
atlas-column-release = Release
atlas-column-date = Date
atlas-column-changed = Types whose path changed, by target
atlas-unreadable = Releases that could not be read
atlas-column-why = Why
atlas-cannot = What this cannot show: the rung is Declared. Matrix products alone were asked about, with weights of 4096 by 4096; not that such a kernel is in a binary, was loaded, or ran.
