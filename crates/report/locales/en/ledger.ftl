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
ledger-empty = No ledger in { $dir } yet: nothing has been recorded. `whichkernel investigate` begins one.
ledger-not-found = the ledger has no row '{ $which }'; `whichkernel ledger list` shows them
ledger-imported = Merged ledger { $from }: { $added } rows added, { $known } were here already.
ledger-noted = Noted in row { $row }.
ledger-note-empty = the note is empty
ledger-verifying = row { $row } ...
ledger-unacknowledged = { $count } { $count ->
    [one] row is
   *[other] rows are
  } beyond the head: a writer was killed after the commit, or the head was touched. They are whole; the next write moves the head on.
ledger-whole = Whole: { $rows } rows, { $blobs } pieces of raw evidence ({ $bytes } bytes). Head: { $head }
ledger-not-whole = NOT whole: { $problems } { $problems ->
    [one] problem
   *[other] problems
  } in { $dir } ({ $rows } rows read). Nothing was changed.
