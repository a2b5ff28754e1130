//! The registrations that constructors make with the GPU runtime: fat binary wrappers, kernels, device variables.

use std::collections::HashMap;

use super::image::Image;

/// `CudaFatMagic` and `HIPFatMagic` of clang's CGCUDANV.cpp; nvcc writes the same CUDA value.
const CUDA_MAGIC: u32 = 0x4662_43b1;
const HIP_MAGIC: u32 = 0x4849_5046;
/// Marks a wrapper that points to a reference, because the bundle is in a kpack archive.
const KPACK_MAGIC: u32 = 0x4b50_4948;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vendor {
    Amd,
    Nvidia,
}

/// The 24-byte record that `__hipRegisterFatBinary` / `__cudaRegisterFatBinary` takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrapper {
    pub vendor: Vendor,
    /// Address of the wrapper.
    pub address: u64,
    pub version: u32,
    /// The address of the bundle or fatbin container that the wrapper points to.
    pub image: u64,
    /// The number of its code in the kpack archives, if it was moved out of the file.
    pub packed: Option<u32>,
}

impl Wrapper {
    pub(super) fn at(image: &Image<'_>, address: u64) -> Option<Self> {
        let word = image.read_u64(address)?;
        let (magic, version) = (word as u32, (word >> 32) as u32);
        let vendor = match magic {
            HIP_MAGIC | KPACK_MAGIC => Vendor::Amd,
            CUDA_MAGIC => Vendor::Nvidia,
            _ => return None,
        };
        let packed = if magic == KPACK_MAGIC { Some(image.read_u64(address.checked_add(16)?)? as u32) } else { None };
        Some(Self { vendor, address, version, image: image.read_u64(address.checked_add(8)?)?, packed })
    }

    /// Every wrapper in the compiler's wrapper section, registered or not.
    pub(super) fn all(image: &Image<'_>) -> Vec<Self> {
        let mut found = Vec::new();
        for section in [".hipFatBinSegment", ".nvFatBinSegment"] {
            if let Some((start, size)) = image.section(section) {
                let records = (size / 24).min(1 << 20);
                found.extend((0..records).filter_map(|i| Self::at(image, start.checked_add(i * 24)?)));
            }
        }
        found
    }
}

/// The kind of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Kernel,
    Variable,
    ManagedVariable,
    Texture,
    Surface,
}

/// One call of a registration function, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    pub kind: Kind,
    /// The address of the host handle at load bias 0. A launch passes this address plus the load bias.
    pub handle: u64,
    /// The device symbol, mangled.
    pub name: String,
    /// Index into [`LaunchMap::wrappers`](super::LaunchMap::wrappers).
    pub wrapper: usize,
    /// The constructor's position in the constructor list.
    pub constructor: usize,
    /// The address of the call.
    pub site: u64,
    /// Whether this registration takes effect: the runtime keeps the first one for a handle and ignores later ones.
    pub wins: bool,
    /// Whether a dynamic symbol defines the handle. A library loaded earlier that defines the same symbol replaces it.
    pub exported: bool,
}

/// The registration functions of both runtimes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Callee {
    FatBinary,
    Entity(Kind),
    /// A function that does not return, so that the path ends.
    NoReturn,
}

impl Callee {
    pub(super) fn named(name: &str) -> Option<Self> {
        let plain = name.split('@').next().unwrap_or(name);
        if let Some(rest) = plain.strip_prefix("__hipRegister").or_else(|| plain.strip_prefix("__cudaRegister")) {
            return Some(match rest {
                "FatBinary" => Self::FatBinary,
                "Function" => Self::Entity(Kind::Kernel),
                "Var" => Self::Entity(Kind::Variable),
                "ManagedVar" => Self::Entity(Kind::ManagedVariable),
                "Texture" => Self::Entity(Kind::Texture),
                "Surface" => Self::Entity(Kind::Surface),
                _ => return None,
            });
        }
        let ends =
            ["abort", "__stack_chk_fail", "_Unwind_Resume", "__cxa_throw", "__assert_fail", "_ZSt9terminatev", "exit"];
        let throws = plain.starts_with("_ZSt") && plain.contains("__throw_");
        (ends.contains(&plain) || throws).then_some(Self::NoReturn)
    }

    /// Names whose call sites are counted.
    pub(super) const COUNTED: [&str; 2] = ["__hipRegisterFunction", "__cudaRegisterFunction"];
}

/// Marks the first registration of every handle as the one that takes effect.
pub(super) fn settle(registrations: &mut [Registration]) {
    let mut first: HashMap<(Kind, u64), usize> = HashMap::new();
    for (i, registration) in registrations.iter_mut().enumerate() {
        registration.wins = *first.entry((registration.kind, registration.handle)).or_insert(i) == i;
    }
}
