//! The content of a part of a file, determined from tokens alone: code, directives, and declared names.

use crate::syntax::lex::{Kind, Tok};
use crate::syntax::sym::{self, Interner, Sym};

/// Tokens outside directives.
pub fn code(toks: &[Tok]) -> impl Iterator<Item = &Tok> + use<'_> {
    let mut directive = false;
    toks.iter().filter(move |tok| {
        if tok.bol() {
            directive = tok.is(sym::HASH);
        }
        !directive
    })
}

/// The directives of a token range, without their `#`.
pub fn directives(toks: &[Tok]) -> impl Iterator<Item = &[Tok]> {
    let starts = toks.iter().enumerate().filter(|(_, tok)| tok.bol() && tok.is(sym::HASH));
    starts.map(move |(at, _)| {
        let rest = toks.get(at + 1..).unwrap_or_default();
        rest.get(..rest.iter().position(Tok::bol).unwrap_or(rest.len())).unwrap_or_default()
    })
}

/// The names declared at file level; None if a declaration is incomplete or of an unsupported kind.
pub fn declared(toks: &[Tok], interner: &Interner, is_macro: &dyn Fn(Sym) -> bool) -> Option<Vec<Sym>> {
    let mut all = Vec::new();
    let (mut depth, mut angle) = (0usize, 0usize);
    // State of the current declaration: its last name, whether that name is final, and its first keyword.
    let (mut last, mut settled, mut kind) = (None, false, None);
    let mut before: Option<&Tok> = None;
    for tok in toks {
        let top = depth == 0 && angle == 0;
        let previous = before.replace(tok);
        match (tok.kind, tok.sym) {
            (Kind::Ident, sym::NAMESPACE | sym::EXTERN | sym::OPERATOR) if top => return None,
            (Kind::Ident, sym::ENUM | sym::STRUCT | sym::CLASS | sym::UNION) if top && kind.is_none() => {
                kind = Some(tok.sym);
            }
            // The enumerators.
            (Kind::Ident, name) if depth == 1 && kind == Some(sym::ENUM) => {
                let first = previous.is_some_and(|tok| tok.is(sym::LBRACE) || tok.is(sym::COMMA));
                all.extend(first.then_some(name));
            }
            (Kind::Ident, name) if top && !settled && !interner.is_keyword(name) => last = Some(name),
            (Kind::Punct, sym::LT) if angle > 0 || previous.is_some_and(|tok| tok.is(sym::TEMPLATE)) => angle += 1,
            (Kind::Punct, sym::GT) if angle > 0 => angle -= 1,
            (Kind::Punct, open @ (sym::LPAREN | sym::LBRACE | sym::LBRACKET)) => {
                let of_keyword = previous.is_some_and(|tok| interner.is_keyword(tok.sym));
                if top && !settled && !(open == sym::LPAREN && of_keyword) {
                    let name = last.take();
                    let calls_macro = name.is_some_and(is_macro);
                    if (name.is_none() && kind.is_none()) || calls_macro {
                        return None;
                    }
                    all.extend(name);
                    settled = true;
                }
                depth += 1;
            }
            (Kind::Punct, sym::RPAREN | sym::RBRACE | sym::RBRACKET) => {
                depth = depth.checked_sub(1)?;
                // A function ends with its body; a struct continues to its `;`.
                if depth == 0 && tok.is(sym::RBRACE) && kind.is_none() {
                    (last, settled) = (None, false);
                } else if depth == 0 && tok.is(sym::RBRACE) {
                    settled = false;
                }
            }
            (Kind::Punct, sym::ASSIGN | sym::COLON) if top => {
                all.extend(last.take().filter(|_| !settled));
                settled = true;
            }
            (Kind::Punct, sym::COMMA) if top => {
                all.extend(last.take().filter(|_| !settled));
                settled = false;
            }
            (Kind::Punct, sym::SEMI) if top => {
                all.extend(last.take().filter(|_| !settled));
                (settled, kind) = (false, None);
            }
            _ => {}
        }
    }
    (depth == 0 && angle == 0 && last.is_none() && kind.is_none()).then_some(all)
}
