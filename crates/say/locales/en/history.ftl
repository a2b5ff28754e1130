# history
history-column-date = Date
history-column-tag = Tag
history-column-commit = Commit
history-column-before = Before
history-column-after = After
history-none = The selection did not change between { $first } and { $last }. Compared: { $commits } commits (both ends, and the commits between them that touch the backend), each with { $cells ->
    [one] one cell
   *[other] { $cells } cells
   } (GPUs: { $gpus }, types: { $types }, column counts: { $columns }). Evaluated: { $evaluated } commits; in the other commits, the code behind the answers is unchanged.
history-some = { $events ->
    [one] 1 commit changed
   *[other] { $events } commits changed
   } the selection between { $first } and { $last }. Compared: { $commits } commits (both ends, and the commits between them that touch the backend), each with { $cells ->
    [one] one cell
   *[other] { $cells } cells
   } (GPUs: { $gpus }, types: { $types }, column counts: { $columns }). Evaluated: { $evaluated } commits; in the other commits, the code behind the answers is unchanged.
history-ends = { $first } compared with { $last }:
history-unreadable = { $count } { $count ->
    [one] commit
   *[other] commits
} could not be evaluated, so a change in one of them is reported at the next commit that could be. { $commit }: { $why }
history-event-unread = { $count ->
    [one] The change may be in the preceding commit, { $commits }, which could not be evaluated.
   *[other] The change may be in one of the { $count } preceding commits, which could not be evaluated: { $commits }.
   }
history-none-seen = No change of the selection was found between { $first } and { $last }, but some results are undetermined. Compared: { $commits } commits (both ends, and the commits between them that touch the backend), each with { $cells ->
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
history-ollama = Ollama has included this commit since { $release } ({ $date }, llama.cpp { $build }), according to its pinned versions.
history-ollama-none = No Ollama release up to { $until } includes this commit, according to the releases' pinned versions.
history-ollama-unknown = It is unknown whether Ollama includes this commit: no llama.cpp build contains it yet.
history-column-tile-before = Tile before
history-column-tile-after = Tile after
