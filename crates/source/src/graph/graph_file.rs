//! A file of graphs: handwritten, or the graphs of a program, as `dryrun --write-graph` writes them.
//!
//! ```text
//! @ graph of PROCESS on BACKEND from NANOSECONDS
//! ...
//! @ read ADDRESS BYTES WORDS
//! @ end NANOSECONDS
//! ```
//!
//! The lines after the first are one graph; its launches happened between the two times. Then follow the copies that the
//! program read back from the GPU meanwhile, in order: 32-bit words (`3,7,0*126`), or `-` if they were not recorded.

use super::{Graph, WrittenError};

/// A graph of a file, with the run information of a program's own graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub graph: Graph,
    pub ran: Option<Ran>,
}

/// The backend and the time at which a graph was computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub process: u64,
    /// ggml's backend: `ROCm0`.
    pub on: String,
    pub from_ns: u64,
    pub to_ns: u64,
    /// The copies from the GPU to the host, in order.
    pub reads: Vec<Read>,
}

/// A copy from the GPU to the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    pub from: i64,
    pub length: usize,
    /// None if the bytes were not recorded.
    pub bytes: Option<Vec<u8>>,
}

impl Ran {
    /// The index of the GPU in the process.
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

/// Limits: copies per graph, bytes per copy, and bytes of all copies in a file.
const MOST_READS: usize = 1 << 14;
const MOST_READ: usize = 1 << 22;
const MOST_READ_IN_ALL: usize = 64 << 20;

impl Read {
    /// `room`: how many more bytes the file may contain.
    fn parse(address: &str, length: &str, words: &str, room: &mut usize) -> Option<Read> {
        let from = address.strip_prefix("0x").and_then(|hex| i64::from_str_radix(hex, 16).ok());
        let from = from.filter(|from| (1..super::graph_text::MOST_ADDRESS).contains(from))?;
        let length: usize = length.parse().ok()?;
        if words == "-" {
            return Some(Read { from, length, bytes: None });
        }
        *room = room.checked_sub(length)?;
        let mut bytes = Vec::new();
        for word in words.split(',') {
            let (word, times) = word.split_once('*').unwrap_or((word, "1"));
            let (word, times): (i32, usize) = (word.parse().ok()?, times.parse().ok()?);
            let more = times.checked_mul(4).filter(|more| *more <= length.saturating_sub(bytes.len()))?;
            let start = bytes.len();
            bytes.resize(start + more, 0);
            let words = bytes.get_mut(start..).unwrap_or_default().chunks_exact_mut(4);
            words.filter(|_| word != 0).for_each(|slot| slot.copy_from_slice(&word.to_le_bytes()));
        }
        (bytes.len() == length && length <= MOST_READ).then_some(Read { from, length, bytes: Some(bytes) })
    }
}

/// Every graph of a file, in order. A graph without an end is left out: the program ended within it.
pub fn parse_all(text: &str) -> Result<Vec<Written>, WrittenError> {
    let mut out = Vec::new();
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let mut head: Option<(u64, &str, u64)> = None;
    let mut reads: Vec<Read> = Vec::new();
    let mut room = MOST_READ_IN_ALL;
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
                reads.clear();
            }
            ["end", to] => {
                let (process, on, from_ns) = head.take().ok_or_else(bad)?;
                let to_ns = to.parse().map_err(|_| bad())?;
                let reads = std::mem::take(&mut reads);
                let ran = Ran { process, on: on.to_owned(), from_ns, to_ns, reads };
                out.push(Written { graph: Graph::of_lines(lines.drain(..))?, ran: Some(ran) });
            }
            ["read", address, length, words] if head.is_some() && reads.len() < MOST_READS => {
                let read = Read::parse(address, length, words, &mut room);
                let (length, address) = ((*length).to_owned(), (*address).to_owned());
                let bad = || WrittenError::Read { line: number, length, address };
                reads.push(read.ok_or_else(bad)?);
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

/// Tensors between the graphs of a program belong to none of them.
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
        // A tensor computed elsewhere is not a node here, and keeps its operation.
        assert_eq!((second.graph.nodes.as_slice(), second.graph.tensors[0].op.as_ref()), (&[1][..], "GGML_OP_ADD"));
        // An empty tensor may have no address.
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
    fn what_was_read_back_comes_in_order() {
        let with = |lines: &str| TWO.replace("@ end 20", &format!("{lines}\n@ end 20"));
        let all = parse_all(&with("@ read 0x1000 16 3,-7*2,0\n@ read 0x2000 99999999 -")).expect("two");
        let reads = |index: usize| all[index].ran.as_ref().map(|ran| ran.reads.as_slice()).unwrap_or_default();
        let [first, second] = reads(0) else { panic!("{:?}", reads(0)) };
        let words: Vec<u8> = [3_i32, -7, -7, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!((first.from, first.length, first.bytes.as_ref()), (0x1000, 16, Some(&words)));
        assert_eq!((second.from, second.bytes.as_ref()), (0x2000, None));
        assert_eq!(reads(1), []);

        let told = |text: &str| parse_all(&with(text)).expect_err(text).to_string();
        for bad in [
            "@ read 0x1000 16 3,-7",
            "@ read 0x1000 16 3,-7*9",
            "@ read 0x1000 16 3*4611686018427387905",
            "@ read 0x1000 16 3*18446744073709551615",
            "@ read 0x1000 16 3*0,1",
            "@ read 0x1000 16 ",
            "@ read 0x1000 16 99999999999,1,1,1",
            "@ read 0x1000 5 1",
            "@ read 0x1000 -4 1",
            "@ read 4096 4 1",
            "@ read 0x0 4 1",
            "@ read 0xffffffffffffffff 4 1",
            "@ read 0x1000 8388608 0*2097152",
            "@ read 0x1000 99999999999999 0*24999999999999",
        ] {
            assert!(
                told(bad).starts_with("line 4 does not contain all the data that was read back"),
                "{bad}: {}",
                told(bad)
            );
        }
        for bad in ["@ read 0x1000 4", "@ read", "@ read 0x1000 4 1 2"] {
            assert!(told(bad).starts_with("line 4"), "{bad}: {}", told(bad));
        }
        // More bytes than a file may hold, and more copies than a graph may have.
        assert!(told(&"@ read 0x1000 4194304 0*1048576\n".repeat(17)).starts_with("line 20"));
        assert!(told(&"@ read 0x1000 4 1\n".repeat(20_000)).starts_with("line 16388"));
        assert!(parse_all("@ read 0x1000 4 1\n").expect_err("outside").to_string().starts_with("line 1"));
    }

    #[test]
    fn what_is_damaged_is_told() {
        let told = |text: &str| parse_all(text).expect_err(text).to_string();
        assert_eq!(told("@ graph of 1 on ROCm0 from 1\n"), "the graph computes nothing");
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
