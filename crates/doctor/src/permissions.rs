//! The permissions of this process: its user, its capabilities, and the system settings that block observers.

use crate::host::{Host, Look};
use schemars::JsonSchema;
use serde::Serialize;

/// The names in capability.h, in the order of the bits.
const CAPABILITIES: [&str; 41] = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Permissions {
    pub uid: Option<u32>,
    pub capabilities: Vec<&'static str>,
    /// Absent if the kernel has no Yama. Then the ordinary rule (same user) applies.
    pub ptrace_scope: Look<i64>,
    pub perf_event_paranoid: Look<i64>,
    pub unprivileged_bpf_disabled: Look<i64>,
    /// `none`, `integrity` or `confidentiality`; absent if the kernel has no lockdown.
    pub lockdown: Look<String>,
    pub max_user_namespaces: Look<i64>,
    /// Debian's switch; absent elsewhere.
    pub unprivileged_userns_clone: Look<i64>,
    /// Ubuntu's switch (23.10 and later); absent elsewhere.
    pub apparmor_restrict_unprivileged_userns: Look<i64>,
    pub seccomp: bool,
}

impl Permissions {
    pub fn read(host: &Host) -> Permissions {
        let status = host.text("/proc/self/status").found().cloned().unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let effective = field("CapEff:").and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
        Permissions {
            // The fields are real, effective, saved and filesystem id. The effective id decides.
            uid: field("Uid:").and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok()),
            capabilities: names(effective),
            ptrace_scope: host.number("/proc/sys/kernel/yama/ptrace_scope"),
            perf_event_paranoid: host.number("/proc/sys/kernel/perf_event_paranoid"),
            unprivileged_bpf_disabled: host.number("/proc/sys/kernel/unprivileged_bpf_disabled"),
            lockdown: host.line("/sys/kernel/security/lockdown").map(|line| chosen(&line)),
            max_user_namespaces: host.number("/proc/sys/user/max_user_namespaces"),
            unprivileged_userns_clone: host.number("/proc/sys/kernel/unprivileged_userns_clone"),
            apparmor_restrict_unprivileged_userns: host
                .number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            seccomp: field("Seccomp:").is_some_and(|mode| mode != "0"),
        }
    }

    pub fn has(&self, capability: &str) -> bool {
        self.capabilities.contains(&capability)
    }

    pub fn root(&self) -> bool {
        self.uid == Some(0)
    }

    pub fn locked_down(&self) -> Option<&str> {
        self.lockdown.found().map(String::as_str).filter(|mode| *mode != "none")
    }
}

fn names(bits: u64) -> Vec<&'static str> {
    CAPABILITIES.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, name)| *name).collect()
}

/// The chosen word of `none [integrity] confidentiality`: `integrity`.
fn chosen(line: &str) -> String {
    line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(line, |(word, _)| word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_have_their_names() {
        assert_eq!(names(1 << 21 | 1 << 38 | 1 << 39), ["sys_admin", "perfmon", "bpf"]);
        assert!(names(0).is_empty());
    }

    #[test]
    fn the_bracketed_word_is_in_force() {
        assert_eq!(chosen("none [integrity] confidentiality"), "integrity");
    }

    #[test]
    fn this_process_has_a_user() {
        assert!(Permissions::read(&Host::this()).uid.is_some());
    }
}
