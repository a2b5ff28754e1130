//! The machine around the program: the parts of /sys in which the kernel's amdgpu driver describes the cards. JAX
//! counts the nodes of KFD's topology there, and SMI libraries look for the cards in `class/drm`.
//!
//! The files are written before the run and mounted over the real ones inside the program's namespace. The layout follows
//! the kernel's drivers/gpu/drm/amd/amdkfd/kfd_topology.c and Documentation/gpu/amdgpu.

use crate::device::PCI_BUS;
use crate::error::{DryrunError, io_at};
use crate::hip_library;
use crate::sandbox::Enter;
use crate::session::Request;
use gpu::Profile;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use sys::files::{self, Access};
use sys::private_dir::SessionDir;

/// The cards are below `class/kfd` here, because the real `devices` stays.
const DEVICES: &str = "class/kfd/devices/pci0000:00";
const NODES: &str = "class/kfd/kfd/topology/nodes";
/// PCI's number of AMD.
const VENDOR: u32 = 0x1002;
const FIRST_RENDER: u32 = 128;

struct Tree<'a> {
    root: &'a Path,
}

impl Tree<'_> {
    fn file(&self, path: &str, text: impl std::fmt::Display) -> io::Result<()> {
        let path = self.root.join(path);
        self.directory(path.parent().unwrap_or(self.root))?;
        files::replace(&path, Access::Public, format!("{text}\n"))
    }

    fn directory(&self, path: &Path) -> io::Result<()> {
        let mut at = self.root.to_owned();
        for part in path.strip_prefix(self.root).unwrap_or(path).components() {
            at.push(part);
            if !at.is_dir() {
                files::create_dir(&at, Access::Public)?;
            }
        }
        Ok(())
    }

    fn link(&self, to: &str, at: &str) -> io::Result<()> {
        let at = self.root.join(at);
        self.directory(at.parent().unwrap_or(self.root))?;
        files::symlink(Path::new(to), &at)
    }

    /// The properties of a node, and its link to another.
    fn node(&self, number: u32, id: u32, name: &str, properties: &[(&str, u64)], peer: u32) -> io::Result<()> {
        let mut text = String::new();
        for (name, value) in properties {
            let _ = writeln!(text, "{name} {value}");
        }
        self.file(&format!("{NODES}/{number}/gpu_id"), id)?;
        self.file(&format!("{NODES}/{number}/name"), name)?;
        self.file(&format!("{NODES}/{number}/properties"), text.trim_end())?;
        // Type 2 is PCI Express.
        let link = format!(
            "type 2\nversion_major 0\nversion_minor 0\nnode_from {number}\nnode_to {peer}\nweight 20\nmin_latency 0\n\
             max_latency 0\nmin_bandwidth 0\nmax_bandwidth 0\nrecommended_transfer_size 0\n\
             recommended_sdma_engine_id_mask 0\nflags 1"
        );
        self.file(&format!("{NODES}/{number}/io_links/0/properties"), link)?;
        self.directory(&self.root.join(format!("{NODES}/{number}/p2p_links")))
    }
}

/// Writes the made-up parts of /sys below `root`.
pub(crate) fn sysfs(root: &Path, profiles: &[Profile]) -> io::Result<()> {
    let tree = Tree { root };
    tree.file("class/kfd/kfd/topology/generation_id", 1)?;
    tree.file("class/kfd/kfd/topology/system_properties", "platform_oem 0\nplatform_id 0\nplatform_rev 0")?;
    tree.file("module/amdgpu/initstate", "live")?;
    tree.directory(&root.join("class/drm"))?;
    let cores = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let mut cpu = vec![("cpu_cores_count", cores), ("simd_count", 0), ("mem_banks_count", 1), ("io_links_count", 1)];
    // SMI libraries expect these properties of every node.
    let absent =
        ["gfx_target_version", "vendor_id", "device_id", "location_id", "domain", "drm_render_minor", "hive_id"];
    cpu.extend(absent.map(|name| (name, 0)));
    tree.node(0, 0, "", &cpu, 1)?;
    for (number, profile) in (0..).zip(profiles) {
        card(&tree, number, profile)?;
    }
    Ok(())
}

fn card(tree: &Tree<'_>, number: u32, profile: &Profile) -> io::Result<()> {
    let get = |name: &str| u64::try_from(profile.get(name)).unwrap_or(0);
    let (major, minor, stepping) = profile.target().ok().and_then(|target| target.version()).unwrap_or_default();
    let bus = PCI_BUS.unsigned_abs() + number;
    let (slot, render) = (format!("0000:{bus:02x}:00.0"), FIRST_RENDER + number);
    let units = get("computeUnits");
    // A compute unit has two SIMDs from gfx10 on, and four before.
    let simds = if major >= 10 { 2 } else { 4 };
    let properties = [
        ("cpu_cores_count", 0),
        ("simd_count", units * simds),
        ("mem_banks_count", 1),
        ("caches_count", 0),
        ("io_links_count", 1),
        ("p2p_links_count", 0),
        ("cpu_core_id_base", 0),
        ("simd_id_base", 1 << 31),
        ("max_waves_per_simd", 16),
        ("num_gws", 64),
        ("array_count", 1),
        ("simd_arrays_per_engine", 1),
        ("cu_per_simd_array", units),
        ("max_slots_scratch_cu", 32),
        ("num_sdma_engines", 2),
        ("num_sdma_xgmi_engines", 0),
        ("fw_version", 0),
        ("sdma_fw_version", 0),
        ("capability", 0),
        ("lds_size_in_kb", get("sharedMemPerBlock") >> 10),
        ("gds_size_in_kb", 0),
        ("wave_front_size", get("warpSize")),
        ("simd_per_cu", simds),
        ("gfx_target_version", u64::from(major * 10_000 + minor * 100 + stepping)),
        ("vendor_id", u64::from(VENDOR)),
        ("device_id", get("pciDeviceId")),
        ("location_id", u64::from(bus << 8)),
        ("domain", 0),
        ("drm_render_minor", u64::from(render)),
        ("hive_id", 0),
        ("num_xcc", 1),
        ("max_engine_clk_fcompute", get("clockRate") / 1000),
        ("local_mem_size", get("totalGlobalMem")),
        ("unique_id", u64::from(bus)),
    ];
    tree.node(number + 1, 0xb000 + bus, profile.processor(), &properties, 0)?;
    let bank = format!(
        "heap_type 1\nsize_in_bytes {}\nflags 0\nwidth {}\nmem_clk_max {}",
        get("totalGlobalMem"),
        get("memoryBusWidth"),
        get("memoryClockRate") / 1000
    );
    tree.file(&format!("{NODES}/{}/mem_banks/0/properties", number + 1), bank)?;
    let device = format!("{DEVICES}/{slot}");
    let id = get("pciDeviceId");
    for (name, text) in [
        ("vendor", format!("0x{VENDOR:04x}")),
        ("device", format!("0x{id:04x}")),
        ("subsystem_vendor", format!("0x{VENDOR:04x}")),
        ("subsystem_device", "0x0000".to_owned()),
        ("revision", "0x00".to_owned()),
        ("class", "0x030000".to_owned()),
        ("mem_info_vram_total", get("totalGlobalMem").to_string()),
        ("mem_info_vram_used", "0".to_owned()),
        ("unique_id", format!("{bus:016x}")),
        ("uevent", format!("DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID={VENDOR:04X}:{id:04X}\nPCI_SLOT_NAME={slot}")),
        ("hwmon/hwmon0/name", "amdgpu".to_owned()),
    ] {
        tree.file(&format!("{device}/{name}"), text)?;
    }
    for (name, minor) in [(format!("card{number}"), number), (format!("renderD{render}"), render)] {
        tree.file(&format!("{device}/drm/{name}/dev"), format!("226:{minor}"))?;
        tree.link(&format!("../../../{slot}"), &format!("{device}/drm/{name}/device"))?;
        tree.link(&format!("../kfd/devices/pci0000:00/{slot}/drm/{name}"), &format!("class/drm/{name}"))?;
    }
    tree.link(&format!("../../../class/kfd/devices/pci0000:00/{slot}"), &format!("bus/pci/devices/{slot}"))
}

/// Writes the made-up parts beside the directory of libraries.
pub(crate) fn lay_out(libraries: &Path, profiles: &[Profile]) -> Result<(), DryrunError> {
    let root = libraries.with_file_name("sys");
    files::create_dir(&root, Access::Public).map_err(io_at(&root))?;
    sysfs(&root, profiles).map_err(io_at(&root))
}

impl Request<'_> {
    /// The HIP library that the program needs.
    pub(crate) fn hip(&self) -> Option<&'static str> {
        hip_library::needed(self.place, Path::new(self.command.first()?))
    }

    /// Mounts the stand-in over every real HIP library, and made-up cards below /sys.
    pub(crate) fn machine(&self, enter: Enter, session_dir: &SessionDir) -> Result<Enter, DryrunError> {
        if self.is_cuda() {
            return Ok(enter);
        }
        let outer = session_dir.outer();
        let stage = outer.join("stage");
        files::create_dir(&stage, Access::Public).map_err(io_at(&stage))?;
        let mut enter = enter.sysfs(outer.join("sys"), stage);
        for path in hip_library::installed(self.place) {
            if let Some(soname) = hip_library::soname(&path) {
                let inside = self.root().and_then(|root| path.strip_prefix(root).ok());
                let target = inside.map_or_else(|| path.clone(), |rest| Path::new("/").join(rest));
                enter = enter.over(outer.join("lib").join(soname), target);
            }
        }
        Ok(enter)
    }

    /// Like [`Self::machine`], for a program of this machine. None where mount namespaces are refused: the program then
    /// sees the real /sys.
    pub(crate) fn machine_here(&self, session_dir: &SessionDir) -> Result<Option<Enter>, DryrunError> {
        let hidden = session_dir.outer().join("hidden");
        files::create_dir(&hidden, Access::Public).map_err(io_at(&hidden))?;
        let mut enter = self.machine(Enter::here(), session_dir)?;
        for path in users_state() {
            enter = enter.over(&hidden, path);
        }
        let tried = sys::program::command("true").is_ok_and(|mut command| enter.output(&mut command).is_ok());
        Ok(tried.then_some(enter))
    }
}

/// Directories of the user in which programs store measurements, whatever HOME says. They are hidden from the program.
pub(crate) fn users_state() -> Vec<PathBuf> {
    const STATE: [&str; 8] = [
        ".config/miopen",
        ".cache/miopen",
        ".miopen",
        ".triton",
        ".cache/comgr",
        ".cache/jax",
        ".cache/torch/kernels",
        ".cupy",
    ];
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let home = home.into_iter().filter(|home| home.is_absolute());
    home.flat_map(|home| STATE.map(|below| home.join(below))).filter(|path| path.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_topology_names_each_card_once_and_links_lead_to_it() {
        let root = tempfile::tempdir().expect("a directory");
        let cards = [gpu::find("mi300x").expect("a card"), gpu::find("rx-9070-xt").expect("a card")];
        sysfs(root.path(), &cards).expect("written");
        let text = |path: &str| fs::read_to_string(root.path().join(path)).expect(path);
        let nodes = fs::read_dir(root.path().join(NODES)).expect("nodes").count();
        assert_eq!(nodes, 3, "the processor and two cards");
        assert!(text("class/kfd/kfd/topology/nodes/1/properties").contains("gfx_target_version 90402"));
        assert!(text("class/kfd/kfd/topology/nodes/2/properties").contains("gfx_target_version 120001"));
        assert!(text("class/kfd/kfd/topology/nodes/1/properties").contains("simd_count 1216"));
        assert_eq!(text("class/drm/card1/device/vendor"), "0x1002\n");
        assert_eq!(text("bus/pci/devices/0000:03:00.0/device"), "0x74a1\n");
        let real = fs::canonicalize(root.path().join("class/drm/renderD128/device")).expect("a device");
        assert!(real.ends_with("0000:03:00.0"), "{}", real.display());
    }
}
