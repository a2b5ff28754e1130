//! Does everything that names a code object's target agree? e_flags are what the loader believes.

use crate::code_object::CodeObject;
use crate::target::TargetId;

/// A place that names another target than e_flags do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// "bundle id", "amdhsa.target" or "file name".
    pub place: &'static str,
    pub says: String,
    /// The target by e_flags.
    pub flags: TargetId,
}

/// Holds the bundle id's target, `amdhsa.target` and the processor in a file name against e_flags.
pub fn contradictions(object: &CodeObject<'_>, id: Option<&TargetId>, file: Option<&str>) -> Vec<Contradiction> {
    let Some(flags) = &object.target else { return Vec::new() };
    let mut found = Vec::new();
    let mut note = |place, says: String| found.push(Contradiction { place, says, flags: flags.clone() });
    if let Some(id) = id.filter(|id| differs(id, flags, object.version)) {
        note("bundle id", id.to_string());
    }
    if let Some(stated) = &object.stated_target
        && TargetId::from_triple(stated).is_none_or(|target| differs(&target, flags, object.version))
    {
        note("amdhsa.target", stated.clone());
    }
    if let Some(named) = file.and_then(processor_in)
        && named != flags.processor
    {
        note("file name", named.to_owned());
    }
    found
}

/// Before V4 a feature that is off and one that may be either looked the same in e_flags.
fn differs(said: &TargetId, flags: &TargetId, version: u8) -> bool {
    if said.processor != flags.processor {
        return true;
    }
    ["sramecc", "xnack"].iter().any(|feature| match (said.feature(feature), flags.feature(feature)) {
        (said, flagged) if version >= 4 => said != flagged,
        (Some(said), flagged) => said != flagged.unwrap_or(false),
        (None, flagged) => flagged == Some(true),
    })
}

/// The last `gfx...` in a file name: `TensileLibrary_..._gfx90a.co`, `Kernels.so-000-gfx906-xnack-.hsaco`.
pub fn processor_in(file: &str) -> Option<&str> {
    let at = file.rfind("gfx")?;
    let rest = file.get(at..)?;
    let digits = rest.bytes().skip(3).take_while(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte)).count();
    let name = rest.get(..3 + digits)?;
    let generic = rest.find("-generic").filter(|&at| rest.get(..at).is_some_and(|g| !g.contains(['_', '.'])));
    match generic {
        Some(at) => rest.get(..at + "-generic".len()),
        None => (digits >= 3).then_some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::processor_in;

    #[test]
    fn file_names_give_their_processor() {
        assert_eq!(processor_in("TensileLibrary_Type_HH_gfx90a.co"), Some("gfx90a"));
        assert_eq!(processor_in("Kernels.so-000-gfx906-xnack-.hsaco"), Some("gfx906"));
        assert_eq!(processor_in("bundle_0096.gfx12-generic.hsaco"), Some("gfx12-generic"));
        assert_eq!(processor_in("fmha_bwd.co"), None);
        assert_eq!(processor_in("gfx.so"), None);
    }
}
