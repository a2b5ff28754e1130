//! rocprofv3's csv (`*_kernel_trace.csv`) and json (`*_results.json`).

use crate::imports::{Dispatch, ImportError, Profile, Profiler};
use say::{Message, Say as _, say};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// A C++ kernel name may have a thousand characters; no other field is long.
const LONGEST: usize = 1 << 20;

/// Returns None if the file is neither csv nor json.
pub(super) fn read(path: &Path, bytes: &[u8], into: &mut Profile) -> Option<Result<(), ImportError>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let first = text.lines().next()?;
    into.by = Profiler::Rocprof;
    if first.len() <= LONGEST && first.contains("Kernel_Name") && first.contains("Start_Timestamp") {
        into.device = agent_beside(path);
        return Some(csv(path, text, into));
    }
    if text.trim_start().starts_with('{') && text.contains("rocprofiler-sdk-tool") {
        return Some(json(path, text, into));
    }
    None
}

/// The csv identifies the device by number; its name is in the `*_agent_info.csv` that rocprofv3 writes next to it.
fn agent_beside(path: &Path) -> Option<String> {
    const MOST: u64 = 1 << 20;
    let name = path.file_name()?.to_str()?.strip_suffix("kernel_trace.csv")?;
    let beside = inventory::File::open(&path.with_file_name(format!("{name}agent_info.csv"))).ok()?;
    let source: &dyn codeobject::ReadAt = &beside;
    let bytes = source.bytes(0, source.len().min(MOST), "agents").ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let mut lines = text.lines();
    let header = fields(lines.next()?);
    let place = |name: &str| header.iter().position(|field| field == name);
    let (kind, name) = (place("Agent_Type")?, place("Name")?);
    let agents = lines.map(fields).filter(|row| row.get(kind).is_some_and(|kind| kind == "GPU"));
    agents.filter_map(|row| row.get(name).cloned()).find(|name| !name.is_empty())
}

/// The fields of one line. Quoted fields may contain commas, and a quote inside is doubled (RFC 4180).
fn fields(line: &str) -> Vec<String> {
    let (mut out, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => field.extend(rest.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    out.push(field);
    out
}

fn csv(path: &Path, text: &str, into: &mut Profile) -> Result<(), ImportError> {
    let wrong = |line: usize, why: Message| ImportError::Csv { path: path.to_owned(), line, why };
    let mut lines = text.lines().enumerate();
    let header = lines.next().map(|(_, line)| fields(line)).unwrap_or_default();
    let place = |name: &str| header.iter().position(|field| field == name);
    for (at, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        if line.len() > LONGEST {
            return Err(wrong(at + 1, say!("watch-csv-long", bytes = line.len(), most = LONGEST)));
        }
        let row = fields(line);
        let field = |name: &str| place(name).and_then(|place| row.get(place)).map(String::as_str);
        let number = |name: &str| {
            let text = field(name).ok_or_else(|| wrong(at + 1, say!("watch-csv-lacks", name)))?;
            text.parse::<i64>().map_err(|_| wrong(at + 1, say!("watch-csv-number", name, text)))
        };
        let small = |name: &str| number(name).map(|n| u32::try_from(n).unwrap_or(0));
        let block = [small("Workgroup_Size_X")?, small("Workgroup_Size_Y")?, small("Workgroup_Size_Z")?];
        let threads = [small("Grid_Size_X")?, small("Grid_Size_Y")?, small("Grid_Size_Z")?];
        into.add(Dispatch {
            name: field("Kernel_Name").unwrap_or_default().to_owned(),
            start: number("Start_Timestamp")?,
            end: number("End_Timestamp")?,
            grid: groups(threads, block),
            block,
            // Before ROCm 6.4 the column had the name of the packet's field.
            shared: small("LDS_Block_Size").or_else(|_| small("Group_Segment_Size")).unwrap_or(0),
        });
    }
    Ok(())
}

fn groups(threads: [u32; 3], block: [u32; 3]) -> [u32; 3] {
    let mut grid = threads;
    for (grid, block) in grid.iter_mut().zip(block) {
        *grid = if block == 0 { *grid } else { grid.div_ceil(block) };
    }
    grid
}

fn json(path: &Path, text: &str, into: &mut Profile) -> Result<(), ImportError> {
    let wrong = |why: Message| ImportError::Json { path: path.to_owned(), why };
    let whole: Value = serde_json::from_str(text).map_err(|error| wrong(error.message()))?;
    let runs = whole.get("rocprofiler-sdk-tool").and_then(Value::as_array);
    let runs = runs.ok_or_else(|| wrong(say!("watch-json-list")))?;
    for run in runs {
        let agents = run.get("agents").and_then(Value::as_array).into_iter().flatten();
        let device = agents.filter_map(|agent| agent.get("name")?.as_str()).find(|name| name.starts_with("gfx"));
        let host = run.pointer("/metadata/node/hostname").and_then(Value::as_str).filter(|host| !host.is_empty());
        into.device = into.device.take().or(device.map(str::to_owned));
        into.host = into.host.take().or(host.map(str::to_owned));
        let mut names: HashMap<u64, &str> = HashMap::new();
        for symbol in run.get("kernel_symbols").and_then(Value::as_array).into_iter().flatten() {
            let name = ["kernel_name", "formatted_kernel_name"].iter().find_map(|key| symbol.get(*key)?.as_str());
            if let (Some(id), Some(name)) = (symbol.get("kernel_id").and_then(Value::as_u64), name) {
                names.insert(id, name);
            }
        }
        let records = run.pointer("/buffer_records/kernel_dispatch").and_then(Value::as_array);
        let records = records.ok_or_else(|| wrong(say!("watch-json-records")))?;
        for record in records {
            let info = record.get("dispatch_info").unwrap_or(&Value::Null);
            let three = |name: &str| {
                ["x", "y", "z"].map(|axis| {
                    let value = info.get(name).and_then(|size| size.get(axis)).and_then(Value::as_u64);
                    value.and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
                })
            };
            let time = |name: &str| record.get(name).and_then(Value::as_i64).unwrap_or(0);
            let id = info.get("kernel_id").and_then(Value::as_u64).unwrap_or(0);
            let block = three("workgroup_size");
            into.add(Dispatch {
                name: names.get(&id).map_or_else(|| format!("kernel {id}"), |name| (*name).to_owned()),
                start: time("start_timestamp"),
                end: time("end_timestamp"),
                grid: groups(three("grid_size"), block),
                block,
                shared: info.get("group_segment_size").and_then(Value::as_u64).map_or(0, |n| n as u32),
            });
        }
    }
    Ok(())
}
