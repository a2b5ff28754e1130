//! A file for the Firefox Profiler (<https://profiler.firefox.com>) in its processed format. Each launch is an instant
//! marker.
//!
//! Written with the format's own library (`fxprof-processed-profile`, which samply uses). It has no samples, because
//! nothing was sampled.

use crate::perfetto::category;
use crate::timeline::{Launch, Timeline};
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, MarkerFieldFlags, MarkerFieldFormat, MarkerTiming, Profile, ReferenceTimestamp,
    SamplingInterval, StaticSchemaMarker, StaticSchemaMarkerField, StringHandle, ThreadHandle, Timestamp,
};
use std::collections::BTreeMap;

/// The profile as JSON. A trace's clock has no date, so its first launch is at time 0.
pub fn profiler(timeline: &Timeline) -> serde_json::Result<Vec<u8>> {
    let start = ReferenceTimestamp::from_millis_since_unix_epoch(0.0);
    let mut profile = Profile::new("whichkernel", start, SamplingInterval::from_millis(1));
    let category_of = |profile: &mut Profile| profile.add_category("GPU launches", CategoryColor::Orange);
    let category = category_of(&mut profile);
    let (first, mut processes, mut threads) = (timeline.start(), BTreeMap::new(), BTreeMap::new());
    let zero = Timestamp::from_nanos_since_reference(0);
    let program = if timeline.program.is_empty() { "launches" } else { &timeline.program };
    for launch in &timeline.launches {
        let process =
            *processes.entry(launch.process).or_insert_with(|| profile.add_process(program, launch.process, zero));
        let thread: ThreadHandle = *threads.entry((launch.process, launch.thread)).or_insert_with(|| {
            let thread = profile.add_thread(process, launch.thread, zero, launch.thread == launch.process);
            profile.set_thread_show_markers_in_timeline(thread, true);
            thread
        });
        let marker = Marker::new(launch, category, &mut profile);
        let at = Timestamp::from_nanos_since_reference(launch.time_ns.saturating_sub(first));
        profile.add_marker(thread, MarkerTiming::Instant(at), marker);
    }
    serde_json::to_vec(&profile)
}

#[derive(Debug, Clone)]
struct Marker {
    name: StringHandle,
    category: CategoryHandle,
    kind: StringHandle,
    api: StringHandle,
    mangled: StringHandle,
    grid: StringHandle,
    stream: StringHandle,
    columns: StringHandle,
    took: StringHandle,
    refused: StringHandle,
}

impl Marker {
    fn new(launch: &Launch, group: CategoryHandle, profile: &mut Profile) -> Marker {
        let [x, y, z] = launch.grid;
        let columns = launch.columns.map(|columns| columns.to_string()).unwrap_or_default();
        let refused = launch.refused().map(|status| status.to_string()).unwrap_or_default();
        let took = launch.took_ns.map(|ns| format!("{ns} ns")).unwrap_or_default();
        Marker {
            name: profile.intern_string(&launch.name),
            category: group,
            kind: profile.intern_string(category(launch)),
            api: profile.intern_string(&launch.api),
            mangled: profile.intern_string(launch.mangled.as_deref().unwrap_or("")),
            grid: profile.intern_string(&format!("{x}x{y}x{z}")),
            stream: profile.intern_string(&format!("{:#x}", launch.stream)),
            columns: profile.intern_string(&columns),
            took: profile.intern_string(&took),
            refused: profile.intern_string(&refused),
        }
    }
}

const fn field(key: &'static str, label: &'static str) -> StaticSchemaMarkerField {
    StaticSchemaMarkerField { key, label, format: MarkerFieldFormat::String, flags: MarkerFieldFlags::SEARCHABLE }
}

impl StaticSchemaMarker for Marker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "Launch";
    const DESCRIPTION: Option<&'static str> = Some(
        "The time at which the host launched a kernel or tried to. A refused launch did not run. The device time is present if it was measured.",
    );
    const CHART_LABEL: Option<&'static str> = Some("{marker.name}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.name} columns {marker.data.columns}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[
        field("kind", "What happened"),
        field("api", "Call"),
        field("mangled", "Kernel"),
        field("grid", "Grid"),
        field("stream", "Stream"),
        field("columns", "Columns"),
        field("took", "Time on the device"),
        field("refused", "Refused with"),
    ];

    fn name(&self, _: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _: &mut Profile) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, field: u32) -> StringHandle {
        match field {
            0 => self.kind,
            1 => self.api,
            2 => self.mangled,
            3 => self.grid,
            4 => self.stream,
            5 => self.columns,
            6 => self.took,
            _ => self.refused,
        }
    }

    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}
