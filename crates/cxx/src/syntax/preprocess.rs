//! The preprocessor turns the tokens of a file into the tokens of a unit. Every token keeps its origin, so line numbers
//! survive. An expansion has the position of the macro call.
//!
//! Every unit begins with the same defines and reads its own headers, as in a compiler: the defines of one unit do not
//! affect another. Files are identified by their path in the tree. A header outside the tree (from the compiler or a
//! platform) is skipped.

use super::condition;
use super::files::{Files, LoadError, Sources, Span};
use super::find_header::{find_include, find_system};
use super::lex::{Kind, PAINTED, Tok};
use super::macro_table::{Macro, MacroTable};
use super::macros::{Group, Macros};
use super::outcomes::{Done, Recorder};
use super::sym::{self, Interner, Sym};
use std::sync::Arc;

pub(crate) const MAX_TOKENS: usize = 30_000_000;
const MAX_FRAMES: usize = 400;
const MAX_INCLUDES: usize = 100;
/// The initial capacity for header tokens.
const ROOM: usize = 16_384;

pub struct Preprocessor<'a> {
    pub tree: &'a dyn Sources,
    pub files: &'a mut Files,
    pub interner: &'a mut Interner,
    pub macros: &'a mut Macros,
    pub(crate) frames: Vec<Frame>,
    pub(crate) sources: Vec<Source>,
    /// The output tokens of the unit so far.
    pub(crate) out: Vec<Tok>,
    pub(crate) recorder: Recorder,
    pub(crate) braces: Braces,
    /// How many macro argument lists are being read. They may continue past the end of a file.
    pub(crate) gathering: usize,
    pub(crate) floor: usize,
    pub(crate) made: usize,
    pub(crate) nested: usize,
    /// A pool of lists to reuse: macros create and drop thousands of them.
    pub(crate) pool: Pool,
}

#[derive(Default)]
pub(crate) struct Pool(Vec<Vec<Tok>>);

impl Pool {
    const MOST: usize = 64;
    const LONGEST: usize = 4096;

    pub fn take(&mut self) -> Vec<Tok> {
        self.0.pop().unwrap_or_default()
    }

    pub fn give(&mut self, mut list: Vec<Tok>) {
        if self.0.len() < Self::MOST && (1..=Self::LONGEST).contains(&list.capacity()) {
            list.clear();
            self.0.push(list);
        }
    }
}

/// The state of the braces of a unit so far.
#[derive(Debug, Default)]
pub(crate) struct Braces {
    /// The number of tokens examined, and the number of braces open after them.
    pub(super) seen: usize,
    pub(super) open: usize,
    /// A body that is not deferred: its file, and the position of its end.
    pub(super) long: Option<(u16, usize)>,
}

/// Tokens to be scanned again: a macro's replacement.
pub(crate) struct Frame {
    pub toks: Vec<Tok>,
    pub at: usize,
    pub name: Option<Sym>,
}

pub(crate) struct Source {
    file: u16,
    pub toks: Arc<Vec<Tok>>,
    pub at: usize,
    conds: Vec<Cond>,
}

impl Source {
    /// Whether no condition excludes the current tokens.
    pub fn is_live(&self) -> bool {
        self.conds.last().is_none_or(|cond| cond.live)
    }
}

#[derive(Clone, Copy)]
struct Cond {
    live: bool,
    taken: bool,
    outer: bool,
    /// The position of the `#if`.
    at: (u16, u32),
}

impl<'a> Preprocessor<'a> {
    pub fn new(
        tree: &'a dyn Sources,
        files: &'a mut Files,
        interner: &'a mut Interner,
        macros: &'a mut Macros,
    ) -> Self {
        Preprocessor {
            tree,
            files,
            interner,
            macros,
            frames: Vec::new(),
            sources: Vec::new(),
            out: Vec::new(),
            recorder: Recorder::default(),
            braces: Braces::default(),
            gathering: 0,
            floor: 0,
            made: 0,
            nested: 0,
            pool: Pool::default(),
        }
    }

    /// All tokens of one unit with its includes, and the results of its headers.
    pub fn unit(&mut self, path: &str) -> Result<(Arc<Vec<Tok>>, Done), LoadError> {
        let file = self.files.open(self.tree, path, self.interner)?;
        self.macros.begin(path);
        self.out.reserve(2 * self.files.toks(file).len() + ROOM);
        self.enter(file);
        loop {
            self.copy_plain();
            let Some(tok) = self.next_expanded()? else { break };
            self.out.push(tok);
            if self.out.len() > MAX_TOKENS {
                break;
            }
        }
        self.out.shrink_to_fit();
        let toks = Arc::new(std::mem::take(&mut self.out));
        Ok((toks, std::mem::take(&mut self.recorder.done)))
    }

    fn enter(&mut self, file: u16) {
        let read = self.macros.once.contains(&file);
        if !read && self.sources.len() >= MAX_INCLUDES {
            self.recorder.spoil();
            return;
        }
        let plain = self.frames.is_empty() && self.floor == 0 && self.gathering == 0;
        if read || (plain && self.replay(file)) {
            self.recorder.pass(file, read);
            return;
        }
        self.record(file, plain);
        self.sources.push(Source { file, toks: self.files.toks(file), at: 0, conds: Vec::new() });
    }

    fn next_expanded(&mut self) -> Result<Option<Tok>, LoadError> {
        loop {
            let Some(tok) = self.next_raw()? else { return Ok(None) };
            if let Some(made) = self.constant(&tok) {
                return Ok(Some(made));
            }
            if !self.expand(tok)? {
                return Ok(Some(self.painted(tok)));
            }
        }
    }

    /// Marks a name that is currently being expanded, so that it is never expanded again.
    pub(crate) fn painted(&self, mut tok: Tok) -> Tok {
        if tok.kind == Kind::Ident && self.frames.iter().any(|frame| frame.name == Some(tok.sym)) {
            tok.flags |= PAINTED;
        }
        tok
    }

    /// The next token before expansion: from the innermost replacement, otherwise from the file. Directives are
    /// processed on the way.
    pub(crate) fn next_raw(&mut self) -> Result<Option<Tok>, LoadError> {
        while self.frames.len() > self.floor {
            let Some(frame) = self.frames.last_mut() else { break };
            if let Some(&tok) = frame.toks.get(frame.at) {
                frame.at += 1;
                return Ok(Some(tok));
            }
            if let Some(frame) = self.frames.pop() {
                self.pool.give(frame.toks);
            }
        }
        if self.floor > 0 {
            return Ok(None);
        }
        self.next_from_file()
    }

    pub(crate) fn push_back(&mut self, toks: Vec<Tok>, name: Option<Sym>) {
        if self.frames.len() < MAX_FRAMES && self.made < MAX_TOKENS {
            self.made += toks.len();
            self.frames.push(Frame { toks, at: 0, name });
        }
    }

    fn next_from_file(&mut self) -> Result<Option<Tok>, LoadError> {
        loop {
            let Some(source) = self.sources.last_mut() else { return Ok(None) };
            let Some(&tok) = source.toks.get(source.at) else {
                self.sources.pop();
                self.recorded();
                continue;
            };
            source.at += 1;
            if tok.is(sym::HASH) && tok.bol() {
                let start = source.at;
                while source.toks.get(source.at).is_some_and(|tok| !tok.bol()) {
                    source.at += 1;
                }
                let (toks, end) = (source.toks.clone(), source.at);
                self.directive(toks.get(start..end).unwrap_or_default())?;
                continue;
            }
            if source.is_live() {
                return Ok(Some(tok));
            }
            let rest = source.toks.get(source.at..).unwrap_or_default();
            source.at += rest.iter().position(|tok| tok.is(sym::HASH) && tok.bol()).unwrap_or(rest.len());
        }
    }

    fn live(&self) -> bool {
        self.sources.last().is_none_or(Source::is_live)
    }

    fn directive(&mut self, line: &[Tok]) -> Result<(), LoadError> {
        let Some((name, rest)) = line.split_first() else { return Ok(()) };
        match name.sym {
            sym::IF | sym::IFDEF | sym::IFNDEF => {
                let outer = self.live();
                let live = outer && self.test(name.sym, rest)?;
                let at = (name.file, name.off);
                if outer {
                    self.ask_group(at, rest);
                }
                self.conds(|conds| conds.push(Cond { live, taken: live, outer, at }));
            }
            sym::ELIF | sym::ELIFDEF | sym::ELIFNDEF => {
                let last = self.sources.last().and_then(|source| source.conds.last()).copied();
                let Some(cond) = last else { return Ok(()) };
                let live = cond.outer && !cond.taken && self.test(name.sym, rest)?;
                if cond.outer {
                    self.ask_group(cond.at, rest);
                }
                self.conds(|conds| {
                    if let Some(cond) = conds.last_mut() {
                        *cond = Cond { live, taken: cond.taken || live, ..*cond };
                    }
                });
            }
            sym::ELSE => self.conds(|conds| {
                if let Some(cond) = conds.last_mut() {
                    *cond = Cond { live: cond.outer && !cond.taken, taken: true, ..*cond };
                }
            }),
            sym::ENDIF => {
                let closed = self.sources.last_mut().and_then(|source| source.conds.pop());
                if let Some(group) = closed.and_then(|cond| self.macros.groups.get_mut(&cond.at)) {
                    group.end = name.off;
                }
            }
            _ if !self.live() => {}
            sym::DEFINE => self.define(rest),
            sym::UNDEF => {
                if let Some(name) = rest.first()
                    && !self.macros.fixed.contains(&name.sym)
                {
                    self.macros.undefined.insert(name.sym);
                    // A redefined macro loses its built-in meaning.
                    if self.macros.kept.remove(&name.sym) {
                        self.recorder.spoil();
                    }
                    self.macros.set(name.sym, None);
                }
            }
            sym::INCLUDE => self.include(rest)?,
            sym::PRAGMA_DIR => self.pragma(rest),
            // `#line 7` and `# 7 "file"` change the line numbers that follow.
            sym::LINE_DIR => drop(self.macros.renumbered.insert(name.file)),
            _ if name.kind == Kind::Number => drop(self.macros.renumbered.insert(name.file)),
            _ => {}
        }
        Ok(())
    }

    /// The line number of a directive, if all compilers agree on it: the directive is on one line, and no `#line`
    /// renumbers the file.
    pub(crate) fn certain_line(&self, line: &[Tok]) -> Option<u32> {
        let (first, last) = (line.first()?, line.last()?);
        let file = self.files.get(first.file)?;
        let before = file.text.get(..first.off as usize)?.rsplit('\n').next()?;
        let at = |tok: &Tok| self.files.line(Span::of(tok));
        let alone = before.trim_start().starts_with('#') && at(first) == at(last);
        (alone && !self.macros.renumbered.contains(&first.file)).then(|| u32::try_from(at(first)).ok())?
    }

    /// Records which names the condition of a group reads. A header that is read again reads the same names.
    fn ask_group(&mut self, at: (u16, u32), line: &[Tok]) {
        let fresh = Group { file: at.0, start: at.1, end: 0, asked: Vec::new(), lines: Vec::new() };
        let group = self.macros.groups.entry(at).or_insert(fresh);
        if group.end != 0 {
            return;
        }
        group.asked.extend(line.iter().filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym));
        group.lines.push(line.to_vec());
    }

    fn conds(&mut self, change: impl FnOnce(&mut Vec<Cond>)) {
        if let Some(source) = self.sources.last_mut() {
            change(&mut source.conds);
        }
    }

    fn test(&mut self, kind: Sym, line: &[Tok]) -> Result<bool, LoadError> {
        let name = line.first();
        Ok(match kind {
            sym::IFDEF | sym::ELIFDEF => name.is_some_and(|name| self.defined(name)),
            sym::IFNDEF | sym::ELIFNDEF => name.is_some_and(|name| !self.defined(name)),
            _ => condition::evaluate(self, line)?,
        })
    }

    pub(crate) fn defined(&mut self, name: &Tok) -> bool {
        let defined = self.macros.table.has(name.sym) || sym::is_positional(name.sym);
        if !defined {
            self.macros.asked.entry(name.sym).or_default().push(Span::of(name));
        }
        defined
    }

    fn define(&mut self, line: &[Tok]) {
        let Some((name, rest)) = line.split_first() else { return };
        if name.kind != Kind::Ident || self.macros.kept.contains(&name.sym) || self.macros.fixed.contains(&name.sym) {
            return;
        }
        // A macro is function-like only if the parenthesis follows without white space.
        let opens = rest.first().is_some_and(|tok| tok.is(sym::LPAREN) && tok.off == name.end());
        let (params, variadic, body) = match opens {
            false => (None, false, rest),
            true => {
                let close = rest.iter().position(|tok| tok.is(sym::RPAREN)).unwrap_or(rest.len());
                let list = rest.get(1..close).unwrap_or_default();
                let variadic = list.iter().any(|tok| tok.is(sym::ELLIPSIS));
                let mut params: Vec<Sym> =
                    list.iter().filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym).collect();
                // `args...` names the variadic part itself; `...` calls it __VA_ARGS__.
                let named = list.iter().rev().nth(1).is_some_and(|tok| tok.kind == Kind::Ident);
                if variadic && !named {
                    params.push(sym::VA_ARGS);
                }
                (Some(params), variadic, rest.get(close + 1..).unwrap_or_default())
            }
        };
        self.macros.ever.insert(name.sym);
        // The same line always defines the same macro.
        let made = || (name.sym, Arc::new(Macro::new(params, variadic, body)));
        let (_, made) = self.macros.definitions.entry((name.file, name.off)).or_insert_with(made).clone();
        self.macros.set(name.sym, Some(made));
    }

    fn pragma(&mut self, line: &[Tok]) {
        let Some(what) = line.first() else { return };
        if what.is(sym::ONCE) {
            if let Some(source) = self.sources.last() {
                self.macros.once.insert(source.file);
            }
            return;
        }
        let push = match self.interner.text(what.sym) {
            "push_macro" => true,
            "pop_macro" => false,
            "pack" => {
                self.macros.packed.insert(what.file);
                return;
            }
            _ => return,
        };
        let Some(name) = line.iter().find(|tok| tok.kind == Kind::String) else { return };
        let name = super::lex::string(self.interner.text(name.sym));
        let name = self.interner.intern(&name);
        self.recorder.spoil();
        self.macros.undefined.insert(name);
        if push {
            let now = self.macros.table.get(name).cloned();
            self.macros.pushed.entry(name).or_default().push(now);
        } else if let Some(before) = self.macros.pushed.get_mut(&name).and_then(Vec::pop) {
            self.macros.set(name, before);
        }
    }

    /// A header in angle brackets. Results are cached, since every file includes the same few.
    fn system(&mut self, wanted: &str) -> Option<String> {
        if let Some(known) = self.macros.system.get(wanted) {
            return known.clone();
        }
        let found = find_system(self.tree, wanted);
        self.macros.system.insert(wanted.to_owned(), found.clone());
        found
    }

    /// A quoted header, as seen from the current file.
    fn quoted(&mut self, wanted: &str) -> Option<String> {
        let file = self.sources.last().map_or(u16::MAX, |source| source.file);
        let key = (file, wanted.to_owned());
        if let Some(known) = self.macros.quoted.get(&key) {
            return known.clone();
        }
        let from = self.sources.last().map_or("", |source| self.files.path(source.file));
        let found = find_include(self.tree, from, wanted);
        self.macros.quoted.insert(key, found.clone());
        found
    }

    /// Whether the tree has a header.
    pub(crate) fn finds(&mut self, wanted: &str, quoted: bool) -> bool {
        match quoted {
            true => self.quoted(wanted).is_some(),
            false => self.system(wanted).is_some(),
        }
    }

    /// The header name in an `#include` or `__has_include`, literal or from a macro, and whether it was quoted.
    pub(crate) fn header(&mut self, line: &[Tok]) -> Result<Option<(String, bool)>, LoadError> {
        let expanded;
        let line = match line.first() {
            Some(first) if first.kind == Kind::Ident => {
                expanded = self.expand_list(line)?;
                expanded.as_slice()
            }
            _ => line,
        };
        let Some((first, rest)) = line.split_first() else { return Ok(None) };
        if first.kind == Kind::String {
            return Ok(Some((super::lex::string(self.interner.text(first.sym)), true)));
        }
        if !first.is(sym::LT) {
            return Ok(None);
        }
        let name = rest.iter().take_while(|tok| !tok.is(sym::GT)).map(|tok| self.interner.text(tok.sym)).collect();
        Ok(Some((name, false)))
    }

    fn include(&mut self, line: &[Tok]) -> Result<(), LoadError> {
        let Some((wanted, quoted)) = self.header(line)? else { return Ok(()) };
        let found = if quoted { self.quoted(&wanted) } else { self.system(&wanted) };
        if let Some(path) = found {
            let file = self.files.open(self.tree, &path, self.interner)?;
            self.enter(file);
        } else if wanted.ends_with(self.macros.own_header) && !self.macros.absent.contains(&wanted) {
            self.macros.absent.push(wanted);
        }
        Ok(())
    }
}

/// Copies tokens up to the next macro name from the replacements above a level, innermost first. Returns false if none
/// is left.
pub(crate) fn copy_frames(
    frames: &mut Vec<Frame>,
    floor: usize,
    table: &MacroTable,
    pool: &mut Pool,
    out: &mut Vec<Tok>,
) -> bool {
    while frames.len() > floor {
        let Some(frame) = frames.last_mut() else { return false };
        let rest = frame.toks.get(frame.at..).unwrap_or_default();
        let ends = |tok: &Tok| tok.kind == Kind::Ident && table.has(tok.sym);
        let plain = rest.iter().position(ends).unwrap_or(rest.len());
        out.extend_from_slice(rest.get(..plain).unwrap_or_default());
        frame.at += plain;
        if frame.at < frame.toks.len() {
            return true;
        }
        if let Some(frame) = frames.pop() {
            pool.give(frame.toks);
        }
    }
    false
}
