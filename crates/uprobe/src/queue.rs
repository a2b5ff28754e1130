//! The records that are not processed yet, and the results so far: the third of the three parts of a watch.

use crate::bpf::wire::{Event, Key};
use crate::target::processes::Happened;
use rustc_hash::FxHashMap;
use std::collections::{HashMap, VecDeque};
use std::time::Instant;
use watch::{Flow, KindId};

pub(crate) enum Item {
    Record(Vec<u8>),
    Sample(Event<'static>),
    Happened(Happened),
    /// Records of Vulkan calls were lost in this range: marks its beginning or its end.
    Torn(bool),
}

pub(crate) struct Queue {
    /// Waiting records, sorted by time.
    pub items: VecDeque<(u64, Item)>,
    /// Records that were just read.
    pub fresh: Vec<(u64, Item)>,
    pub flows: FxHashMap<u32, Flow>,
    pub kinds: FxHashMap<Key, KindId>,
    /// Kinds without a name, and how much was known about names then.
    pub unnamed: FxHashMap<Key, (KindId, u64)>,
    /// How often each key arrived over the ring.
    pub shipped: FxHashMap<Key, u64>,
    /// How often a refusal of each key arrived, and how often before its launch was counted.
    pub refused: HashMap<Key, (u64, u64)>,
    /// How often each key arrived from processes that reuse the id of a watched process.
    pub strangers: HashMap<Key, u64>,
    /// Launches by process and stream outside any observed capture, until the first capture of that stream is seen.
    pub direct: FxHashMap<(u32, u64), u64>,
    /// Launches and replays of watched processes: a probe belongs to a file, and fires for other processes too.
    pub activity: u64,
    pub last_new: Instant,
}

impl Queue {
    pub fn new() -> Queue {
        Queue {
            items: VecDeque::new(),
            fresh: Vec::new(),
            flows: FxHashMap::default(),
            kinds: FxHashMap::default(),
            unnamed: FxHashMap::default(),
            shipped: FxHashMap::default(),
            refused: HashMap::new(),
            strangers: HashMap::new(),
            direct: FxHashMap::default(),
            activity: 0,
            last_new: Instant::now(),
        }
    }

    /// Merges new records with the waiting ones, by time.
    pub fn merge(&mut self, records: Vec<(u64, Item)>) {
        let mut all: Vec<(u64, Item)> = self.items.drain(..).chain(records).collect();
        all.sort_by_key(|(time, _)| *time);
        self.items = all.into();
    }

    /// Forgets how often each key arrived: for a watch whose counts come from the kernel alone.
    pub fn forget_counts(&mut self) {
        const MOST_KINDS: usize = 1 << 12;
        self.shipped.clear();
        self.refused.clear();
        self.strangers.clear();
        self.direct.clear();
        if self.kinds.len() + self.unnamed.len() > MOST_KINDS {
            self.kinds.clear();
            self.unnamed.clear();
        }
    }

    /// The time of the last launch of a new kernel; None if nothing was launched yet.
    pub fn last_new(&self) -> Option<Instant> {
        (!self.shipped.is_empty()).then_some(self.last_new)
    }
}
