# Conclusions: each is made from what was asked, answered, lost and left out (evidence::Conclusion)
conclusion-found = { $count } found among { $answered } { $unit }.
conclusion-found-with-gaps = { $count } found among { $answered } { $unit }; there may be more: { $gaps }.
conclusion-nothing-whole = None in { $answered ->
    [one] the one { $unit }
   *[other] all { $answered } { $unit }
  }.
conclusion-nothing-alone = None in { $answered } { $unit }, { $alone }.
conclusion-nothing-answered = None seen in { $answered } { $unit }; unknown: { $gaps }.
conclusion-nothing-unknown = Not known: { $gaps }.
conclusion-same-whole = The same in { $answered ->
    [one] the one { $unit }
   *[other] all { $answered } { $unit }
  }.
conclusion-same-alone = The same in { $answered } { $unit }, { $alone }.
conclusion-same-answered = The same in { $answered ->
    [one] the one { $unit } that was answered
   *[other] the { $answered } { $unit } that were answered
  }; unknown: { $gaps }.
conclusion-same-unknown = Not known: { $gaps }.
conclusion-different = Different in { $count } of { $answered } { $unit }.
conclusion-different-with-gaps = Different in { $count } of { $answered } { $unit }; unknown: { $gaps }.
conclusion-all-whole = { $answered ->
    [one] The one { $unit }
   *[other] All { $answered } { $unit }
  }.
conclusion-all-alone = All { $answered } { $unit }, { $alone }.
conclusion-all-answered = { $answered ->
    [one] The one { $unit } that was answered
   *[other] All { $answered } { $unit } that were answered
  }; unknown: { $gaps }.
conclusion-all-unknown = Not known: { $gaps }.
conclusion-not-all = It does not hold for { $count } of { $answered } { $unit }.
conclusion-not-all-with-gaps = It does not hold for { $count } of { $answered } { $unit }; unknown: { $gaps }.
conclusion-complete-whole = Complete: { $answered ->
    [one] the one { $unit } was looked at
   *[other] all { $answered } { $unit } were looked at
  }.
conclusion-complete-alone = { $answered } { $unit }, { $alone }.
conclusion-complete-answered = Not complete: { $gaps }.
conclusion-complete-unknown = Not known: { $gaps }.
conclusion-incomplete = Not complete: { $gaps }.
conclusion-chosen-whole = { $choices }
conclusion-chosen-alone = { $choices }, { $alone }
conclusion-chosen-answered = { $choices } in { $answered ->
    [one] the one { $unit } that was answered
   *[other] the { $answered } { $unit } that were answered
  }; unknown: { $gaps }
conclusion-chosen-unknown = not known: { $gaps }

# A sentence about all there is, with the accounts that agree with the observer's own
conclusion-agreed = { $text } Second account: { $accounts }.
# The observer is the only one that counted
alone-unchecked = as far as { $by } can see; no second account confirms that these are all
alone-blind = as far as { $by } can see; it cannot see { $spots }

# What an observer cannot see (evidence::Blind)
blind-named = { $kind }: { $names }
blind-direct-calls = calls that bypass the dynamic linker
blind-processes = processes that it could not enter
blind-device-launches = kernels that other kernels launch
blind-before = launches before it was attached
blind-unknown-bytes = bytes in a format that it does not know
blind-other-files = files that were not named
blind-unnamed-code = code in memory that belongs to no file
blind-late-registrations = kernels registered outside of constructors
blind-server-cache = prompts of other clients in the server's cache
blind-hidden-devices = devices that the kernel or the container does not show
blind-other-processes = processes in other containers and on other machines

# Second accounts (evidence::Witness)
witness-question = the list that was asked about
witness-process-tree = the programs and libraries of every process
witness-byte-map = every byte of the file is accounted for
witness-graph-nodes = the graphs that the program computed
witness-server-count = the server's own token count
witness-symbol-sizes = the sizes in the symbol tables
witness-build-list = the source list of the build
witness-writer-count = the count that its writer stored
witness-pci-bus = the PCI bus, whatever driver a card has

answer-yes = Yes
answer-no = No
answer-partly = Partly
answer-not-known = Not known

gap-nothing-asked = nothing was asked
gap-lost = { $count } lost
gap-unanswered = { $count } not answered
gap-named = { $what } ({ $why })
gap-counted = { $count } of { $what } ({ $why })
gap-more = { $count } more
gap-rung = what is { $rung } (not observed)
gap-separator = {", "}

left-out-not-asked = not asked
left-out-unreadable = could not be read
left-out-undetermined = the rules do not decide it
left-out-failed = the run failed
left-out-refused = refused by the system
left-out-lost = lost
left-out-out-of-view = out of view
left-out-other-target = not shipped: by the metadata of another target
left-out-in-part = seen only in part
left-out-inferred = inferred, not seen itself
left-out-only-told = only this file says so, and anybody can write one
left-out-unsteady = differs by itself
left-out-untold = not told
left-out-disagrees = two accounts differ by this many
left-out-stopped = it was stopped before its end

unit-bytes = { $count ->
    [one] byte
   *[other] bytes
  }
unit-calls = { $count ->
    [one] call
   *[other] calls
  }
unit-cells = { $count ->
    [one] cell
   *[other] cells
  }
unit-claims = { $count ->
    [one] claim
   *[other] claims
  }
unit-commits = { $count ->
    [one] commit
   *[other] commits
  }
unit-files = { $count ->
    [one] file
   *[other] files
  }
unit-instructions = { $count ->
    [one] instruction
   *[other] instructions
  }
unit-kernels = { $count ->
    [one] kernel
   *[other] kernels
  }
unit-launches = { $count ->
    [one] launch
   *[other] launches
  }
unit-libraries = { $count ->
    [one] library
   *[other] libraries
  }
unit-observers = { $count ->
    [one] observer
   *[other] observers
  }
unit-points = { $count ->
    [one] point
   *[other] points
  }
unit-probes = { $count ->
    [one] probe
   *[other] probes
  }
unit-rows = { $count ->
    [one] row
   *[other] rows
  }
unit-settings = { $count ->
    [one] setting
   *[other] settings
  }
gap-list = { $first } and { $count } more
