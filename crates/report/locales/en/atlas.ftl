# The atlas: all releases at once.
atlas-evaluated = { $name } ({ $at } of { $of }): evaluated
atlas-done = { $releases } releases, { $tables } of them with a table of their own: in the others nothing was chosen otherwise, or by other lines. { $looked } were looked at now, { $evaluated } evaluated; { $unreadable } have no dispatcher that can be read. The site has { $kilobytes } kB: { $index }
atlas-title = What every release chooses
atlas-target-title = What every release chooses on { $target }
atlas-lead = { $releases } releases; { $tables } of them choose otherwise than the one before, or by other lines. { $unreadable } could not be read. Every column count from 1 to { $columns } was asked.
atlas-first = the first
atlas-lines-only = the same choices by other lines
atlas-back = All releases
atlas-column-release = Release
atlas-column-date = Date
atlas-column-changed = Types whose path changed, by target
atlas-cannot = What this cannot show: the rung is Declared. Matrix products alone were asked about, with weights of 4096 by 4096; not that such a kernel is in a binary, was loaded, or ran.
