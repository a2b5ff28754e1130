probe-interrupted = stopped by a signal
probe-busy = the server is busy: it answered { $status } { $times } { $times ->
    [one] time
   *[other] times
} in a row ({ $said })
probe-too-many = more than { $most } requests
probe-request-lost = a request was lost
probe-unprepared = nothing was prepared
probe-still-loading = llama-server is still loading its model: try again when it is ready
probe-first-prompt = the first prompt: { $why }
probe-no-counts = the server does not report how many tokens a prompt has, so no lengths can be chosen
probe-no-process = the server's process is not on this machine, so it cannot be watched
probe-cold-only-ollama = only Ollama unloads a model on request; this server keeps its model until it ends
probe-few-slots = the server evaluates { COUNT($slots, "request", "requests") } in parallel; the others waited for a slot
probe-missing-unread = the index lists it, but it cannot be read

# Lanes
probe-lane-form = { $text } is not a lane: write NAME='VARIABLE=VALUE ...', or NAME= for a lane that sets nothing
probe-lane-twice = two lanes are called { $name }: each needs a name of its own
probe-lane-alone = a single lane cannot be compared: specify --lane twice
probe-lane-port = the command sets a port of its own ({ $words }), but each lane needs another one: write {"{"}port{"}"} there, or leave it out
probe-lane-unset = the command has {"{"}{ $variable }{"}"}, but lane { $lane } does not set { $variable }
probe-serving-port = a port for the server
probe-serving-log = the log of the server
probe-serving-guard = the process group of the server
probe-serving-no-command = no command was given to start a server
probe-serving-ended = the server ended before it answered ({ $status }): { $said }
probe-serving-silent = no answer from http://{ $to } within { $seconds } s: does the command listen at {"{"}port{"}"}?
probe-serving-no-log = it wrote nothing

# Recordings
probe-replay-form = it lists no exchanges: an object or a list of exchanges is expected
probe-replay-too-many = it lists more exchanges than a recording can have
probe-replay-empty = it lists no exchange with a request and a status
