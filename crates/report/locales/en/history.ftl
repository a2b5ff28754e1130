# history
history-column-date = Date
history-column-tag = Tag
history-column-commit = Commit
history-column-before = Before
history-column-after = After
history-none = The selection did not change between { $first } and { $last }: { $commits } commits (both ends, and those between that touch the backend), { $cells } cells compared at each ({ $evaluated } evaluated; in the others nothing that the answer was read from changed).
history-some = { $events ->
    [one] 1 commit changed
   *[other] { $events } commits changed
} the selection between { $first } and { $last }: { $commits } commits (both ends, and those between that touch the backend), { $cells } cells compared at each ({ $evaluated } evaluated; in the others nothing that the answer was read from changed).
history-ends = { $first } and { $last } themselves:
history-unreadable = { $count } commits could not be evaluated, so a change there may stand at the commit after. { $commit }: { $why }
