//! A server's statements about itself: its identity, claims, log and counters, each with its place.

use super::process::{backends, build_type, model_of, unit};
use crate::facts::{Known, Server};
use crate::sure::Sure;
use doctor::{Host, Process};
use server::claims::{Claim, Claims, Meaning, Origin};
use server::log_facts::Stage;
use server::process::option;
use server::{Build, Counters, Identity, Kind};
use std::fmt::Display;

/// All statements of a server, read once.
#[derive(Debug, Clone, Default)]
pub struct Told {
    pub identity: Identity,
    pub claims: Claims,
    /// The log's facts about evaluation; None if no log could be read.
    pub log: Option<Stage>,
    pub counters: Option<Counters>,
    pub build: Option<Build>,
    pub url: Option<String>,
}

fn known<T>(value: T, sure: Sure, said: impl Display, place: impl Display) -> Known<T> {
    Known { value, sure, said: said.to_string(), place: place.to_string() }
}

/// A server's statement is `Reported`; a value from its command line or environment is `Seen`.
fn sure(origin: &Origin) -> Sure {
    match origin {
        Origin::Log { .. } | Origin::Answer { .. } => Sure::Reported,
        Origin::Command { .. } | Origin::Environment { .. } => Sure::Seen,
    }
}

impl Told {
    /// A resolved value in the log takes precedence over a request on the command line.
    fn claim<T>(&self, read: impl Fn(&Meaning) -> Option<T>) -> Option<Known<T>> {
        let rank = |claim: &&Claim| match claim.origin {
            Origin::Log { .. } => 0,
            Origin::Answer { .. } => 1,
            Origin::Command { .. } => 2,
            Origin::Environment { .. } => 3,
        };
        let found = self.claims.list.iter().filter(|claim| read(&claim.meaning).is_some()).min_by_key(rank)?;
        Some(known(read(&found.meaning)?, sure(&found.origin), &found.said, &found.origin))
    }

    fn layers(&self, blocks: Option<u64>) -> Option<Known<(u64, u64)>> {
        let of = blocks.map(|blocks| blocks + 1);
        let found = self.claim(|meaning| match meaning {
            Meaning::Layers { gpu, of: said } => said.or(of).map(|of| ((*gpu).min(of), of)),
            _ => None,
        })?;
        // A request on the command line does not prove that the server follows it.
        let sure = if found.sure == Sure::Seen { Sure::PartlySeen } else { found.sure };
        Some(Known { sure, ..found })
    }

    /// The whole context: the command line's value, or one slot's context if there is one slot.
    fn context(&self, words: &[String], pid: u32) -> Option<Known<u64>> {
        let named = option(words, &["-c", "--ctx-size"]).and_then(|text| text.parse::<u64>().ok());
        if let Some(tokens) = named.filter(|tokens| *tokens > 0) {
            return Some(known(tokens, Sure::Seen, format!("--ctx-size {tokens}"), format!("/proc/{pid}/cmdline")));
        }
        let one = self.slots().is_none_or(|slots| slots.value <= 1);
        let logged = self.log.as_ref().and_then(|log| log.context).filter(|_| one);
        let told = self.identity.context.filter(|_| one);
        let logged = logged.map(|tokens| known(tokens, Sure::Reported, format!("n_ctx = {tokens}"), "log"));
        logged.or_else(|| told.map(|tokens| known(tokens, Sure::Reported, format!("n_ctx {tokens}"), "GET /props")))
    }

    fn slots(&self) -> Option<Known<u64>> {
        let logged = self.log.as_ref().and_then(|log| log.slots);
        let logged = logged.map(|slots| known(slots, Sure::Reported, format!("n_slots = {slots}"), "log"));
        let told =
            self.identity.slots.map(|slots| known(slots, Sure::Reported, format!("total_slots {slots}"), "GET /props"));
        told.or(logged)
    }

    fn waiting(&self) -> Option<Known<u64>> {
        let waiting = self.counters.as_ref()?.waiting?;
        Some(known(waiting, Sure::Reported, format!("requests_deferred {waiting}"), "GET /metrics"))
    }

    pub(super) fn server(&self, host: &Host, worker: Option<&Process>, ours: &[&Process]) -> Server {
        let pid = worker.map(|process| process.pid);
        let front = ours.first().copied().or(worker);
        let words = worker.map(|process| process.command.clone()).unwrap_or_default();
        let blocks = self.claims.blocks;
        let coopmat_off = worker.and_then(|process| {
            let value = process.variable("GGML_VK_DISABLE_COOPMAT")?;
            let said = format!("GGML_VK_DISABLE_COOPMAT={value}");
            Some(known(value.to_owned(), Sure::Seen, said, format!("/proc/{}/environ", process.pid)))
        });
        let vulkan_matrix = self.log.as_ref().and_then(Stage::vulkan_device).map(|device| {
            let said = format!("ggml_vulkan: {} = {} | matrix cores: {}", device.number, device.name, device.matrix);
            known(device.matrix.clone(), Sure::Reported, said, "log")
        });
        let overridden =
            worker.and_then(|process| {
                process.environment.found()?;
                let value = process.variable("HSA_OVERRIDE_GFX_VERSION").filter(|value| !value.is_empty());
                let place = format!("/proc/{}/environ", process.pid);
                Some(value.map(|value| {
                    known(value.to_owned(), Sure::Seen, format!("HSA_OVERRIDE_GFX_VERSION={value}"), place)
                }))
            });
        let built = worker.and_then(|process| build_type(host, process));
        Server {
            kind: self.identity.kind,
            name: self.identity.kind.name().to_owned(),
            version: self.identity.version.clone(),
            url: self.url.clone(),
            model: self.identity.loaded.first().map(|model| model.name.clone()).or(self.identity.model.clone()),
            pid,
            backends: worker.and_then(backends),
            layers: self.layers(blocks),
            share: self.claim(|meaning| match meaning {
                Meaning::Share { vram, size } => Some((*vram, *size)),
                _ => None,
            }),
            flash: self.claim(|meaning| match meaning {
                Meaning::FlashAttention(on) => Some(*on),
                _ => None,
            }),
            cache: self.claim(|meaning| match meaning {
                Meaning::Cache { k, v } => Some((k.clone(), v.clone())),
                _ => None,
            }),
            micro_batch: self.claim(|meaning| match meaning {
                Meaning::MicroBatch(most) => Some(*most),
                _ => None,
            }),
            context: self.context(&words, pid.unwrap_or(0)),
            slots: self.slots(),
            splits: self.claim(|meaning| match meaning {
                Meaning::Splits(count) => Some(*count),
                _ => None,
            }),
            override_: overridden,
            vulkan_matrix,
            coopmat_off,
            build_type: built
                .map(|(value, file)| known(value.clone(), Sure::Seen, format!("CMAKE_BUILD_TYPE={value}"), file)),
            waiting: self.waiting(),
            unit: pid.and_then(|pid| unit(host, pid)),
            command: front
                .map(|process| process.command.clone())
                .filter(|_| self.identity.kind != Kind::Ollama)
                .unwrap_or_default(),
            log_read: self.log.is_some(),
        }
    }

    /// The model's header and name, from its file.
    pub(super) fn header(&self, host: &Host, worker: Option<&Process>) -> Option<(gguf::Gguf, String)> {
        let named = self.identity.model_path.as_deref().or(self.claims.model.as_deref());
        model_of(host, worker?, named)
    }
}
