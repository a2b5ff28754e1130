# agent: the metrics of a whole machine

agent-taken = another agent runs on this machine; two would place every probe twice. Stop it first (systemctl stop whichkernel-agent)
agent-listen = { $address }: { $source }. Choose another address with --listen
agent-refused = launches cannot be counted: { $why }
agent-listening = Metrics: { $url }
agent-cloned = This machine's id was copied from other hardware: metrics of both machines would mix. Remove /etc/machine-id, run systemd-machine-id-setup and reboot. If the hardware was replaced on purpose, remove { $state }/machine.json
agent-identity-unknown = The machine's id or its hardware's could not be read: a cloned image would not be noticed
agent-state = { $state }: { $error }. A cloned image will not be noticed
agent-failed = Launches are not counted at the moment: { $error }. The agent tries again in 10 s
agent-status = { COUNT($launches, "launch", "launches") } counted, { $lost } lost, { COUNT($processes, "process", "processes") } with a GPU runtime, { COUNT($gaps, "gap", "gaps") }; every launch looked at { $share } % of the time; agent: { $cpu } % of a core, { $memory } MB
agent-not-loopback = { $address } can be reached from other machines, and the metrics have no password. Add --anywhere if that is intended
agent-budget = --cpu must be between 0.1 and 100 percent of one core
