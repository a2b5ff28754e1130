//! Detects containers. In a container, the host's kernel settings apply, and its devices are missing unless they were
//! passed in.
//!
//! A single sign is not always proof: a virtual machine made from a Docker image still has `/.dockerenv`. So the signs
//! are listed, and a kind is named only if one of them cannot come from an image.

use crate::host::Host;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Container {
    /// `docker`, `podman`, `kubernetes`, `lxc`, ...; None if nothing shows that this is a container.
    pub kind: Option<String>,
    pub signs: Vec<String>,
}

impl Container {
    pub fn read(host: &Host) -> Container {
        let mut found = Container::default();
        let mut sign = |kind: Option<&str>, what: String| {
            found.signs.push(what);
            if let Some(kind) = kind
                && found.kind.is_none()
            {
                found.kind = Some(kind.to_owned());
            }
        };
        if host.exists("/run/.containerenv") {
            sign(Some("podman"), "/run/.containerenv".to_owned());
        }
        let cgroup = host.text("/proc/1/cgroup").found().cloned().unwrap_or_default();
        for (word, kind) in [
            ("kubepods", "kubernetes"),
            ("docker", "docker"),
            ("libpod", "podman"),
            ("lxc", "lxc"),
            ("containerd", "containerd"),
        ] {
            if cgroup.contains(word) {
                sign(Some(kind), format!("/proc/1/cgroup: {word}"));
                break;
            }
        }
        if let Some(environ) = host.bytes("/proc/1/environ").found()
            && let Some(value) = environ.split(|&byte| byte == 0).find_map(|pair| pair.strip_prefix(b"container="))
        {
            let value = String::from_utf8_lossy(value).into_owned();
            sign(Some(&value), format!("/proc/1/environ: container={value}"));
        }
        let overlay = root_is_overlay(host);
        if host.exists("/.dockerenv") {
            sign(overlay.then_some("docker"), "/.dockerenv".to_owned());
        }
        if overlay {
            sign(None, "/ is an overlay".to_owned());
        }
        found
    }
}

/// Fields of mountinfo: `id parent major:minor root mount-point options ... - type source options`.
fn root_is_overlay(host: &Host) -> bool {
    let mounts = host.text("/proc/self/mountinfo").found().cloned().unwrap_or_default();
    mounts.lines().any(|line| {
        let Some((left, right)) = line.split_once(" - ") else { return false };
        left.split(' ').nth(4) == Some("/") && right.split(' ').next() == Some("overlay")
    })
}
