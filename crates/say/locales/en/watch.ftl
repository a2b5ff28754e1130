# watch: launches of live processes

watch-phase = Phase
watch-kernel = Kernel
watch-family = Family
watch-type = Type
watch-columns = Columns
watch-launches = Launches
watch-share = Share
watch-total-time = total time
watch-mean-time = mean
watch-phase-prefill = prefill
watch-phase-batch = batch
watch-phase-decode = decode
watch-phase-other = other
watch-per-token = Per decoded token ({ $tokens } seen): { COUNT($all, "launch", "launches") }; { $list }
watch-rejected = Rejected launches (not counted): { $list }
watch-account = Seen: { COUNT($seen, "launch", "launches") }, { COUNT($calls, "BLAS call", "BLAS calls") }. Lost: { $lost }. Unnamed: { $unnamed }. Window: { $seconds } s
watch-lost-least = at least { $count }
watch-unknown-replays = { $count } graph replays with unknown contents: the graphs were created before `watch` attached, or the device decides what they launch
watch-concluded = Conclusion: { $text }
watch-replays = graph replays
watch-gap = Not observed: { $what }: { $why }
watch-canary-target = Canary in the target: { $what }
watch-canary-child = Canary in a test process: { $what }. Absence can therefore be graded Limited at most
watch-canary-none = No canary: not seeing a launch proves nothing
watch-cost = Measured overhead per launch: { $ns } ns
watch-recorded = { $count } { $count ->
    [one] observation
   *[other] observations
} recorded in { $place }
watch-armed = Watching. Press Ctrl-C to stop and print the summary.
watch-line = { $seconds } s: { COUNT($seen, "launch", "launches") }, { COUNT($tokens, "token", "tokens") } decoded, { COUNT($each, "launch", "launches") } per token
watch-armed-probes = { $count } { $count ->
    [one] probe
   *[other] probes
} placed. Users can now watch their own processes with: whichkernel watch --how perf
watch-disarmed = { $count } { $count ->
    [one] probe
   *[other] probes
} removed
watch-canary-asked = Canary: a one-token request to { $server } caused { COUNT($count, "launch", "launches") } in the target
watch-certify-running-plain = Run { $number } of { $all }, unobserved
watch-certify-running-observed = Run { $number } of { $all }, observed
watch-certify-running-counted = Run { $number } of { $all }, launches counted by another observer
watch-certify-note = Note: { $note }
watch-certify-what = What
watch-certify-before = Unobserved
watch-certify-observed = Observed
watch-certify-after = Unobserved again
watch-certify-verdict = Verdict
watch-certify-same = same
watch-certify-differs = DIFFERS
watch-certify-unsteady = not judged: unobserved runs differ too
watch-certify-absent = not reported
watch-certify-told = for information
watch-certify-in-part = not judged: only partly counted
watch-certify-point-ending = ending
watch-certify-point-devices = devices
watch-certify-point-layers = offloaded layers
watch-certify-point-libraries = libraries
watch-certify-point-output = output
watch-certify-point-mix = launch mix
watch-certify-point-speed = tokens per second
watch-certify-point-seconds = seconds
watch-certify-point-processor = CPU seconds
watch-certify-ended = { $how ->
    [signal] signal { $number }
   *[code] code { $number }
}
watch-certify-ended-early = { $how ->
    [signal] signal { $number } before it answered
   *[code] code { $number } before it answered
}
watch-certify-ended-silent = did not respond
watch-certify-ended-answered = { $how ->
    [signal] answered, signal { $number }
   *[code] answered, code { $number }
}
watch-certify-ended-answered-unwilling = answered, but did not stop when asked to
watch-certify-ended-unanswered = { $how ->
    [signal] { $why }, signal { $number }
   *[code] { $why }, code { $number }
}
watch-certify-ended-unanswered-unwilling = { $why }, and did not stop when asked to
watch-certify-libraries = { $common } and { $own }
watch-certify-launches = { COUNT($launches, "launch", "launches") }
watch-certify-launches-kernels = { COUNT($launches, "launch", "launches") } of { COUNT($kernels, "kernel", "kernels") }
watch-certify-launches-among = { COUNT($launches, "launch", "launches") } of { COUNT($kernels, "kernel", "kernels") }, among them { $among }
watch-certify-spread = { $middle } ({ $least } to { $most })
watch-certify-difference = { $point }: { $before } became { $observed }
watch-certify-note-libraries = libraries are not compared: a run ended before they could be read
watch-certify-note-in-part = the launch mix is not judged: one of the observers that counted launches did not see all of them
watch-certify-note-own = not compared, because the observer itself changes it: { $list }
watch-certify-note-counted = launches of the unobserved program were counted by { $by }, in two separate runs
watch-certify-note-cost = overhead that { $observer } measured on this machine: { $ns } ns per launch
watch-certify-compared = Do the runs agree? { $text }
watch-certify-not-known = { $observer }: it is unknown whether this observer is dispatch-safe; the launches could not be compared: { $why }
watch-log = { $name }={ $value } means: { $parts }
watch-log-nothing = nothing
watch-log-unknown-here = (unknown here)
watch-log-errors = errors
watch-log-warnings = warnings
watch-log-info-calls-and-kernels = info: calls and kernels
watch-log-debug-threads-copies = debug: threads, copies
watch-log-extra-debug = extra debug
watch-log-trace = trace
watch-log-bench = bench
watch-log-profile = profile
watch-log-internal = internal
watch-log-property-evaluation = property evaluation
watch-log-selected-kernel = selected kernel
watch-log-device-selection = device selection
watch-log-predicate-evaluation = predicate evaluation
watch-log-code-objects = code objects
watch-log-kernel-arguments = kernel arguments
watch-log-tensors = tensors
watch-log-library-version = library version
watch-log-lookup-efficiency = lookup efficiency
watch-log-name-of-the-kernel-that-won = name of the selected kernel
watch-log-error = error
watch-log-hints = hints
watch-log-info = info
watch-log-api-trace = API trace
watch-log-trace-calls-with-their-extents = trace: calls with their extents
watch-log-api-calls-with-their-handles = API calls with their handles
watch-log-off = off
watch-log-debug = debug
watch-certify-added = Overhead per launch: { $ns } ns
watch-certify-added-none = Overhead per launch: below the variation of the unobserved runs (less than { $ns } ns)
watch-certify-added-unknown = Overhead per launch: unknown, no launches were counted
watch-certify-safe = { $observer }: dispatch-safe in this run
watch-certify-unsafe = NOT dispatch-safe in this run. All observations of this run are contaminated:
watch-claim-title = Server claims compared with observed launches
watch-claim-what = Item
watch-claim-said = Server says
watch-claim-where = Source
watch-claim-seen = Launches show
watch-claim-verdict = Verdict
watch-claim-field-backend = backend
watch-claim-field-layers = layers
watch-claim-field-share = share
watch-claim-field-flash-attention = flash attention
watch-claim-field-kv-cache = KV cache
watch-claim-field-micro-batch = micro-batch
watch-claim-field-graph-splits = graph splits
watch-claim-field-evaluations = evaluations
watch-claim-verdict-supported = supported
watch-claim-verdict-contradicted = CONTRADICTED
watch-claim-verdict-undecidable = not decidable
watch-claim-weak-canary = Limited at most: no canary in the target
watch-claim-weak-missed = Limited at most: launches were missed
watch-claim-weak-uncertified = Limited at most: no certificate
watch-claim-unread = Not read: { $what }: { $why }
watch-claim-seen-no-canary = no launches were seen, and no canary shows that launches would have been seen
watch-claim-seen-nothing = nothing was evaluated in this window
watch-claim-seen-no-launch = no launches, although the server ran { COUNT($evaluations, "evaluation", "evaluations") }
watch-claim-seen-launched-nothing = the launches do not show whether this is true
watch-claim-seen-products = { $products } matrix products with weights on the GPU
watch-claim-seen-backend-unseen = launches of this backend cannot be observed
watch-claim-seen-launched = { COUNT($launches, "launch", "launches") } through this backend's runtime
watch-claim-seen-launched-otherwise = { COUNT($launches, "launch", "launches") }, none through this backend's runtime
watch-claim-seen-no-token = no token was decoded in this window
watch-claim-seen-speculative = the launches include the layers of a draft model (speculative decoding)
watch-claim-seen-recurrent = this model has layers without attention
watch-claim-seen-experts = the model has experts, which use the same kernels
watch-claim-seen-uneven = { $count } attention launches in { COUNT($tokens, "token", "tokens") }: the number per token varies
watch-claim-seen-no-model = attention in { $seen } layers per token; the model's number of layers is unknown
watch-claim-seen-layers = attention in { $seen } of { $blocks } layers per token
watch-claim-seen-more-than-model = attention in { COUNT($seen, "layer", "layers") } per token, more than the model's { $blocks }
watch-claim-seen-all-layers = attention in all { $blocks } layers; whether other parts are in host memory is not visible
watch-claim-seen-no-attention = no attention kernel
watch-claim-seen-attention = { $flash } flash attention, { $softmax } softmax
watch-claim-seen-no-cache = no kernel that writes to the cache
watch-claim-seen-cache = { $seen } written
watch-claim-seen-no-prompt = no prompt in this window
watch-claim-seen-widest = { COUNT($widest, "column", "columns") } at most
watch-claim-seen-no-count = the server's number of evaluations is unknown
watch-claim-seen-whole = evaluations are not split
watch-claim-seen-pieces = copies to the host split each evaluation into { $pieces } parts
watch-claim-seen-evaluations = { COUNT($seen, "evaluation", "evaluations") }
watch-claim-seen-evaluations-some = only { $seen } evaluations launched kernels here
watch-claim-seen-evaluations-cut = { $seen } parts: copies to the host split each evaluation into { $pieces }
watch-claim-seen-evaluations-more = { $seen } parts: copies to the host split some evaluations
watch-alarm = ALARM: fallback in{" "}
watch-alarm-after = ALARM after { $seconds } s: fallback in{" "}
watch-alarm-unpacked = { $phase }: { $kernel } ({ $family }), { $count } times: weights are unpacked and multiplied by { $by }, not by a kernel for their type
watch-alarm-blas-for-one = { $phase }: { $kernel } ({ $family }), { $count } times: a BLAS library multiplies a single column, although ggml has kernels for this type
watch-alarm-cut = { $phase }: { $products } products ({ $kernel }) without attention between two copies to the host, { $count } times: the other parts of these layers run elsewhere, so their data crosses the bus
watch-armed-on = Watching { $list }. Press Ctrl-C to stop and print the summary.
watch-no-runtime = The process has no GPU runtime open yet (libamdhip64, libcuda, libvulkan). Launches are seen as soon as it opens one.
watch-rung-launched = Rung{ $of }: Launched (real device: the process had { $detail } open while it launched)
watch-rung-ended = Rung{ $of }: Completed (real device: the process had { $detail } open; a fence or an idle queue confirmed every dispatch)
watch-rung-processor-ended = Rung{ $of }: Completed on the CPU, not on a GPU (driver: { $detail }; a fence or an idle queue confirmed every dispatch)
watch-rung-processor = Rung{ $of }: Launched on the CPU, not on a GPU (driver: { $detail })
watch-rung-completed = Rung{ $of }: Completed, according to the file (device: { $detail })
watch-rung-told = Rung{ $of }: Launched, according to the file (device: { $detail })
watch-rung-standin = Rung{ $of }: Selected (stand-in GPU, which runs nothing)
watch-rung-unknown = Rung{ $of }: Selected (device unknown: { $detail })
watch-rung-nothing = Rung: Selected (no process launched anything, so no device was seen)
watch-word = Source: { $file }, written by { $maker } on host { $host }. It describes that host, not this one
watch-ended-code = The program ended with exit code { $code }
watch-ended-signal = Signal { $signal } ended the program
watch-ended-signal-named = Signal { $signal } ({ $name }) ended the program
watch-ended-gone = All watched processes have ended
watch-certify-failed = No certificate: the program fails without observation too ({ $ending })
watch-log-bit = { $bit } { $meaning }
watch-log-bits = { $one } + { $other }
