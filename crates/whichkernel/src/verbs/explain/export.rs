//! The alternatives as a table: other column counts, other cards, other versions.

use super::screen;
use crate::context::Context;
use crate::emit::Show;
use evidence::Says;
use report::{Column, Lang, Table, Term, Terms};
use source::choices::Choices;
use source::decision_table::tokens;
use source::explain::Explained;

impl Show for Explained<'_> {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut out = Table::new(vec![
            Column::left("what", lang.text("explain-column-what")),
            Column::left("instead", lang.text("explain-column-instead")),
            Column::left("path", lang.text("source-column-path")),
            Column::right("tile", lang.text("source-column-variant")),
        ]);
        // The answer itself comes first; for a version between two tables, the answers of both.
        let asked = self.asked_version.or(self.version).unwrap_or_default().to_owned();
        let chosen = match self.conclusion.says() {
            Says::Chosen { choices } if choices.is_empty() => "UNDETERMINED".to_owned(),
            Says::Chosen { choices } => choices.iter().cloned().collect::<Vec<_>>().join(" | "),
            _ => String::new(),
        };
        let tile = |tile: Option<i64>| tile.map_or(String::new(), |tile| tile.to_string());
        let stretches: Vec<_> = self.by_columns.iter().map(|one| (one.from, one.to, one.path)).collect();
        let (path, width) = match self.columns {
            // Without a column count, the answer covers all counts.
            None => (tokens(&stretches), None),
            Some(_) => (self.path.map_or(chosen, str::to_owned), self.tile),
        };
        out.row([lang.text("explain-what-answer"), asked, path, tile(width)]);
        for one in self.neighbours.iter().filter(|_| self.asked_version.is_some()) {
            let what = lang.text("explain-what-neighbour");
            out.row([what, one.version.to_owned(), one.path.to_owned(), tile(one.tile)]);
        }
        for one in &self.otherwise {
            let what = lang.text(&format!("explain-what-{}", one.what.key()));
            out.row([what, one.instead.clone(), one.path.to_owned(), tile(one.tile)]);
        }
        Some(out)
    }
}

impl Show for Choices {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("what", lang.text("explain-column-what")),
            Column::left("name", lang.text("explain-column-name")),
            Column::left("title", lang.text("explain-column-title")),
            Column::left("of", lang.text("explain-column-of")),
        ]);
        let gpu = lang.text("explain-what-gpu");
        for card in &self.cards {
            let of = [Some(card.target.as_str()), card.generation].into_iter().flatten().collect::<Vec<_>>();
            table.row([gpu.clone(), card.name.clone(), card.title.clone(), of.join(", ")]);
        }
        for target in &self.other_targets {
            table.row([gpu.clone(), target.clone(), String::new(), target.clone()]);
        }
        for kind in &self.types {
            table.row([lang.text("explain-what-type"), kind.name.clone(), String::new(), kind.tensors.join(", ")]);
        }
        let version = lang.text("explain-what-version");
        for one in &self.versions {
            table.row([version.clone(), one.version.clone(), one.source.clone(), one.date.clone()]);
        }
        for one in &self.ollama {
            table.row([
                version.clone(),
                one.release.clone(),
                "ollama".to_owned(),
                format!("{} {}", one.build, one.date),
            ]);
        }
        Some(table)
    }
}

impl Show for Term {
    fn table(&self, _: &Lang) -> Option<Table> {
        None
    }

    fn text(&self, context: &Context) -> String {
        screen::term(self, context)
    }
}

impl Show for Terms {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![Column::left("term", lang.text("glossary-term"))]);
        self.terms.iter().for_each(|term| table.row([*term]));
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let text = context.lang.text_with("glossary-list", &[("terms", context.lang.list(&self.terms).into())]);
        let lines = report::wrap(&text, context.width.unwrap_or(usize::MAX));
        format!("{}\n", lines.join("\n"))
    }
}
