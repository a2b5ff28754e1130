# investigate
investigate-could-fetch = To fetch and inspect it: `{ $command }`
investigate-not-fetched = { $what } could not be fetched: { $why }
investigate-size = about { $megabytes } MB on { $date }
investigate-size-unknown = size unknown until the index is read
investigate-can-close = Missing here: { $what } ({ $size }); it can settle { $count ->
    [one] one open claim
   *[other] { $count } open claims
   }.
investigate-did-close = { $what } settled { $count } of the { $of } claims that it could settle.
investigate-step-source = the source of { $name } at { $commit }
investigate-step-debian = Debian's llama.cpp for ROCm
investigate-could-not-look = Observers that could not run: { $who }. { $first }: { $why }
investigate-begun = Wrote { $path }. Review it, then run: whichkernel investigate { WORD($path) }
