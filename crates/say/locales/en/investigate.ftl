# investigate
investigate-could-fetch = `{ $command }` fetches and inspects it.
investigate-not-fetched = { $what } could not be fetched: { $why }
investigate-size = about { $megabytes } MB on { $date }
investigate-size-unknown = the size is known only after the index is read
investigate-can-close = Not here: { $what } ({ $size }); it can close { $count ->
    [one] one open claim
   *[other] { $count } open claims
 }.
investigate-did-close = { $what } closed { $count } of the { $of } claims that it could.
investigate-step-source = the source of { $name } at { $commit }
investigate-step-debian = Debian's llama.cpp for ROCm
investigate-could-not-look = Observers that could not run: { $who }. { $first }: { $why }
investigate-begun = Wrote { $path }. Review it, then run: whichkernel investigate { WORD($path) }
