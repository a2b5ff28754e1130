//! Vulkan on this host: the loader, the drivers and layers that its manifests name.
//!
//! The loader looks for manifests in these directories (LoaderDriverInterface.md, LoaderLayerInterface.md of
//! Vulkan-Loader). VK_DRIVER_FILES and VK_ICD_FILENAMES replace them.

use crate::host::Host;
use schemars::JsonSchema;
use serde::Serialize;

const PLACES: [&str; 4] = ["/etc/vulkan", "/usr/local/etc/vulkan", "/usr/local/share/vulkan", "/usr/share/vulkan"];
const LIBRARIES: [&str; 7] = [
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/lib/x86_64-linux-gnu",
    "/lib64",
];

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Vulkan {
    /// The path of the loader, libvulkan.so.1.
    pub loader: Option<String>,
    pub drivers: Vec<Driver>,
    /// Layers that are loaded into every program, by the names in their manifests.
    pub implicit_layers: Vec<String>,
    /// The device files through which a driver reaches its card.
    pub render_nodes: Vec<RenderNode>,
}

/// `/dev/dri/renderD128`: whether we could open it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RenderNode {
    pub path: String,
    pub opens: bool,
    pub error: Option<String>,
}

impl RenderNode {
    fn read(host: &Host, path: String) -> RenderNode {
        let opened = host.opens(&path);
        RenderNode { path, opens: opened.is_ok(), error: opened.err().map(|error| error.to_string()) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Driver {
    pub manifest: String,
    /// The library's path as written in the manifest.
    pub library: String,
    /// The Vulkan version that the driver supports: `1.4.305`.
    pub api: Option<String>,
    /// Whether the driver's library was found.
    pub there: bool,
}

impl Driver {
    /// Whether the driver is lavapipe, which computes on the CPU.
    pub fn is_processor(&self) -> bool {
        self.library.contains("libvulkan_lvp")
    }

    pub fn is_radv(&self) -> bool {
        self.library.contains("libvulkan_radeon")
    }
}

impl Vulkan {
    pub fn read(host: &Host) -> Vulkan {
        let loader = LIBRARIES.iter().map(|dir| format!("{dir}/libvulkan.so.1")).find(|path| host.exists(path));
        let mut vulkan = Vulkan { loader, ..Vulkan::default() };
        for place in PLACES {
            for (manifest, text) in manifests(host, &format!("{place}/icd.d")) {
                let Some(library) = text["ICD"]["library_path"].as_str() else { continue };
                let api = text["ICD"]["api_version"].as_str().map(str::to_owned);
                let there = is_there(host, &manifest, library);
                vulkan.drivers.push(Driver { manifest, library: library.to_owned(), api, there });
            }
            for (_, text) in manifests(host, &format!("{place}/implicit_layer.d")) {
                let one = text["layer"]["name"].as_str().into_iter();
                let many = text["layers"].as_array().into_iter().flatten().filter_map(|layer| layer["name"].as_str());
                vulkan.implicit_layers.extend(one.chain(many).map(str::to_owned));
            }
        }
        let nodes = host.entries("/dev/dri");
        let nodes = nodes.iter().filter(|name| name.starts_with("renderD")).map(|name| format!("/dev/dri/{name}"));
        vulkan.render_nodes = nodes.map(|path| RenderNode::read(host, path)).collect();
        vulkan.implicit_layers.sort();
        vulkan.implicit_layers.dedup();
        vulkan
    }
}

fn manifests(host: &Host, directory: &str) -> Vec<(String, serde_json::Value)> {
    let names = host.entries(directory).into_iter().filter(|name| name.ends_with(".json"));
    let paths = names.map(|name| format!("{directory}/{name}"));
    paths
        .filter_map(|path| {
            let text = host.text(&path).found().cloned()?;
            Some((path, serde_json::from_str(&text).ok()?))
        })
        .collect()
}

/// Whether a manifest's library exists. A path is relative to the manifest; a bare name is searched for like any
/// library.
fn is_there(host: &Host, manifest: &str, library: &str) -> bool {
    match library {
        _ if library.starts_with('/') => host.exists(library),
        _ if library.contains('/') => {
            let directory = manifest.rsplit_once('/').map_or("", |(directory, _)| directory);
            host.exists(format!("{directory}/{library}"))
        }
        _ => LIBRARIES.iter().any(|dir| host.exists(format!("{dir}/{library}"))),
    }
}
