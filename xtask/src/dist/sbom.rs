//! The list of components as CycloneDX JSON (<https://cyclonedx.org/docs/1.6/json/>).

use super::release::Release;
use super::sha256;
use super::third_party::Component;
use serde_json::{Value, json};

pub fn document(release: &Release, components: &[Component], binary: &[u8]) -> anyhow::Result<Vec<u8>> {
    let own = format!("pkg:cargo/{}@{}", release.name, release.version);
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": release.time(),
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": release.name,
                "version": release.version,
                "description": release.summary,
                "licenses": [{ "expression": release.licence }],
                "purl": own,
                "hashes": [{ "alg": "SHA-256", "content": sha256(binary) }],
                "properties": [
                    { "name": "commit", "value": release.commit },
                    { "name": "target", "value": release.target },
                ],
            },
        },
        "components": components.iter().map(component).collect::<Vec<_>>(),
        "dependencies": [{ "ref": own, "dependsOn": components.iter().map(reference).collect::<Vec<_>>() }],
    });
    let mut bytes = serde_json::to_vec_pretty(&document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn reference(component: &Component) -> String {
    // A plus sign in a version is encoded in a package URL.
    format!("pkg:cargo/{}@{}", component.name, component.version.replace('+', "%2B"))
}

fn component(component: &Component) -> Value {
    let purl = reference(component);
    let mut value = json!({
        "type": "library",
        "bom-ref": purl,
        "name": component.name,
        "version": component.version,
        "licenses": [{ "expression": component.licence }],
        "purl": purl,
    });
    if let Some(sum) = &component.sha256 {
        value["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    if !component.repository.is_empty() {
        value["externalReferences"] = json!([{ "type": "vcs", "url": component.repository }]);
    }
    value
}
