//! Two source trees: for which GPUs, types and columns the choice differs, and the conditions that made it so.

use super::tree::{Ask, Operation, notes, tell_skipped};
use crate::context::{CHECK_FAILED, Context, Format};
use evidence::{Conclusion, Rung};
use report::{Column, Table, conclusion_text};
use source::answers::{Changed, SourceDiff, conclude};
use source::cause::{Cause, Grouped, by_cause, causes};
use source::comparison::{Comparison, Difference, compare as cells, surveys};
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
) -> anyhow::Result<ExitCode> {
    // What is not narrowed down is asked about in full: a change for one card is a change.
    let all: Vec<String> = ALL_GPUS.iter().map(|gpu| (*gpu).to_owned()).collect();
    let mut question = ask.question(if gpus.is_empty() { &all } else { gpus })?;
    if ask.types.is_empty() && matches!(ask.op, Operation::MulMat | Operation::MulMatId | Operation::GetRows) {
        question.types = ALL_TYPES.iter().map(|ty| (*ty).to_owned()).collect();
    }
    let overrides = ask.overrides()?;
    let [left, right] = surveys([a, b], &question, &overrides)?;
    let both = Both { trees: [a, b], left, right };
    let found = cells(&both.left, &both.right);
    let conclusion = conclude(&found, &both.left.question, &ask.other_operations());
    if format != Format::Json {
        for (tree, survey) in [(a, &both.left), (b, &both.right)] {
            for note in notes(survey, context) {
                crate::context::tell(format_args!("{}: {note}", tree.label));
            }
            tell_skipped(&tree.skipped, context);
        }
    }
    let text = match format {
        Format::Json => answer::json(&both.answer(&found, conclusion))?,
        Format::Csv => both.table(&found.differences, context).csv(),
        Format::Md => both.markdown(&found, &conclusion, context),
        Format::Text => both.text(&found, &conclusion, context),
    };
    context.print(&text)?;
    // "The same" holds only where something was compared.
    let same = found.different == 0 && found.answered > 0;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) })
}

/// Differences with one cause, told together; beyond this many causes the rest is left to `--format json`.
const CAUSES: usize = 40;
/// Of the answers that one cause changed, those named.
const NAMED: usize = 4;
/// Rows of a table that a person reads, and that fit into a comment (GitHub takes 65,536 characters).
const ROWS: usize = 60;
const COMMENT_ROWS: usize = 300;

struct Both<'t> {
    trees: [&'t Tree; 2],
    left: Survey<'t>,
    right: Survey<'t>,
}

impl Both<'_> {
    fn table(&self, found: &[Difference], context: &Context) -> Table {
        let title = |key: &str| context.lang.text(key);
        let mut table = Table::new(vec![
            Column::left("target", title("source-column-gpu")),
            Column::left("type", title("source-column-type")),
            Column::left("columns", title("source-column-columns")),
            Column::left("a", "A"),
            Column::left("b", "B"),
        ]);
        for difference in found {
            let (device, ty) = difference.names(&self.left.question);
            let [a, b] = difference.sides();
            table.row([device.to_owned(), ty.to_owned(), difference.columns(), a, b]);
        }
        table
    }

    /// The first few that one cause changed, and how many more.
    fn named(&self, list: &[&Difference], context: &Context) -> String {
        let named: Vec<String> = list.iter().take(NAMED).map(|found| found.told(&self.left.question)).collect();
        let more = list.len().saturating_sub(NAMED);
        let more = if more > 0 { more_text("diff-source-more", more, context) } else { String::new() };
        format!("{}{more}", named.join("; "))
    }

    /// Every cause with what it changed, as `one` writes it; and how many causes are left out.
    fn told(
        &self,
        all: &Grouped<'_>,
        context: &Context,
        mut one: impl FnMut(&str, &[(&'static str, &Tree, &Cause)]),
    ) -> Option<String> {
        for (sides, list) in all.iter().take(CAUSES) {
            let both = ["A", "B"].into_iter().zip(self.trees).zip(sides);
            let both =
                both.filter(|(_, cause)| !cause.text.is_empty()).map(|((name, tree), cause)| (name, tree, cause));
            one(&self.named(list, context), &both.collect::<Vec<_>>());
        }
        let left = all.len().saturating_sub(CAUSES);
        (left > 0).then(|| more_text("diff-source-causes", left, context))
    }

    fn text(&self, found: &Comparison, conclusion: &Conclusion, context: &Context) -> String {
        let mut out = format!("{}\n", conclusion_text(&context.lang, conclusion));
        if found.differences.is_empty() {
            return out;
        }
        let shown = found.differences.get(..ROWS).unwrap_or(&found.differences);
        let _ = write!(out, "\n{}", self.table(shown, context).text(context.width));
        let more = found.differences.len() - shown.len();
        if more > 0 {
            let _ = writeln!(out, "{}", more_text("diff-source-more", more, context).trim());
        }
        let _ = write!(out, "\n{}\n", context.lang.text("diff-source-lines"));
        let all = by_cause(&found.differences, &self.left, &self.right);
        let rest = self.told(&all, context, |named, sides| {
            let _ = writeln!(out, "{named}");
            for (name, _, cause) in sides {
                let _ = writeln!(out, "  {name} {}", cause.text);
            }
            out.push('\n');
        });
        rest.into_iter().for_each(|rest| out.push_str(&format!("{rest}\n")));
        out
    }

    /// Made to be a comment on a pull request: the sentence, the causes with permalinks, and the table folded away.
    fn markdown(&self, found: &Comparison, conclusion: &Conclusion, context: &Context) -> String {
        let mut out = format!("{}\n", conclusion_text(&context.lang, conclusion));
        if found.differences.is_empty() {
            return out;
        }
        let _ = write!(out, "\n{}\n\n", context.lang.text("diff-source-lines"));
        let all = by_cause(&found.differences, &self.left, &self.right);
        let rest = self.told(&all, context, |named, sides| {
            let _ = writeln!(out, "- {}", named.replace('<', "\\<"));
            for (name, tree, cause) in sides {
                let _ = writeln!(out, "  - {name} {} `{}`", permalink(tree, cause), cause.words().replace('`', "'"));
            }
        });
        rest.into_iter().for_each(|rest| out.push_str(&format!("\n{rest}\n")));
        let shown = found.differences.get(..COMMENT_ROWS).unwrap_or(&found.differences);
        let rows = more_text("diff-source-rows", found.differences.len(), context);
        let table = self.table(shown, context).markdown();
        let _ = write!(out, "\n<details><summary>{rows}</summary>\n\n{table}\n");
        let more = found.differences.len() - shown.len();
        if more > 0 {
            let _ = writeln!(out, "{}\n", more_text("diff-source-more", more, context).trim());
        }
        out.push_str("</details>\n");
        out
    }

    fn answer(&self, found: &Comparison, conclusion: Conclusion) -> SourceDiff {
        let causes = causes(&found.differences, &self.left, &self.right);
        let differences = found.differences.iter().zip(causes);
        let [a, b] = self.trees;
        SourceDiff {
            kind: "source",
            rung: Rung::Declared,
            a: a.identity(),
            b: b.identity(),
            conclusion,
            differences: differences
                .map(|(found, causes)| Changed::new(found, &self.left.question, Some(causes)))
                .collect(),
        }
    }
}

fn more_text(key: &str, count: usize, context: &Context) -> String {
    context.lang.text_with(key, &[("count", count.into())])
}

/// A link to the line at its commit where the repository's address is known: from `GITHUB_REPOSITORY` in a workflow.
fn permalink(tree: &Tree, cause: &Cause) -> String {
    let place = format!("{}:{}", cause.file, cause.line);
    let (Some(commit), Ok(repository)) = (&tree.commit, std::env::var("GITHUB_REPOSITORY")) else {
        return format!("`{place}`");
    };
    let server = std::env::var("GITHUB_SERVER_URL").unwrap_or_else(|_| "https://github.com".to_owned());
    format!("[{place}]({server}/{repository}/blob/{commit}/{}#L{})", cause.file, cause.line)
}
