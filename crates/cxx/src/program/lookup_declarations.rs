//! Declarations that the parser does not keep but that affect name lookup: friends defined in a class, namespace
//! aliases, and `using namespace` in a function. They are rare, so only their names are kept. If one of them may affect
//! a call, the call is unknown.

use crate::syntax::files::SourceFile;
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym::{self, FxSet, Sym};

#[derive(Debug, Default, Clone)]
pub(crate) struct Spelled {
    /// Functions declared by `friend`, which only argument-dependent lookup finds.
    pub friends: FxSet<Sym>,
    /// Namespace aliases: `namespace a = b;`.
    pub aliases: FxSet<Sym>,
    /// Namespaces that a function opens locally.
    pub opened: FxSet<Sym>,
    /// The number of files that have been read.
    files: usize,
}

impl Spelled {
    /// Reads the files added since the last call.
    pub fn read<'f>(&mut self, files: impl Iterator<Item = &'f SourceFile>) {
        for file in files.skip(self.files) {
            self.files += 1;
            let has = |word: &str| memchr::memmem::find(file.text.as_bytes(), word.as_bytes()).is_some();
            if has("friend ") {
                self.read_friends(&file.toks);
            }
            if has("namespace ") {
                self.read_namespaces(&file.toks);
            }
        }
    }

    /// The name before the first parenthesis after each `friend`.
    fn read_friends(&mut self, toks: &[Tok]) {
        for (at, _) in toks.iter().enumerate().filter(|(_, tok)| tok.is(sym::FRIEND)) {
            let rest = toks.get(at + 1..).unwrap_or_default();
            let ends = |tok: &Tok| tok.is(sym::LPAREN) || tok.is(sym::SEMI) || tok.is(sym::LBRACE);
            if let Some(end) =
                rest.iter().position(ends).filter(|&end| rest.get(end).is_some_and(|tok| tok.is(sym::LPAREN)))
                && let Some(name) = end.checked_sub(1).and_then(|end| rest.get(end))
                && name.kind == Kind::Ident
            {
                self.friends.insert(name.sym);
            }
        }
    }

    fn read_namespaces(&mut self, toks: &[Tok]) {
        // For each open brace: whether it is transparent to name lookup.
        let mut braces: Vec<bool> = Vec::new();
        for (at, tok) in toks.iter().enumerate() {
            match tok.sym {
                sym::LBRACE if tok.kind == Kind::Punct => braces.push(is_space(toks.get(..at).unwrap_or_default())),
                sym::RBRACE if tok.kind == Kind::Punct => drop(braces.pop()),
                sym::NAMESPACE if toks.get(at + 2).is_some_and(|next| next.is(sym::ASSIGN)) => {
                    self.aliases.extend(toks.get(at + 1).map(|name| name.sym));
                }
                sym::NAMESPACE if braces.contains(&false) => {
                    let names = toks.get(at + 1..).unwrap_or_default().iter().take_while(|tok| !tok.is(sym::SEMI));
                    let before = at.checked_sub(1).and_then(|at| toks.get(at));
                    if before.is_some_and(|tok| tok.is(sym::USING)) {
                        self.opened.extend(names.last().map(|name| name.sym));
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether the tokens before a brace open a namespace or `extern "C"`.
fn is_space(before: &[Tok]) -> bool {
    let head = before.iter().rev().take_while(|tok| tok.kind != Kind::Punct || tok.is(sym::SCOPE)).take(8);
    let mut head = head.peekable();
    let linkage = head.peek().is_some_and(|tok| tok.kind == Kind::String);
    linkage || head.any(|tok| tok.is(sym::NAMESPACE))
}
