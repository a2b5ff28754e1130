//! The kernel's tracing facilities: tracefs, the uprobe PMU, BTF, and leftover probes of ours.

use crate::host::{Host, Look};
use schemars::JsonSchema;
use serde::Serialize;
pub use uprobe::PROBE_GROUP as GROUP;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tracing {
    /// The directory on which tracefs is mounted, if any.
    pub tracefs: Option<String>,
    /// Whether the mount table could be read. A file tree may have none.
    pub mounts_seen: bool,
    /// Whether `uprobe_events` could be opened for reading and for appending. The trial writes nothing.
    pub readable: bool,
    pub writable: bool,
    /// The perf type number of the uprobe PMU.
    pub uprobe_pmu: Look<i64>,
    pub btf: bool,
    /// Our own probes that are still in `uprobe_events`.
    pub leftovers: Vec<String>,
}

impl Tracing {
    pub fn read(host: &Host) -> Tracing {
        let tracefs = mount_point(host);
        let events = tracefs.as_ref().map(|dir| format!("{dir}/uprobe_events"));
        let text = events.as_ref().and_then(|path| host.text(path).found().cloned());
        let append = |path: &String| host.opens(path).is_ok();
        Tracing {
            readable: text.is_some(),
            writable: events.as_ref().is_some_and(append),
            uprobe_pmu: host.number("/sys/bus/event_source/devices/uprobe/type"),
            btf: host.exists("/sys/kernel/btf/vmlinux"),
            leftovers: text.as_deref().map(leftovers).unwrap_or_default(),
            tracefs,
            mounts_seen: host.exists("/proc/self/mounts"),
        }
    }
}

/// Reads the mount table, because the directory `/sys/kernel/tracing` exists even if nothing is mounted there.
fn mount_point(host: &Host) -> Option<String> {
    let mounts = host.text("/proc/self/mounts").found().cloned()?;
    mounts.lines().find_map(|line| {
        let mut fields = line.split(' ');
        let (_, dir, kind) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "tracefs").then(|| dir.to_owned())
    })
}

/// Lines look like `p:group/name path:offset args` (Documentation/trace/uprobetracer.rst).
fn leftovers(events: &str) -> Vec<String> {
    let ours = |line: &&str| {
        let name = line.split(' ').next().unwrap_or_default();
        name.split_once(':')
            .is_some_and(|(_, event)| event.split('/').next().is_some_and(|group| group.starts_with(GROUP)))
    };
    events.lines().filter(ours).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_probes_are_leftovers() {
        let events = "p:whichkernel/launch /usr/lib/libamdhip64.so.6:0x1000 arg1=%di\nr:other/x /bin/cat:0x10\n";
        assert_eq!(leftovers(events), ["p:whichkernel/launch /usr/lib/libamdhip64.so.6:0x1000 arg1=%di"]);
    }
}
