//! The inputs of the checks: the server, the model, the cards and the memory, as far as they could be read.

use crate::bound::Memory;
use crate::model::Model;
use crate::sure::Sure;
use gpu::Limits;
use server::Kind;

/// A value with its source: the text and its location.
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
    /// Every GPU of the machine; with `--gpu` only the named one.
    pub cards: Vec<Card>,
    /// Whether GPUs were searched for.
    pub cards_seen: bool,
    /// The index in `cards` of the card that the server uses; None if unknown or if it uses none.
    pub used: Option<usize>,
    /// The system's memory with its maximum read rate, and its description.
    pub system: Option<(Memory, String)>,
    /// Other processes that compute on a GPU: name, PID, and whether they use the same card.
    pub others: Option<Vec<Other>>,
    /// The rules of the server's build, or the newest ones.
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
    /// The GPU backends among the server's libraries; None if the libraries could not be read.
    pub backends: Option<Vec<String>>,
    pub layers: Option<Known<(u64, u64)>>,
    /// Bytes in VRAM and total bytes.
    pub share: Option<Known<(u64, u64)>>,
    pub flash: Option<Known<bool>>,
    pub cache: Option<Known<(String, String)>>,
    pub micro_batch: Option<Known<u64>>,
    /// Tokens of all slots together.
    pub context: Option<Known<u64>>,
    pub slots: Option<Known<u64>>,
    pub splits: Option<Known<u64>>,
    /// `HSA_OVERRIDE_GFX_VERSION`. The inner None: it is not set. The outer None: the environment could not be read.
    pub override_: Option<Option<Known<String>>>,
    /// The matrix cores that ggml's Vulkan backend uses, as it names them: `KHR_coopmat`, `none`.
    pub vulkan_matrix: Option<Known<String>>,
    /// `GGML_VK_DISABLE_COOPMAT`, with any value.
    pub coopmat_off: Option<Known<String>>,
    /// `CMAKE_BUILD_TYPE` of the build directory that the program is in.
    pub build_type: Option<Known<String>>,
    /// Waiting requests; None if the server does not count them.
    pub waiting: Option<Known<u64>>,
    /// The systemd unit that the server belongs to.
    pub unit: Option<Unit>,
    /// The command line, without secrets.
    pub command: Vec<String>,
    pub log_read: bool,
}

impl Server {
    /// Whether Vulkan is the only GPU backend.
    pub fn is_vulkan(&self) -> bool {
        let mut backends = self.backends.iter().flatten();
        let vulkan = |name: &String| name.contains("vulkan");
        backends.clone().next().is_some() && backends.all(vulkan)
    }
}

/// A service of systemd: the system's, or of a user's own manager.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unit {
    pub name: String,
    pub of_user: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub title: String,
    pub target: Option<String>,
    pub limits: Option<Limits>,
    pub integrated: bool,
    /// Bytes.
    pub vram: Option<u64>,
    /// The library of the loaded backend, and the targets of its code objects.
    pub code: Option<(String, Vec<String>)>,
    /// Kernels of that backend for this card: stubs, and whether any has matrix instructions. None if they were not
    /// counted.
    pub census: Option<Census>,
    pub state: State,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Census {
    /// `mul_mat_q<Q4_K,128>`: type and tile as the rules choose them.
    pub kernel: String,
    /// The kernel's variants for this card, and how many of them are stubs.
    pub kernels: u64,
    pub stubs: u64,
    /// Matrix instructions in all variants.
    pub matrix: u64,
}

/// The state of a card that the driver publishes in `/sys`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// A directory in `/sys`, or the command that was asked.
    pub place: String,
    /// The value of `power_dpm_force_performance_level`.
    pub level: Option<String>,
    /// Watts: the current limit and the card's default.
    pub power: Option<(u64, u64)>,
    /// The file that sets the limit.
    pub power_file: Option<String>,
    /// Bytes in use and total bytes.
    pub vram: Option<(u64, u64)>,
    /// Lanes in use and maximum lanes.
    pub link: Option<(u64, u64)>,
    pub link_speed: Option<String>,
    /// The card's directory on the bus.
    pub link_place: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    pub name: String,
    pub pid: u32,
    pub same_card: bool,
}

/// The paths that the dispatch rules choose for the model's main type on the card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// The release whose rules are used, such as `llama.cpp b6841`.
    pub version: String,
    /// Whether the server has exactly this release.
    pub exact: bool,
    pub target: String,
    pub kind: String,
    /// Ranges of column counts: from, to, path.
    pub stretches: Vec<(u64, u64, String)>,
    /// The tile of the kernel for long prompts.
    pub tile: Option<i64>,
    /// File and line of the rule for long prompts.
    pub place: Option<String>,
    /// The first newer release that chooses another path: its version, date, first column count, and path.
    pub newer: Option<Newer>,
    /// Whether there is no later release.
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
    /// The path for this number of columns.
    pub fn path(&self, columns: u64) -> Option<&str> {
        let found = self.stretches.iter().find(|(from, to, _)| (*from..=*to).contains(&columns));
        found.map(|(.., path)| path.as_str()).filter(|path| *path != "UNDETERMINED")
    }
}

impl Facts {
    /// The card that the model runs on or would run on.
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

    pub fn card_mut(&mut self) -> Option<&mut Card> {
        let at = self.card().and_then(|card| self.cards.iter().position(|known| std::ptr::eq(known, card)))?;
        self.cards.get_mut(at)
    }

    /// Whether the process that computes has no GPU code.
    pub fn on_cpu(&self) -> Option<bool> {
        let server = self.server.as_ref()?;
        if server.backends.as_ref().is_some_and(Vec::is_empty) {
            return Some(true);
        }
        let layers = server.layers.as_ref().map(|known| known.value.0 == 0);
        layers.or(server.share.as_ref().map(|known| known.value.0 == 0))
    }

    /// Types of the keys and values in the cache; f16 unless the server states another.
    pub fn cache(&self) -> (&str, &str) {
        let said = self.server.as_ref().and_then(|server| server.cache.as_ref());
        said.map_or(("f16", "f16"), |known| (known.value.0.as_str(), known.value.1.as_str()))
    }
}
