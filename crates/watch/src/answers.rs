//! The machine-readable answers of `watch`.

use crate::claims::{Held, Verdict, Weakness};
use crate::{
    Device, Ended, Heard, Maker, ObserverKind, ObserverReport, Row, Sign, Tally, Took, Unseen, Why, Word, signal_name,
};
use evidence::{Canary, Conclusion, Contamination, DeviceKind, Rung};
use say::Say as _;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The launches during the watch, how completely they were seen, and the server's claims for comparison.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Watched {
    pub observer: ObserverKind,
    /// The weakest device of all launches; each row has its own.
    pub device: DeviceKind,
    pub rung: Rung,
    pub devices: Vec<DeviceSeen>,
    /// The source of the report.
    pub word: Whose,
    /// How the program ended, if that ended the watch.
    pub ended: Option<EndedHow>,
    /// Launches in the counts.
    pub seen: u64,
    /// Calls of BLAS libraries.
    pub calls: u64,
    /// Launches known to be lost; there are no others only if `whole` is true.
    pub lost: u64,
    /// Whether every launch was seen, so that `conclusion` covers all of them.
    pub whole: bool,
    /// Launches whose kernel has no name.
    pub unnamed: u64,
    /// Launches whose arguments could not be read.
    pub unread: u64,
    /// Replays of graphs whose launches are unknown.
    pub unknown_replays: u64,
    /// Launches that the runtime refused, by kernel.
    pub rejected: BTreeMap<String, u64>,
    /// Evaluations that are known to belong to a prompt.
    pub prompts: u64,
    /// Evaluations of several columns: a prompt or several sequences; unknown which.
    pub batches: u64,
    /// Decoded tokens.
    pub tokens: u64,
    pub per_token: Option<PerToken>,
    pub fallbacks: Vec<FallbackSeen>,
    pub seconds: f64,
    /// The measured overhead per launch, in nanoseconds.
    pub cost_ns: Option<f64>,
    pub canary: Canary,
    pub contamination: Contamination,
    /// Which calls of which processes were observed.
    pub reach: String,
    pub blind: Vec<String>,
    /// The gaps, and their reasons.
    pub gaps: Vec<Unseen>,
    pub conclusion: Conclusion,
    pub claims: Vec<ClaimHeld>,
    pub rows: Vec<LaunchRow>,
}

impl answer::Answer for Watched {
    const SCHEMA: &'static str = "whichkernel.watch/1";
}

/// The device of one process's launches, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeviceSeen {
    /// Null if the process id is unknown.
    pub process: Option<u32>,
    pub maker: Maker,
    /// The basis for the device: real, stand-in, none-seen, unlooked, told.
    pub known: &'static str,
    pub device: DeviceKind,
    pub detail: String,
}

/// Our own observation, or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "whose", rename_all = "lowercase")]
pub enum Whose {
    Ours,
    File {
        file: String,
        sha256: String,
        /// The program that wrote the file; `unknown` if any program may have.
        maker: &'static str,
        host: Option<String>,
    },
}

impl From<&Word> for Whose {
    fn from(word: &Word) -> Whose {
        match word.clone() {
            Word::Ours => Whose::Ours,
            Word::File { name, sha256, maker, host } => Whose::File { file: name, sha256, maker, host },
        }
    }
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "how", rename_all = "lowercase")]
pub enum EndedHow {
    Gone,
    Code {
        code: i32,
    },
    Signal {
        signal: i32,
        /// The name of the signal, such as `SIGSEGV`.
        name: Option<&'static str>,
    },
}

impl From<Ended> for EndedHow {
    fn from(how: Ended) -> EndedHow {
        match how {
            Ended::TargetGone => EndedHow::Gone,
            Ended::Code(code) => EndedHow::Code { code },
            Ended::Signal(signal) => {
                EndedHow::Signal { signal, name: Some(signal_name(signal).0).filter(|name| !name.is_empty()) }
            }
        }
    }
}

/// Launches per decoded token.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PerToken {
    pub launches: f64,
    pub families: BTreeMap<&'static str, f64>,
}

/// A sign that weights are not multiplied by the kernels for their type, or not on the same device as the rest.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FallbackSeen {
    pub phase: &'static str,
    pub kernel: String,
    pub family: &'static str,
    /// unpacked, blas-for-one or cut.
    pub why: &'static str,
    /// The product that used the unpacked weights.
    pub by: Option<String>,
    pub count: u64,
    /// Seconds since the watch began; null for a recording.
    pub after_s: Option<f64>,
}

impl FallbackSeen {
    fn new(sign: &Sign, heard: &Heard) -> FallbackSeen {
        let by = match &sign.why {
            Why::Unpacked { by } => Some(by.clone()),
            Why::BlasForOne | Why::Cut { .. } => None,
        };
        FallbackSeen {
            phase: sign.phase.key(),
            kernel: sign.kernel.clone(),
            family: sign.family.key(),
            why: sign.why.key(),
            by,
            count: heard.count,
            after_s: heard.after.map(|after| after.as_secs_f64()),
        }
    }
}

/// A server's claim about itself, compared with its launches.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClaimHeld {
    pub field: &'static str,
    pub said: String,
    #[serde(rename = "where")]
    pub origin: String,
    pub verdict: Verdict,
    pub why: String,
    /// The figures of `why`, by name.
    pub figures: BTreeMap<&'static str, Value>,
    /// Why a verdict that depends on the absence of an event is limited.
    pub limited_by: Option<Weakness>,
}

impl ClaimHeld {
    fn new(one: &Held, why: String) -> ClaimHeld {
        let figure = |value: &String| value.parse::<u64>().map_or_else(|_| Value::from(value.as_str()), Value::from);
        ClaimHeld {
            field: one.claim.meaning.key(),
            said: one.claim.said.clone(),
            origin: one.claim.origin.to_string(),
            verdict: one.verdict,
            why,
            figures: one.reason.figures.iter().map(|(name, value)| (*name, figure(value))).collect(),
            limited_by: one.weak,
        }
    }
}

/// One kernel in one phase, with all distinguishing values.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LaunchRow {
    /// prefill, batch (several columns: a prompt or several sequences; unknown which), decode or other.
    pub phase: &'static str,
    /// The readable name: `mul_mat_q<Q4_K,112,false>`.
    pub kernel: String,
    /// The key of the kernel: its mangled name, `unnamed@0x..`, or a call's name.
    pub mangled: String,
    pub family: &'static str,
    pub path: Option<String>,
    /// The type of the weights.
    #[serde(rename = "type")]
    pub weights: Option<String>,
    pub columns: Option<u64>,
    pub grids: Vec<[u32; 3]>,
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shmem: u32,
    pub file: String,
    pub bundle: Option<u32>,
    pub launches: u64,
    /// The share of all launches; 0 for a call, which is not a launch.
    pub share: f64,
    pub device: DeviceKind,
    pub rung: Rung,
    /// The device time of these launches (`--times`); null if not requested or unknown.
    pub took: Option<Took>,
}

impl LaunchRow {
    fn new(row: Row, account: &ObserverReport) -> LaunchRow {
        let device = row.device.unwrap_or(account.device);
        LaunchRow {
            phase: row.phase.key(),
            mangled: row.name.text(),
            kernel: row.kernel,
            family: row.family.key(),
            path: row.path.map(|path| path.to_string()),
            weights: row.weights,
            columns: row.ne11,
            grids: row.grids,
            block: row.block,
            shmem: row.shared,
            file: row.file,
            bundle: row.bundle,
            launches: row.launches,
            share: row.share,
            device,
            rung: account.rung(device),
            took: row.took,
        }
    }
}

impl Watched {
    /// `why` renders the reason of a verdict on a claim.
    pub fn new(
        tally: &Tally,
        account: &ObserverReport,
        held: &[Held],
        ended: Option<Ended>,
        why: impl Fn(&Held) -> String,
    ) -> Watched {
        let per_token = tally.per_token().map(|(launches, families)| PerToken {
            launches,
            families: families.into_iter().map(|(family, n)| (family.key(), n)).collect(),
        });
        let device = |(pid, maker, device): (u32, Maker, &Device)| DeviceSeen {
            process: Some(pid).filter(|pid| *pid != 0),
            maker,
            known: device.key(),
            device: device.kind(),
            detail: device.detail().to_string(),
        };
        let conclusion = account.conclusion(tally);
        Watched {
            observer: account.observer,
            device: account.device,
            rung: account.rung(account.device),
            devices: tally.devices.iter().map(device).collect(),
            word: (&account.word).into(),
            ended: ended.map(EndedHow::from),
            seen: tally.launches(),
            calls: tally.calls(),
            lost: tally.lost,
            whole: conclusion.is_whole(),
            unnamed: tally.unnamed(),
            unread: tally.unread,
            unknown_replays: tally.unknown_replays,
            rejected: tally.rejected_kernels(),
            prompts: tally.prompts(),
            batches: tally.batches(),
            tokens: tally.tokens(),
            per_token,
            fallbacks: tally.fallback.signs().map(|(sign, heard)| FallbackSeen::new(sign, heard)).collect(),
            seconds: account.seconds,
            cost_ns: account.cost_ns,
            canary: account.canary.clone(),
            contamination: account.contamination.clone(),
            reach: account.reach.to_string(),
            blind: account.blind.iter().map(|spot| spot.message().to_string()).collect(),
            gaps: account.gaps.clone(),
            conclusion,
            claims: held.iter().map(|one| ClaimHeld::new(one, why(one))).collect(),
            rows: tally.rows().into_iter().map(|row| LaunchRow::new(row, account)).collect(),
        }
    }
}
