probe-interrupted = stopped by a signal
probe-busy = the server is busy: it answered { $status } { $times } { $times ->
    [one] time
   *[other] times
} in a row ({ $said })
probe-too-many = more than { $most } requests
probe-request-lost = a request was lost
probe-unprepared = no prompts were prepared
probe-still-loading = llama-server is still loading its model: try again when it is ready
probe-first-prompt = the first prompt failed: { $why }
probe-no-counts = the server does not report how many tokens a prompt has, so no lengths can be chosen
probe-no-process = the server's process is not on this machine, so it cannot be watched
probe-cold-only-ollama = only Ollama can unload a model on request; this server keeps its model until it ends
probe-few-slots = the server evaluates { COUNT($slots, "request", "requests") } in parallel; the other requests waited for a slot
probe-missing-unread = the index lists this file, but it cannot be read

# Lanes
probe-lane-form = { $text } is not a lane: write NAME='VARIABLE=VALUE ...', or NAME= for a lane that sets nothing
probe-lane-twice = two lanes are called { $name }: each needs a name of its own
probe-lane-alone = a single lane has nothing to be compared with: specify --lane at least twice
probe-lane-port = the command sets its own port ({ $words }), but each lane needs a different one: write {"{"}port{"}"} there, or leave it out
probe-lane-unset = the command has {"{"}{ $variable }{"}"}, but lane { $lane } does not set { $variable }
probe-serving-port = no port for the server
probe-serving-log = the server's log cannot be created
probe-serving-guard = no process group for the server
probe-serving-no-command = no command was given to start a server
probe-serving-ended = the server ended before it answered ({ $status }): { $said }
probe-serving-silent = no answer from http://{ $to } within { $seconds } s: does the command listen at {"{"}port{"}"}?
probe-serving-no-log = the server wrote nothing

# Recordings
probe-replay-form = the recording lists no exchanges: expected an object or a list of exchanges
probe-replay-too-many = the recording lists more exchanges than the limit allows
probe-replay-empty = the recording lists no exchange with a request and a status
