//! Vulkan: the other way to the GPU, and how it silently falls back to the CPU.

use crate::cases::devices::own_groups;
use crate::cases::places::{SetIn, places};
use crate::cases::{Case, Weight};
use crate::vulkan::Driver;
use crate::{Facts, Process};
use say::{key, say};

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = on_processor(facts);
    // A host that does not use Vulkan needs no driver for it.
    if used(facts) {
        cases.extend(no_loader(facts));
        cases.extend(no_driver(facts));
        cases.extend(denied(facts));
        cases.extend(old_driver(facts));
    }
    cases.extend(missing_library(facts));
    cases.extend(hidden(facts));
    cases.extend(switched_off(facts));
    cases.extend(no_matrices(facts));
    cases
}

/// Whether a server has ggml's Vulkan backend mapped or is told to use it.
fn used(facts: &Facts) -> bool {
    let loaded = |process: &Process| process.loaded("libggml-vulkan.so") == Some(true);
    let told = places(facts, "OLLAMA_VULKAN").iter().any(|(_, value)| !matches!(*value, "" | "0" | "false"));
    facts.servers.running.iter().any(loaded) || told
}

/// Whether there is a card that a Vulkan driver could drive.
fn has_card(facts: &Facts) -> bool {
    !facts.gpus.is_empty() || facts.nvidia.present() || facts.cards.iter().any(|card| card.amd() || card.nvidia())
}

/// Finds servers that have lavapipe mapped but no driver of a card: their Vulkan work is computed on the CPU.
fn on_processor(facts: &Facts) -> Vec<Case> {
    let drivers = ["libvulkan_radeon", "amdvlk", "libGLX_nvidia", "libvulkan_nouveau", "libvulkan_intel"];
    let accident = |process: &&Process| {
        process.loaded("libvulkan_lvp") == Some(true)
            && process.loaded("libggml-vulkan.so") == Some(true)
            && !drivers.iter().any(|stem| process.loaded(stem) == Some(true))
    };
    let case = |process: &Process| {
        let what = say!("doctor-case-vulkan-llvmpipe", pid = process.pid, server = process.role.name());
        let weight = if has_card(facts) { Weight::Problem } else { Weight::Note };
        Case::new("vulkan-llvmpipe", weight, what).say(key!("doctor-case-vulkan-driver-fix"))
    };
    facts.servers.running.iter().filter(accident).map(case).collect()
}

fn no_loader(facts: &Facts) -> Option<Case> {
    let bundled = |process: &Process| process.loaded("libvulkan.so.1") == Some(true);
    if facts.vulkan.loader.is_some() || facts.servers.running.iter().any(bundled) {
        return None;
    }
    let case = Case::new("vulkan-no-loader", Weight::Problem, say!("doctor-case-vulkan-no-loader"));
    Some(case.say(key!("doctor-case-vulkan-loader-fix")))
}

/// No driver for a card is installed: there is none at all, or only lavapipe, which computes on the CPU.
fn no_driver(facts: &Facts) -> Option<Case> {
    let chosen = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].iter().any(|name| !places(facts, name).is_empty());
    if facts.vulkan.drivers.iter().any(|driver| !driver.is_processor()) || chosen || !has_card(facts) {
        return None;
    }
    let what = match facts.vulkan.drivers.as_slice() {
        [] => say!("doctor-case-vulkan-no-driver"),
        _ => say!("doctor-case-vulkan-only-llvmpipe"),
    };
    let case = Case::new("vulkan-no-driver", Weight::Problem, what);
    Some(case.say(key!("doctor-case-vulkan-driver-fix")))
}

/// There are render nodes, but none can be opened: the driver finds no card, and programs compute on the CPU.
fn denied(facts: &Facts) -> Option<Case> {
    let nodes = &facts.vulkan.render_nodes;
    let first = nodes.first().filter(|_| nodes.iter().all(|node| !node.opens))?;
    let what = say!("doctor-case-vulkan-denied", node = first.path, error = first.error.as_deref().unwrap_or_default());
    let (run, undo) = own_groups();
    Some(Case::new("vulkan-render-denied", Weight::Problem, what).change(run, undo))
}

/// Cooperative matrices were disabled by a variable: ggml does not use the matrix units of cards that have them.
fn no_matrices(facts: &Facts) -> Vec<Case> {
    let case = |(place, value): (SetIn<'_>, &str)| {
        let what = say!("doctor-case-vulkan-no-matrices", place = place.name(), value);
        Case::new("vulkan-no-matrices", Weight::Note, what).with_fix(place.unset("GGML_VK_DISABLE_COOPMAT"))
    };
    places(facts, "GGML_VK_DISABLE_COOPMAT").into_iter().map(case).collect()
}

/// RADV of Mesa 26.2.6 supports Vulkan 1.4 and has cooperative matrices on gfx1201 (seen in dry runs). It is unknown
/// whether a driver with Vulkan 1.3 has them there.
fn old_driver(facts: &Facts) -> Option<Case> {
    let new_card =
        facts.gpus.iter().find(|gpu| gpu.target.as_deref().is_some_and(|target| target.starts_with("gfx12")))?;
    let old = |driver: &&Driver| driver.is_radv() && driver.api.as_deref().is_some_and(|api| api.starts_with("1.3."));
    let driver = facts.vulkan.drivers.iter().find(old)?;
    let what = say!(
        "doctor-case-vulkan-old",
        manifest = driver.manifest,
        api = driver.api.as_deref().unwrap_or_default(),
        target = new_card.target_or_unknown()
    );
    Some(Case::new("vulkan-old-driver", Weight::Warning, what).say(key!("doctor-case-vulkan-driver-fix")))
}

fn missing_library(facts: &Facts) -> Vec<Case> {
    let case = |driver: &Driver| {
        let what = say!("doctor-case-vulkan-missing", manifest = driver.manifest, library = driver.library);
        Case::new("vulkan-driver-missing", Weight::Warning, what).say(key!("doctor-case-vulkan-driver-fix"))
    };
    facts.vulkan.drivers.iter().filter(|driver| !driver.there).map(case).collect()
}

/// The variable lists the devices that ggml's Vulkan backend may use. An empty list means none.
fn hidden(facts: &Facts) -> Vec<Case> {
    let case = |(place, value): (SetIn<'_>, &str)| {
        let (what, weight) = match value.is_empty() {
            true => (say!("doctor-case-vulkan-hidden-all", place = place.name()), Weight::Problem),
            false => (say!("doctor-case-vulkan-hidden", place = place.name(), value), Weight::Note),
        };
        Case::new("vulkan-visible-devices", weight, what).with_fix(place.unset("GGML_VK_VISIBLE_DEVICES"))
    };
    places(facts, "GGML_VK_VISIBLE_DEVICES").into_iter().map(case).collect()
}

fn switched_off(facts: &Facts) -> Vec<Case> {
    let off = places(facts, "OLLAMA_VULKAN").into_iter().filter(|(_, value)| matches!(*value, "0" | "false"));
    let case = |(place, value): (SetIn<'_>, &str)| {
        let what = say!("doctor-case-vulkan-off", place = place.name(), value);
        Case::new("vulkan-off", Weight::Note, what).with_fix(place.unset("OLLAMA_VULKAN"))
    };
    off.map(case).collect()
}
