# The pages of `report`: navigation, headings, columns, sentences
site-test = It said { $what }.
site-copy = Copy
site-skip = To the answer
site-theme-auto = Auto
site-theme-light = Light
site-theme-dark = Dark
site-how-sure = How sure
site-csv = This table as CSV
site-csv-listed = What is listed here as CSV
site-next = Next question
site-next-none = Nothing is open: what would make you doubt it?
site-more = and { $count } more
site-on = { " " }on { $rungs }
site-foot = Observed up to { $date }. whichkernel { $version }, ledger { $ledger } with { $rows } rows, the last { $head }.
site-raw-not-copied = kept in the ledger
site-not-observed = Not observed.
site-evidence = Rule and evidence
site-note = Note
site-open = open
site-answered = answered
site-blocked = could not look
site-looked = looked
site-possible = can be run here
site-not-possible = needs something that is not here
site-needs = { $needs }
site-needs-partly = a part can be run here; for the rest: { $needs }
site-needs-first = Cannot run here yet: { $needs }.
site-not-tried = not tried
site-imported = from ledger { $ledger }
site-nothing-stated = nothing is stated
site-can = It can show
site-cannot = It cannot show
site-js-copy = Copy
site-js-copied = Copied
site-js-shows = shows
site-js-cannot = cannot show
site-js-expected = expected
site-js-subject = of
site-js-observations = observations
site-js-stub = a stub: the name is there, the code is not
site-under-way = Under way, not recorded yet:
site-js-shipped-only = in the file; whether it ever ran is another rung
site-search-claims = Search the claims
site-search-observations = Search the observations
site-choose-claim = Choose a claim to see what was observed, or the command that would close it.
site-choose-observation = Choose an observation to see how far it may be believed, and its raw evidence.
site-ledger-problem = A part of the ledger could not be read, and is missing here: { $what }
site-ledger-empty = Nothing has been observed yet: every rung below is empty for that reason alone.

site-nav-index = Overview
site-nav-map = Dispatch map
site-nav-chain = Evidence chain
site-nav-phases = Phases
site-nav-questions = Open questions
site-nav-shows = Can show, cannot show
site-nav-sources = Sources
site-nav-worklog = Worklog
site-nav-observations = Observations
site-nav-legend = Legend, glossary
site-about-index = the answer in one page
site-about-map = which path, for which type and size, in which release
site-about-chain = one question, step by step, with its evidence
site-about-phases = the plan, and how far it got
site-about-questions = what is open, by the command that closes it
site-about-shows = where the evidence ends
site-about-sources = what everything rests on
site-about-worklog = what was done, day by day
site-about-observations = every single thing that was seen
site-about-legend = the words

site-h-ladder = One sentence per rung
site-h-turn = The answer depends on the build
site-h-refuted = What was refuted: { $count } of { $total } claims
site-h-open = What is open: { $claims } claims, { $questions } of { $total } questions
site-h-next-best = What would close most
site-h-claims = All { $count } claims
site-h-looked = Who looked
site-h-builds = One type through { $count } builds
site-h-types = All types in one build
site-h-tile = The tile under the path
site-h-lanes = Declared beside selected beside launched
site-h-all-questions = Every question and its ladder
site-h-answers = Possible answers, graded
site-h-shows = What this can show, and what it cannot
site-h-views = Who sees how far
site-h-flow = From the source to the live run
site-h-contradictions = What contradicts what
site-h-sources = Trees, files, machines
site-h-ledger = The ledger
site-h-rungs = The six rungs
site-h-grades = How sure
site-h-order = In which order to read
site-h-terms = Words

site-col-said = What was claimed
site-col-seen = What was seen
site-col-observation = Observation
site-col-command = Command
site-col-claims = Claims
site-col-questions = Questions
site-col-here = Here
site-col-observer = Observer
site-col-observations = Observations
site-col-result = Result
site-col-grade = grade
site-col-phase = Phase
site-col-rung = Rung
site-col-claim = Claim
site-col-why = Why open
site-col-type = type
site-col-who = who
site-col-question = Question
site-col-ladder = Ladder
site-col-standing = Standing
site-col-subject = Subject
site-col-coverage = Coverage
site-col-raw = Raw evidence
site-col-grade-there = Grade there
site-col-because = Because
site-col-share = share
site-col-expected = Expected
site-col-actual = Seen
site-col-reach = In its field of view
site-col-blind = Blind to
site-col-source = Name
site-col-kind = Kind
site-col-fingerprint = Fingerprint
site-col-runtime = Runtime
site-col-ledger = Ledger
site-col-rows = Rows
site-col-head = Hash of the last row
site-col-id = Id
site-col-saw = Saw
site-col-target = Target
site-kind-file = file
site-kind-source = source tree
site-kind-host = machine
site-kind-none = no artifact

site-stretch-one = { $path } at { $from }
site-stretch-up-to = { $path } up to { $to } columns
site-stretch-from-to = { $path } from { $from } to { $to }
site-stretch-unknown = unknown from { $from } to { $to }
site-type-goes = { $type }: { $paths }
site-answer-declared = { $what }. So says the source; nobody has yet seen it run.
site-answer-between = { $what }. Seen on the rung { $rung }, and no higher: nobody has yet seen it run.
site-answer-launched = { $what }. Seen on the rung { $rung }, on a real device.
site-answer-nothing = Nobody knows yet: on none of the six rungs was anything observed of this subject.
site-answer-open = Nobody knows yet: nothing was observed of this subject.
site-answer-no = Not so: { $refuted } of the possible answers { $refuted ->
    [one] is
   *[other] are
  } refuted, and none is shown to hold.
site-elsewhere-said = Elsewhere ({ $subject }): { $what }.
site-elsewhere = Elsewhere: another subject, so it lends nothing to the grade above
site-ladder-note = Read downwards: from the rule on paper to the device. A grade on one rung says nothing about the next. The rail is solid where somebody looked at this very subject, dashed where nobody did.
site-refuted-none = No claim was refuted. That is no proof: a claim that nobody could look at cannot be refuted either.
site-open-why = Why they are open: { $list }.
site-turn-caption = **{ $type } on { $target }, by column count and build.** Rung: Declared.
site-turn = **{ $from } at { $columns } up to { $before }, { $to } from { $after }.**
site-turn-between = Nothing was looked at between the two.
site-turn-none = **{ $path } at { $columns } in all { $count } builds that were looked at.**
site-columns-log = columns (log)
site-all-builds = All { $count } builds and every type
site-key-vec = vector kernel of ggml
site-key-tile = tile kernel of ggml
site-key-blas = call into hipBLAS / rocBLAS
site-key-none = undetermined, or not looked at
site-map-question = Which path takes which type, at how many columns, in which build?
site-map-answer-turn = On the { $card }, { $type } at { $columns } columns goes to { $from } up to { $before } and to { $to } from { $after }.
site-map-answer-same = On the { $card }, { $type } at { $columns } columns goes to { $path } in every one of the { $count } builds that were looked at.
site-map-empty = Nobody has read a source for this investigation, so there is no map.
site-map-empty-why = No observation of a path by type and columns is in the ledger.
site-map-caption = **{ $type } on { $target }.** Each bar is one build, 1 to 1024 columns. The needle stands at { $columns }.
site-map-chosen = These { $count } builds were chosen, not searched: which commit between two of them made a change is a question for `whichkernel history`.
site-map-panel = { $build }, { $date }, { $target }. At { $columns } columns { $blas } of { $types } types go to BLAS.
site-map-no-table = Of this build the ledger holds only what was asked for; other types are not known to be missing.
site-map-cells = The name stands where a path begins; the number is the kernel's column count or tile width. Counts shown: both sides of the thresholds that most types have, and what was asked. Rung: Declared.
site-group-float = Floating point
site-group-legacy = Legacy quants
site-group-k = K-quants
site-group-other = Other types
site-tile-caption = **Width of the { $type } tile, { $build }, { $target }.** { $columns } columns take { $count } { $count ->
    [one] tile
   *[other] tiles
  } of { $tile }.
site-tile-axis = tile, 0 to { $most }
site-lanes-note = { $type }. A ≠ marks where a run on the same target chose otherwise than this source declares: another build is a difference, not a conflict. Dashed: not tried.
site-chain-question = How do we know? Every question, rung by rung
site-chain-answer = { $open } of { $total } questions are open.
site-chain-caption = **Six rungs, from the source to the device.** A filled glyph is what was seen of the question's own subject.
site-chain-note = A stronger rung never lifts a weaker one, and the reverse. Grades are computed from the ledger; nobody types them in.
site-rule-of = The conditions that decide for { $type }, { $columns } columns, { $target }, in { $build }:
site-ask-declared = Is there a rule that chooses it?
site-ask-shipped = Is that kernel in a file, for this GPU?
site-ask-loaded = Is the file in the process?
site-ask-selected = Did host code choose it for this shape?
site-ask-launched = Did a live process launch it on the device?
site-ask-completed = Did the device report that it ran?
site-phases-question = What was the plan, and how far did it get?
site-phases-answer = { $settled } of { $total } claims in { $phases } phases have an answer.
site-flow-caption = **Phases, from the source to the live run.** The blue bar is the share of claims with an answer, also a refuting one.
site-phase-counts = Wanted: { $claims } claims. Done: { $done }. Open: { $open }.
site-phase-nothing = Nothing in this phase has an answer yet.
site-phase-open = { $count } open claims
site-questions-question = What is not known, and what would tell?
site-questions-answer = { $questions } { $questions ->
    [one] question
   *[other] questions
  } and { $claims } { $claims ->
    [one] claim
   *[other] claims
  } are open; { $commands } { $commands ->
    [one] command
   *[other] commands
  } would close { $left ->
    [0] them
    [one] all but one claim
   *[other] all but { $left } claims
  }.
site-h-unclosable = What no command of this version closes
site-unclosable = { $count } of the open claims: no observer has them in view, or what would close them is not among the verbs of this version.
site-questions-none = Nothing is open.
site-questions-unstated = This investigation states no claim and asks no question.
site-closes = closes { $claims } { $claims ->
    [one] claim
   *[other] claims
  }, { $questions } { $questions ->
    [one] question
   *[other] questions
  }
site-claims-closed = { $count } { $count ->
    [one] claim
   *[other] claims
  } that it would close
site-shows-question = How far does the evidence reach, and where does it end?
site-shows-answer = Each observer sees its own rung, and says what it is blind to. Beyond that this report says nothing.
site-sources-question = What does everything here rest on?
site-sources-answer = Source trees: { $sources }, files: { $files }, machines: { $hosts }. Claims about them that are contradicted: { $conflicts }.
site-contradictions-none = No claim about a source, file or runtime is contradicted by what was seen.
site-contradictions-unknown = Not known: nothing was seen yet that could contradict a claim.
site-worklog-question = What was done, when, and what came of it?
site-worklog-answer = { $entries } entries on { $days } { $days ->
    [one] day
   *[other] days
  }; { $blocked } { $blocked ->
    [one] time
   *[other] times
  } an observer could not look. { $notes } { $notes ->
    [one] note
   *[other] notes
  } by people.
site-worklog-caption = **Rows written;** bar length by square root. Dashed where an observer was blocked: a block is an entry, not a gap.
site-worklog-empty = the ledger has no row
site-worklog-blocked = could not look: { $why }
site-lesson = What would let it: { $fix }
site-observations-question = What exactly was seen, by whom, of what?
site-observations-answer = All { $total } observations of the ledger.
site-observations-unread = { $total } observations could be read; the ledger has more that could not.
site-observations-some = { $shown } of { $total } observations: those that a grade rests on, and the newest. The CSV has all.
site-legend-question = How to read these pages
site-legend-answer = Two things are always said together: on which rung something was seen, and how sure that is.
site-rung-declared = The source, at this commit and with these defines, has a rule that chooses it. A plan on the wall.
site-rung-shipped = A code object for this target with this kernel is in this file. A machine in the hall.
site-rung-loaded = The file is mapped into the process; or what a host, process or server says of itself. A machine that is switched on.
site-rung-selected = Host code chose this kernel for this operation and shape. An order that was handed over. What a stand-in GPU is asked to launch stands here, never higher.
site-rung-launched = A live process launched it on a real device, and the launch was accepted.
site-rung-completed = The device itself reported that it ran.
site-grade-confirmed-is = seen on that rung, of that very subject, by an observer that changed nothing
site-grade-inferred-is = follows by a named rule, whose assumptions are listed
site-grade-limited-is = seen, but not all of it
site-grade-unresolved-is = nothing on that rung, and why
site-grade-refuted-is = an observation says otherwise
site-grade-conflict = Unresolved: conflict
site-grade-conflict-is = two observers, one subject, two answers; both are named, never a vote
site-next-map = Which commit made the change, and does the library that runs here hold that kernel?
site-next-chain = Which phase has the most to gain from one more observation?
site-next-phases = Which single command would close most?
site-next-questions = And if it were run: what could it show, and what not?
site-next-shows = Which observers work on this machine?
site-next-sources = Is the ledger still what was written?
site-next-worklog = What did you see that no observer did? Write it down.
site-next-observations = Does the raw evidence say what the observation says?
site-next-legend = Back to the question.
