//! A file of graphs: one that somebody wrote, or those that a program computed, as `dryrun --write-graph` has them written down.
//!
//! ```text
//! @ graph of PROCESS on BACKEND from NANOSECONDS
//! ...
//! @ end NANOSECONDS
//! ```
//!
//! Between the two are the lines of one graph, and between the two moments its launches.

use super::{Graph, WrittenError};

/// A graph of a file, with what a program's own says of its run.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub graph: Graph,
    pub ran: Option<Ran>,
}

/// Where and when a graph was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub process: u64,
    /// ggml's backend: `ROCm0`.
    pub on: String,
    pub from_ns: u64,
    pub to_ns: u64,
}

impl Ran {
    /// The number of the GPU among the process's.
    pub fn device(&self) -> Option<u32> {
        let digits = self.on.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.parse().ok()
    }
}

impl From<Graph> for Written {
    fn from(graph: Graph) -> Written {
        Written { graph, ran: None }
    }
}

/// Every graph of a file, in order. One whose end was not written (the program ended within it) is not among them.
pub fn parse_all(text: &str) -> Result<Vec<Written>, WrittenError> {
    let mut out = Vec::new();
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let mut head: Option<(u64, &str, u64)> = None;
    let mut any = false;
    for (number, line) in (1..).zip(text.lines()) {
        let Some(said) = line.strip_prefix("@ ") else {
            lines.push((number, line));
            continue;
        };
        any = true;
        if head.is_none() {
            outside(&lines)?;
        }
        let words: Vec<&str> = said.split(' ').collect();
        let bad = || WrittenError::Line { line: number, what: said.to_owned() };
        match words.as_slice() {
            ["graph", "of", process, "on", on, "from", from] => {
                let (process, from) = (process.parse().map_err(|_| bad())?, from.parse().map_err(|_| bad())?);
                head = Some((process, on, from));
                lines.clear();
            }
            ["end", to] => {
                let (process, on, from_ns) = head.take().ok_or_else(bad)?;
                let ran = Ran { process, on: on.to_owned(), from_ns, to_ns: to.parse().map_err(|_| bad())? };
                out.push(Written { graph: Graph::of_lines(lines.drain(..))?, ran: Some(ran) });
            }
            ["more:", ..] => {}
            ["refused:", ..] => return Err(WrittenError::Refused(said.trim_start_matches("refused: ").to_owned())),
            _ => return Err(bad()),
        }
    }
    if any && head.is_none() {
        outside(&lines)?;
    }
    if !any {
        out.push(Graph::of_lines(lines.into_iter())?.into());
    }
    if out.is_empty() { Err(WrittenError::Empty) } else { Ok(out) }
}

/// Between the graphs of a program stands nothing: a tensor there belongs to none of them.
fn outside(lines: &[(usize, &str)]) -> Result<(), WrittenError> {
    let stray = lines.iter().find(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    stray.map_or(Ok(()), |(line, what)| Err(WrittenError::Outside { line: *line, what: (*what).to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "@ graph of 7 on ROCm1 from 10\nx#1 = F32 4,1,1,1 at 0x1000 used 2\n\
                       y#2 = RELU F32 4,1,1,1 from x#1 at 0x2000 used 1 flags 16 in ROCm1\n@ end 20\n\
                       @ graph of 7 on ROCm1 from 30\nx#1 = ADD F32 4,1,1,1 at 0x1000 used 1 elsewhere\n\
                       y#2 = NEG F32 4,1,1,1 from x#1 at 0x1000 used 0\n@ end 40\n@ more: 64\n";

    #[test]
    fn graphs_of_a_program_have_their_memory_and_their_time() {
        let all = parse_all(TWO).expect("two");
        let [first, second] = all.as_slice() else { panic!("{all:?}") };
        let ran = first.ran.as_ref().expect("it ran");
        assert_eq!((ran.process, ran.from_ns, ran.to_ns, ran.device()), (7, 10, 20, Some(1)));
        assert!(first.graph.placed);
        assert_eq!((first.graph.uses.as_slice(), first.graph.nodes.as_slice()), (&[2, 1][..], &[1][..]));
        let y = &first.graph.tensors[1];
        assert_eq!((y.name.as_str(), y.address, y.flags), ("y", 0x2000, Some(16)));
        // What is computed elsewhere is no node here, and keeps its operation.
        assert_eq!((second.graph.nodes.as_slice(), second.graph.tensors[0].op.as_ref()), (&[1][..], "GGML_OP_ADD"));
        // What is empty may lie nowhere.
        let empty = TWO.replace(
            "y#2 = NEG F32 4,1,1,1 from x#1 at 0x1000",
            "z#3 = NEG F32 4,0,1,1 at 0x0\ny#2 = NEG F32 4,1,1,1 at 0x9",
        );
        let all = parse_all(&empty).expect("two");
        assert!(all[1].graph.placed && all[1].graph.tensors[1].is_view() && all[1].graph.tensors[1].bytes() == 0);
        // A program that ended within its second graph.
        let cut = TWO.split_once("@ end 40").expect("an end").0;
        assert_eq!(parse_all(cut).expect("one").len(), 1);
        assert_eq!(parse_all("x = F32 4\ny = RELU F32 4 from x").expect("one")[0].ran, None);
    }

    #[test]
    fn what_is_damaged_is_told() {
        let told = |text: &str| parse_all(text).expect_err(text).to_string();
        assert_eq!(told("@ graph of 1 on ROCm0 from 1\n"), "nothing is computed in it");
        assert!(told("@ end 5").starts_with("line 1"));
        assert!(told("@ graph of x on ROCm0 from 1").starts_with("line 1"));
        assert!(told("@ what").starts_with("line 1"));
        assert!(told(&format!("x = F32 4\n{TWO}")).starts_with("line 1"));
        assert!(told(&format!("{TWO}x = F32 4")).starts_with("line 10"));
        assert!(told("@ refused: the list of nodes lies elsewhere").contains("the list of nodes"));
        assert!(told(&TWO.replace("at 0x2000 ", "")).starts_with("line 3"));
        assert!(told(&TWO.replace("0x2000", "0xffffffffffffffff")).starts_with("line 3"));
        assert!(told(&TWO.replace("0x2000", "0x0")).starts_with("line 3"));
        assert!(told(&TWO.replace("in ROCm1", "in ROCm_Split")).contains("split over several GPUs"));
    }
}
