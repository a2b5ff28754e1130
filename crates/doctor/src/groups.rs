//! The groups that own a GPU's device files, and their members (`/etc/group`).

use crate::host::Host;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Group {
    pub name: String,
    pub members: Vec<String>,
}

pub fn read(host: &Host) -> Vec<Group> {
    let text = host.text("/etc/group").found().cloned().unwrap_or_default();
    let group = |line: &str| {
        let fields: Vec<&str> = line.split(':').collect();
        let (name, members) = (*fields.first()?, fields.get(3)?);
        let members =
            members.split(',').map(str::trim).filter(|member| !member.is_empty()).map(str::to_owned).collect();
        matches!(name, "render" | "video").then(|| Group { name: name.to_owned(), members })
    };
    text.lines().filter_map(group).collect()
}
