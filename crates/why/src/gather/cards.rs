//! The GPUs of a machine, and the state that their drivers publish in `/sys`.

use super::{held, nvidia};
use crate::facts::{Card, State};
use doctor::{Gpu, Host};
use gpu::Limits;
use std::path::Path;

pub fn cards(host: &Host, found: &doctor::Facts) -> Vec<Card> {
    let amd = found.gpus.iter().map(|gpu| card(host, gpu));
    let published = nvidia::published(host);
    let nvidia = found.nvidia.cards.iter().zip(nvidia::slots(host));
    amd.chain(nvidia.map(|(title, slot)| of_nvidia(host, title, &slot, &published))).collect()
}

/// The card named on the command line, from its profile.
pub fn named(limits: Limits) -> Card {
    Card {
        title: limits.title.clone(),
        target: Some(limits.target.clone()),
        integrated: limits.integrated,
        vram: limits.memory.as_ref().and_then(|number| u64::try_from(number.value).ok()),
        code: None,
        census: None,
        state: State::default(),
        limits: Some(limits),
    }
}

fn card(host: &Host, gpu: &Gpu) -> Card {
    let limits = gpu.card.as_deref().and_then(gpu::limits);
    let title = limits.as_ref().map(|limits| limits.title.clone());
    Card {
        title: title.or_else(|| gpu.name.clone()).unwrap_or_else(|| gpu.target_or_unknown().to_owned()),
        target: gpu.target.clone(),
        integrated: gpu.integrated,
        vram: gpu.vram_bytes.filter(|_| !gpu.integrated),
        limits,
        code: None,
        census: None,
        state: gpu
            .render_minor
            .map(|minor| state(host, &format!("/sys/class/drm/renderD{minor}/device")))
            .unwrap_or_default(),
    }
}

/// NVIDIA's driver publishes a card's name in files, and the rest through its own program.
fn of_nvidia(host: &Host, title: &str, slot: &str, published: &[nvidia::Line]) -> Card {
    let limits = gpu::limits(title);
    let plain = title.trim_start_matches("NVIDIA ").trim_start_matches("GeForce ");
    Card {
        title: limits.as_ref().map_or(plain, |limits| limits.title.as_str()).to_owned(),
        target: gpu::nvidia_target(title).map(str::to_owned),
        integrated: false,
        vram: limits.as_ref().and_then(|limits| u64::try_from(limits.memory.as_ref()?.value).ok()),
        limits,
        code: None,
        census: None,
        state: nvidia::state(published, slot, &format!("/sys/bus/pci/devices/{slot}"), |place| {
            (link(host, place), host.line(format!("{place}/current_link_speed")).found().cloned())
        }),
    }
}

/// Files of amdgpu and of the PCI bus (kernel Documentation/gpu/amdgpu, Documentation/ABI/testing/sysfs-bus-pci).
fn state(host: &Host, place: &str) -> State {
    let number = |file: &str| {
        let value = host.number(format!("{place}/{file}")).found().copied()?;
        u64::try_from(value).ok()
    };
    let monitors = host.entries(format!("{place}/hwmon"));
    let monitor =
        monitors.iter().map(|name| format!("hwmon/{name}")).find(|dir| number(&format!("{dir}/power1_cap")).is_some());
    let watts = |file: &str| Some(number(&format!("{}/{file}", monitor.as_ref()?))? / 1_000_000);
    State {
        place: place.to_owned(),
        level: host.line(format!("{place}/power_dpm_force_performance_level")).found().cloned(),
        power: watts("power1_cap").zip(watts("power1_cap_default")).filter(|(_, usual)| *usual > 0),
        power_file: monitor.as_ref().map(|dir| format!("{place}/{dir}/power1_cap")),
        vram: number("mem_info_vram_used").zip(number("mem_info_vram_total")).filter(|(_, total)| *total > 0),
        link: link(host, place),
        link_speed: host.line(format!("{place}/current_link_speed")).found().cloned(),
        link_place: place.to_owned(),
    }
}

/// A card may have bridges between its GPU function and the slot. The narrowest link on the way to the CPU counts.
fn link(host: &Host, place: &str) -> Option<(u64, u64)> {
    let width = |dir: &Path, file: &str| {
        let value = host.number(dir.join(file)).found().copied()?;
        u64::try_from(value).ok().filter(|width| (1..=32).contains(width))
    };
    let real = host.real(place).ok()?;
    let most = width(&real, "max_link_width")?;
    let way = real.ancestors().map_while(|dir| width(dir, "current_link_width"));
    Some((way.min()?, most))
}

/// The card of this machine that a process has open.
pub fn used(host: &Host, found: &doctor::Facts, pid: u32) -> Option<usize> {
    let files = held(host, pid);
    if let Some(gpu) = found.gpu_held(files.iter().map(String::as_str)) {
        return found.gpus.iter().position(|known| known.node == gpu.node);
    }
    let mut numbers = files.iter().filter_map(|file| file.strip_prefix("/dev/nvidia")?.parse::<usize>().ok());
    let first = numbers.next().filter(|_| numbers.next().is_none())?;
    (first < found.nvidia.cards.len()).then_some(found.gpus.len() + first)
}
