# watch: launches of live processes

watch-phase = Phase
watch-kernel = Kernel
watch-family = Family
watch-type = Type
watch-columns = Columns
watch-launches = Launches
watch-share = Share
watch-phase-prefill = prefill
watch-phase-decode = decode
watch-phase-other = other
watch-per-token = Per decoded token ({ $tokens } seen): { $all } launches; { $list }
watch-fallback = ALARM: fallback in { $phase }: { $kernel }, { $count } times: weights are not multiplied by the kernels made for their type
watch-rejected = Rejected launches (not launches): { $list }
watch-account = Seen: { $seen } launches, { $calls } BLAS calls. Lost: { $lost }. Unnamed: { $unnamed }. Window: { $seconds } s
watch-unknown-replays = { $count } replays of graphs that were made before the attach: what they launched is not known
watch-gap = Not in view: { $what }: { $why }
watch-canary-target = Canary in the target: { $what }
watch-canary-child = Canary in a child of ours: { $what }. An absence is at most Limited
watch-canary-none = No canary: an absence shows nothing
watch-cost = Added time per launch, measured: { $ns } ns
watch-rung-launched = Rung: Launched (real device)
watch-rung-selected = Rung: Selected (no real device behind it)
watch-recorded = { $count } observations recorded in { $place }
watch-armed = Watching. Ctrl-C ends it with a summary.
watch-line = { $seconds } s: { $seen } launches, { $tokens } tokens decoded, { $each } launches per token
