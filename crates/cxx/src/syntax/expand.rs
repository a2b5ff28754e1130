//! Macro expansion: arguments, `#`, `##`, variadic lists, and the rule that a name is not expanded within its own
//! expansion.

use super::files::LoadError;
use super::lex::{Kind, PAINTED, SPACE, Tok};
use super::macro_table::Macro;
use super::preprocess::{Preprocessor, copy_frames};
use super::sym::{self, Sym};
use std::sync::Arc;

const MAX_ARGS: usize = 4096;
const MAX_NESTED: usize = 40;

/// The arguments between a macro's parentheses, and the closing parenthesis.
type Arguments = (Vec<Vec<Tok>>, Tok);

impl Preprocessor<'_> {
    /// Pushes the replacement of `tok` if it is a macro's name. Returns false if it is not expanded.
    pub(crate) fn expand(&mut self, tok: Tok) -> Result<bool, LoadError> {
        if tok.kind != Kind::Ident || tok.flags & PAINTED != 0 {
            return Ok(false);
        }
        let Some(found) = self.macros.table.get(tok.sym).cloned() else { return Ok(false) };
        if self.frames.iter().any(|frame| frame.name == Some(tok.sym)) {
            return Ok(false);
        }
        let mut at = tok;
        let args = match &found.params {
            None => Vec::new(),
            Some(params) => match self.arguments(params.len(), found.variadic)? {
                Some((args, close)) => {
                    // The expansion gets the position of the whole call, so that a quote shows the arguments.
                    if close.file == tok.file && close.end() > tok.off {
                        at.len = u16::try_from(close.end() - tok.off).unwrap_or(tok.len);
                    }
                    args
                }
                None => return Ok(false),
            },
        };
        let toks = self.replace(&found, &args, at)?;
        args.into_iter().for_each(|arg| self.pool.give(arg));
        self.push_back(toks, Some(tok.sym));
        Ok(true)
    }

    /// The replacement of a name by a single number or punctuator, the most common kind of macro.
    pub(crate) fn constant(&self, tok: &Tok) -> Option<Tok> {
        if tok.kind != Kind::Ident || tok.flags & PAINTED != 0 {
            return None;
        }
        let found = self.macros.table.get(tok.sym)?;
        match (&found.params, found.body.as_slice()) {
            (None, [only]) if only.kind != Kind::Ident && !only.is(sym::PASTE) => {
                Some(Tok { file: tok.file, off: tok.off, len: tok.len, flags: only.flags & SPACE, ..*only })
            }
            _ => None,
        }
    }

    /// The arguments of a function-like macro. None, with nothing consumed, if no parenthesis follows.
    fn arguments(&mut self, params: usize, variadic: bool) -> Result<Option<Arguments>, LoadError> {
        self.gathering += 1;
        let gathered = self.gather(params, variadic);
        self.gathering -= 1;
        gathered
    }

    fn gather(&mut self, params: usize, variadic: bool) -> Result<Option<Arguments>, LoadError> {
        let Some(open) = self.next_raw()? else { return Ok(None) };
        if !open.is(sym::LPAREN) {
            self.push_back(vec![open], None);
            return Ok(None);
        }
        let mut args = Vec::with_capacity(params.clamp(1, 16));
        args.push(self.pool.take());
        let mut depth = 0usize;
        let mut close = open;
        while let Some(tok) = self.next_raw()? {
            close = tok;
            let tok = self.painted(tok);
            let closes = tok.is(sym::RPAREN) || tok.is(sym::RBRACE) || tok.is(sym::RBRACKET);
            if tok.is(sym::RPAREN) && depth == 0 {
                break;
            }
            // In standard C++, only parentheses protect a comma. Braces are counted too, because macros in these
            // sources take initialisers.
            if tok.is(sym::COMMA) && depth == 0 && !(variadic && args.len() >= params) && args.len() < MAX_ARGS {
                args.push(self.pool.take());
                continue;
            }
            if tok.is(sym::LPAREN) {
                depth += 1;
            } else if closes && tok.is(sym::RPAREN) {
                depth = depth.saturating_sub(1);
            }
            if let Some(arg) = args.last_mut() {
                arg.push(tok);
            }
        }
        Ok(Some((args, close)))
    }

    fn replace(&mut self, found: &Arc<Macro>, args: &[Vec<Tok>], at: Tok) -> Result<Vec<Tok>, LoadError> {
        let placed = |tok: &Tok| Tok { file: at.file, off: at.off, len: at.len, flags: tok.flags & SPACE, ..*tok };
        let mut out = self.pool.take();
        let Some(params) = &found.params else {
            out.extend(found.body.iter().map(placed));
            return Ok(self.paste_all(out));
        };
        let empty = Vec::new();
        let index = |name: Sym| params.iter().position(|&param| param == name);
        let mut expanded: Vec<Option<Vec<Tok>>> = Vec::new();
        let mut position = 0;
        while let Some(tok) = found.body.get(position) {
            position += 1;
            if tok.is(sym::HASH)
                && let Some(param) = found.body.get(position).and_then(|next| index(next.sym))
            {
                let text = self.stringize(args.get(param).unwrap_or(&empty));
                out.push(Tok { kind: Kind::String, sym: text, ..placed(tok) });
                position += 1;
                continue;
            }
            let Some(param) = index(tok.sym).filter(|_| tok.kind == Kind::Ident) else {
                out.push(placed(tok));
                continue;
            };
            let arg = args.get(param).unwrap_or(&empty);
            let after = found.body.get(position.wrapping_sub(2)).is_some_and(|tok| tok.is(sym::PASTE));
            let before = found.body.get(position).is_some_and(|tok| tok.is(sym::PASTE));
            if after || before {
                // In `, ## rest`, an empty rest drops the comma; a non-empty rest is not pasted.
                let comma = out.len() >= 2 && out.get(out.len() - 2).is_some_and(|tok| tok.is(sym::COMMA));
                if after && comma && found.variadic && param + 1 == params.len() {
                    out.pop();
                    if arg.is_empty() {
                        out.pop();
                    }
                } else if arg.is_empty() && after {
                    out.pop();
                }
                out.extend(arg.iter().copied());
                if arg.is_empty() && before && !after {
                    position += 1;
                }
                continue;
            }
            if !self.has_macros(arg) {
                out.extend_from_slice(arg);
                continue;
            }
            if expanded.get(param).is_none_or(|slot| slot.is_none()) {
                let full = self.expand_list(arg)?;
                expanded.resize(params.len(), None);
                if let Some(slot) = expanded.get_mut(param) {
                    *slot = Some(full);
                }
            }
            if let Some(Some(full)) = expanded.get(param) {
                out.extend(full.iter().copied());
            }
        }
        Ok(self.paste_all(out))
    }

    /// Expands a list by itself, as arguments are expanded before substitution.
    pub(crate) fn expand_list(&mut self, toks: &[Tok]) -> Result<Vec<Tok>, LoadError> {
        if !self.has_macros(toks) {
            return Ok(toks.to_vec());
        }
        // Limits nested calls in arguments. Real code has fewer than ten levels.
        if self.nested >= MAX_NESTED {
            return Ok(toks.to_vec());
        }
        self.nested += 1;
        let floor = self.floor;
        let depth = self.frames.len();
        self.push_back(toks.to_vec(), None);
        self.floor = depth.max(1);
        // A floor of 0 means "the file". If there is no frame below, a placeholder keeps the floor above 0.
        if depth == 0 {
            let frame = self.frames.pop();
            self.push_back(Vec::new(), None);
            self.frames.extend(frame);
        }
        let mut out = Vec::new();
        loop {
            copy_frames(&mut self.frames, self.floor, &self.macros.table, &mut self.pool, &mut out);
            let Some(tok) = self.next_raw()? else { break };
            if let Some(made) = self.constant(&tok) {
                out.push(made);
            } else if !self.expand(tok)? {
                let tok = self.painted(tok);
                out.push(tok);
            }
        }
        self.frames.truncate(depth);
        self.floor = floor;
        self.nested -= 1;
        Ok(out)
    }

    fn has_macros(&self, toks: &[Tok]) -> bool {
        toks.iter().any(|tok| tok.kind == Kind::Ident && self.macros.table.has(tok.sym))
    }

    fn paste_all(&mut self, toks: Vec<Tok>) -> Vec<Tok> {
        if !toks.iter().any(|tok| tok.is(sym::PASTE)) {
            return toks;
        }
        let mut out: Vec<Tok> = Vec::with_capacity(toks.len());
        let mut rest = toks.into_iter();
        while let Some(tok) = rest.next() {
            if !tok.is(sym::PASTE) {
                out.push(tok);
                continue;
            }
            let (Some(left), Some(right)) = (out.pop(), rest.next()) else { break };
            let text = format!("{}{}", self.interner.text(left.sym), self.interner.text(right.sym));
            let kind = match text.bytes().next() {
                Some(byte) if byte.is_ascii_digit() => Kind::Number,
                Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => Kind::Ident,
                _ => Kind::Punct,
            };
            let sym = self.interner.intern(&text);
            self.macros.included.pasted.insert(sym);
            self.recorder.pasted.push(sym);
            out.push(Tok { kind, sym, ..left });
        }
        out
    }

    fn stringize(&mut self, toks: &[Tok]) -> Sym {
        let mut text = String::from("\"");
        for (at, tok) in toks.iter().enumerate() {
            if at > 0 && tok.flags & SPACE != 0 {
                text.push(' ');
            }
            text.push_str(&self.interner.text(tok.sym).replace('\\', "\\\\").replace('"', "\\\""));
        }
        text.push('"');
        self.interner.intern(&text)
    }
}
