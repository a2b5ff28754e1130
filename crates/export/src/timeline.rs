//! Launches in order: from a launch trace (dry run, preload) or the lines of `watch --trace`.

use launch::lines::{self, Line};
use launch::record::{api, blas, graph};
use launch::trace::{Event, Trace};
use launch::{columns, grammar};

/// A launch at a time of the host's clock. Its device time is known only with `watch --times`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub process: u32,
    pub thread: u32,
    pub stream: u64,
    pub time_ns: u64,
    /// The function that was called, such as `hipLaunchKernel`.
    pub api: String,
    /// The readable form of the kernel's name. For a call without a kernel, the name of the call.
    pub name: String,
    /// The name in the code object; None for a call, and for an unnamed launch.
    pub mangled: Option<String>,
    pub columns: Option<u64>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Whether the launch is part of a graph capture, so that it did not run at this time.
    pub captured: bool,
    /// The result of the call; anything but 0 is a refused launch. None if the status is unknown.
    pub status: Option<u32>,
    /// The device time. When it started by the host's clock is unknown.
    pub took_ns: Option<u64>,
}

impl Launch {
    /// The error of a refused launch, if it is known to have been refused.
    pub fn refused(&self) -> Option<u32> {
        self.status.filter(|status| *status != 0)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The command, if the trace names it.
    pub program: String,
    pub launches: Vec<Launch>,
    /// Launches that the writer lost for lack of space, did not finish, or counted without writing them.
    pub lost: u64,
    /// Launches that the writer only counted: they have no time and are not in the list.
    pub unplaced: u64,
    /// Whether the trace has no end, so that launches may be missing.
    pub endless: bool,
    /// Lines that could not be read.
    pub damaged: u64,
}

#[derive(Debug)]
pub enum TimelineError {
    Unknown,
}

say::worded! { TimelineError {
    Unknown => "export-unknown",
}}

impl Timeline {
    pub fn read(bytes: Vec<u8>) -> Result<Timeline, TimelineError> {
        if bytes.first() == Some(&b'{') {
            return lines::read(&bytes).map(written).ok_or(TimelineError::Unknown);
        }
        Ok(recorded(&Trace::parse(bytes).map_err(|_| TimelineError::Unknown)?))
    }

    /// The time of the first launch.
    pub fn start(&self) -> u64 {
        self.launches.iter().map(|launch| launch.time_ns).min().unwrap_or(0)
    }
}

fn recorded(trace: &Trace) -> Timeline {
    let mut launches = Vec::new();
    let blank = |time_ns: u64, stream: u64, api: &str| Launch {
        process: trace.pid,
        thread: trace.pid,
        stream,
        time_ns,
        api: api.to_owned(),
        name: api.to_owned(),
        mangled: None,
        columns: None,
        grid: [0; 3],
        block: [0; 3],
        captured: false,
        status: Some(0),
        took_ns: None,
    };
    for event in &trace.events {
        match event {
            Event::Launch(launch) => {
                let head = &launch.head;
                let mangled = trace.kernel(head.kernel).map(|kernel| kernel.name.clone());
                let facts = mangled.as_deref().map(grammar::read);
                launches.push(Launch {
                    thread: head.thread,
                    columns: facts.as_ref().and_then(|facts| columns::columns(facts, &[], trace.args(launch))),
                    name: facts.map_or_else(|| format!("kernel {}", head.kernel), |facts| facts.readable),
                    mangled,
                    grid: head.grid,
                    block: head.block,
                    captured: head.graph != 0,
                    status: Some(head.status),
                    ..blank(head.time_ns, head.stream, api::name(head.api))
                });
            }
            Event::Blas(call) if call.bracket != 2 => launches.push(Launch {
                captured: call.graph != 0,
                status: Some(call.status),
                ..blank(call.time_ns, call.stream, blas::name(call.call))
            }),
            Event::Graph(record) if record.what == graph::LAUNCH => {
                let status = Some(record.status);
                launches.push(Launch { status, ..blank(record.time_ns, record.stream, "graph launch") });
            }
            _ => {}
        }
    }
    launches.sort_by_key(|launch| launch.time_ns);
    let (program, lost) = (trace.program.clone(), trace.lost + trace.torn);
    Timeline { program, launches, lost, ..Timeline::default() }
}

/// Reads a file written by `--trace`. An incomplete last line counts as damaged.
fn written(found: lines::Lines) -> Timeline {
    let launch = |line: Line| {
        let (named, address) = (line.kernel.as_deref(), line.address);
        let name = match (named, address) {
            (Some(kernel), _) => grammar::read(kernel).readable,
            (None, Some(address)) => format!("unnamed@{address:#x}"),
            (None, None) => line.api.clone(),
        };
        Launch {
            captured: line.is_captured(),
            process: line.pid,
            thread: line.thread,
            stream: line.stream,
            time_ns: line.time_ns,
            name,
            api: line.api,
            mangled: line.kernel,
            columns: line.ne11,
            grid: line.grid,
            block: line.block,
            status: line.status,
            took_ns: line.took_ns,
        }
    };
    let damaged = found.damaged + u64::from(found.cut_off);
    let lost = found.ends.iter().map(|end| end.lost).fold(found.missing.saturating_sub(damaged), u64::saturating_add);
    let unplaced = found.lines.iter().filter_map(|line| line.times).fold(0, u64::saturating_add);
    let endless = found.ends.is_empty();
    let placed = found.lines.into_iter().filter(|line| line.times.is_none());
    let mut launches: Vec<Launch> = placed.map(launch).collect();
    launches.sort_by_key(|launch| launch.time_ns);
    Timeline { launches, damaged, lost, unplaced, endless, ..Timeline::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_in_the_order_of_time_and_damage_is_counted() {
        let text = concat!(
            r#"{"seq":0,"pid":7,"thread":8,"stream":1,"time_ns":200,"api":"hipLaunchKernel","kernel":"_ZL9mul_mat_qIL9ggml_type12ELi112ELb0EEvPKc","grid":[1,2,3],"block":[32,1,1],"shmem":0,"graph":0,"ne11":290,"file":"x","bundle":1,"args":"","took_ns":1500}"#,
            "\n",
            r#"{"seq":1,"pid":7,"thread":8,"time_ns":100,"api":"rocblas_gemm_ex","m":1,"n":2,"k":3,"batch":1}"#,
            "\n{\"half\n"
        );
        let timeline = Timeline::read(text.as_bytes().to_vec()).expect("a trace");
        assert_eq!((timeline.launches.len(), timeline.damaged, timeline.start()), (2, 1, 100));
        assert_eq!(timeline.launches[0].name, "rocblas_gemm_ex");
        assert_eq!(timeline.launches[1].name, "mul_mat_q<Q4_K,112,false>");
        assert_eq!(timeline.launches[1].columns, Some(290));
        assert_eq!((timeline.launches[0].took_ns, timeline.launches[1].took_ns), (None, Some(1500)));
    }

    /// Tests a refusal that is reported on return, launches that were only counted, and missing lines.
    #[test]
    fn refusals_and_what_is_not_there_are_told() {
        let text = concat!(
            r#"{"seq":0,"pid":7,"thread":8,"time_ns":100,"api":"hipLaunchKernel","kernel":"k"}"#,
            "\n",
            r#"{"seq":1,"pid":7,"thread":8,"time_ns":101,"api":"hipLaunchKernel","kernel":"k","status":1,"refuses":0}"#,
            "\n",
            r#"{"seq":3,"pid":7,"thread":8,"time_ns":103,"api":"hipLaunchKernel","kernel":"k","times":40}"#,
            "\n",
        );
        let timeline = Timeline::read(text.as_bytes().to_vec()).expect("a trace");
        assert_eq!(timeline.launches.iter().map(|launch| launch.status).collect::<Vec<_>>(), [Some(1)]);
        assert_eq!((timeline.lost, timeline.unplaced, timeline.endless), (1, 40, true));
        let ended = format!("{text}{}\n", r#"{"end":{"lines":6,"lost":2}}"#);
        let timeline = Timeline::read(ended.into_bytes()).expect("a trace");
        assert_eq!((timeline.lost, timeline.endless), (5, false));
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        for bytes in [&b""[..], b"{}\n", b"{\"a\":1}", b"rubbish", b"WKTRACE1"] {
            assert!(Timeline::read(bytes.to_vec()).is_err(), "{}", String::from_utf8_lossy(bytes));
        }
    }
}
