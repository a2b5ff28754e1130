# Conclusions: each is made from what was asked, answered, lost and left out (evidence::Conclusion)
conclusion-found = { $count } found among { $answered } { $unit }.
conclusion-found-with-gaps = { $count } found among { $answered } { $unit }; there may be more: { $gaps }.
conclusion-nothing-whole = None in all { $answered } { $unit }.
conclusion-nothing-answered = None seen in { $answered } { $unit }; nothing is said of { $gaps }.
conclusion-nothing-unknown = Not known: { $gaps }.
conclusion-same-whole = The same in all { $answered } { $unit }.
conclusion-same-answered = The same in the { $answered } { $unit } that were answered; nothing is said of { $gaps }.
conclusion-same-unknown = Not known: { $gaps }.
conclusion-different = Different in { $count } of { $answered } { $unit }.
conclusion-different-with-gaps = Different in { $count } of { $answered } { $unit }; nothing is said of { $gaps }.
conclusion-all-whole = All { $answered } { $unit }.
conclusion-all-answered = All { $answered } { $unit } that were answered; nothing is said of { $gaps }.
conclusion-all-unknown = Not known: { $gaps }.
conclusion-not-all = Not { $count } of { $answered } { $unit }.
conclusion-not-all-with-gaps = Not { $count } of { $answered } { $unit }; nothing is said of { $gaps }.
conclusion-complete-whole = Complete: all { $answered } { $unit } were looked at.
conclusion-complete-answered = Not complete: { $gaps }.
conclusion-complete-unknown = Not known: { $gaps }.
conclusion-incomplete = Not complete: { $gaps }.
conclusion-chosen-whole = { $choices }
conclusion-chosen-answered = { $choices } in the { $answered } { $unit } that were answered; nothing is said of { $gaps }
conclusion-chosen-unknown = not known: { $gaps }

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
gap-separator = {", "}

left-out-not-asked = not asked
left-out-unreadable = could not be read
left-out-undetermined = the rules do not decide it
left-out-failed = the run failed
left-out-refused = refused by the system
left-out-lost = lost
left-out-out-of-view = out of view

unit-bytes = bytes
unit-calls = calls
unit-cells = cells
unit-claims = claims
unit-files = files
unit-instructions = instructions
unit-kernels = kernels
unit-launches = launches
unit-libraries = libraries
unit-observers = observers
unit-probes = probes
unit-rows = rows
unit-settings = settings
