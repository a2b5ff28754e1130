//! Compares two source trees: the GPUs, types and columns for which the choice differs, and the conditions that caused
//! it.

use super::tree::{Ask, Operation, notes, tell_skipped};
use crate::context::{CHECK_FAILED, Context, Format};
use crate::emit::Plain;
use clap::ValueEnum;
use evidence::{Conclusion, Reach, Rung, Says};
use report::{Column, Table, conclusion_text};
use source::answers::{Changed, Compared, SourceDiff, conclude};
use source::cause::{Cause, Grouped, by_cause, causes};
use source::comparison::{Comparison, Difference, Side, compare as cells, surveys};
use source::{ALL_GPUS, ALL_TYPES, Survey, Tree};
use std::fmt::Write;
use std::process::ExitCode;

pub fn compare(
    a: &Tree,
    b: &Tree,
    gpus: &[String],
    ask: &Ask,
    format: Format,
    context: &Context,
) -> say::Result<ExitCode> {
    if super::metal::is_apple(gpus) {
        return super::metal::compare([a, b], gpus, ask, format, context);
    }
    // Without restrictions, everything is compared: a change for one card, or in one operation, is a change.
    let all: Vec<String> = ALL_GPUS.iter().map(|gpu| (*gpu).to_owned()).collect();
    let gpus = if gpus.is_empty() { &all } else { gpus };
    let overrides = ask.overrides()?;
    let asked = ask.operations();
    let mut both = Both { trees: [a, b], parts: Vec::new(), unread: Vec::new() };
    for &op in &asked {
        let mut question = ask.question_of(op, gpus)?;
        if ask.types.is_empty() && op.has_weights() {
            question.types = ALL_TYPES.iter().map(|ty| (*ty).to_owned()).collect();
        }
        context.progress(&op.name());
        match surveys([a, b], &question, &overrides) {
            Ok([left, right]) => {
                let found = cells(&left, &right);
                both.parts.push(Part { operation: op.name(), left, right, found });
            }
            // Matrix products are the main subject. If a tree is too old for another operation, the rest is still
            // answered.
            Err(error) if ask.op.is_some() || op == Operation::MulMat => return Err(error.into()),
            Err(error) => {
                // The error without advice: this operation was not requested by name.
                let said = error.to_string();
                both.unread.push((op.name(), said.split(". ").next().unwrap_or(&said).to_owned()));
            }
        }
    }
    let others = Operation::value_variants().iter().filter(|op| !asked.contains(op));
    let not_asked: Vec<String> = others.map(|op| op.name()).collect();
    let compared = both.parts.iter().map(|part| Compared {
        operation: &part.operation,
        question: &part.left.question,
        found: &part.found,
    });
    let conclusion = conclude([&a.label, &b.label], &compared.collect::<Vec<_>>(), &both.unread, &not_asked);
    if format != Format::Json {
        let first = both.parts.first();
        for (tree, survey) in first.into_iter().flat_map(|part| [(a, &part.left), (b, &part.right)]) {
            for note in notes(survey, context) {
                crate::context::tell(format_args!("{}: {note}", tree.label));
            }
            tell_skipped(&tree.skipped, context);
        }
    }
    // "The same" requires that at least one cell was compared, and that neither side has an answer that the other
    // lacks.
    let same = matches!(conclusion.says(), Says::Same)
        && conclusion.reach() != Reach::Unknown
        && both.parts.iter().all(|part| part.found.half == 0);
    let plain = |plain| match plain {
        Plain::Csv => both.data().csv(),
        Plain::Md => both.markdown(&conclusion, context),
        Plain::Text => both.text(&conclusion, context),
    };
    context.emit_as(format, || both.answer(conclusion.clone()), |format| Ok(plain(format)))?;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// The maximum number of causes in the text; `--format json` has all of them.
const CAUSES: usize = 40;
/// The number of answers that are named per cause.
const NAMED: usize = 4;
/// The maximum number of table rows, which also fits into a comment (GitHub's limit is 65,536 characters).
const ROWS: usize = 60;
const COMMENT_ROWS: usize = 300;

struct Both<'t> {
    trees: [&'t Tree; 2],
    parts: Vec<Part<'t>>,
    /// Operations for which a tree has no readable rules, and why.
    unread: Vec<(String, String)>,
}

/// An operation.
struct Part<'t> {
    operation: String,
    left: Survey<'t>,
    right: Survey<'t>,
    found: Comparison,
}

impl Part<'_> {
    /// Names the first few answers that one cause changed, and the number of others.
    fn named(&self, list: &[&Difference], context: &Context) -> String {
        let named: Vec<String> = list.iter().take(NAMED).map(|found| found.told(&self.left.question)).collect();
        let more = list.len().saturating_sub(NAMED);
        let more = if more > 0 { more_text("diff-source-more", more, context) } else { String::new() };
        format!("{}{more}", named.join("; "))
    }

    fn by_cause(&self) -> Grouped<'_> {
        by_cause(&self.found.differences, &self.left, &self.right)
    }
}

impl Both<'_> {
    fn differences(&self) -> usize {
        self.parts.iter().map(|part| part.found.differences.len()).sum()
    }

    /// Every difference, for programs, with path and tile separate.
    fn data(&self) -> Table {
        let keys = [
            "target",
            "type",
            "columns",
            "path_a",
            "tile_a",
            "kernel_a",
            "path_b",
            "tile_b",
            "kernel_b",
            "operation",
            "differs",
            "shape_a",
            "shape_b",
        ];
        let mut table = Table::new(keys.map(|key| Column::left(key, key)).to_vec());
        for part in &self.parts {
            for difference in &part.found.differences {
                let (device, ty) = difference.names(&part.left.question);
                let side = |side: &Side| {
                    let (path, tile) = side.path_and_tile();
                    [path.to_owned(), tile.to_string(), side.instance().unwrap_or_default()]
                };
                let head = [device.to_owned(), ty.to_owned(), difference.columns()];
                let sides = side(&difference.left).into_iter().chain(side(&difference.right));
                let shape = |side: &Side| side.shape.as_ref().map_or(String::new(), |shape| shape.told([true; 3]));
                let differs = difference.differs.names().join(" ");
                let tail = [part.operation.clone(), differs, shape(&difference.left), shape(&difference.right)];
                table.row(head.into_iter().chain(sides).chain(tail));
            }
        }
        table
    }

    /// The first items of the list.
    fn table(&self, most: usize, context: &Context) -> Table {
        let title = |key: &str| context.lang.text(key);
        let mut columns = vec![
            Column::left("target", title("source-column-gpu")),
            Column::left("type", title("source-column-type")),
            Column::left("columns", title("source-column-columns")),
            Column::left("a", "A"),
            Column::left("b", "B"),
            Column::left("differs", title("source-column-differs")),
        ];
        let several = self.parts.len() > 1;
        if several {
            columns.push(Column::left("operation", title("source-column-operation")));
        }
        let mut table = Table::new(columns);
        let all = self.parts.iter().flat_map(|part| part.found.differences.iter().map(move |found| (part, found)));
        for (part, difference) in all.take(most) {
            let (device, ty) = difference.names(&part.left.question);
            let [a, b] = difference.sides();
            let differs = difference.differs.names().join(" ");
            let row = [device.to_owned(), ty.to_owned(), difference.columns(), a, b, differs];
            table.row(row.into_iter().chain(several.then(|| part.operation.clone())));
        }
        table
    }

    /// Every cause with its changes, formatted by `one`, and the number of omitted causes.
    fn told(&self, context: &Context, mut one: impl FnMut(&str, &[(&'static str, &Tree, &Cause)])) -> Option<String> {
        let mut left = 0;
        let mut room = CAUSES;
        for part in self.parts.iter().filter(|part| !part.found.differences.is_empty()) {
            let all = part.by_cause();
            left += all.len().saturating_sub(room);
            for (sides, list) in all.iter().take(room) {
                let both = ["A", "B"].into_iter().zip(self.trees).zip(sides);
                let both =
                    both.filter(|(_, cause)| !cause.text.is_empty()).map(|((name, tree), cause)| (name, tree, cause));
                let named = part.named(list, context);
                let named = if self.parts.len() > 1 { format!("{}: {named}", part.operation) } else { named };
                one(&named, &both.collect::<Vec<_>>());
            }
            room = room.saturating_sub(all.len());
        }
        (left > 0).then(|| more_text("diff-source-causes", left, context))
    }

    fn text(&self, conclusion: &Conclusion, context: &Context) -> String {
        let mut out = format!("{}\n", conclusion_text(&context.lang, conclusion));
        let all = self.differences();
        if all == 0 {
            return out;
        }
        let _ = write!(out, "\n{}", self.table(ROWS, context).text(context.width));
        if all > ROWS {
            let _ = writeln!(out, "{}", more_text("diff-source-more", all - ROWS, context).trim());
        }
        let _ = write!(out, "\n{}\n", context.lang.text("diff-source-lines"));
        let rest = self.told(context, |named, sides| {
            let _ = writeln!(out, "{named}");
            for (name, _, cause) in sides {
                let _ = writeln!(out, "  {name} {}", cause.text);
            }
            out.push('\n');
        });
        rest.into_iter().for_each(|rest| out.push_str(&format!("{rest}\n")));
        out
    }

    /// Formatted as a comment on a pull request: the sentence, the causes with permalinks, and a collapsed table.
    fn markdown(&self, conclusion: &Conclusion, context: &Context) -> String {
        let mut out = format!("{}\n", conclusion_text(&context.lang, conclusion));
        let all = self.differences();
        if all == 0 {
            return out;
        }
        let _ = write!(out, "\n{}\n\n", context.lang.text("diff-source-lines"));
        let rest = self.told(context, |named, sides| {
            let _ = writeln!(out, "- {}", named.replace('<', "\\<"));
            for (name, tree, cause) in sides {
                let _ = writeln!(out, "  - {name} {} `{}`", permalink(tree, cause), cause.words().replace('`', "'"));
            }
        });
        rest.into_iter().for_each(|rest| out.push_str(&format!("\n{rest}\n")));
        let rows = more_text("diff-source-rows", all, context);
        let table = self.table(COMMENT_ROWS, context).markdown();
        let _ = write!(out, "\n<details><summary>{rows}</summary>\n\n{table}\n");
        if all > COMMENT_ROWS {
            let _ = writeln!(out, "{}\n", more_text("diff-source-more", all - COMMENT_ROWS, context).trim());
        }
        out.push_str("</details>\n");
        out
    }

    fn answer(&self, conclusion: Conclusion) -> SourceDiff {
        let [a, b] = self.trees;
        let changed = self.parts.iter().flat_map(|part| {
            let causes = causes(&part.found.differences, &part.left, &part.right);
            let all = part.found.differences.iter().zip(causes);
            all.map(|(found, causes)| Changed::new(found, &part.left.question, &part.operation, Some(causes)))
        });
        SourceDiff {
            kind: "source",
            rung: Rung::Declared,
            a: a.identity(),
            b: b.identity(),
            conclusion,
            differences: changed.collect(),
        }
    }
}

fn more_text(key: &str, count: usize, context: &Context) -> String {
    context.lang.text_with(key, &[("count", count.into())])
}

/// A link to the line at its commit if the repository's address is known, from `GITHUB_REPOSITORY` in a workflow.
fn permalink(tree: &Tree, cause: &Cause) -> String {
    let place = format!("{}:{}", cause.file, cause.line);
    let (Some(commit), Ok(repository)) = (&tree.commit, std::env::var("GITHUB_REPOSITORY")) else {
        return format!("`{place}`");
    };
    let server = std::env::var("GITHUB_SERVER_URL").unwrap_or_else(|_| "https://github.com".to_owned());
    format!("[{place}]({server}/{repository}/blob/{commit}/{}#L{})", cause.file, cause.line)
}
