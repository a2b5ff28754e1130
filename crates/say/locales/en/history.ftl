# history
history-column-date = Date
history-column-tag = Tag
history-column-commit = Commit
history-column-before = Before
history-column-after = After
history-none = The selection did not change between { $first } and { $last }. Compared: { $commits } commits (both ends, and those between that touch the backend), each with { $cells ->
    [one] one cell
   *[other] { $cells } cells
   } (GPUs: { $gpus }, types: { $types }, column counts: { $columns }). Evaluated: { $evaluated } commits; the code behind the answers is unchanged in the others.
history-some = { $events ->
    [one] 1 commit changed
   *[other] { $events } commits changed
   } the selection between { $first } and { $last }. Compared: { $commits } commits (both ends, and those between that touch the backend), each with { $cells ->
    [one] one cell
   *[other] { $cells } cells
   } (GPUs: { $gpus }, types: { $types }, column counts: { $columns }). Evaluated: { $evaluated } commits; the code behind the answers is unchanged in the others.
history-ends = { $first } compared with { $last }:
history-unreadable = { $count } { $count ->
    [one] commit
   *[other] commits
} could not be evaluated, so a change in one of them is reported at the next commit. { $commit }: { $why }
history-event-unread = { $count ->
    [one] The change may be in { $commits }, the commit before it, which could not be evaluated.
   *[other] The change may be in one of the { $count } commits before it, which could not be evaluated: { $commits }.
   }
history-none-seen = No change of the selection was found between { $first } and { $last }, but some results are undetermined. Compared: { $commits } commits (both ends, and those between that touch the backend), each with { $cells ->
    [one] one cell
   *[other] { $cells } cells
   } (GPUs: { $gpus }, types: { $types }, column counts: { $columns }).
history-column-ollama = Ollama since
history-column-kernel-before = Kernel before
history-column-kernel-after = Kernel after
history-column-shape-before = Launch before
history-column-shape-after = Launch after
history-column-cells = Cells
history-column-subject = Subject
history-ollama = Ollama includes it since { $release } ({ $date }, llama.cpp { $build }), according to its pinned versions.
history-ollama-none = No Ollama release up to { $until } includes it, according to their pinned versions.
history-ollama-unknown = It is unknown whether Ollama includes it: no llama.cpp build contains this commit yet.
history-column-tile-before = Tile before
history-column-tile-after = Tile after
