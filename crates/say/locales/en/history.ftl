# history
history-column-date = Date
history-column-tag = Tag
history-column-commit = Commit
history-column-before = Before
history-column-after = After
history-none = The selection did not change between { $first } and { $last }: { $commits } commits (both ends, and those between that touch the backend), { $cells ->
    [one] one cell
   *[other] { $cells } cells
  } (GPUs: { $gpus }, types: { $types }, column counts: { $columns }) compared at each ({ $evaluated } evaluated; in the others nothing that the answer was read from changed).
history-some = { $events ->
    [one] 1 commit changed
   *[other] { $events } commits changed
} the selection between { $first } and { $last }: { $commits } commits (both ends, and those between that touch the backend), { $cells ->
    [one] one cell
   *[other] { $cells } cells
  } (GPUs: { $gpus }, types: { $types }, column counts: { $columns }) compared at each ({ $evaluated } evaluated; in the others nothing that the answer was read from changed).
history-ends = The two ends, { $first } and { $last }:
history-unreadable = { $count } commits could not be evaluated, so a change in one of them is reported at the next commit. { $commit }: { $why }
history-event-unread = { $count ->
    [one] It can be the change of { $commits }, which stands before it and could not be evaluated.
   *[other] It can be the change of one of { $count } commits before it that could not be evaluated: { $commits }.
}
history-none-seen = No change of the selection was seen between { $first } and { $last }, where { $commits } commits (both ends, and those between that touch the backend) were asked about { $cells ->
    [one] one cell
   *[other] { $cells } cells
  } (GPUs: { $gpus }, types: { $types }, column counts: { $columns }), not all of which could be settled.
history-column-ollama = Ollama since
history-column-kernel-before = Kernel before
history-column-kernel-after = Kernel after
history-column-cells = Cells
history-column-subject = Subject
history-ollama = Ollama includes it since { $release } ({ $date }, llama.cpp { $build }), according to its pinned versions.
history-ollama-none = No Ollama release up to { $until } includes it, according to their pinned versions.
history-ollama-unknown = Unknown whether Ollama includes it: no llama.cpp build contains this commit yet.
history-column-tile-before = Tile before
history-column-tile-after = Tile after
