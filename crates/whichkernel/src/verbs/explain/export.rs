//! The counterfactuals as a table: other column counts, other cards, other versions.

use super::screen;
use crate::context::Context;
use crate::emit::Show;
use report::{Column, Lang, Table, Term, Terms};
use source::explain::Explained;

impl Show for Explained<'_> {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut out = Table::new(vec![
            Column::left("what", lang.text("explain-column-what")),
            Column::left("instead", lang.text("explain-column-instead")),
            Column::left("path", lang.text("source-column-path")),
            Column::right("tile", lang.text("source-column-variant")),
        ]);
        for one in &self.otherwise {
            let what = lang.text(&format!("explain-what-{}", one.what.key()));
            let tile = one.tile.map_or(String::new(), |tile| tile.to_string());
            out.row([what, one.instead.clone(), one.path.to_owned(), tile]);
        }
        Some(out)
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
        let text = context.lang.text_with("glossary-list", &[("terms", self.terms.join(", ").into())]);
        let lines = report::wrap(&text, context.width.unwrap_or(usize::MAX));
        format!("{}\n", lines.join("\n"))
    }
}
