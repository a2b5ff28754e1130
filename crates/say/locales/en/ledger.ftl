# ledger
ledger-title-row = row
ledger-title-time = time
ledger-title-id = id
ledger-title-observer = observer
ledger-title-rung = rung
ledger-title-saw = observed
ledger-title-subject = subject
ledger-title-trust = limits
ledger-title-origin = from
ledger-title-note = note
ledger-title-view = can see
ledger-title-reach = reach
ledger-title-blind = cannot see
ledger-title-coverage = coverage
ledger-title-missing = missing
ledger-title-lost = lost
ledger-title-contamination = contamination
ledger-title-canary = canary
ledger-title-evidence = raw evidence
ledger-title-prev = previous
ledger-title-hash = hash
ledger-note = note
ledger-trust-contaminated = contaminated
ledger-trust-partial = partial
ledger-trust-lost = { $count } lost
ledger-empty = No ledger in { $dir } yet. `whichkernel investigate` creates one.
ledger-not-found = the ledger has no row '{ $which }'; `whichkernel ledger list` lists the rows
ledger-several = '{ $which }' matches rows { $one } and { $other }, and possibly more: specify more digits, or the row number
ledger-imported = Merged ledger { $from }: { COUNT($added, "row", "rows") } added, { $known } already present.
ledger-noted = Added the note as row { $row }.
ledger-note-empty = the note is empty
ledger-verifying = row { $row } ...
ledger-unacknowledged = { $count } { $count ->
    [one] row comes
   *[other] rows come
   } after the recorded head: a writer was killed right after its commit, or the head file was changed. The rows are intact, and the next write updates the head.
ledger-whole = Intact: { COUNT($rows, "row", "rows") }, { COUNT($blobs, "piece", "pieces") } of raw evidence ({ COUNT($bytes, "byte", "bytes") }). Head: { $head }
ledger-not-whole = NOT intact: { $problems } { $problems ->
    [one] problem
   *[other] problems
   } in { $dir } ({ $rows } rows read). Nothing was changed.
ledger-proved = Proved: every row is unchanged since it was written, every row follows the one before it, and all raw evidence matches its hash.
ledger-unproved = Not proved: that no rows were removed from the end, and that the ledger was not rewritten by someone with write access. To prove both, keep a head elsewhere: `ledger verify --expect HASH`, or `ledger sign` and `ledger verify --checkpoint`.
ledger-unproved-after = Not proved: that no rows after the expected one were removed from the end.
ledger-not-in-chain = not in this ledger: rows were removed or replaced since, or the hash belongs to another ledger
ledger-another = the checkpoint belongs to another ledger
ledger-expected-held = Expected head { $hash } is row { $row }. That row and all rows before it are unchanged. { $since } rows were added since.
ledger-signed-held = Checkpoint signed by { $name }: { $hash } is row { $row }. That row and all rows before it are unchanged since the signature. { $since } rows were added since.
ledger-expected-gone = Expected head { $hash }: { $why }.
ledger-key-made = Private key: { $key } (keep it secret). Public key: { $public }. Sign with `whichkernel ledger sign --key { WORD($key) }`.
ledger-raw-missing = the raw evidence { $sha256 } is missing; run `whichkernel ledger verify` for details
ledger-raw-altered = the raw evidence { $sha256 } was changed: do not use the file that was written here; run `whichkernel ledger verify` for details
ledger-passed-on = { $passed } rows came to that ledger from other ledgers. Their origin is stated only there and cannot be verified (`via` in `ledger list`).
ledger-closed = Other users could read parts of the ledger ({ COUNT($count, "file or directory", "files and directories") }) in { $dir }; they are now private.
ledger-where-ledger = Ledger
ledger-where-cache = Cache
ledger-where-delete = To delete
ledger-where-how = remove these two directories; whichkernel writes nowhere else
ledger-where-none = does not exist yet
lake-whole = { $file }: intact, { COUNT($rows, "row", "rows") }, head { $head }, manifest { $seal }
lake-not-whole = { $file }: NOT intact, { COUNT($problems, "problem", "problems") } in { COUNT($rows, "row", "rows") }
lake-expected-held = { $hash }: row { $row } of ledger { $ledger }
lake-expected-sealed = { $hash }: the manifest of ledger { $ledger }, which covers all tables
lake-expected-gone = { $hash }: not in any ledger of this lake
lake-proved = Proved: every row follows the one before it, every column matches its row, and every table, including the grades, matches the manifest of the export.
lake-unproved = Not proved: that the rows, or the tables together with their manifest, were not replaced as a whole (to prove this, keep the head or the manifest hash elsewhere and pass it with --expect). Raw evidence is not in a lake and was not checked.
lake-sealed = Manifest { $seal }: pass this hash to `ledger verify --parquet` with --expect to check all tables.
lake-kept-later = The lake already has a later export of this ledger ({ $name }), which was left unchanged.
lake-forked = The lake has another ledger with the same ID ({ $beside }), from a cloned machine or from this ledger before it was restored. This export is stored beside it as { $name }; rows that both ledgers have are stored in both.
ledger-untouched = the target was not changed
ledger-certified = compared with an unobserved run (certificate { $certificate })
ledger-unchecked = not compared with an unobserved run
ledger-contaminated = differs from an unobserved run: { $differences }
ledger-canary-target = seen in the target: { $what }
ledger-canary-child = seen in a test process: { $what }
ledger-canary-none = none
