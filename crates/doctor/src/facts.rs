//! Everything that is read from a host.

use crate::{
    Card, Catalog, CodeLibrary, Container, Gpu, Group, Host, KfdDevice, Look, Nvidia, Permissions, Release, Runtime,
    Servers, Tracing, Variable, Vulkan,
};
use crate::{catalog, device_code, discovery, environment, gpus, groups, pci, rocm};
use evidence::{Account, Basis, Blind, Conclusion, LeftOutWhy, Rung, Unit, Witness};
use schemars::JsonSchema;
use serde::Serialize;
use server::discovery_log::Discovery;

/// The observer's name in the host's observations.
pub(crate) const OBSERVER: &str = "host";

/// All facts that were read. `host` of the JSON output.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Facts {
    pub kernel: Look<String>,
    pub permissions: Permissions,
    pub container: Container,
    pub tracing: Tracing,
    pub cards: Vec<Card>,
    /// Whether `/sys` was available to find cards. A file tree may have none.
    pub devices_seen: bool,
    /// Whether the PCI bus is visible. It also shows cards that no driver uses.
    pub bus_seen: bool,
    pub gpus: Vec<Gpu>,
    pub kfd: KfdDevice,
    /// Whether this is Linux inside Windows (WSL), where the GPU is behind `/dev/dxg`.
    pub wsl: bool,
    /// Which of the GPU drivers' modules are loaded.
    pub modules: Vec<&'static str>,
    pub nvidia: Nvidia,
    /// Vulkan's loader, drivers and layers.
    pub vulkan: Vulkan,
    pub rocm: Vec<Release>,
    pub catalogs: Vec<Catalog>,
    /// ggml's backends, and libraries whose device code is in separate archives.
    pub device_code: Vec<CodeLibrary>,
    pub rocprofv3: Vec<String>,
    /// The ROCr libraries on this machine, and whether they report processes to a profiler.
    pub runtimes: Vec<Runtime>,
    pub servers: Servers,
    pub discovery: Vec<Discovery>,
    /// Members of the groups that own the GPU's device files.
    pub groups: Vec<Group>,
    /// Variables of this shell that affect a GPU runtime.
    pub environment: Vec<Variable>,
}

impl Facts {
    pub fn read(host: &Host) -> Facts {
        let servers = Servers::read(host);
        Facts {
            kernel: host.line("/proc/sys/kernel/osrelease"),
            permissions: Permissions::read(host),
            container: Container::read(host),
            tracing: Tracing::read(host),
            cards: pci::read(host),
            devices_seen: host.exists("/sys/class") || host.exists("/sys/bus"),
            bus_seen: pci::is_shown(host),
            gpus: gpus::read(host),
            kfd: KfdDevice::read(host),
            wsl: host.exists("/dev/dxg"),
            modules: ["amdgpu", "nvidia"]
                .into_iter()
                .filter(|name| host.exists(format!("/sys/module/{name}")))
                .collect(),
            nvidia: Nvidia::read(host),
            vulkan: Vulkan::read(host),
            rocm: rocm::read(host),
            catalogs: catalog::read(host),
            device_code: device_code::read(host),
            rocprofv3: rocm::tools(host, "rocprofv3"),
            runtimes: rocm::runtimes(host),
            discovery: discovery::read(host),
            groups: groups::read(host),
            environment: environment::of_interest(host.environment().clone()),
            servers,
        }
    }

    /// Whether there is a GPU of AMD or NVIDIA. The drivers list their GPUs; the PCI bus also shows cards without a
    /// driver. Unknown if the kernel shows no devices.
    pub fn gpus_found(&self) -> Conclusion {
        let found = self.gpus.len() + usize::from(self.nvidia.present());
        let mut basis = looked(&["/sys/class/kfd", "/proc/driver/nvidia"], "/sys", self.devices_seen);
        if self.bus_seen {
            let unknown = self.cards.iter().filter(|_| found == 0);
            let account = unknown.fold(Account::searched(Witness::PciBus), |account, card| {
                account.found(format!("PCI {}", card.slot), Some(1), LeftOutWhy::OutOfView)
            });
            basis = basis.of("/sys/bus/pci").account(account);
        }
        if self.wsl && found == 0 {
            basis = basis.without("/dev/dxg", None, LeftOutWhy::OutOfView);
        }
        basis.cannot_see(Blind::HiddenDevices.spot()).presence(found as u64)
    }

    /// Whether a server is running. Unknown if the kernel shows no processes.
    pub fn servers_running(&self) -> Conclusion {
        let basis = looked(&["/proc"], "/proc", self.servers.processes_seen);
        basis.cannot_see(Blind::OtherProcesses.spot()).presence(self.servers.running.len() as u64)
    }

    /// The targets of the AMD GPUs here, each once.
    pub fn targets(&self) -> Vec<&str> {
        let mut targets: Vec<&str> = self.gpus.iter().filter_map(|gpu| gpu.target.as_deref()).collect();
        targets.sort_unstable();
        targets.dedup();
        targets
    }

    /// The card that a process used, given the device files that it had open: the only card whose render node is among
    /// them, or the only card of the machine. None if it is ambiguous.
    pub fn gpu_held<'a>(&self, mut held: impl Iterator<Item = &'a str> + Clone) -> Option<&Gpu> {
        let mut among = self.gpus.iter().filter(|gpu| {
            gpu.render_minor.is_some_and(|minor| held.clone().any(|file| file == format!("/dev/dri/renderD{minor}")))
        });
        match (self.gpus.as_slice(), among.next(), among.next()) {
            ([only], Some(_), _) => Some(only),
            ([only], ..) => held.any(|file| file == "/dev/kfd").then_some(only),
            (_, Some(one), None) => Some(one),
            _ => None,
        }
    }

    /// The only card of this machine, not counting an integrated GPU.
    pub fn only_gpu(&self) -> Option<&Gpu> {
        let mut cards = self.gpus.iter().filter(|gpu| !gpu.integrated);
        match (cards.next(), cards.next(), self.gpus.as_slice()) {
            (Some(card), None, _) => Some(card),
            (None, _, [integrated]) => Some(integrated),
            _ => None,
        }
    }
}

/// The basis of a search in these places of this host, if their root could be read.
fn looked(places: &[&str], root: &str, seen: bool) -> Basis {
    let answered = if seen { places.len() as u64 } else { 0 };
    let basis = Basis::new(OBSERVER, places.iter().copied(), Rung::Loaded, Unit::Settings, answered, answered);
    if seen { basis } else { basis.lacking(root, LeftOutWhy::Unreadable) }
}
