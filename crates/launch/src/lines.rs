//! The lines that `--trace FILE` writes, one JSON object per launch. Writer and reader share this definition.
//!
//! A trace ends with a line of counts ([`End`]). Without it, it is unknown whether the trace is complete. Lines are
//! numbered from 0 without gaps, so that a missing line is noticed.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A launch, a call into a BLAS library (`m`, `n`, `k`), or the replay of a graph (`exec`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub seq: u64,
    /// The writer, if it matters: [`STAND_IN`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(default)]
    pub pid: u32,
    #[serde(default)]
    pub thread: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u32>,
    #[serde(default)]
    pub stream: u64,
    #[serde(default)]
    pub time_ns: u64,
    #[serde(default)]
    pub api: String,
    /// The kernel's mangled name, or the name of a Vulkan pipeline. None for a call, a replay, and an unnamed launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The address passed by an unnamed launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// For a Vulkan pipeline: module, constants and subgroup size, which distinguish pipelines with the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// The type of the weights, for a Vulkan pipeline whose name does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    #[serde(default)]
    pub grid: [u32; 3],
    #[serde(default)]
    pub block: [u32; 3],
    #[serde(default)]
    pub shmem: u32,
    /// The result of the call. Any value except 0 is a refused launch. None if the result was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u32>,
    /// This line is not a launch. It reports that the launch on that line was refused, which was known only after the
    /// call returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuses: Option<u64>,
    /// The number of launches that this line represents, if they were only counted. Their times and order are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// With `times`: how many launches of this kind were refused, among these and among those that earlier lines report
    /// as accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_refused: Option<u64>,
    /// The capture that contains the launch. 0 means that it was launched immediately.
    #[serde(default)]
    pub graph: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub m: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<i64>,
    #[serde(default)]
    pub ne11: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundle: Option<u32>,
    /// The bytes of the arguments, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<String>,
    /// How long the device worked on it, by the device's own clock, if this was requested and reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ns: Option<u64>,
    /// The call as a command line of rocblas-bench.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bench: Option<String>,
}

/// The writer name of the dry run: nothing was executed, and a graph's launches appear at the position of its replay.
pub const STAND_IN: &str = "dryrun";

impl Line {
    pub fn is_call(&self) -> bool {
        self.m.is_some()
    }

    pub fn is_replay(&self) -> bool {
        self.exec.is_some()
    }

    /// Whether the launch was captured into a graph, so that it did not run at this time.
    pub fn is_captured(&self) -> bool {
        self.graph != 0 && self.by.as_deref() != Some(STAND_IN)
    }

    pub fn is_refused(&self) -> bool {
        self.status.is_some_and(|status| status != 0)
    }

    /// Rejects numbers that are larger than any program can launch, because their sums would overflow.
    fn is_possible(&self) -> bool {
        [self.times, self.times_refused].into_iter().flatten().all(|count| count <= MOST)
    }

    /// How many launches, calls or replays the line represents.
    pub fn count(&self) -> u64 {
        self.times.unwrap_or(1)
    }
}

/// The last line of a trace: the writer's counts, and how completely it observed. If a launch is counted here but has
/// no line, it is missing from the trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct End {
    /// The number of lines before this one.
    pub lines: u64,
    /// The name of the observer.
    pub by: String,
    /// Accepted launches, as far as known, including those of replayed graphs.
    pub launches: u64,
    pub calls: u64,
    pub refused: u64,
    /// Launches that are known to have happened but were not observed.
    pub lost: u64,
    pub unknown_replays: u64,
    /// The length of the observation.
    pub window_ns: u64,
    pub gaps: Vec<Missed>,
}

/// A gap in the observation, as stated by the writer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Missed {
    pub key: String,
    /// The facts that the gap affects: `launches`, `order`, `acceptance`.
    pub open: String,
    pub count: u64,
    pub what: String,
    pub why: String,
}

/// The number of launches in a day at a million per second. The sum over all lines that are read at once still fits.
const MOST: u64 = 1 << 37;

impl End {
    fn is_possible(&self) -> bool {
        [self.lines, self.launches, self.calls, self.refused, self.lost, self.unknown_replays]
            .into_iter()
            .all(|count| count <= MOST)
    }
}

/// The form of the last line: `{"end":{...}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    pub end: End,
}

/// The content of a trace file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// Lines without duplicates, with later refusals applied to the launches that they refuse.
    pub lines: Vec<Line>,
    /// Unreadable lines, except the last one.
    pub damaged: u64,
    /// Whether the last line is incomplete because the writer was stopped.
    pub cut_off: bool,
    /// The writer's summaries. There is none without an end, and there are several if traces were concatenated.
    pub ends: Vec<End>,
    /// Lines that should exist according to the line numbers or the end's count, but are unreadable or missing.
    pub missing: u64,
    /// Lines with the number of another line. Identical lines do not count as launches; different ones do.
    pub repeated: u64,
}

impl Lines {
    /// The time from the first to the last line, in nanoseconds.
    pub fn span_ns(&self) -> u64 {
        let moments = || self.lines.iter().map(|line| line.time_ns).filter(|time| *time > 0);
        moments().max().unwrap_or(0).saturating_sub(moments().min().unwrap_or(0))
    }

    /// Removes duplicate lines and counts missing ones: by the end's count, otherwise by the numbers.
    fn number(&mut self) {
        let before = self.lines.len();
        // Sort by number. Lines with the same number keep their order.
        self.lines.sort_by_key(|line| line.seq);
        let numbers = self.lines.chunk_by(|a, b| a.seq == b.seq).count();
        self.repeated = (before - numbers) as u64;
        self.lines.dedup();
        let there = self.lines.len() as u64;
        let told = self.ends.iter().map(|end| end.lines).fold(0, u64::saturating_add);
        let numbered = self.lines.last().map_or(0, |line| line.seq.saturating_add(1));
        let wanted = if self.ends.is_empty() { numbered } else { told.max(numbered) };
        let unread = self.damaged + u64::from(self.cut_off);
        self.missing = wanted.saturating_sub(there).max(unread);
    }

    /// Marks launches that later lines refuse. A refusal of a missing line counts as a refused launch itself.
    fn refuse(&mut self) {
        let refusals: Vec<Line> = self.lines.extract_if(.., |line| line.refuses.is_some()).collect();
        if refusals.is_empty() {
            return;
        }
        let place = |(at, line): (usize, &Line)| ((line.seq, line.pid, line.thread), at);
        let at: HashMap<_, usize> = self.lines.iter().enumerate().map(place).collect();
        for refusal in refusals {
            let wanted = refusal.refuses.map(|seq| (seq, refusal.pid, refusal.thread));
            match wanted.and_then(|wanted| at.get(&wanted)).and_then(|at| self.lines.get_mut(*at)) {
                Some(line) => line.status = refusal.status,
                None => self.lines.push(refusal),
            }
        }
    }
}

/// Reads a trace. None if the file does not begin with such a line, because it is then another kind of file.
pub fn read(bytes: &[u8]) -> Option<Lines> {
    let mut found = Lines::default();
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
    while let Some(line) = lines.next() {
        if let Some(line) = serde_json::from_slice(line).ok().filter(Line::is_possible) {
            found.lines.push(line);
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(Closing { end }) if end.is_possible() => found.ends.push(end),
            Ok(_) => found.damaged += 1,
            Err(_) if found.lines.is_empty() && found.ends.is_empty() => return None,
            Err(_) if lines.peek().is_none() => found.cut_off = true,
            Err(_) => found.damaged += 1,
        }
    }
    if found.lines.is_empty() && found.ends.is_empty() {
        return None;
    }
    found.number();
    found.refuse();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: &str = r#""kernel":"mul_mat_q","grid":[1,2,3],"block":[32,8,1],"graph":0}"#;

    fn line(seq: u64) -> String {
        format!("{{\"seq\":{seq},{SHAPE}")
    }

    #[test]
    fn half_a_line_is_counted_wherever_it_stands() {
        let half = &line(7)[..20];
        let shape = |text: String| read(text.as_bytes()).map(|found| (found.lines.len(), found.damaged, found.cut_off));
        assert_eq!(shape(format!("{}\n\n{}\n", line(0), line(1))), Some((2, 0, false)));
        assert_eq!(shape(format!("{}\n{half}\n{}\n", line(0), line(1))), Some((2, 1, false)));
        assert_eq!(shape(format!("{}\n{}\n{half}", line(0), line(1))), Some((2, 0, true)));
        assert_eq!(shape(format!("{half}\n{}\n", line(0))), None);
        assert_eq!(shape(String::new()), None);
        assert_eq!(shape("{}\n".to_owned()), None);
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let line = Line { seq: 3, address: Some(7), m: Some(-1), ..Line::default() };
        let end = End { lines: 4, by: "uprobe".into(), launches: 9, gaps: vec![Missed::default()], ..End::default() };
        let closing = serde_json::to_string(&Closing { end: end.clone() }).unwrap();
        let text = format!("{}\n{closing}\n", serde_json::to_string(&line).unwrap());
        let found = read(text.as_bytes()).unwrap();
        assert_eq!((found.lines, found.ends, found.missing), (vec![line], vec![end], 3));
    }

    #[test]
    fn what_was_taken_out_and_what_stands_there_twice_is_missed() {
        let of = |numbers: &[u64], end: Option<u64>| {
            let mut text: String = numbers.iter().map(|seq| line(*seq) + "\n").collect();
            text.extend(end.map(|lines| format!("{{\"end\":{{\"lines\":{lines}}}}}\n")));
            let found = read(text.as_bytes()).unwrap();
            (found.lines.len(), found.missing, found.repeated)
        };
        assert_eq!(of(&[0, 1, 2], Some(3)), (3, 0, 0));
        assert_eq!(of(&[0, 2, 4], Some(6)), (3, 3, 0), "every second one, and the last");
        assert_eq!(of(&[0, 2, 4], None), (3, 2, 0), "of the last nobody can know");
        assert_eq!(of(&[5, 6], None), (2, 5, 0), "the beginning");
        assert_eq!(of(&[0, 0, 1, 1], Some(2)), (2, 0, 2));
        assert_eq!(of(&[2, 1, 0], Some(3)), (3, 0, 0), "the order of lines is not their number");
        assert_eq!(of(&[u64::MAX], None).1, u64::MAX - 1);
        let other = line(0).replace("mul_mat_q", "other");
        let found = read(format!("{}\n{other}\n", line(0)).as_bytes()).unwrap();
        assert_eq!((found.lines.len(), found.repeated), (2, 1), "two launches, of two traces");
    }

    #[test]
    fn numbers_that_cannot_be_are_damage() {
        let many = line(1).replace("\"graph\":0", "\"times\":18446744073709551615");
        let end = r#"{"end":{"lines":2,"launches":18446744073709551615}}"#;
        let found = read(format!("{}\n{many}\n{end}\n{}\n", line(0), line(2)).as_bytes()).unwrap();
        assert_eq!((found.lines.len(), found.damaged, found.ends.len()), (2, 2, 0));
    }

    #[test]
    fn a_refusal_that_came_later_is_the_launchs_own() {
        let refusal = line(1).replace("\"seq\":1,", "\"seq\":1,\"refuses\":0,\"status\":7,");
        let found = read(format!("{}\n{refusal}\n{}\n", line(0), line(2)).as_bytes()).unwrap();
        let refused: Vec<bool> = found.lines.iter().map(Line::is_refused).collect();
        assert_eq!((refused, found.missing), (vec![true, false], 0));
        let found = read(format!("{refusal}\n").as_bytes()).unwrap();
        assert!(found.lines[0].is_refused() && found.lines.len() == 1, "what it refuses is not there");
        let stranger = refusal.replace("\"status\"", "\"pid\":9,\"status\"");
        let found = read(format!("{}\n{stranger}\n", line(0)).as_bytes()).unwrap();
        assert!(!found.lines[0].is_refused() && found.lines.len() == 2, "another process's is none of it");
    }
}
