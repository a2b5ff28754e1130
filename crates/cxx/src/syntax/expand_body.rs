//! Expands a stored body on demand.

use super::bodies::StoredBody;
use super::files::{Files, NoSources};
use super::lex::{Kind, Tok};
use super::macros::Macros;
use super::preprocess::{MAX_TOKENS, Preprocessor};
use super::sym::{self, Interner};
use std::sync::atomic::Ordering;

impl StoredBody {
    /// The tokens between the braces.
    pub(crate) fn toks(&self) -> &[Tok] {
        if self.macros.is_empty() { self.raw() } else { self.expanded.get_or_init(|| self.expand()) }
    }

    fn expand(&self) -> Vec<Tok> {
        let (mut files, mut interner, mut macros) = (Files::default(), Interner::none(), Macros::of(&self.macros));
        let mut preprocessor = Preprocessor::new(&NoSources, &mut files, &mut interner, &mut macros);
        let before = self.made.load(Ordering::Relaxed).min(MAX_TOKENS);
        preprocessor.made = before;
        let mut toks = preprocessor.expand_list(self.raw()).unwrap_or_default();
        toks.shrink_to_fit();
        let made = preprocessor.made;
        self.made.fetch_add(made - before, Ordering::Relaxed);
        // The program is larger than any real one. Return an unmatched closing brace, which is not a valid statement.
        let first = self.raw().first().filter(|_| made >= MAX_TOKENS);
        first.map_or(toks, |first| vec![Tok { kind: Kind::Punct, sym: sym::RBRACE, ..*first }])
    }
}
