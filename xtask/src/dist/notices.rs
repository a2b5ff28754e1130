//! THIRD-PARTY.txt: the owners of the code in the program, and every licence text once.

use super::third_party::Component;
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub fn text(components: &[Component]) -> anyhow::Result<String> {
    let mut users: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut out = String::from(
        "whichkernel is compiled together with these libraries and Rust's standard library (MIT OR Apache-2.0).\n\
         Their licence texts follow the list; a text that several libraries share is printed once.\n\n",
    );
    for component in components {
        writeln!(out, "{} {} ({}) {}", component.name, component.version, component.licence, component.repository)?;
        for (file, text) in &component.texts {
            users.entry(text.trim()).or_default().push(format!("{} {} {file}", component.name, component.version));
        }
    }
    let mut texts: Vec<(&str, Vec<String>)> = users.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1));
    for (text, users) in texts {
        writeln!(out, "\n{}\n{}\n\n{text}", "=".repeat(100), users.join("\n"))?;
    }
    Ok(out)
}
