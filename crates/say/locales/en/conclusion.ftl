# Conclusions: each is made from what was asked, answered, lost and left out (evidence::Conclusion)
conclusion-found = { $count } found among { $answered } { $unit }.
conclusion-found-with-gaps = { $count } found among { $answered } { $unit }; there may be more: { $gaps }.
conclusion-nothing-whole = None in { $answered ->
    [one] the only { $unit }
   *[other] any of the { $answered } { $unit }
  }.
conclusion-nothing-alone = None in { $answered } { $unit }, { $alone }.
conclusion-nothing-answered = None seen in { $answered } { $unit }; unknown: { $gaps }.
conclusion-nothing-unknown = Unknown: { $gaps }.
conclusion-same-whole = The same in { $answered ->
    [one] the only { $unit }
   *[other] all { $answered } { $unit }
  }.
conclusion-same-alone = The same in { $answered } { $unit }, { $alone }.
conclusion-same-answered = The same in { $answered ->
    [one] the only { $unit } with a result
   *[other] the { $answered } { $unit } with a result
  }; unknown: { $gaps }.
conclusion-same-unknown = Unknown: { $gaps }.
conclusion-different = Different in { $count } of { $answered } { $unit }.
conclusion-different-with-gaps = Different in { $count } of { $answered } { $unit }; unknown: { $gaps }.
conclusion-all-whole = True for { $answered ->
    [one] the only { $unit }
   *[other] all { $answered } { $unit }
  }.
conclusion-all-alone = True for { $answered ->
    [one] the only { $unit }
   *[other] all { $answered } { $unit }
  }, { $alone }.
conclusion-all-answered = True for { $answered ->
    [one] the only { $unit } with a result
   *[other] all { $answered } { $unit } with a result
  }; unknown: { $gaps }.
conclusion-all-unknown = Unknown: { $gaps }.
conclusion-not-all = Not true for { $count } of { $answered } { $unit }.
conclusion-not-all-with-gaps = Not true for { $count } of { $answered } { $unit }; unknown: { $gaps }.
conclusion-complete-whole = Complete: { $answered ->
    [one] the only { $unit } was checked
   *[other] all { $answered } { $unit } were checked
   }.
conclusion-complete-alone = Checked: { $answered } { $unit }, { $alone }.
conclusion-complete-answered = Incomplete: { $gaps }.
conclusion-complete-unknown = Unknown: { $gaps }.
conclusion-incomplete = Incomplete: { $gaps }.
conclusion-chosen-whole = { $choices }
conclusion-chosen-alone = { $choices }, { $alone }
conclusion-chosen-answered = { $choices } in { $answered ->
    [one] the only { $unit } with a result
   *[other] the { $answered } { $unit } with a result
  }; unknown: { $gaps }
conclusion-chosen-unknown = unknown: { $gaps }

# A sentence about all there is, with the accounts that agree with the observer's own
conclusion-agreed = { $text } Confirmed by: { $accounts }.
# The observer is the only one that counted
alone-unchecked = according to { $by } only; no second source confirms that this is complete
alone-blind = according to { $by } only, which cannot see { $spots }

# What an observer cannot see (evidence::Blind)
blind-named = { $kind }: { $names }
blind-direct-calls = calls that bypass the dynamic linker
blind-processes = processes that the observer could not attach to
blind-device-launches = kernels launched by other kernels
blind-before = launches before the observer attached
blind-unknown-bytes = bytes in an unknown format
blind-other-files = files that were not specified
blind-unnamed-code = code in memory that is not from a file
blind-late-registrations = kernels registered outside of constructors
blind-server-cache = prompts of other clients in the server's cache
blind-hidden-devices = devices that Linux or the container hides
blind-other-processes = processes in other containers and on other machines

# Second accounts (evidence::Witness)
witness-question = the list of requested items
witness-process-tree = the programs and libraries of every process
witness-byte-map = a map of every byte of the file
witness-graph-nodes = the graphs that the program computed
witness-server-count = the server's own token count
witness-symbol-sizes = the sizes in the symbol tables
witness-build-list = the source list of the build
witness-writer-count = the total that its writer recorded
witness-pci-bus = the PCI bus, with or without a driver

answer-yes = Yes
answer-no = No
answer-partly = Partly
answer-not-known = Unknown

gap-nothing-asked = nothing was requested
gap-lost = { $count } lost
gap-unanswered = { $count } without a result
gap-named = { $what } ({ $why })
gap-counted = { $count } { $unit } of { $what } ({ $why })
gap-more = { $count } more
gap-rung = rung { $rung } (not observed)
gap-separator = {", "}

left-out-not-asked = not requested
left-out-unreadable = could not be read
left-out-undetermined = the rules do not determine the result
left-out-failed = the run failed
left-out-refused = refused by the system
left-out-lost = lost
left-out-out-of-view = not observable
left-out-other-target = no code for this target; metadata of another target was used
left-out-in-part = observed only in part
left-out-inferred = inferred, not observed
left-out-only-told = only this file states it, so it cannot be verified
left-out-unsteady = also differs between unobserved runs
left-out-untold = not reported
left-out-disagrees = two counts disagree
left-out-stopped = stopped early
left-out-clock = the clock went back

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
unit-machines = { $count ->
    [one] machine
   *[other] machines
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
