//! A handwritten graph, one tensor per line, for operations that none of the known models uses:
//!
//! ```text
//! # NAME = [OPERATION] TYPE SIZES [strides BYTES] [of NAME+OFFSET] [from NAMES] [with PARAMETERS] [weights]
//! #        [at ADDRESS] [used TIMES] [flags NUMBER] [elsewhere] [in BUFFER]
//! w = Q4_K 4096,1024 weights
//! x = F32 4096,512
//! y = MUL_MAT F32 1024,512 from w,x
//! s = UNARY F32 1024,512 from y with GGML_UNARY_OP_SILU
//! ```
//!
//! A missing source is `-`. Parameters are the words of `op_params`: integers (`2`), floating-point numbers (`1e-5f`) and
//! enumerators of the tree. Tensors are computed in the order of the lines.

use super::{Graph, Home, Id, Param, Tensor, build::tensor};
use gguf::TensorType;
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenError {
    Line { line: usize, what: String },
    Outside { line: usize, what: String },
    Unknown { line: usize, name: String },
    TooLarge(usize),
    TooMany(usize),
    Mixed(usize),
    Read { line: usize, length: String, address: String },
    Empty,
    Split(usize),
    Refused(String),
}

say::worded! { WrittenError {
    Line { line, what } => "source-written-line",
    Outside { line, what } => "source-written-outside",
    Unknown { line, name } => "source-written-unknown",
    TooLarge(line) => "source-written-too-large",
    TooMany(line) => "source-written-too-many",
    Mixed(line) => "source-written-mixed",
    Read { line, length, address } => "source-written-read",
    Empty => "source-written-empty",
    Split(line) => "source-written-split",
    Refused(why) => "source-written-refused",
}}

/// Limits, higher than any real model needs: tensors, bytes, and addresses.
const MOST: usize = 1 << 14;
const MOST_BYTES: i64 = 1 << 46;
pub(super) const MOST_ADDRESS: i64 = 1 << 57;
/// The numbers of sources and parameters that ggml has room for.
const MOST_SOURCES: usize = 10;
const MOST_PARAMETERS: usize = 16;

impl Graph {
    /// Parses a graph. Addresses of tensors come from the lines; otherwise each tensor gets its own memory.
    pub fn parse(text: &str) -> Result<Graph, WrittenError> {
        Graph::of_lines((1..).zip(text.lines()))
    }

    pub(super) fn of_lines<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Result<Graph, WrittenError> {
        let mut graph = Graph::default();
        let mut names: BTreeMap<&str, Id> = BTreeMap::new();
        let (mut placed, mut counted) = (None, false);
        for (number, line) in lines.map(|(number, line)| (number, line.trim())) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line = Line { number, names: &names, graph: &graph }.tensor(line)?;
            if graph.tensors.len() >= MOST {
                return Err(WrittenError::TooLarge(number));
            }
            let id = graph.tensors.len();
            for source in line.tensor.sources.iter().flatten() {
                if let Some(uses) = graph.uses.get_mut(*source).filter(|_| !counted) {
                    *uses += 1;
                }
            }
            if line.tensor.op != "GGML_OP_NONE" && !line.elsewhere {
                graph.nodes.push(id);
            }
            // Either all lines give addresses of their tensors, or none.
            let given = line.tensor.address != 0;
            if !line.tensor.ne.contains(&0) && *placed.get_or_insert(given) != given {
                return Err(WrittenError::Mixed(number));
            }
            if line.used.is_some() && !counted {
                counted = true;
                graph.uses.fill(0);
            }
            graph.tensors.push(line.tensor);
            graph.uses.push(line.used.unwrap_or(0));
            names.insert(line.name, id);
        }
        if graph.nodes.is_empty() {
            return Err(WrittenError::Empty);
        }
        graph.placed = placed == Some(true);
        if !graph.placed {
            graph.lay_out();
        }
        Ok(graph)
    }
}

/// A tensor as given by its line.
struct Told<'t> {
    name: &'t str,
    tensor: Tensor,
    /// How often the whole graph uses the tensor, if given.
    used: Option<i64>,
    /// The tensor is computed, but not in this graph.
    elsewhere: bool,
}

struct Line<'a> {
    number: usize,
    names: &'a BTreeMap<&'a str, Id>,
    graph: &'a Graph,
}

impl Line<'_> {
    fn bad(&self, what: &str) -> WrittenError {
        WrittenError::Line { line: self.number, what: what.to_owned() }
    }

    fn named(&self, name: &str) -> Result<Id, WrittenError> {
        let found = self.names.get(name).copied();
        found.ok_or_else(|| WrittenError::Unknown { line: self.number, name: name.to_owned() })
    }

    fn numbers(&self, text: &str) -> Result<Vec<i64>, WrittenError> {
        let number = |text: &str| text.parse().ok().filter(|number| (0..=MOST_BYTES).contains(number));
        text.split(',').map(|part| number(part).ok_or_else(|| self.bad(text))).collect()
    }

    fn tensor<'t>(&self, line: &'t str) -> Result<Told<'t>, WrittenError> {
        let mut words = line.split_whitespace();
        let mut next = |what: &str| words.next().ok_or_else(|| self.bad(what));
        let name = next("NAME")?;
        if next("=")? != "=" {
            return Err(self.bad(name));
        }
        let first = next("TYPE")?;
        let (op, ty) = match TensorType::parse(first) {
            Ok(ty) => (Cow::Borrowed("GGML_OP_NONE"), ty),
            Err(_) => {
                let ty = next("TYPE")?;
                let ty = TensorType::parse(ty).map_err(|_| self.bad(ty))?;
                (Cow::Owned(format!("GGML_OP_{}", first.trim_start_matches("GGML_OP_"))), ty)
            }
        };
        let sizes = self.numbers(next("SIZES")?)?;
        let mut ne = [1_i64; 4];
        if sizes.len() > ne.len() {
            return Err(self.bad("SIZES"));
        }
        ne.iter_mut().zip(&sizes).for_each(|(slot, size)| *slot = *size);
        let mut tensor = Tensor {
            // The part after the last `#` distinguishes tensors of the same name.
            name: name.rsplit_once('#').map_or(name, |(name, _)| name).to_owned(),
            ..tensor(op, ty, ne)
        };
        let (mut used, mut elsewhere, mut at) = (None, false, None);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| self.bad(word));
            match word {
                "weights" => tensor.home = Home::Weights,
                "elsewhere" => elsewhere = true,
                "used" => used = self.numbers(value()?)?.first().copied(),
                "flags" => tensor.flags = self.numbers(value()?)?.first().copied(),
                "at" => {
                    let address = value()?.strip_prefix("0x").and_then(|hex| i64::from_str_radix(hex, 16).ok());
                    let within = address.filter(|address| (0..MOST_ADDRESS).contains(address));
                    at = Some(within.ok_or_else(|| self.bad("at 0xADDRESS"))?);
                }
                "in" if value()?.contains("Split") => return Err(WrittenError::Split(self.number)),
                "in" => {}
                "strides" => {
                    let strides = self.numbers(value()?)?;
                    tensor.nb = strides.try_into().map_err(|_| self.bad("strides"))?;
                }
                "of" => {
                    let (root, offset) = value()?.split_once('+').ok_or_else(|| self.bad("of NAME+OFFSET"))?;
                    let (root, offset) = (self.named(root)?, self.numbers(offset)?);
                    let offset = offset.first().copied().unwrap_or(0);
                    // A view of a view refers to the underlying tensor.
                    let found = self.graph.tensors.get(root).and_then(|tensor| tensor.view);
                    tensor.view = Some(found.map_or((root, offset), |(root, start)| (root, start + offset)));
                }
                "from" => {
                    let source = |name: &str| if name == "-" { Ok(None) } else { self.named(name).map(Some) };
                    tensor.sources = value()?.split(',').map(source).collect::<Result<_, _>>()?;
                }
                "with" => tensor.params = value()?.split(',').map(|word| self.param(word)).collect::<Result<_, _>>()?,
                other => return Err(self.bad(other)),
            }
        }
        // Only programs produce empty tensors, and these may have no address.
        let empty = tensor.ne.contains(&0);
        if empty && at.is_none() {
            return Err(self.bad("SIZES"));
        }
        tensor.address = at.unwrap_or(0);
        if tensor.sources.len() > MOST_SOURCES || tensor.params.len() > MOST_PARAMETERS {
            return Err(WrittenError::TooMany(self.number));
        }
        if let Some(root) = tensor.view.and_then(|(root, _)| self.graph.tensors.get(root)) {
            tensor.home = root.home;
        }
        let mut spans = tensor.ne.iter().zip(&tensor.nb).map(|(ne, nb)| ne.checked_mul(*nb));
        let bytes = spans.try_fold(0_i64, |sum, span| sum.checked_add(span?));
        let offset = tensor.view.map_or(0, |(_, offset)| offset);
        match bytes {
            Some(bytes) if bytes <= MOST_BYTES && offset <= MOST_BYTES => Ok(Told { name, tensor, used, elsewhere }),
            _ => Err(WrittenError::TooLarge(self.number)),
        }
    }

    fn param(&self, word: &str) -> Result<Param, WrittenError> {
        if let Some(real) = word.strip_suffix('f').and_then(|word| word.parse().ok()) {
            return Ok(Param::Float(real));
        }
        if let Ok(number) = word.parse::<i32>() {
            return Ok(Param::Int(i64::from(number)));
        }
        let named = word.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        let named = named && word.starts_with(|first: char| first.is_ascii_uppercase());
        if named { Ok(Param::Named(Cow::Owned(word.to_owned()))) } else { Err(self.bad(word)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_asked() {
        let text = "# a product\nw = Q4_K 4096,1024 weights\n\nx = F32 4096,512\ny = MUL_MAT F32 1024,512 from w,x\n\
                    v = VIEW F32 512,512 strides 4,4096,2097152,2097152 of y+2048 from y\n\
                    s = GGML_OP_SOFT_MAX F32 512,512 from v,-,x with 1f,-3,GGML_PREC_F32\n";
        let graph = Graph::parse(text).expect("it is one");
        assert_eq!((graph.nodes.as_slice(), graph.uses.as_slice()), (&[2, 3, 4][..], &[1, 2, 1, 1, 0][..]));
        let [w, _, y, v, s] = graph.tensors.as_slice() else { panic!("five") };
        assert_eq!(
            (w.home, w.nb, y.op.as_ref()),
            (Home::Weights, [144, 2304, 2_359_296, 2_359_296], "GGML_OP_MUL_MAT")
        );
        assert_eq!((v.view, v.address), (Some((2, 2048)), y.address + 2048));
        assert_eq!(s.sources, [Some(3), None, Some(1)]);
        assert_eq!(s.params, [Param::Float(1.0), Param::Int(-3), Param::Named("GGML_PREC_F32".into())]);
    }

    #[test]
    fn what_is_no_graph_is_told_by_its_line() {
        let told = |text: &str| Graph::parse(text).expect_err(text).to_string();
        assert!(
            told("x = F32 4\ny = ADD F32 4 from x,z").starts_with("line 2 refers to z"),
            "{}",
            told("y = ADD F32 4 from z")
        );
        for bad in
            ["x", "x =", "x = F32", "x = F99 4", "x = F32 4,0", "x = F32 -4", "x = F32 1,1,1,1,1", "x = ADD F32 4 from"]
        {
            assert!(told(bad).starts_with("line 1 is not a tensor"), "{bad}: {}", told(bad));
        }
        for bad in ["x = F32 4 of x+0", "y = ADD F32 4 from y"] {
            assert!(told(bad).contains("not defined above"), "{bad}: {}", told(bad));
        }
        assert!(told("x = ADD F32 4 with 1,2,x").starts_with("line 1 is not a tensor"));
        assert!(told("x = ADD F32 99999999,99999999").contains("larger than any memory"));
        assert_eq!(
            (told(""), told("x = F32 4")),
            ("the graph computes nothing".into(), "the graph computes nothing".into())
        );
    }
}
