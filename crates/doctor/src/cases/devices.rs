//! Cards and device files: is the GPU there for those who want it?

use crate::Facts;
use crate::cases::{Case, Weight};
use crate::message::Message;

pub fn find(facts: &Facts) -> Vec<Case> {
    let mut cases = Vec::new();
    cases.extend(card_without_driver(facts));
    cases.extend(kfd(facts));
    cases.extend(service_user(facts));
    cases.extend(integrated(facts));
    cases.extend(leftovers(facts));
    cases
}

fn card_without_driver(facts: &Facts) -> Option<Case> {
    if facts.gpus.is_empty()
        && let Some(card) = facts.cards.iter().find(|card| card.amd())
    {
        let what = Message::new("doctor-case-card-no-kfd")
            .with("slot", &card.slot)
            .with("device", format!("{:04x}", card.device))
            .with("driver", card.driver.as_deref().unwrap_or("-"));
        return Some(Case::new("card-without-driver", Weight::Problem, what).run("sudo modprobe amdgpu"));
    }
    if !facts.nvidia.present()
        && let Some(card) = facts.cards.iter().find(|card| card.nvidia())
    {
        let what = Message::new("doctor-case-card-no-nvidia")
            .with("slot", &card.slot)
            .with("device", format!("{:04x}", card.device))
            .with("driver", card.driver.as_deref().unwrap_or("-"));
        return Some(Case::new("card-without-driver", Weight::Problem, what).run("sudo modprobe nvidia"));
    }
    None
}

/// The topology is world-readable, the device file is not: "rocminfo works with sudo only".
fn kfd(facts: &Facts) -> Option<Case> {
    if facts.gpus.is_empty() || facts.kfd.opens {
        return None;
    }
    if !facts.kfd.exists {
        let case = Case::new("kfd-missing", Weight::Problem, Message::new("doctor-case-kfd-missing"));
        return Some(match facts.container.kind {
            Some(_) => case.say("doctor-case-kfd-container-fix"),
            None => case.run("sudo modprobe amdgpu"),
        });
    }
    let error = facts.kfd.error.as_deref().unwrap_or_default();
    let what = Message::new("doctor-case-kfd-denied").with("error", error);
    Some(Case::new("kfd-denied", Weight::Problem, what).run("sudo usermod -aG render,video \"$USER\" && newgrp render"))
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
    let what = Message::new("doctor-case-service-group").with("user", user);
    let fix = format!("sudo usermod -aG render,video {user} && sudo systemctl restart ollama");
    Some(Case::new("service-group", Weight::Problem, what).run(fix))
}

fn integrated(facts: &Facts) -> Option<Case> {
    let small = facts.gpus.iter().find(|gpu| gpu.integrated)?;
    let large = facts.gpus.iter().find(|gpu| !gpu.integrated)?;
    let what = Message::new("doctor-case-integrated")
        .with("small", small.target_or_unknown())
        .with("large", large.target_or_unknown());
    Some(Case::new("integrated", Weight::Note, what))
}

fn leftovers(facts: &Facts) -> Option<Case> {
    let tracing = &facts.tracing;
    let first = tracing.leftovers.first()?;
    let what = Message::new("doctor-case-leftovers").with("count", tracing.leftovers.len()).with("first", first);
    let events = format!("{}/uprobe_events", tracing.tracefs.as_deref().unwrap_or("/sys/kernel/tracing"));
    // `p:group/name ...` is removed by appending `-:group/name`. Not with tee -a: it seeks, which tracefs refuses.
    let names =
        tracing.leftovers.iter().filter_map(|line| line.split(' ').next()?.split_once(':').map(|(_, name)| name));
    let names: Vec<&str> = names.collect();
    let fix = format!("sudo sh -c 'for e in {}; do echo \"-:$e\" >> {events}; done'", names.join(" "));
    Some(Case::new("leftovers", Weight::Warning, what).run(fix))
}
