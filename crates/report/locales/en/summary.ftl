# No verb: one sentence
summary-sentence = { $gpu }, { $server }, { $path }. Next: { $next }
summary-gpu = { $gpus } is here
summary-no-gpu = No GPU is here
summary-server = { $server } { $version } at { $url } has { $models } loaded
summary-server-idle = { $server } { $version } at { $url } has no model loaded
summary-server-silent = { $server } (pid { $pid }) runs but does not answer
summary-server-unasked = { $server } (pid { $pid }) runs, and where it listens cannot be seen without permission
summary-no-server = no server runs
summary-path = and the ledger says { $path } for { $about } ({ $subject }: { $rung }, { $grade }; nothing was seen to run)
summary-path-live = and the ledger says { $path } for { $about } ({ $subject }: { $rung }, { $grade })
summary-no-path = and which path a matrix multiplication takes is not in the ledger yet
summary-ledger-broken = and the ledger cannot be read (`whichkernel ledger verify` says why)
