# ledger
ledger-title-row = row
ledger-title-time = time
ledger-title-id = id
ledger-title-observer = observer
ledger-title-rung = rung
ledger-title-saw = saw
ledger-title-subject = subject
ledger-title-trust = limits
ledger-title-origin = from
ledger-title-note = note
ledger-title-view = field of view
ledger-title-reach = reach
ledger-title-blind = blind to
ledger-title-coverage = coverage
ledger-title-missing = missing
ledger-title-lost = lost
ledger-title-contamination = contamination
ledger-title-canary = canary
ledger-title-evidence = raw evidence
ledger-title-prev = follows
ledger-title-hash = hash
ledger-note = note
ledger-trust-contaminated = contaminated
ledger-trust-partial = partial
ledger-trust-lost = { $count } lost
ledger-empty = No ledger in { $dir } yet. `whichkernel investigate` starts one.
ledger-not-found = the ledger has no row '{ $which }'; `whichkernel ledger list` shows them
ledger-several = '{ $which }' matches the ids of rows { $one } and { $other }, and possibly more: give more digits, or the row number
ledger-imported = Merged ledger { $from }: { $added } rows added, { $known } already present.
ledger-noted = Added the note as row { $row }.
ledger-note-empty = the note is empty
ledger-verifying = row { $row } ...
ledger-unacknowledged = { $count } { $count ->
    [one] row is
   *[other] rows are
  } beyond the head: a writer was killed after the commit, or the head was touched. They are whole; the next write moves the head on.
ledger-whole = Intact: { $rows } rows, { $blobs } pieces of raw evidence ({ $bytes } bytes). Head: { $head }
ledger-not-whole = NOT whole: { $problems } { $problems ->
    [one] problem
   *[other] problems
  } in { $dir } ({ $rows } rows read). Nothing was changed.
ledger-proved = Proved: every row is unchanged since it was written and follows from the row before it, and its raw evidence has its hash.
ledger-unproved = Not proved: that no rows were cut off the end, and that the ledger was not rewritten by someone with write access. A head kept elsewhere proves that: `ledger verify --expect HASH`, or `ledger sign` and `ledger verify --checkpoint`.
ledger-unproved-after = Not proved: that no rows after the expected one were cut off the end.
ledger-not-in-chain = it is not in this chain: rows were cut off or replaced since, or it belongs to another ledger
ledger-another = it belongs to another ledger
ledger-expected-held = Expected head { $hash } is row { $row }: that row and all rows before it are unchanged. { $since } rows were added since.
ledger-signed-held = Checkpoint signed by { $name }: { $hash } is row { $row }: that row and all rows before it are unchanged since the signature. { $since } rows were added since.
ledger-expected-gone = Expected head { $hash }: { $why }.
ledger-key-made = Private key: { $key } (keep it secret). Public key: { $public }. Sign with `whichkernel ledger sign --key { WORD($key) }`.
ledger-raw-missing = the raw evidence { $sha256 } is missing; run `whichkernel ledger verify` for details
ledger-raw-altered = the raw evidence { $sha256 } was altered: do not use the file written here; run `whichkernel ledger verify` for details
ledger-passed-on = { $passed } of the rows came to that ledger from others; only that ledger states their origin (`via` in `ledger list`).
ledger-closed = { $count } files and directories of the ledger in { $dir } were readable by other users; they are now private.
ledger-where-ledger = Ledger
ledger-where-cache = Cache
ledger-where-delete = To delete
ledger-where-how = remove these two directories: nothing else is ever written
ledger-where-none = not there yet
lake-whole = { $file }: whole, { $rows } rows, head { $head }, manifest { $seal }
lake-not-whole = { $file }: NOT whole, { $problems } problems in { $rows } rows
lake-expected-held = { $hash }: row { $row } of the ledger { $ledger }
lake-expected-sealed = { $hash }: the manifest of the ledger { $ledger }; it covers every table
lake-expected-gone = { $hash }: no ledger of this lake has it
lake-proved = Proved: every row follows from the one before it, every column says what its row says, and every table, the grades too, is the one that the export's manifest names.
lake-unproved = Not proved: that the rows, or the tables with their manifest, were not replaced as a whole (keep the head or the manifest's hash elsewhere and pass it with --expect), and raw evidence, which is not in a lake.
lake-sealed = Manifest { $seal }: `ledger verify --parquet` with --expect and this hash proves every table.
lake-kept-later = The lake already has a later export of this ledger ({ $name }); it was kept.
lake-forked = The lake has another ledger with the same id ({ $beside }): a cloned machine, or this ledger before it was restored. This export is beside it as { $name }; rows that both have are in both.
