why-no-server = no server found on this machine. Specify one with `whichkernel why URL`, or a model file with `whichkernel why --model FILE --gpu CARD`
why-several = several servers are running here; specify one: { $list }
why-no-process = no server with the process ID { $pid } is running here
why-typed = { $given } is not an address. Try: { $command }
why-no-name = no running server has the name { $name }
why-no-answer = { $url } does not answer: { $why }
why-needs-gpu = { $path } needs a card: whichkernel why --model { WORD($path) } --gpu rx-9070-xt
why-gpu-needs-model = --gpu needs --model FILE
why-no-such-fix = there is no fix { $n }; fixes in this answer: { $count }. To list them: whichkernel why
why-fix-no-change = fix { $n } cannot be applied to a process automatically: run its command yourself
why-fix-command = the command line of process { $pid } is not readable: nothing was changed
why-fix-busy = a request is running on process { $pid }; nothing was changed. Try again when it is idle
why-fix-no-stop = process { $pid } did not stop within { $seconds } s; nothing was changed
why-fix-remote = { $url } is not on this machine: nothing was changed
why-fix-user = process { $pid } belongs to { $user }; nothing was changed. Run the same command as that user: prefix it with sudo -u { $user }
why-undo-none = no fix { $n } is active: `whichkernel why --fix 1 --measure --yes` keeps a fix if it is faster
why-undo-gone = process { $pid }, which fix { $n } started, has ended: there is nothing to undo
why-yes-needs-fix = --yes runs the plan of --fix N --measure or --undo N: specify one of them
why-fix-service-root = only root may restart the service { $unit }; nothing was changed. Run the same command with sudo
why-fix-service-process = process { $pid } is not the main process of the service { $unit } (systemd names { $main }); nothing was changed
why-fix-service-transient = the service { $unit } has no unit file (it was started by systemd-run), so it cannot be changed permanently; nothing was changed
why-fix-service-left = { $path } exists: another measurement of { $unit } is running or was killed; nothing was changed. If no measurement is running, remove the file, run systemctl daemon-reload and restart the service
why-fix-service-home = neither HOME nor XDG_CONFIG_HOME is set, so the directory of your services is unknown; nothing was changed
why-fix-service-words = the command line of { $unit } contains characters that a unit file cannot contain; nothing was changed
why-fix-service-prefix = ExecStart= of { $unit } has a special prefix, which a changed command line would lose; nothing was changed
why-fix-service-file = { $path } differs from the file that an earlier fix wrote; nothing was changed. Review it, then remove or rename it
why-fix-service-overruled = { $unit } started without the new setting: another file of the service, such as an EnvironmentFile=, overrides it
why-undo-changed = { $path } has changed since fix { $n } wrote it, so it was not removed. Compare the files yourself: systemctl cat { WORD($unit) }
