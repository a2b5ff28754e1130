# The pages of `report`: navigation, headings, columns, sentences
site-copy = Copy
site-skip = Skip to content
site-theme-auto = Auto
site-theme-light = Light
site-theme-dark = Dark
site-how-sure = How sure
site-csv = Download this table as CSV
site-csv-listed = Download the listed rows as CSV
site-next = Next question
site-next-none = No open questions remain. What evidence would change this answer?
site-more = and { $count } more
site-on = { " " }on { $rungs }
site-foot = Observations up to { $date }. whichkernel { $version }, ledger { $ledger }, { COUNT($rows, "row", "rows") }, last row { $head }.
site-raw-not-copied = kept in the ledger
site-not-observed = Not observed.
site-evidence = Rule and evidence
site-note = Note
site-open = open
site-answered = answered
site-blocked = blocked
site-looked = observed
site-possible = can be run here
site-not-possible = not possible here
site-needs = { $needs }
site-needs-partly = partly possible here; the rest: { $needs }
site-needs-first = Cannot run here yet: { $needs }.
site-not-tried = not attempted
site-imported = from ledger { $ledger }
site-nothing-stated = not stated
site-can = It can show
site-cannot = It cannot show
site-js-copy = Copy
site-js-copied = Copied
site-js-shows = shows
site-js-cannot = cannot show
site-js-expected = expected
site-js-subject = of
site-js-observations = observations
site-js-stub = stub: a kernel with a name but without code
site-under-way = In progress, not recorded yet:
site-js-shipped-only = The kernel is in the file. Whether it ran is a separate question.
site-search-claims = Search the claims
site-search-observations = Search the observations
site-choose-claim = Select a claim to see the observations, or the command that would settle it.
site-choose-observation = Select an observation to see how reliable it is, and its raw evidence.
site-ledger-problem = Part of the ledger could not be read and is missing here: { $what }
site-ledger-empty = The ledger has no observations yet, so every rung below is empty.

site-nav-index = Overview
site-nav-map = Dispatch map
site-nav-chain = Evidence chain
site-nav-phases = Phases
site-nav-questions = Open questions
site-nav-shows = Limits of the evidence
site-nav-sources = Sources
site-nav-worklog = Worklog
site-nav-observations = Observations
site-nav-legend = Legend and glossary
site-about-index = the answer on one page
site-about-map = the path of each type and size, in each release
site-about-chain = each question, step by step, with its evidence
site-about-phases = the plan and its progress
site-about-questions = what is unknown, grouped by the command that would settle it
site-about-shows = what each observer can and cannot see
site-about-sources = source trees, files and machines behind the answers
site-about-worklog = the work, day by day
site-about-observations = every observation in the ledger
site-about-legend = what the words and symbols mean

site-h-ladder = The answer on each rung
site-h-turn = The answer depends on the build
site-h-refuted = Refuted: { $count } of { $total } claims
site-h-open = Open: { COUNT($claims, "claim", "claims") }, { $questions } of { $total } questions
site-h-next-best = Most useful next command
site-h-claims = All { $count } claims
site-h-looked = Observers used
site-h-builds = One type in { COUNT($count, "build", "builds") }
site-h-types = All types in one build
site-h-tile = Tile widths
site-h-lanes = Declared, selected and launched compared
site-h-all-questions = All questions, rung by rung
site-h-answers = Possible answers and their grades
site-h-shows = What the evidence can and cannot show
site-h-views = What each observer can see
site-h-flow = From the source to the live run
site-h-contradictions = Contradictions
site-h-sources = Source trees, files and machines
site-h-ledger = The ledger
site-h-rungs = The six rungs
site-h-grades = How sure
site-h-order = Reading order
site-h-terms = Glossary

site-col-said = Claimed
site-col-seen = Observed
site-col-observation = Observation
site-col-command = Command
site-col-claims = Claims
site-col-questions = Questions
site-col-here = Possible here
site-col-observer = Observer
site-col-observations = Observations
site-col-result = Result
site-col-grade = grade
site-col-phase = Phase
site-col-rung = Rung
site-col-claim = Claim
site-col-why = Why open
site-col-type = type
site-col-who = subject
site-col-question = Question
site-col-ladder = Rungs
site-col-standing = Result
site-col-subject = Subject
site-col-coverage = Coverage
site-col-raw = Raw evidence
site-col-grade-there = Grade for that subject
site-col-because = Reason
site-col-share = share
site-col-expected = Expected
site-col-actual = Observed
site-col-reach = Can see
site-col-blind = Cannot see
site-col-source = Name
site-col-kind = Kind
site-col-fingerprint = Hash
site-col-runtime = Runtime
site-col-ledger = Ledger
site-col-rows = Rows
site-col-head = Hash of the last row
site-col-id = ID
site-col-saw = Observed
site-col-target = Target
site-kind-file = file
site-kind-source = source tree
site-kind-host = machine
site-kind-none = no artifact

site-stretch-one = { $path } at { $from }
site-stretch-up-to = { $path } up to { COUNT($to, "column", "columns") }
site-stretch-from-to = { $path } from { $from } to { $to }
site-stretch-unknown = unknown from { $from } to { $to }
site-type-goes = { $type }: { $paths }
site-answer-declared = { $what }. This is the source rule; no run has been observed.
site-answer-between = { $what }. Observed up to the rung { $rung }; no run has been observed.
site-answer-launched = { $what }. Observed on a real device, on the rung { $rung }.
site-answer-nothing = Unknown: this subject has no observation on any of the six rungs.
site-answer-open = Unknown: this subject has no observations.
site-answer-no = Refuted: { $refuted } of the possible answers { $refuted ->
    [one] is
   *[other] are
   } refuted, and none is confirmed.
site-elsewhere-said = For another subject ({ $subject }): { $what }.
site-elsewhere = Observations of other subjects (they do not affect the grade above)
site-ladder-note = Read from top to bottom, from the source rule to the device. A grade on one rung says nothing about the next. The line is solid where this subject was observed and dashed where it was not.
site-refuted-none = No claim was refuted. This is not proof: a claim that was never checked cannot be refuted either.
site-open-why = Reasons: { $list }.
site-turn-caption = **{ $type } on { $target }, by column count and build.** Rung: Declared.
site-turn = **At { COUNT($columns, "column", "columns") }: { $from } up to { $before }, { $to } from { $after }.**
site-turn-between = No build between the two was checked.
site-turn-none = **At { COUNT($columns, "column", "columns") }: { $path } in all { $count } builds checked.**
site-columns-log = columns (log)
site-all-builds = All { $count } builds and every type
site-key-vec = ggml vector kernel
site-key-tile = ggml tile kernel
site-key-blas = hipBLAS / rocBLAS call
site-key-none = undetermined or not checked
site-map-question = Which path does each type take, at how many columns, in which build?
site-map-answer-turn = On the { $card }, { $type } with { COUNT($columns, "column", "columns") } takes { $from } up to { $before }, and { $to } from { $after }.
site-map-answer-same = On the { $card }, { $type } with { COUNT($columns, "column", "columns") } takes { $path } in all { $count } builds checked.
site-map-empty = No source has been evaluated for this investigation, so there is no map.
site-map-empty-why = The ledger has no observation of a path by type and columns.
site-map-caption = **{ $type } on { $target }.** One bar per build, 1 to 1024 columns. The marker is at { $columns }.
site-map-chosen = These { $count } builds are a selection. To find the commit that made a change, use `whichkernel history`.
site-map-panel = { $build }, { $date }, { $target }. With { COUNT($columns, "column", "columns") }, { $blas } of { $types } types use BLAS.
site-map-no-table = For this build, the ledger has only the types that were requested. Other types may exist too.
site-map-cells = A path is named in the cell where it begins; the number is the kernel's column count or tile width. The columns are the thresholds that most types share, and the requested counts. Rung: Declared.
site-group-float = Floating point
site-group-legacy = Legacy quants
site-group-k = K-quants
site-group-other = Other types
site-tile-caption = **Tile width of { $type }, { $build }, { $target }.** { $columns } columns need { $count } { $count ->
    [one] tile
   *[other] tiles
   } of width { $tile }.
site-tile-axis = tile, 0 to { $most }
site-lanes-note = { $type }. ≠ marks a run on the same target that chose a different path from the one that this source declares. If the run used another build, this is a difference, not a contradiction. Dashed: not attempted.
site-chain-question = How do we know? Every question, rung by rung
site-chain-answer = { $open } of { $total } questions are open.
site-chain-caption = **Six rungs, from the source to the device.** A filled symbol is an observation of the question's own subject.
site-chain-note = Evidence on one rung never changes the grade of another. whichkernel computes all grades from the ledger; they cannot be entered by hand.
site-rule-of = Conditions that decide for { $type }, { COUNT($columns, "column", "columns") }, { $target }, in { $build }:
site-ask-declared = Does the source have a rule that chooses the kernel?
site-ask-shipped = Does a file contain the kernel for this GPU?
site-ask-loaded = Is the file loaded in the process?
site-ask-selected = Did the host code select the kernel for this shape?
site-ask-launched = Did a live process launch the kernel on the device?
site-ask-completed = Did the device report that the kernel ran?
site-phases-question = What is the plan, and how far has it got?
site-phases-answer = { $settled } of { $total } claims in { $phases } phases have an answer.
site-flow-caption = **Phases, from the source to the live run.** The blue bar is the share of claims that have an answer, including refuted ones.
site-phase-counts = { COUNT($claims, "claim", "claims") }: { $done } answered, { $open } open.
site-phase-nothing = No claim in this phase has an answer yet.
site-phase-open = { $count } open claims
site-questions-question = What is unknown, and which command would answer it?
site-questions-answer = { $questions } { $questions ->
    [one] question
   *[other] questions
   } and { $claims } { $claims ->
    [one] claim
   *[other] claims
   } are open; { $commands } { $commands ->
    [one] command
   *[other] commands
   } would settle { $left ->
    [0] them
    [one] all but one claim
   *[other] all but { $left } claims
   }.
site-h-unclosable = Not answerable with this version
site-unclosable = { $count } open claims cannot be settled: no observer can check them, or this version has no command for them.
site-questions-none = No open questions or claims.
site-questions-unstated = This investigation has no claims and no questions.
site-closes = settles { $claims } { $claims ->
    [one] claim
   *[other] claims
   }, { $questions } { $questions ->
    [one] question
   *[other] questions
   }
site-claims-closed = { $count } { $count ->
    [one] claim
   *[other] claims
   } that it would settle
site-shows-question = What does the evidence show, and where does it end?
site-shows-answer = Each observer sees its own rung and states its blind spots. This report makes no claims beyond that.
site-sources-question = Which source trees, files and machines are the basis?
site-sources-answer = { COUNT($sources, "source tree", "source trees") }, { COUNT($files, "file", "files") }, { COUNT($hosts, "machine", "machines") }. Contradicted claims about them: { $conflicts }.
site-contradictions-none = No observation contradicts a claim about a source, file or runtime.
site-contradictions-unknown = Unknown: there is no observation yet that could contradict a claim.
site-worklog-question = What was done, when, and with what result?
site-worklog-answer = { $entries } entries on { $days } { $days ->
    [one] day
   *[other] days
   }; observers were blocked { $blocked } { $blocked ->
    [one] time
   *[other] times
   }. { $notes } { $notes ->
    [one] note
   *[other] notes
   } by people.
site-worklog-caption = **Rows written.** The length of a bar is the square root of the number of rows. Dashed: an observer was blocked. Blocked attempts are recorded like any other.
site-worklog-empty = the ledger is empty
site-worklog-blocked = blocked: { $why }
site-lesson = To make it work: { $fix }
site-observations-question = What was observed, by which observer, about which subject?
site-observations-answer = All { $total } observations in the ledger.
site-observations-unread = { $total } observations were read; others in the ledger could not be read.
site-observations-some = { $shown } of { $total } observations: those behind a grade, and the newest. The CSV file has all of them.
site-legend-question = How to read these pages
site-legend-answer = Every answer has two parts: the rung on which something was observed, and how certain it is.
site-rung-declared = The source, at this commit and with these defines, has a rule that chooses the kernel.
site-rung-shipped = A file contains a code object for this target with this kernel.
site-rung-loaded = The file is mapped into the process. Statements that a host, process or server makes about itself also count as loaded.
site-rung-selected = The host code chose this kernel for this operation and shape. Launches on a stand-in GPU count as selected, never as launched.
site-rung-launched = A live process launched the kernel on a real device, and the launch was accepted.
site-rung-completed = The device reported that the kernel ran.
site-grade-confirmed-is = observed on that rung, for that exact subject, without disturbing it
site-grade-inferred-is = follows from another observation by a named rule; its assumptions are listed
site-grade-limited-is = observed, but not completely
site-grade-unresolved-is = no observation on that rung; the reason is given
site-grade-refuted-is = an observation shows a different result
site-grade-conflict = Unresolved: conflict
site-grade-conflict-is = two observers disagree about the same subject; both are named, and neither is preferred
site-next-map = Which commit made the change, and does the installed library contain that kernel?
site-next-chain = Which phase would gain the most from one more observation?
site-next-phases = Which single command would settle the most claims?
site-next-questions = What could that command show, and what could it not show?
site-next-shows = Which observers work on this machine?
site-next-sources = Is the ledger unchanged since it was written?
site-next-worklog = Did you notice something that no observer recorded? Add a note.
site-next-observations = Does the raw evidence support the observation?
site-next-legend = Back to the question.
site-web-index = Which GPU kernel runs your model?
site-web-file = Does this library run on my card?
site-web-atlas = What every release chooses, on every card
site-web-description = Which GPU kernel llama.cpp and Ollama pick, by card, weight type, number of tokens and version. Runs in your browser.
site-web-nav-index = Ask
site-web-nav-file = Check a file
site-web-nav-atlas = Every release
site-web-foot = Everything runs in this page. No file and no question leaves your computer. The command line tool gives the same answers and can also watch a running process.
site-every-release = What every release in the program's tables chooses, on every card
