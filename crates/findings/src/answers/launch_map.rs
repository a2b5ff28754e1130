//! Which host handle denotes which kernel.

use answer::Answer;
use codeobject::launch_map::{Kind, LaunchMap, Registration, Vendor};
use evidence::{Basis, Blind, Conclusion, LeftOutWhy, Rung, Unit};
use say::Say as _;
use schemars::JsonSchema;
use serde::Serialize;

/// Every kernel that a file's constructors register, by host handle.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LaunchMapAnswer {
    pub file: String,
    pub size: u64,
    /// The target whose code objects were examined; null if none was requested.
    pub target: Option<String>,
    pub launch_map: Vec<MapRow>,
    pub wrappers: Vec<WrapperRow>,
    pub completeness: Completeness,
    /// Whether the map contains everything that the constructors register.
    pub conclusion: Conclusion,
    /// Kernels of the target's code objects that no constructor registers; null if no target was requested.
    pub unregistered: Option<Vec<Unregistered>>,
}

impl Answer for LaunchMapAnswer {
    const SCHEMA: &'static str = "whichkernel.inspect-launch-map/1";
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct MapRow {
    /// The address at load bias 0.
    handle: u64,
    mangled: String,
    bundle: Option<usize>,
    name: String,
    wrapper: u64,
    kind: &'static str,
    /// Whether this registration is effective, if a handle is registered twice.
    winner: bool,
    exported: bool,
    constructor: usize,
    site: u64,
    vendor: &'static str,
    /// live, stub or absent in the target's code object.
    in_target: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WrapperRow {
    address: u64,
    image: u64,
    version: u32,
    vendor: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Completeness {
    complete: bool,
    constructors: usize,
    registering_constructors: usize,
    calls: usize,
    calls_read: usize,
    unresolved: Vec<Unresolved>,
    wrappers_without_kernels: Vec<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Unresolved {
    site: u64,
    why: String,
}

/// The number of the bundle, and the kernel.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Unregistered(pub usize, pub String);

impl MapRow {
    pub fn new(
        registration: &Registration,
        name: &str,
        (bundle, wrapper, made_by): (Option<usize>, u64, Vendor),
        in_target: Option<&'static str>,
    ) -> Self {
        MapRow {
            handle: registration.handle,
            mangled: registration.name.clone(),
            bundle,
            name: name.to_owned(),
            wrapper,
            kind: kind(registration.kind),
            winner: registration.wins,
            exported: registration.exported,
            constructor: registration.constructor,
            site: registration.site,
            vendor: vendor(made_by),
            in_target,
        }
    }
}

pub fn wrappers(map: &LaunchMap) -> Vec<WrapperRow> {
    let row = |w: &codeobject::launch_map::Wrapper| WrapperRow {
        address: w.address,
        image: w.image,
        version: w.version,
        vendor: vendor(w.vendor),
    };
    map.wrappers.iter().map(row).collect()
}

pub fn completeness(map: &LaunchMap) -> Completeness {
    let c = &map.completeness;
    Completeness {
        complete: c.is_complete(),
        constructors: c.constructors,
        registering_constructors: c.registering,
        calls: c.sites,
        calls_read: c.sites_decoded,
        unresolved: c
            .unresolved
            .iter()
            .map(|u| Unresolved { site: u.site, why: u.why.message().to_string() })
            .collect(),
        wrappers_without_kernels: c.wrappers_unregistered.clone(),
    }
}

/// Whether the map contains everything that the constructors register. Every call of a registration function was
/// examined.
pub fn conclusion(file: &str, map: &LaunchMap) -> Conclusion {
    let c = &map.completeness;
    let mut basis = match c.sites {
        // A file without any registration call was still read in full.
        0 => Basis::live("launch-map", [file], Rung::Shipped, Unit::Calls, 0),
        sites => Basis::new("launch-map", [file], Rung::Shipped, Unit::Calls, sites as u64, c.sites_decoded as u64),
    };
    for unresolved in &c.unresolved {
        let what = format!("{:#x}: {}", unresolved.site, unresolved.why.message());
        basis = basis.without(what, Some(1), LeftOutWhy::Unreadable);
    }
    // The map does not contain kernels that a library registers outside its constructors.
    basis.cannot_see(Blind::LateRegistrations.spot()).completeness()
}

/// The name in tables and data.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Kernel => "kernel",
        Kind::Variable => "variable",
        Kind::ManagedVariable => "managed-variable",
        Kind::Texture => "texture",
        Kind::Surface => "surface",
    }
}

/// The vendor's name in tables and data.
pub fn vendor(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Amd => "amd",
        Vendor::Nvidia => "nvidia",
    }
}
