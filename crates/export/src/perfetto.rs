//! A trace for Perfetto (<https://ui.perfetto.dev>) in its own protocol buffers. Each stream is a track, and each
//! launch is an instant.
//!
//! A launch has a time but no duration: the host's clock does not show when the device started, so no bar is drawn. The
//! device time is added if `watch --times` recorded it. The field numbers come from
//! `protos/perfetto/trace/perfetto_trace.proto`.

use crate::timeline::{Launch, Timeline};
use std::collections::BTreeMap;

/// The value of `TrackEvent.Type.TYPE_INSTANT`.
const INSTANT: u64 = 3;
/// The id of the only packet sequence, whose packets share their state.
const SEQUENCE: u64 = 1;

/// The bytes of a `Trace` message.
pub fn perfetto(timeline: &Timeline) -> Vec<u8> {
    let mut out = Message::default();
    let mut tracks: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    let mut processes: Vec<u32> = timeline.launches.iter().map(|launch| launch.process).collect();
    processes.sort_unstable();
    processes.dedup();
    for (at, process) in processes.iter().enumerate() {
        let uuid = at as u64 + 1;
        let mut descriptor = Message::default();
        descriptor.number(1, uuid);
        let mut named = Message::default();
        named.number(1, u64::from(*process));
        named.text(6, if timeline.program.is_empty() { "launches" } else { &timeline.program });
        descriptor.message(3, &named);
        out.message(1, &packet(60, &descriptor));
        tracks.insert((*process, u64::MAX), uuid);
    }
    for launch in &timeline.launches {
        let next = tracks.len() as u64 + 1;
        let parent = tracks.get(&(launch.process, u64::MAX)).copied().unwrap_or(1);
        let uuid = *tracks.entry((launch.process, launch.stream)).or_insert_with(|| {
            let mut descriptor = Message::default();
            descriptor.number(1, next);
            descriptor.text(2, &format!("stream {:#x}", launch.stream));
            descriptor.number(5, parent);
            out.message(1, &packet(60, &descriptor));
            next
        });
        let mut of = packet(11, &event(launch, uuid));
        of.number(8, launch.time_ns);
        out.message(1, &of);
    }
    out.bytes
}

fn packet(field: u32, body: &Message) -> Message {
    let mut packet = Message::default();
    packet.number(10, SEQUENCE);
    packet.message(field, body);
    packet
}

fn event(launch: &Launch, track: u64) -> Message {
    let mut event = Message::default();
    event.number(9, INSTANT);
    event.number(11, track);
    event.text(22, category(launch));
    event.text(23, &launch.name);
    let mut note = |name: &str, write: &dyn Fn(&mut Message)| {
        let mut annotation = Message::default();
        annotation.text(10, name);
        write(&mut annotation);
        event.message(4, &annotation);
    };
    note("api", &|note| note.text(6, &launch.api));
    if let Some(mangled) = &launch.mangled {
        note("mangled", &|note| note.text(6, mangled));
    }
    if let Some(columns) = launch.columns {
        note("columns", &|note| note.number(3, columns));
    }
    let [x, y, z] = launch.grid;
    note("grid", &|note| note.text(6, &format!("{x}x{y}x{z}")));
    let [x, y, z] = launch.block;
    note("block", &|note| note.text(6, &format!("{x}x{y}x{z}")));
    note("thread", &|note| note.number(3, u64::from(launch.thread)));
    if let Some(took) = launch.took_ns {
        note("took_ns", &|note| note.number(3, took));
    }
    if let Some(status) = launch.refused() {
        note("refused", &|note| note.number(3, u64::from(status)));
    }
    event
}

/// The kind of event. A launch that was refused or only captured does not count as a launch.
pub fn category(launch: &Launch) -> &'static str {
    match (launch.refused(), launch.captured) {
        (None, false) => "launch",
        (None, true) => "captured",
        (Some(_), _) => "refused",
    }
}

/// The subset of protocol buffers that is needed: numbers, texts and messages.
#[derive(Debug, Default)]
struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn number(&mut self, field: u32, value: u64) {
        self.varint(u64::from(field) << 3);
        self.varint(value);
    }

    fn text(&mut self, field: u32, text: &str) {
        self.block(field, text.as_bytes());
    }

    fn message(&mut self, field: u32, message: &Message) {
        self.block(field, &message.bytes);
    }

    fn block(&mut self, field: u32, bytes: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }
}
