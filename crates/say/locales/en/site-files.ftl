# The pages of `report` about files, generations, observers and probes
site-nav-inventory = Binary inventory
site-nav-census = Instruction census
site-nav-libraries = Libraries
site-nav-generations = GPU generations
site-nav-observers = Observers
site-nav-probes = Probes
site-about-inventory = bundles, targets, kernels, registers
site-about-census = what the kernels are made of
site-about-libraries = who needs whom, what is loaded, what was launched
site-about-generations = one program, several GPUs
site-about-observers = who can see what, and what happened when they tried
site-about-probes = what a server was asked, and how fast it was
site-h-flow-dispatch = The branches
site-flow-dispatch = **{ $type } in { $build } on { $target }: where each column count goes.** On the right the widths of the kernel. Rung: Declared.
site-h-gen-paths = The path of { $type }, generation by generation
site-h-gen-table = What each generation finds
site-h-observer-map = The map
site-h-silence = Two kinds of silence
site-h-attempts = Attempts, and what they teach
site-h-here = This machine, as doctor saw it
site-h-tree = Who needs whom
site-h-silent = Loaded, never launched
site-h-libraries = The files
site-h-place = Its place in the stack
site-h-ships = What it ships for each target
site-h-file-claims = What was claimed of it
site-h-facts = What was seen of it
site-h-coverage = How much was understood
site-h-targets = Targets, also the absent ones
site-h-kernels = All { $count } kernels
site-h-census = Instructions counted
site-h-speed = Speed over prompt length
site-h-requests = Requests
site-col-property = Property
site-col-attempt = What happened
site-col-lesson = What it would need
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
site-col-said-fields = What the server said
site-gen-question = Do the generations take the same way?
site-gen-answer = For { $type } in { $build }: { $roles }.
site-gen-empty = Nobody has read a source for several generations yet.
site-gen-caption = **{ $type }, { $build }, rung Declared.** The needle stands at { $columns } columns.
site-gen-absent = "Absent" stands only where the whole file was read and a second account agrees; "none seen" where only the observer says so.
site-gen-absent-word = absent
site-none-seen = none seen
site-gen-kernels = { $count } kernels
site-gen-role = Role, computed
site-gen-shipped = In the fatbin
site-gen-bundles = Bundles
site-gen-wavefront = Wavefront
site-gen-generation = Generation in the source
site-gen-enum = Processor enum of rocBLAS
site-gen-branch = Branch in the source
site-gen-catalog = Catalog files
site-gen-serves = Catalog serves it
site-gen-nobody = nobody has looked for this of any of them: { $what }
site-h-gen-claims = What was said of the other generations
site-seen-on = Seen on { $rungs }
site-unseen-on = Not observed on { $rungs }
site-role-fallback = fallback: BLAS from { $from } columns
site-role-branching = branching: BLAS from { $from } columns
site-role-primary = own kernels, 1 to { $to } columns
site-role-unknown = not determined
site-plain-generations = **In plain words.** An old card, a new home card and a data-centre card need not be served by the same kernels. Here the part that each plays is not guessed but worked out from the rules, so it can change with the build.
site-observers-question = Who can see a launch without breaking what it looks at?
site-observers-live = { $working } of { $total } observers have seen something here, one of them on a live device.
site-observers-none-live = { $working } of { $total } observers have seen something here; { $blocked } could not look. None of them saw a live launch on a real device.
site-observers-note = A filled square: it has seen something on this rung, in this ledger. A dashed one: it could. A stand-in GPU never lifts an observation to Launched, whoever watches it.
site-dot-seen = has seen this rung
site-dot-could = could see this rung, has not
site-state-looked = looked
site-state-blocked = could not look
site-state-untried = not tried
site-state-contaminated = changed what it observed
site-certified = certified: nothing that counts differed
site-rows-seen = { $count } { $count ->
    [one] observation
   *[other] observations
  }
site-attempts-none = No recorded attempt failed.
site-attempts-untried = No attempt was recorded.
site-attempt-since = worked on { $day }
site-lesson-contaminated = Such observations count for nothing: look from outside the process, and compare with an unobserved run.
site-silence-not = It did not happen
site-silence-nobody = Nobody was looking
site-silence-view = the subject was in the field of view for the whole window
site-silence-canary = the canary, an event known to happen, was seen
site-silence-lost = nothing was lost, and nothing was changed by looking
site-silence-missing = one of the three is missing, and the report names which
site-silence-grade = the grade stays Unresolved; an empty list is never printed as "none"
site-plain-observers = **In plain words.** Whenever somebody opened the machine to look, it stopped. So the first question is not what an instrument shows, but what it does to the machine, and how far up it can see. An instrument that sees nothing may be blind; only one that has proved it can see may report silence.
site-next-observers = Does watching change the answer? Run the workload observed and unobserved, in turn, and compare.
site-libraries-question = Which libraries belong to it, which are loaded, and which were used?
site-libraries-answer = { $files } { $files ->
    [one] file was
   *[other] files were
  } read, { $loaded } { $loaded ->
    [one] library was
   *[other] libraries were
  } seen loaded, { $silent } of them never seen to launch anything.
site-libraries-unloaded = { $files } { $files ->
    [one] file was
   *[other] files were
  } read. Nobody has looked at a live process, so nothing is said about what is loaded or used.
site-libraries-empty = no library was looked at
site-libraries-none-loaded = { $files } { $files ->
    [one] file was
   *[other] files were
  } read. No library was seen loaded in the processes that were looked at.
site-libraries-unwatched = { $files } { $files ->
    [one] file was
   *[other] files were
  } read, { $loaded } { $loaded ->
    [one] library was
   *[other] libraries were
  } seen loaded. Launches were not watched.
site-tree-empty = nobody has read which library needs which
site-tree-caption = **Needed is read from the files.** Loaded and launched are seen in a process, or are not seen at all: a dashed square is no "no".
site-needed = needed
site-loaded = loaded
site-launched = launched
site-has-targets = { $count } { $count ->
    [one] target
   *[other] targets
  }
site-silent-unwatched = Nobody has looked at a live process.
site-silent-none = Libraries seen loaded that were also seen to launch something: { $what }
site-silent-none-loaded = No library was seen loaded: { $who } looked and listed none, so nothing is known about launches from libraries.
site-silent-watched = Loaded, and { $who } saw no launch from it. Whether that is an absence or a blind spot, the claims about it say.
site-silent-nobody = Loaded; nobody watched launches, so their silence says nothing.
site-complete = every byte accounted for
site-complete-alone = read to the end; no second account confirms it
site-not-complete = not read whole
site-library-question = What does { $name } bring, and for whom?
site-library-absent = { $name } holds { $kernels } kernels for { $targets } { $targets ->
    [one] target; { $target } is not it
   *[other] targets; { $target } is not one of them
  }.
site-library-present = { $name } holds { $kernels } kernels for { $targets } { $targets ->
    [one] target, { $target }
   *[other] targets, { $target } among them
  }.
site-library-some = { $name } holds at least { $kernels } kernels for { $targets } { $targets ->
    [one] target
   *[other] targets
  }.
site-library-plain = No GPU code of { $name } is in the ledger.
site-library-none-seen = { $name } holds { $kernels } kernels for { $targets } { $targets ->
    [one] target
   *[other] targets
  }; none was seen for { $target }, and no second account confirms that there is none.
site-library-builds = { $count } builds of { $name } are in the ledger. Each stands for itself below.
site-h-families = Kernels by name: { $count } { $count ->
    [one] family
   *[other] families
  }
site-col-stubs = Stubs
site-col-scratch = Scratch, most
site-plain-libraries = **In plain words.** A program brings a chain of helpers with it. That a helper stands in the hall does not mean that it lifted a finger. This page tells apart: who is needed by whom, who has come in, and who was seen at work.
site-plain-library = **In plain words.** One file of the stack: where it stands among the others, which machines it brings and for which GPUs. What is in a file can run; whether it ran is another question.
site-next-libraries = Which of the loaded libraries does a live run really use?
site-next-library = Which kernels are in it, with how many registers?
site-inventory-question = What is in the files, down to the last kernel?
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
  } read for bundles and targets; the kernels, one by one, are not in the ledger.
site-inventory-nothing = Nobody has looked into a file yet.
site-inventory-left-out = { $name }: { $count } more kernels are in the file and not in this list.
site-inventory-empty = no file with GPU code was looked at
site-kernels-empty = the ledger has no list of single kernels
site-coverage-caption = **{ $name }.** { $seen } of { $total } { $unit } were understood.
site-coverage-complete = Complete: what is not listed is not there.
site-coverage-alone = Read to the end. No second account confirms that nothing else is there.
site-coverage-partial = Not complete: what is not listed may be there.
site-targets-note = "Absent" only where the file was read whole and a second account agrees; "none seen" otherwise. Kernels are counted per target.
site-search-kernels = Search the kernels
site-choose-kernel = Choose a kernel to see its registers.
site-plain-inventory = **In plain words.** Before asking which machine ran, one can count the machines in the hall. This is the list: which file holds which kernel, for which GPU, with how many registers. It says nothing about what ran.
site-next-inventory = What are these kernels made of?
site-census-question = What are the kernels made of?
site-census-answer = { $count } counts of instructions are in the ledger; { $open } of { $claims } claims about instructions and registers are open.
site-census-none = No instruction was counted for this investigation; { $open } of { $claims } claims about instructions and registers are open.
site-census-empty = nobody has counted
site-census-zero = Looked for in all of it, and not there:
site-census-zero-alone = Looked for and not seen; no second account confirms that all of it was decoded:
site-census-zero-partly = Not seen in the part that was decoded:
site-plain-census = **In plain words.** A kernel's instructions are its tools. Matrix instructions tell a machine that was built for this GPU from one that was only allowed to run on it. Counting them says what a kernel is able to do, never that it did.
site-next-census = Which library do these kernels belong to?
site-probes-question = Does the speed change where the path changes?
site-probes-answer = { $points } measured points from { $requests } requests; the source declares { $changes } changes of path.
site-probes-none = Nothing was measured. The source declares { $changes } changes of path, where a change of speed would be looked for.
site-probes-empty = no request to a server is in the ledger
site-plot-caption = **Tokens per second over tokens evaluated (log), 0 to { $most }.** Discs are measured; a dashed line is where the source declares a change. Agreement of the two would be the finding, no smoothing.
site-plot-empty = Empty plot: nothing was measured; { $changes } declared changes
site-plot-label = { $points } measured points, { $changes } declared changes
site-plain-probes = **In plain words.** One can also ask the server questions of different lengths and take the time. Where the time per word jumps, another machine may have taken over. A jump proves no machine; together with the plan it is a hint.
site-next-probes = And what did the server evaluate in truth: the whole prompt, or a cached part of it?
site-next-generations = Is there a build that holds kernels for the generations that are absent here?
site-h-catalog = Its kernel catalog in { $runtime }
site-catalog-present = The kernels of { $name } lie in a catalog beside it: { $files } files for { $targets } { $targets ->
    [one] target, { $target }
   *[other] targets, { $target } among them
  } ({ $runtime }).
site-catalog-absent = The kernels of { $name } lie in a catalog beside it: { $files } files for { $targets } { $targets ->
    [one] target
   *[other] targets
  }; none for { $target } ({ $runtime }).
site-catalog-some = The kernels of { $name } lie in a catalog beside it: { $files } files for { $targets } { $targets ->
    [one] target
   *[other] targets
  } ({ $runtime }).
site-catalog-listed = catalog: every name in it was seen
site-catalog-listed-alone = catalog: names listed; no second account
site-catalog-none-seen = The kernels of { $name } lie in a catalog beside it: { $files } files for { $targets } { $targets ->
    [one] target
   *[other] targets
  }; none was seen for { $target }, and no second account confirms that there is none ({ $runtime }).
site-catalog-counted = catalog: files were counted
