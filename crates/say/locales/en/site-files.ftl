# The pages of `report` about files, generations, observers and probes
site-nav-inventory = Binary inventory
site-nav-census = Instruction census
site-nav-libraries = Libraries
site-nav-generations = GPU generations
site-nav-observers = Observers
site-nav-probes = Probes
site-about-inventory = bundles, targets, kernels, registers
site-about-census = the instructions in the kernels
site-about-libraries = dependencies, loaded libraries, launches
site-about-generations = one build on several GPU generations
site-about-observers = what each observer can see, and what it saw
site-about-probes = requests to a server, and its speed
site-h-flow-dispatch = Branches in the source
site-flow-dispatch = **{ $type } in { $build } on { $target }: the path for each column count.** The kernel widths are on the right. Rung: Declared.
site-h-gen-paths = Path of { $type } on each generation
site-h-gen-table = What each generation provides
site-h-observer-map = What each observer can see
site-h-silence = Two reasons for seeing nothing
site-h-attempts = Failed attempts and their fixes
site-h-here = This machine, according to doctor
site-h-tree = Dependencies
site-h-silent = Loaded, no launch observed
site-h-libraries = Files
site-h-place = Place in the stack
site-h-ships = Contents for each target
site-h-file-claims = Claims about this file
site-h-facts = Observations of this file
site-h-coverage = Coverage
site-h-targets = Targets, including missing ones
site-h-kernels = All { $count } kernels
site-h-census = Instruction counts
site-h-speed = Speed by prompt length
site-h-requests = Requests
site-col-property = Property
site-col-attempt = Result
site-col-lesson = Requirement
site-col-library = Library
site-col-targets = Targets
site-col-kernels = Kernels
site-col-bundles = Bundles
site-col-kernel = Kernel
site-col-bundle = Bundle
site-col-sgpr = SGPR
site-col-vgpr = VGPR
site-col-lds = LDS
site-col-family = Kernel, family
site-col-instruction = Instruction
site-col-count = Count
site-col-case = Case
site-col-tokens = Tokens
site-col-speed = Tokens/s
site-col-said-fields = Server response
site-gen-question = Do all generations take the same path?
site-gen-answer = For { $type } in { $build }: { $roles }.
site-gen-empty = No source has been evaluated for several generations yet.
site-gen-caption = **{ $type }, { $build }, on the rung Declared.** The marker is at { COUNT($columns, "column", "columns") }.
site-gen-absent = "absent" means that the whole file was read and a second source agrees. "none seen" means that only one observer reports the absence.
site-gen-absent-word = absent
site-none-seen = none seen
site-gen-kernels = { COUNT($count, "kernel", "kernels") }
site-gen-role = Computed role
site-gen-shipped = In the fatbin
site-gen-bundles = Bundles
site-gen-wavefront = Wavefront
site-gen-generation = Generation name in the source
site-gen-enum = rocBLAS Processor enum
site-gen-branch = Branch in the source
site-gen-catalog = Catalog files
site-gen-serves = Supported by the catalog
site-gen-nobody = not checked on any generation: { $what }
site-h-gen-claims = Claims about the other generations
site-seen-on = Observed on { $rungs }
site-unseen-on = Not observed on { $rungs }
site-role-fallback = fallback: BLAS from { COUNT($from, "column", "columns") } on
site-role-branching = branching: BLAS from { COUNT($from, "column", "columns") } on
site-role-primary = own kernels, 1 to { COUNT($to, "column", "columns") }
site-role-unknown = undetermined
site-plain-generations = **In plain words.** An old card, a new consumer card and a data-centre card may use different kernels. The role of each is computed from the source rules, so it can change with the build.
site-observers-question = Which observers can see a launch without disturbing the program?
site-observers-live = { $working } of { $total } observers have recorded observations here; at least one was on a real device.
site-observers-none-live = { $working } of { $total } observers have recorded observations here; { $blocked } were blocked. None has seen a launch on a real device.
site-observers-note = Filled square: the observer has recorded an observation on this rung in this ledger. Dashed square: it could, but has not. A launch on a stand-in GPU never counts as Launched.
site-dot-seen = has observed this rung
site-dot-could = can observe this rung, but has not
site-state-looked = observed
site-state-blocked = blocked
site-state-untried = not attempted
site-state-contaminated = disturbed the program
site-certified = certified: no significant difference
site-rows-seen = { $count } { $count ->
    [one] observation
   *[other] observations
  }
site-attempts-none = No attempt failed.
site-attempts-untried = No attempt is recorded.
site-attempt-since = succeeded on { $day }
site-lesson-contaminated = These observations are not used. Observe from outside the process, and compare with an unobserved run.
site-silence-not = It did not happen
site-silence-nobody = Nothing was observing
site-silence-view = the observer could see the subject for the whole window
site-silence-canary = the observer saw the canary, a known event
site-silence-lost = no events were lost, and the observer changed nothing
site-silence-missing = one of the three conditions is not met; the report states which one
site-silence-grade = the grade stays Unresolved; an empty list is not reported as "none"
site-plain-observers = **In plain words.** Some tools stop or change the program that they observe. So each observer is checked first: does it disturb the program, and which rungs can it see? Only an observer that was shown to work can report that nothing happened.
site-next-observers = Does observing change the answer? Run the workload observed and unobserved in turn, and compare.
site-libraries-question = Which libraries are required, which are loaded, and which are used?
site-libraries-answer = { $files } { $files ->
    [one] file was
   *[other] files were
   } read; { $loaded } { $loaded ->
    [one] library was
   *[other] libraries were
   } loaded, of which { $silent } had no observed launch.
site-libraries-unloaded = { $files } { $files ->
    [one] file was
   *[other] files were
   } read. No live process was observed, so it is unknown which libraries are loaded or used.
site-libraries-empty = no library was examined
site-libraries-none-loaded = { $files } { $files ->
    [one] file was
   *[other] files were
   } read. The observed processes had none of these libraries loaded.
site-libraries-unwatched = { $files } { $files ->
    [one] file was
   *[other] files were
   } read; { $loaded } { $loaded ->
    [one] library was
   *[other] libraries were
   } loaded. Launches were not watched.
site-tree-empty = no dependencies were read
site-tree-caption = **Dependencies are read from the files.** Loading and launching are observed in a process. A dashed square means "not observed", not "no".
site-needed = needed
site-loaded = loaded
site-launched = launched
site-has-targets = { $count } { $count ->
    [one] target
   *[other] targets
  }
site-silent-unwatched = No live process was observed.
site-silent-none = Does every loaded library have an observed launch? { $what }
site-silent-none-loaded = { $who } found no loaded library, so launches from libraries are unknown.
site-silent-watched = Loaded, but { $who } saw no launch from this library. The claims about it state whether this is proof of absence or a blind spot.
site-silent-nobody = Loaded. Launches were not watched, so it is unknown whether this library was used.
site-complete = every byte accounted for
site-complete-alone = read completely; not confirmed by a second source
site-not-complete = not read completely
site-library-question = What does { $name } contain, and for which GPUs?
site-library-absent = { $name } has { $kernels } kernels for { $targets } { $targets ->
    [one] target, which is not { $target }
   *[other] targets; { $target } is not one of them
   }.
site-library-present = { $name } has { $kernels } kernels for { $targets } { $targets ->
    [one] target, { $target }
   *[other] targets, including { $target }
   }.
site-library-some = { $name } has at least { $kernels } kernels for { $targets } { $targets ->
    [one] target
   *[other] targets
   }.
site-library-plain = The ledger has no record of GPU code in { $name }.
site-library-none-seen = { $name } has { $kernels } kernels for { $targets } { $targets ->
    [one] target
   *[other] targets
   }. None was found for { $target }, but no second source confirms this.
site-library-builds = The ledger has { COUNT($count, "build", "builds") } of { $name }, shown separately below.
site-h-families = Kernels by name: { $count } { $count ->
    [one] family
   *[other] families
  }
site-col-stubs = Stubs
site-col-scratch = Max. scratch
site-plain-libraries = **In plain words.** A program depends on many libraries. A loaded library has not necessarily been used. This page distinguishes three things: which libraries are required, which were loaded, and which were seen to launch kernels.
site-plain-library = **In plain words.** This is one file of the stack: its dependencies, its kernels, and the GPUs they are for. A kernel in a file can run; whether it ran is a separate question.
site-next-libraries = Which of the loaded libraries does a live run use?
site-next-library = Which kernels does it contain, and how many registers do they use?
site-inventory-question = Which kernels are in the files?
site-inventory-answer = { $kernels } kernels for { $targets } { $targets ->
    [one] target
   *[other] targets
   } in { $files } { $files ->
    [one] file
   *[other] files
   }.
site-inventory-no-kernels = { $files } { $files ->
    [one] file was
   *[other] files were
   } read for bundles and targets; individual kernels are not in the ledger.
site-inventory-nothing = No file has been examined yet.
site-inventory-left-out = { $name }: the file has { $count } more kernels that are not in this list.
site-inventory-empty = no file with GPU code was examined
site-kernels-empty = the ledger has no list of individual kernels
site-coverage-caption = **{ $name }.** { $seen } of { $total } { $unit } were understood.
site-coverage-complete = Complete: anything not listed is not in the file.
site-coverage-alone = Read completely; no second source confirms that nothing else is in the file.
site-coverage-partial = Incomplete: the file may contain more than is listed.
site-targets-note = "absent" means that the whole file was read and a second source agrees; otherwise "none seen". Kernels are counted per target.
site-search-kernels = Search the kernels
site-choose-kernel = Select a kernel to see its registers.
site-plain-inventory = **In plain words.** Before asking which kernel ran, list the kernels that exist: their file, their GPU, and their registers. This list says nothing about which of them ran.
site-next-inventory = Which instructions do these kernels use?
site-census-question = Which instructions do the kernels use?
site-census-answer = The ledger has { COUNT($count, "instruction count", "instruction counts") }; { $open } of { $claims } claims about instructions and registers are open.
site-census-none = No instructions were counted for this investigation; { $open } of { $claims } claims about instructions and registers are open.
site-census-empty = no instructions were counted
site-census-zero = Not present (the whole file was decoded):
site-census-zero-alone = Not found (no second source confirms that everything was decoded):
site-census-zero-partly = Not found in the decoded part:
site-plain-census = **In plain words.** The instructions show what a kernel can do. Matrix instructions, for example, show that it was built to use this GPU's matrix units. The counts do not show that the kernel ran.
site-next-census = Which library contains these kernels?
site-probes-question = Does the speed change where the path changes?
site-probes-answer = { COUNT($points, "measured point", "measured points") } from { COUNT($requests, "request", "requests") }. Number of path changes in the source rule: { $changes }.
site-probes-none = Nothing was measured. Number of path changes in the source rule, where the speed might change: { $changes }.
site-probes-empty = the ledger has no requests to a server
site-plot-caption = **Tokens per second by tokens evaluated (log scale), 0 to { $most }.** Dots are measurements, without smoothing. Dashed lines are path changes in the source rule.
site-plot-empty = Empty plot: nothing was measured; { $changes } path changes declared
site-plot-label = { COUNT($points, "measured point", "measured points") }, { $changes } path changes declared
site-plain-probes = **In plain words.** You can also send prompts of different lengths to the server and measure the time. If the time per token jumps at some length, another kernel may have taken over. A jump alone proves nothing; together with the source rule, it is a hint.
site-next-probes = Did the server evaluate the whole prompt, or was part of it cached?
site-next-generations = Which build has kernels for the generations that are missing here?
site-h-catalog = Kernel catalog in { $runtime }
site-catalog-present = The kernels of { $name } are in a separate catalog: { $files } files for { $targets } { $targets ->
    [one] target, { $target }
   *[other] targets, including { $target }
   } ({ $runtime }).
site-catalog-absent = The kernels of { $name } are in a separate catalog: { $files } files for { $targets } { $targets ->
    [one] target
   *[other] targets
   }; none for { $target } ({ $runtime }).
site-catalog-some = The kernels of { $name } are in a separate catalog: { $files } files for { $targets } { $targets ->
    [one] target
   *[other] targets
   } ({ $runtime }).
site-catalog-listed = catalog: all file names were read
site-catalog-listed-alone = catalog: file names read; no second source
site-catalog-none-seen = The kernels of { $name } are in a separate catalog: { $files } files for { $targets } { $targets ->
    [one] target
   *[other] targets
   }. None was found for { $target }, but no second source confirms this ({ $runtime }).
site-catalog-counted = catalog: files counted
site-trust-coverage = { $seen } / { $total } { $unit }
site-trust-lost = { $count } lost
site-trust-canary = canary: { $what }
site-trust-certified = compared with an unobserved run
site-trust-unchecked = not compared with an unobserved run
site-trust-contaminated = differs from an unobserved run: { $differences }
