//! Checks whether all places that name a code object's target agree with e_flags, which the loader uses.

use crate::code_object::CodeObject;
use crate::target::TargetId;
use gpu::processor_in;
use std::fmt;

/// Fields other than e_flags that name a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetPlace {
    /// The id in the bundle, which the runtime uses to select an entry.
    BundleId,
    /// The target in the metadata.
    Metadata,
    /// The target in the file name, which no loader uses.
    FileName,
}

impl fmt::Display for TargetPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TargetPlace::BundleId => "bundle id",
            TargetPlace::Metadata => "amdhsa.target",
            TargetPlace::FileName => "file name",
        })
    }
}

/// A place that names a different target than e_flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    pub place: TargetPlace,
    pub says: String,
    /// The target from e_flags.
    pub flags: TargetId,
}

/// Compares the bundle id's target, `amdhsa.target` and the processor in a file name with e_flags.
pub fn contradictions(object: &CodeObject<'_>, id: Option<&TargetId>, file: Option<&str>) -> Vec<Contradiction> {
    let Some(flags) = &object.target else { return Vec::new() };
    let mut found = Vec::new();
    let mut note = |place, says: String| found.push(Contradiction { place, says, flags: flags.clone() });
    if let Some(id) = id.filter(|id| differs(id, flags, object.version)) {
        note(TargetPlace::BundleId, id.to_string());
    }
    if let Some(stated) = &object.stated_target
        && TargetId::from_triple(stated).is_none_or(|target| differs(&target, flags, object.version))
    {
        note(TargetPlace::Metadata, stated.clone());
    }
    if let Some(named) = file.and_then(processor_in)
        && named != flags.processor
    {
        note(TargetPlace::FileName, named.to_owned());
    }
    found
}

/// Before V4, e_flags do not distinguish a feature that is off from one that may have either value.
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
