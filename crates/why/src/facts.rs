//! What the causes are found in: the server, the model, the cards and the memory, each as far as somebody could look.

use crate::bound::Memory;
use crate::model::Model;
use crate::sure::Sure;
use gpu::Limits;
use server::Kind;

/// A value with how it is known: what was said, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known<T> {
    pub value: T,
    pub sure: Sure,
    pub said: String,
    pub place: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    pub server: Option<Server>,
    pub model: Option<Model>,
    /// Every GPU of the machine; with `--gpu` the one that was named.
    pub cards: Vec<Card>,
    /// Whether somebody looked for GPUs.
    pub cards_seen: bool,
    /// Which of `cards` the server uses; None where that is not known, or where it uses none.
    pub used: Option<usize>,
    /// The system's memory: how fast it can be at most, in words.
    pub system: Option<(Memory, String)>,
    /// Other processes that compute on a GPU: name, number, whether they hold the same card.
    pub others: Option<Vec<Other>>,
    /// The rules of the server's build, or the newest.
    pub rules: Option<Rules>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Server {
    pub kind: Kind,
    pub name: String,
    pub version: Option<String>,
    pub url: Option<String>,
    pub model: Option<String>,
    /// The process that computes.
    pub pid: Option<u32>,
    /// GPU backends among its libraries; None where they could not be read.
    pub backends: Option<Vec<String>>,
    pub layers: Option<Known<(u64, u64)>>,
    /// Bytes in VRAM, of how many.
    pub share: Option<Known<(u64, u64)>>,
    pub flash: Option<Known<bool>>,
    pub cache: Option<Known<(String, String)>>,
    pub micro_batch: Option<Known<u64>>,
    /// Tokens of all slots together.
    pub context: Option<Known<u64>>,
    pub slots: Option<Known<u64>>,
    pub splits: Option<Known<u64>>,
    /// `HSA_OVERRIDE_GFX_VERSION`; None inside where it is not set, None outside where the environment could not be read.
    pub override_: Option<Option<Known<String>>>,
    /// `CMAKE_BUILD_TYPE` of the build directory that the program is in.
    pub build_type: Option<Known<String>>,
    /// Requests that wait; None where the server does not count them.
    pub waiting: Option<Known<u64>>,
    /// A systemd unit that it belongs to.
    pub unit: Option<String>,
    /// The command line, without secrets.
    pub command: Vec<String>,
    pub log_read: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub title: String,
    pub target: Option<String>,
    pub limits: Option<Limits>,
    pub integrated: bool,
    /// Bytes.
    pub vram: Option<u64>,
    /// Code objects for it in the backend that the server has loaded: library and its targets.
    pub code: Option<(String, Vec<String>)>,
    /// Kernels of that backend for this card: stubs, and whether any has matrix instructions. None where nobody counted.
    pub census: Option<Census>,
    pub state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Census {
    pub stubs: u64,
    pub matrix: bool,
}

/// What the driver publishes of a card in `/sys`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub place: String,
    /// `power_dpm_force_performance_level`.
    pub level: Option<String>,
    /// Watts: the limit in force, and the card's own.
    pub power: Option<(u64, u64)>,
    /// Where the limit is set.
    pub power_file: Option<String>,
    /// Bytes in use, of how many.
    pub vram: Option<(u64, u64)>,
    /// Lanes in use, of how many.
    pub link: Option<(u64, u64)>,
    pub link_speed: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    pub name: String,
    pub pid: u32,
    pub same_card: bool,
}

/// What the dispatch rules choose for the model's main type on the card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// `llama.cpp b6841`.
    pub version: String,
    /// The server has exactly this release.
    pub exact: bool,
    pub target: String,
    pub kind: String,
    /// From, to, path.
    pub stretches: Vec<(u64, u64, String)>,
    /// File and line of the rule for long prompts.
    pub place: Option<String>,
    /// Where a newer release first chooses another path: its version, date, first columns, and the path there.
    pub newer: Option<Newer>,
    /// There is no release after it.
    pub newest: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Newer {
    pub version: String,
    pub date: String,
    pub from: u64,
    pub to: u64,
    pub before: String,
    pub after: String,
}

impl Rules {
    /// The path of an evaluation of so many columns.
    pub fn path(&self, columns: u64) -> Option<&str> {
        let found = self.stretches.iter().find(|(from, to, _)| (*from..=*to).contains(&columns));
        found.map(|(.., path)| path.as_str()).filter(|path| *path != "UNDETERMINED")
    }
}

impl Facts {
    /// The card that the model runs on, or would.
    pub fn card(&self) -> Option<&Card> {
        match (self.used, self.cards.as_slice()) {
            (Some(used), cards) => cards.get(used),
            (None, [only]) => Some(only),
            (None, cards) => {
                let mut large = cards.iter().filter(|card| !card.integrated);
                large.next().filter(|_| large.next().is_none())
            }
        }
    }

    /// No GPU code is in the process that computes.
    pub fn on_cpu(&self) -> Option<bool> {
        let server = self.server.as_ref()?;
        if server.backends.as_ref().is_some_and(Vec::is_empty) {
            return Some(true);
        }
        let layers = server.layers.as_ref().map(|known| known.value.0 == 0);
        layers.or(server.share.as_ref().map(|known| known.value.0 == 0))
    }

    /// Types of the keys and values in the cache; f16 where nobody said anything else.
    pub fn cache(&self) -> (&str, &str) {
        let said = self.server.as_ref().and_then(|server| server.cache.as_ref());
        said.map_or(("f16", "f16"), |known| (known.value.0.as_str(), known.value.1.as_str()))
    }
}
