//! The answers for many products, as a table and as JSON.

use super::{Answered, Catalog};
use crate::emit::Show;
use answer::Answer;
use report::{Column, Lang, Table};
use say::say;
use schemars::JsonSchema;
use serde::Serialize;
use tensile::select::{Choice, NotComputed, Uncovered};

/// The solution that a BLAS library chooses for each of many products, computed from its catalog.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Choices {
    /// hipblaslt or rocblas
    pub library: String,
    /// The library's version.
    pub version: String,
    pub runtime: String,
    pub card: String,
    pub target: String,
    pub choices: Vec<Row>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Row {
    pub id: String,
    /// determined, set, none or not-computed
    pub verdict: &'static str,
    /// The solution's number in the catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<i64>,
    /// The symbol in the code object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The solutions of a set.
    pub candidates: Vec<i64>,
    /// Why the choice was not computed, or the function that is called instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Answer for Choices {
    const SCHEMA: &'static str = "whichkernel.gemm/1";
}

impl Choices {
    pub fn new(catalog: &Catalog, answered: &[Answered], lang: &Lang) -> Choices {
        Choices {
            library: catalog.library.name().to_owned(),
            version: catalog.version_text(),
            runtime: catalog.runtime.clone(),
            card: catalog.profile.name.clone(),
            target: catalog.profile.processor().to_owned(),
            choices: answered.iter().map(|one| Row::new(one, lang)).collect(),
        }
    }
}

impl Row {
    fn new(one: &Answered, lang: &Lang) -> Row {
        let mut row = Row {
            id: one.product.id.clone(),
            verdict: "none",
            index: None,
            kernel: None,
            candidates: Vec::new(),
            note: None,
        };
        match &one.choice {
            Choice::Determined(chosen) => {
                row.verdict = "determined";
                row.index = Some(chosen.index);
                row.kernel = Some(chosen.kernel.clone());
            }
            Choice::OneOf(all) => {
                row.verdict = "set";
                row.candidates = all.iter().map(|chosen| chosen.index).collect();
            }
            Choice::None => {}
            Choice::Gemv => row.note = Some("gemv".to_owned()),
            Choice::NotComputed(reason) => {
                row.verdict = "not-computed";
                row.note = Some(match &one.unclear {
                    Some(unclear) => format!("{} {}", unclear.option, unclear.value),
                    None => why(reason, lang),
                });
            }
        }
        row
    }
}

/// Why an answer was not computed, in words.
pub fn why(reason: &NotComputed, lang: &Lang) -> String {
    lang.say(&match reason {
        NotComputed::Version(version) => say!("gemm-why-version", version),
        NotComputed::Node(kind) => say!("gemm-why-node", kind),
        NotComputed::Predicate(name) => say!("gemm-why-predicate", name),
        NotComputed::Missing(file) => say!("gemm-why-missing", file),
        NotComputed::Damaged(file, why) => say!("gemm-why-damaged", file, why),
        NotComputed::Altered(file) => say!("gemm-why-altered", file),
        NotComputed::Solution(index) => say!("gemm-why-solution", index),
        NotComputed::HandsOver => say!("gemm-why-hands-over"),
        NotComputed::Call(Uncovered::Empty) => say!("gemm-why-empty"),
        NotComputed::Call(Uncovered::TooLarge) => say!("gemm-why-too-large"),
        NotComputed::Call(Uncovered::Pointers) => say!("gemm-why-pointers"),
        NotComputed::Call(Uncovered::Grouped) => say!("gemm-why-grouped"),
        NotComputed::Call(Uncovered::Unclear) => say!("gemm-why-unclear"),
    })
}

impl Show for Choices {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("id", lang.text("gemm-column-id")),
            Column::left("verdict", lang.text("gemm-column-verdict")),
            Column::right("index", lang.text("gemm-column-index")),
            Column::left("kernel", lang.text("gemm-column-kernel")),
            Column::left("candidates", lang.text("gemm-column-candidates")),
        ]);
        for row in &self.choices {
            let candidates: Vec<String> = row.candidates.iter().map(i64::to_string).collect();
            let last = if candidates.is_empty() { row.note.clone().unwrap_or_default() } else { candidates.join(";") };
            let index = row.index.map_or(String::new(), |index| index.to_string());
            table.row([row.id.clone(), row.verdict.to_owned(), index, row.kernel.clone().unwrap_or_default(), last]);
        }
        Some(table)
    }
}
