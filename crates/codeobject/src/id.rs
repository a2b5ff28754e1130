//! Entry ids of offload bundles: `<kind>-<triple>[-<target id>]`.

use crate::target::TargetId;

/// The kind of the entry for the host, which is not device code.
pub const HOST: &str = "host";

/// An id such as `hipv4-amdgcn-amd-amdhsa--gfx1201`, split into its parts. An unknown id keeps its text and has no
/// target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryId {
    /// The id as written in the bundle.
    pub text: String,
    /// The text before the first dash: `host`, `hip`, `hipv4`, `hcc`, `openmp` or another one.
    pub kind: String,
    pub target: Option<TargetId>,
}

impl EntryId {
    pub fn parse(text: &str) -> Self {
        let (kind, triple) = text.split_once('-').unwrap_or((text, ""));
        let target = if kind == HOST { None } else { device_target(triple) };
        EntryId { text: text.to_owned(), kind: kind.to_owned(), target }
    }

    pub fn is_host(&self) -> bool {
        self.kind == HOST
    }
}

/// A triple has four fields, of which the last may be empty or missing. Target ids contain dashes themselves
/// (`gfx12-generic`), so only the architecture, vendor and system are split at dashes.
fn device_target(triple: &str) -> Option<TargetId> {
    let mut rest = triple;
    for _ in 0..3 {
        rest = rest.split_once('-')?.1;
    }
    // The rest is `<env>-<target>`, `-<target>` (env empty) or `<target>` (no env field).
    TargetId::from_triple(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_gives_kind_and_target() {
        let say = |text: &str| {
            let id = EntryId::parse(text);
            (id.kind.clone(), id.target.map(|target| target.to_string()))
        };
        let some = |kind: &str, target: &str| (kind.to_owned(), Some(target.to_owned()));
        assert_eq!(say("hipv4-amdgcn-amd-amdhsa--gfx1201"), some("hipv4", "gfx1201"));
        assert_eq!(say("hip-amdgcn-amd-amdhsa-gfx906"), some("hip", "gfx906"));
        assert_eq!(say("hipv4-amdgcn-amd-amdhsa--gfx12-generic"), some("hipv4", "gfx12-generic"));
        assert_eq!(say("hip-amdgcn-amd-amdhsa-unknown-gfx90a:xnack-"), some("hip", "gfx90a:xnack-"));
        assert_eq!(say("hcc-amdgcn-amd-amdhsa--gfx803"), some("hcc", "gfx803"));
        assert_eq!(say("openmp-amdgcn-amd-amdhsa--gfx90a"), some("openmp", "gfx90a"));
        assert_eq!(say("hipv4-spirv64-amd-amdhsa--amdgcnspirv"), some("hipv4", "amdgcnspirv"));
        assert_eq!(say("host-x86_64-unknown-linux-gnu-"), ("host".into(), None));
        assert_eq!(say("host-x86_64-unknown-linux--"), ("host".into(), None));
        assert_eq!(say(""), (String::new(), None));
    }
}
