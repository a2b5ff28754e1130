# check: grades, rungs, reasons; investigate uses them too
check-grade-confirmed = confirmed
check-grade-inferred = inferred
check-grade-limited = limited
check-grade-unresolved = unresolved
check-grade-refuted = refuted
check-rung-declared = declared
check-rung-shipped = shipped
check-rung-loaded = loaded
check-rung-selected = selected
check-rung-launched = launched
check-rung-completed = completed
check-why-conflict = observers disagree
check-why-contaminated = contaminated
check-why-blind = blind spot
check-why-blocked = observer blocked
check-why-not-here = runtime not here
check-why-no-device = device not here
check-why-not-in-view = no observer has it in view
check-why-never-tried = never tried
check-list-comma = ", "
check-part-runtime = runtime
check-part-file = file
check-part-source = source
check-part-defines = defines
check-part-target = target
check-part-gpu = card
check-part-device = device
check-part-model = model
check-part-window = window
check-part-host = machine
check-assume-same-predicate = the deciding rule is the same in both sources
check-assume-same-defines = both are built with the same defines
check-assume-same-kernels = both files hold the same kernels for this target
check-assume-family-only = the host asks only for the GPU's generation
check-assume-same-shapes = both models have tensors of the same types and shapes
check-assume-properties-decide = the host's choice depends only on what the device says of itself
check-assume-repeats = the run repeats alike
check-assume-built-from-source = the binary was built from this source
check-assume-shapes-as-evaluated = shapes and strides are as evaluated
check-assume-only-file = no other file provides it
check-assume-not-static = it is not linked in statically
check-reason-holds = { $who } saw it: { $saw }
check-reason-contradicts = { $who } saw otherwise: { $saw }
check-reason-not-there = { $who } looked at all of it, awake and undisturbed, and it was not there
check-reason-partial = { $who } did not see everything: { $missing }
check-reason-range-gap = nobody looked at { $parameter } { $gap }
check-reason-weak-canary = { $who } proved itself awake only in a process of ours ({ $canary }), not in the target
check-reason-uncertified = { $who } watched a live process, and nobody compared with an unobserved run
check-reason-conflict = { $one } and { $other } disagree
check-reason-contaminated = { $who } changed what it observed: { $differences }
check-reason-blind-view = { $who } did not have it in view
check-reason-blind-window = { $who } watched only a part of the time: { $what }
check-reason-blind-coverage = { $who } cannot speak of absence: { $what }
check-reason-blind-canary = { $who } was not shown to be awake: no canary
check-reason-blind-only = { $who } looked at this alone: { $what }
check-reason-silent = { $who } saw a lower bound that does not decide: { $saw }
check-reason-blocked = { $who } could not look: { $why }. Fix: { $fix }
check-reason-transferred = { $who } observed another subject ({ $differs }); carried over by the rule { $rule }, assuming that { $assumptions }
check-reason-follows = follows from the rung '{ $rung }' ({ $who }) by the rule { $rule }, assuming that { $assumptions }; nothing was observed on this rung
check-reason-elsewhere = seen of another subject ({ $differs }) by { $who }: { $saw }
check-reason-not-here = { $what } is not on this machine
check-reason-no-device = there is no { $what } in this machine
check-reason-not-in-view = no observer of this version sees { $topic } on the rung '{ $rung }'
check-reason-never-tried = nothing that could have seen it has run
check-reason-never-tried-by = no observation yet; { $observers } could make it
check-title-claim = claim
check-title-grade = grade
check-title-rung = rung
check-title-page = page
check-title-text = says
check-title-why = because
check-title-closes = closed by
check-phase = Phase { $id }: { $name }
check-questions = Questions
check-answer-open = open
check-answer-by = { $grade } ({ $rung }): { $text }
check-answer-value = { $grade } ({ $rung }; { $subject }): { $seen }
check-answer-elsewhere = elsewhere, { $grade } ({ $rung }; { $subject }): { $seen }
check-answer-not = not: { $text }
check-said-on = said on "{ $page }"
check-expected = expected on the rung '{ $rung }': { $topic } { $expected }
check-subject = of: { $subject }
check-shows = shows: { $text }
check-cannot = cannot show: { $text }
check-closes = closed by: { $command }
check-ladder = ladder: { $steps }
check-must-hold = expected to hold
check-failed = { $count } { $count ->
    [one] claim
   *[other] claims
  } expected to hold { $count ->
    [one] is
   *[other] are
  } refuted
check-summary = { $total } claims: { $confirmed } confirmed, { $inferred } inferred, { $limited } limited, { $refuted } refuted, { $unresolved } unresolved
check-empty-ledger = The ledger in { $dir } is empty: nothing has been observed yet.
check-next = Next:
check-next-closes = { $count } open { $count ->
    [one] claim
   *[other] claims
  } would close
check-more = whichkernel check --claim ID tells all about one claim
