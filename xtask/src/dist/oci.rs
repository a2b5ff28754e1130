//! The container image as an OCI archive (<https://github.com/opencontainers/image-spec/blob/main/image-layout.md>):
//! only the program and the C library of the machine that built it.

use super::compress::{Effort, gzip};
use super::contents::{Contents, Entry};
use super::release::{Release, output};
use super::{Package, sha256, tarball};
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// `nobody`: the program needs no rights in a container.
const USER: &str = "65534:65534";

pub fn package(release: &Release, contents: &Contents, binary: &Path, effort: Effort) -> anyhow::Result<Package> {
    let mut entries = contents.installed("usr/share/zsh/site-functions", "usr/share/doc/whichkernel")?;
    entries.extend(libraries(binary)?);
    entries.push(Entry::new("etc/passwd", "root:x:0:0:root:/:/\nnobody:x:65534:65534:nobody:/tmp:/\n"));
    entries.push(Entry::new("etc/group", "root:x:0:\nnogroup:x:65534:\n"));
    entries.push(Entry { path: "tmp/".into(), mode: 0o1777, bytes: Vec::new() });
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    let layer = tarball::archive(&entries, "", release.epoch)?;
    let packed = gzip(&layer, effort)?;
    let mut labels = json!({
        "org.opencontainers.image.title": release.name,
        "org.opencontainers.image.version": release.version,
        "org.opencontainers.image.revision": release.commit,
        "org.opencontainers.image.licenses": release.licence,
    });
    if !release.repository.is_empty() {
        labels["org.opencontainers.image.source"] = json!(release.repository);
    }
    let config = serde_json::to_vec(&json!({
        "created": release.time(),
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": USER,
            "Env": ["PATH=/usr/bin", "HOME=/tmp"],
            "Entrypoint": ["/usr/bin/whichkernel"],
            "WorkingDir": "/",
            "Labels": labels,
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", sha256(&layer))] },
        "history": [{ "created": release.time(), "created_by": "cargo xtask dist" }],
    }))?;
    const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
    let manifest = serde_json::to_vec(&json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": descriptor("application/vnd.oci.image.config.v1+json", &config),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", &packed)],
    }))?;
    let mut named = descriptor(MANIFEST, &manifest);
    named["annotations"] = json!({ "org.opencontainers.image.ref.name": release.version });
    let index =
        json!({ "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [named] });
    let mut files = vec![
        Entry::new("oci-layout", serde_json::to_vec(&json!({ "imageLayoutVersion": "1.0.0" }))?),
        Entry::new("index.json", serde_json::to_vec(&index)?),
    ];
    files.extend([config, manifest, packed].map(|blob| Entry::new(format!("blobs/sha256/{}", sha256(&blob)), blob)));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let bytes = tarball::archive(&files, "", release.epoch)?;
    Ok(Package { name: format!("{}-{}-oci-amd64.tar", release.name, release.version), bytes })
}

fn descriptor(kind: &str, blob: &[u8]) -> Value {
    json!({ "mediaType": kind, "digest": format!("sha256:{}", sha256(blob)), "size": blob.len() })
}

/// The program's libraries at the paths that its loader searches, with the licences of their Debian packages.
fn libraries(binary: &Path) -> anyhow::Result<Vec<Entry>> {
    let listed = output("ldd", &[&fs::canonicalize(binary)?.display().to_string()])?;
    let mut entries = Vec::new();
    let mut owners = BTreeSet::new();
    for path in listed.split_whitespace().filter(|word| word.starts_with('/')) {
        let real = fs::canonicalize(path)?.display().to_string();
        let owner =
            output("dpkg", &["-S", &real]).or_else(|_| output("dpkg", &["-S", real.trim_start_matches("/usr")]));
        let owner = owner.context("an image is made on Debian, whose C library it contains with its licence")?;
        owners.insert(owner.split([':', ',']).next().unwrap_or_default().to_owned());
        entries.push(Entry::program(path.trim_start_matches('/'), &fs::read(path)?));
    }
    ensure!(entries.len() >= 2, "ldd names no library of {}: {listed}", binary.display());
    for owner in owners {
        let version = output("dpkg-query", &["-W", "-f=${source:Package} ${source:Version}", &owner])?;
        let terms = fs::read_to_string(format!("/usr/share/doc/{owner}/copyright"))?;
        let text = format!("From the source package {version} of Debian\n\n{terms}");
        entries.push(Entry::new(format!("usr/share/doc/{owner}/copyright"), text));
    }
    Ok(entries)
}
