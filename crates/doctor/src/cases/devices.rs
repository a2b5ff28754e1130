//! Cards and device files: whether the users who need the GPU can access it.

use crate::Facts;
use crate::cases::{Case, Weight};
use say::shell::{self, CommandLine};
use say::{key, say};

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(wsl(facts));
    cases.extend(card_without_driver(facts));
    cases.extend(container_without_gpu(facts));
    cases.extend(kfd(facts));
    cases.extend(service_user(facts));
    cases.extend(integrated(facts));
    cases.extend(leftovers(facts));
    cases
}

/// In WSL the GPU is reached through `/dev/dxg`: there is no compute driver to list it and no module to load.
fn wsl(facts: &Facts) -> Option<Case> {
    if !facts.wsl {
        return None;
    }
    let case = Case::new("wsl", Weight::Note, say!("doctor-case-wsl"));
    Some(case.say(key!("doctor-case-wsl-fix")))
}

fn card_without_driver(facts: &Facts) -> Option<Case> {
    let amd = || facts.cards.iter().find(|card| card.amd()).filter(|_| facts.gpus.is_empty());
    let nvidia = || facts.cards.iter().find(|card| card.nvidia()).filter(|_| !facts.nvidia.present());
    let (card, module, loaded) = match (amd(), nvidia()) {
        (Some(card), _) => (card, "amdgpu", key!("doctor-case-amdgpu-loaded-fix")),
        (None, Some(card)) => (card, "nvidia", key!("doctor-case-nvidia-loaded-fix")),
        (None, None) => return None,
    };
    let (slot, device) = (&card.slot, format!("{:04x}", card.device));
    let driver = card.driver.as_deref().unwrap_or("-");
    let what = match card.amd() {
        true => say!("doctor-case-card-no-kfd", slot, device, driver),
        false => say!("doctor-case-card-no-nvidia", slot, device, driver),
    };
    let case = Case::new("card-without-driver", Weight::Problem, what);
    // Loading a loaded module changes nothing, and a container cannot load one.
    Some(if facts.container.kind.is_some() {
        case.say(key!("doctor-case-kfd-container-fix"))
    } else if facts.modules.contains(&module) || card.driver.as_deref() == Some(module) {
        case.say(loaded)
    } else {
        case.change(CommandLine::new("sudo modprobe {}", [module]), CommandLine::new("sudo modprobe -r {}", [module]))
    })
}

/// A container with a ROCm runtime but without a GPU: every program in it silently computes on the CPU.
fn container_without_gpu(facts: &Facts) -> Option<Case> {
    let kind = facts.container.kind.as_deref()?;
    let here = !facts.gpus.is_empty() || facts.nvidia.present() || facts.kfd.exists || facts.wsl;
    if here || facts.rocm.is_empty() || facts.cards.iter().any(|card| card.amd() || card.nvidia()) {
        return None;
    }
    let what = say!("doctor-case-container-no-gpu", kind);
    Some(Case::new("container-no-gpu", Weight::Problem, what).say(key!("doctor-case-kfd-container-fix")))
}

/// The topology is world-readable but the device file is not: "rocminfo works with sudo only".
fn kfd(facts: &Facts) -> Option<Case> {
    if facts.gpus.is_empty() || facts.kfd.opens {
        return None;
    }
    if !facts.kfd.exists {
        let case = Case::new("kfd-missing", Weight::Problem, say!("doctor-case-kfd-missing"));
        // The topology comes from the driver, so the driver is loaded. Its device file was not created or was removed.
        return Some(match facts.container.kind {
            Some(_) => case.say(key!("doctor-case-kfd-container-fix")),
            None => case.run("sudo udevadm trigger --action=add /sys/class/kfd/kfd"),
        });
    }
    let error = facts.kfd.error.as_deref().unwrap_or_default();
    let what = say!("doctor-case-kfd-denied", error);
    let (run, undo) = own_groups();
    Some(Case::new("kfd-denied", Weight::Problem, what).change(run, undo))
}

/// The commands to join the groups that own the device files, and to leave them again.
fn groups(user: &str) -> (CommandLine, CommandLine) {
    (
        CommandLine::new("sudo usermod -aG render,video {}", [user]),
        CommandLine::new("sudo gpasswd -d {} render; sudo gpasswd -d {} video", [user, user]),
    )
}

/// Like `groups`, for the user who pastes the command.
pub fn own_groups() -> (CommandLine, CommandLine) {
    (
        "sudo usermod -aG render,video \"$USER\" && newgrp render".into(),
        "sudo gpasswd -d \"$USER\" render; sudo gpasswd -d \"$USER\" video".into(),
    )
}

/// The service runs as its own user, which must be in the groups too.
fn service_user(facts: &Facts) -> Option<Case> {
    let user = facts.servers.units.iter().find_map(|unit| unit.user.as_deref()).filter(|user| *user != "root")?;
    if facts.gpus.is_empty() {
        return None;
    }
    let render = facts.groups.iter().find(|group| group.name == "render")?;
    if render.members.iter().any(|member| member == user) {
        return None;
    }
    let what = say!("doctor-case-service-group", user);
    let (run, undo) = groups(user);
    let restart = CommandLine::from("sudo systemctl restart ollama");
    let case = Case::new("service-group", Weight::Problem, what);
    Some(case.change(run.and(&restart), undo.then(&restart)))
}

fn integrated(facts: &Facts) -> Option<Case> {
    let small = facts.gpus.iter().find(|gpu| gpu.integrated)?;
    let large = facts.gpus.iter().find(|gpu| !gpu.integrated)?;
    let what = say!("doctor-case-integrated", small = small.target_or_unknown(), large = large.target_or_unknown());
    Some(Case::new("integrated", Weight::Note, what))
}

fn leftovers(facts: &Facts) -> Option<Case> {
    let tracing = &facts.tracing;
    let first = tracing.leftovers.first()?;
    let what = say!("doctor-case-leftovers", count = tracing.leftovers.len(), first);
    let events = format!("{}/uprobe_events", tracing.tracefs.as_deref().unwrap_or("/sys/kernel/tracing"));
    // Appending `-:group/name` removes `p:group/name ...`. `tee -a` does not work, because it seeks, which tracefs
    // refuses.
    let names =
        tracing.leftovers.iter().filter_map(|line| line.split(' ').next()?.split_once(':').map(|(_, name)| name));
    let names: Vec<&str> = names.collect();
    // Each name is one word of the inner shell, and the whole script is one word of the outer shell.
    let listed = names.iter().map(|name| shell::word(name)).collect::<Vec<_>>().join(" ");
    let script = format!("for e in {listed}; do echo \"-:$e\" >> {}; done", shell::word(&events));
    let fix = CommandLine::new("sudo sh -c {}", [script]);
    Some(Case::new("leftovers", Weight::Warning, what).run(fix))
}
