//! When each kernel shape existed, in builds of llama.cpp, from the project's history.

use super::shape::Shape;
use std::collections::BTreeMap;

/// The builds that declare a shape, both ends included; `to` None: still declared at the end of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub from: u32,
    pub to: Option<u32>,
}

impl Span {
    pub fn holds(&self, build: u32) -> bool {
        build >= self.from && self.to.is_none_or(|to| build <= to)
    }
}

/// The committed table, or a newly made one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FingerprintTable {
    /// The last build examined.
    pub end: u32,
    /// The date of the last commit in the part of the history that was walked build by build.
    pub end_date: String,
    pub end_commit: String,
    pub start: u32,
    /// From here to `end` only releases were examined, not every build. A span that starts or ends between two of them
    /// is as wide as it can be.
    pub sampled_from: u32,
    pub spans: BTreeMap<Shape, Vec<Span>>,
}

const COMMITTED: &str = include_str!("../../data/ggml-kernels.tsv");

impl FingerprintTable {
    pub fn committed() -> FingerprintTable {
        FingerprintTable::parse(COMMITTED)
    }

    /// Lines of `name arguments parameters from-to,...`; `#` starts a comment, `#key value` provenance.
    pub fn parse(text: &str) -> FingerprintTable {
        let mut out = FingerprintTable::default();
        for line in text.lines() {
            if let Some(remark) = line.strip_prefix('#') {
                let (key, value) = remark.split_once(' ').unwrap_or((remark, ""));
                match key {
                    "start" => out.start = value.parse().unwrap_or(0),
                    "sampled" => out.sampled_from = value.parse().unwrap_or(0),
                    "end" => out.end = value.parse().unwrap_or(0),
                    "date" => out.end_date = value.to_owned(),
                    "commit" => out.end_commit = value.to_owned(),
                    _ => {}
                }
                continue;
            }
            let fields: Vec<&str> = line.split('\t').collect();
            let [name, arguments, parameters, spans] = fields.as_slice() else { continue };
            let Ok(parameters) = parameters.parse() else { continue };
            let shape = Shape { name: (*name).to_owned(), arguments: arguments.parse().ok(), parameters };
            let span = |text: &str| {
                let (from, to) = text.split_once('-')?;
                Some(Span { from: from.parse().ok()?, to: to.parse().ok() })
            };
            out.spans.insert(shape, spans.split(',').filter_map(span).collect());
        }
        out
    }

    pub fn write(&self, remarks: &str) -> String {
        let mut out = remarks.to_owned();
        out.push_str(&format!(
            "#start {}\n#end {}\n#sampled {}\n#date {}\n#commit {}\n",
            self.start, self.end, self.sampled_from, self.end_date, self.end_commit
        ));
        for (shape, spans) in &self.spans {
            let arguments = shape.arguments.map_or("*".to_owned(), |n| n.to_string());
            let text = |span: &Span| format!("{}-{}", span.from, span.to.map(|to| to.to_string()).unwrap_or_default());
            let spans: Vec<String> = spans.iter().map(text).collect();
            out.push_str(&format!("{}\t{arguments}\t{}\t{}\n", shape.name, shape.parameters, spans.join(",")));
        }
        out
    }

    /// The spans of all declarations that a kernel of this shape fits.
    pub fn spans_of(&self, shape: &Shape) -> Vec<Span> {
        self.named(&shape.name)
            .filter(|(declared, _)| shape.fits(declared))
            .flat_map(|(_, spans)| spans)
            .copied()
            .collect()
    }

    fn named<'t>(&'t self, name: &'t str) -> impl Iterator<Item = (&'t Shape, &'t Vec<Span>)> {
        let from = Shape { name: name.to_owned(), arguments: None, parameters: 0 };
        self.spans.range(from..).take_while(move |(shape, _)| shape.name == name)
    }

    pub fn knows_name(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }
}
