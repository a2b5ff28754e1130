//! Which conditionals can affect a run. A build with another define differs only in the regions whose `#if` reads that
//! define. If no such region affects a function that ran, or a name in one of them, the answer is the same and the
//! program need not be read again.
//!
//! All rules err on the safe side: a region that cannot be ruled out counts as relevant.

use super::Program;
use super::read_only_use::Named;
use super::region::{code, declared, directives};
use crate::syntax::files::Span;
use crate::syntax::lex::{Kind, Tok};
use crate::syntax::macros::Group;
use crate::syntax::sym::{self, FxMap, FxSet, Sym};
use crate::syntax::vocabulary::Role;

/// Declarations found by name: a struct, an enum, a global, an alias, with their position in the file.
#[derive(Debug)]
struct Entity {
    names: Vec<Sym>,
    file: u16,
    start: u32,
    end: u32,
    mentions: Vec<Sym>,
}

/// A function that was run.
#[derive(Debug)]
struct Ran {
    index: u32,
    file: u16,
    start: u32,
    end: u32,
}

/// All functions, names and conditions of a run, indexed by name.
#[derive(Debug)]
pub struct Relevance<'p> {
    program: &'p Program,
    ran: Vec<Ran>,
    entities: Vec<Entity>,
    /// The bodies of all functions, by file. A region in a body that did not run is irrelevant, unless it names a
    /// global.
    bodies: FxMap<u16, Vec<(u32, u32)>>,
    macros: FxSet<Sym>,
    /// The effects of changing a name: the macros and entities that mention it, the functions that ran and mention it,
    /// and the conditionals that read it.
    named_by: FxMap<Sym, FxSet<Sym>>,
    ran_by: FxMap<Sym, Vec<u32>>,
    asked_by: FxMap<Sym, Vec<(u16, u32)>>,
}

/// The parts of a run that depend on a define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hanging {
    /// The affected functions among those that ran; None if all of them may be affected.
    pub functions: Option<FxSet<u32>>,
    /// Thresholds of comparisons with the define: at this number the outcome differs from that of the number below.
    pub turns: Vec<i64>,
}

impl Program {
    /// Indexes what a run involved. `ran` are the functions that were run, and those whose text was searched.
    pub fn relevance(&self, ran: &FxSet<u32>) -> Relevance<'_> {
        let mut all = Relevance {
            program: self,
            ran: Vec::new(),
            entities: Vec::new(),
            bodies: FxMap::default(),
            macros: FxSet::default(),
            named_by: FxMap::default(),
            ran_by: FxMap::default(),
            asked_by: FxMap::default(),
        };
        for index in 0..self.functions.len() as u32 {
            if let Some((file, from, to)) = all.body_of(index) {
                all.bodies.entry(file).or_default().push((from, to));
            }
        }
        for &index in ran {
            let Some(function) = self.function(index) else { continue };
            let (file, start) = (function.span.file, all.declaration_start(function.span));
            let end = all.body_of(index).filter(|(of, ..)| *of == file).map_or(function.span.end, |(_, _, to)| to);
            for name in all.names_in(file, start, end).collect::<FxSet<Sym>>() {
                all.ran_by.entry(name).or_default().push(index);
            }
            all.ran.push(Ran { index, file, start, end });
        }
        all.entities = all.find_entities();
        let mut named_by: FxMap<Sym, FxSet<Sym>> = FxMap::default();
        for entity in &all.entities {
            for &mention in &entity.mentions {
                named_by.entry(mention).or_default().extend(&entity.names);
            }
        }
        for (name, made) in self.macros.definitions.values() {
            all.macros.insert(*name);
            for tok in made.body.iter().filter(|tok| tok.kind == Kind::Ident) {
                named_by.entry(tok.sym).or_default().insert(*name);
            }
        }
        all.named_by = named_by;
        for (key, group) in &self.macros.groups {
            for &name in &group.asked {
                all.asked_by.entry(name).or_default().push(*key);
            }
        }
        all
    }
}

impl<'p> Relevance<'p> {
    /// The range of a function's body in its file.
    fn body_of(&self, index: u32) -> Option<(u16, u32, u32)> {
        let function = self.program.function(index)?;
        // From brace to brace: the first or last token of the body may be excluded by a conditional.
        let (unit, range) = (self.program.unit_toks(function.unit), function.body.clone()?);
        let toks = match &function.home {
            Some((body, _)) => self.program.macros.included.bodies.get(*body).map_or(&[][..], |body| body.raw()),
            None => unit.get(range.clone()).unwrap_or_default(),
        };
        let (mut from, mut to) = (toks.first().map(Span::of), toks.last().map(Span::of));
        let open = range.start.checked_sub(1).and_then(|at| unit.get(at)).filter(|tok| tok.is(sym::LBRACE));
        let close = unit.get(range.end).filter(|tok| tok.is(sym::RBRACE));
        if let (Some(open), Some(close)) = (open, close)
            && open.file == close.file
            && open.off < close.off
            && from.is_none_or(|first| first.file == open.file && open.off < first.start)
            && to.is_none_or(|last| last.file == close.file && last.end <= close.off)
        {
            (from, to) = (Some(Span::of(open)), Some(Span::of(close)));
        }
        let (first, last) = (from?, to?);
        // A body that a macro made is positioned at the macro call.
        (first.file == last.file).then(|| (first.file, first.start, last.end.max(first.end)))
    }

    fn raw(&self, file: u16, start: u32, end: u32) -> &'p [Tok] {
        let toks: &'p [Tok] = self.program.files.get(file).map_or(&[], |file| &file.toks);
        let from = toks.partition_point(|tok| tok.off < start);
        let to = toks.partition_point(|tok| tok.off < end);
        toks.get(from..to.max(from)).unwrap_or_default()
    }

    /// The end of the previous declaration.
    fn declaration_start(&self, span: Span) -> u32 {
        let before = self.raw(span.file, 0, span.start);
        let ends = |tok: &Tok| tok.is(sym::SEMI) || tok.is(sym::RBRACE) || tok.is(sym::LBRACE) || tok.is(sym::HASH);
        before.iter().rev().take_while(|tok| !ends(tok)).last().map_or(span.start, |tok| tok.off)
    }

    fn statement_end(&self, span: Span) -> u32 {
        let mut depth = 0usize;
        for tok in self.raw(span.file, span.start, u32::MAX) {
            depth += usize::from(tok.is(sym::LBRACE));
            depth -= usize::from(tok.is(sym::RBRACE) && depth > 0);
            if depth == 0 && tok.is(sym::SEMI) && tok.end() >= span.end {
                return tok.end();
            }
        }
        span.end
    }

    /// The names in a part of a file, excluding directives.
    fn names_in(&self, file: u16, start: u32, end: u32) -> impl Iterator<Item = Sym> + use<'p> {
        code(self.raw(file, start, end)).filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym)
    }

    fn find_entities(&self) -> Vec<Entity> {
        let program = self.program;
        let mut seen: FxSet<(u16, u32, Sym)> = FxSet::default();
        let mut out = Vec::new();
        // Every unit has its own copy of a header's declarations; one is enough.
        let mut add = |names: Vec<Sym>, file: u16, start: u32, end: &dyn Fn() -> u32| {
            if names.first().is_some_and(|name| seen.insert((file, start, *name))) {
                let end = end();
                out.push(Entity { names, file, start, end, mentions: self.names_in(file, start, end).collect() });
            }
        };
        // Contexts and memory pools do not affect decisions.
        for found in program.all_structs().filter(|found| found.role == Role::Plain) {
            let toks = program.unit_toks(found.unit).get(found.body.clone()).unwrap_or_default();
            if let (Some(name), Some(first), Some(last)) = (found.name, toks.first(), toks.last()) {
                add(vec![name], first.file, found.span.start.min(first.off), &|| last.end());
            }
        }
        for found in &program.enums {
            let names = found.name.into_iter().chain(found.list.iter().map(|item| item.name)).collect();
            add(names, found.span.file, found.span.start, &|| self.statement_end(found.span));
        }
        for global in &program.globals {
            add(vec![global.name], global.span.file, global.span.start, &|| self.statement_end(global.span));
        }
        for (name, ty) in program.all_aliases() {
            add(vec![name], ty.span.file, ty.span.start, &|| self.statement_end(ty.span));
        }
        out
    }

    /// The parts of a run that may depend on a define; None if there are none.
    pub fn hangs_on(&self, name: &str) -> Option<Hanging> {
        // `__has_include(<x>)` is recorded under its first word.
        let name = self.program.interner.get(name.split('(').next().unwrap_or(name))?;
        let (mut functions, mut all, mut turns) = (FxSet::default(), false, Vec::new());
        let mut indirect = false;
        // Check conditionals one at a time, because the numbers in an irrelevant one do not matter.
        let mut groups = self.asked_by.get(&name).cloned().unwrap_or_default();
        groups.sort_unstable();
        groups.dedup();
        for group in groups.iter().filter_map(|key| self.program.macros.groups.get(key)) {
            let mut changed = Changed::default();
            self.follow(group, &mut changed);
            self.spread(&mut changed);
            if changed.all || !changed.functions.is_empty() {
                all |= changed.all;
                functions.extend(changed.functions);
                for line in &group.lines {
                    indirect |= !self.turns_in(line, name, &mut turns);
                }
            }
        }
        // If the define is used in code or through another name, also try the smallest and the largest value, in
        // addition to the numbers that it is compared with there.
        let mut changed = Changed { seen: groups.iter().copied().collect(), ..Changed::default() };
        changed.change(name);
        self.spread(&mut changed);
        if changed.all || !changed.functions.is_empty() {
            all |= changed.all;
            let code = self.ran_by.get(&name).into_iter().flatten();
            let code = code.filter_map(|index| self.ran.iter().find(|ran| ran.index == *index));
            for ran in code {
                indirect |= !self.turns_in(self.raw(ran.file, ran.start, ran.end), name, &mut turns);
            }
            indirect |= self.named_by.contains_key(&name);
            functions.extend(changed.functions);
        }
        if indirect {
            turns.extend([1, 999_999_999]);
        }
        turns.sort_unstable();
        turns.dedup();
        (all || !functions.is_empty()).then(|| Hanging { functions: (!all).then_some(functions), turns })
    }

    /// Extends the known differences to all definitions that they may affect.
    fn spread(&self, changed: &mut Changed) {
        loop {
            while let Some((file, start, end)) = changed.open_spans.pop() {
                let overlaps = |of: u16, from: u32, to: u32| of == file && start < to && from < end;
                let ran = self.ran.iter().filter(|ran| overlaps(ran.file, ran.start, ran.end));
                changed.functions.extend(ran.map(|ran| ran.index));
                let entities = self.entities.iter();
                for entity in entities.filter(|entity| overlaps(entity.file, entity.start, entity.end)) {
                    entity.names.iter().for_each(|name| changed.change(*name));
                }
            }
            let Some(name) = changed.open.pop() else { break };
            changed.functions.extend(self.ran_by.get(&name).into_iter().flatten());
            self.named_by.get(&name).into_iter().flatten().for_each(|name| changed.change(*name));
            for key in self.asked_by.get(&name).into_iter().flatten() {
                if changed.seen.insert(*key)
                    && let Some(group) = self.program.macros.groups.get(key)
                {
                    self.follow(group, changed);
                }
            }
        }
    }

    /// Whether every mention of a name is a comparison with a number or a test whether it is defined. Adds the
    /// thresholds to `turns`.
    fn turns_in(&self, toks: &[Tok], name: Sym, turns: &mut Vec<i64>) -> bool {
        let number = |tok: Option<&Tok>| -> Option<i64> {
            let tok = tok?;
            let of = |text: Sym| Some(crate::syntax::integer::literal(self.program.text(text))?.0);
            match tok.kind {
                Kind::Number => of(tok.sym),
                // The number may come from a macro, such as `#define LIMIT 11070`.
                Kind::Ident => {
                    let mut made = self.program.macros.definitions.values().filter(|(known, _)| *known == tok.sym);
                    match (made.next().map(|(_, made)| made.body.as_slice()), made.next()) {
                        (Some([only]), None) if only.kind == Kind::Number => of(only.sym),
                        _ => None,
                    }
                }
                _ => None,
            }
        };
        let mut plain = true;
        for (at, _) in toks.iter().enumerate().filter(|(_, tok)| tok.kind == Kind::Ident && tok.sym == name) {
            let get = |offset: isize| at.checked_add_signed(offset).and_then(|at| toks.get(at));
            let is = |offset: isize, sym: Sym| get(offset).is_some_and(|tok| tok.is(sym));
            if is(-1, sym::DEFINED) || (is(-1, sym::LPAREN) && is(-2, sym::DEFINED)) || toks.len() == 1 {
                continue;
            }
            let (after, before) = ((get(1), number(get(2))), (get(-1), number(get(-2))));
            // `3 <= x` means `x >= 3`.
            let found = match (after, before) {
                ((Some(op), Some(value)), _) => Some((op.sym, value)),
                (_, (Some(op), Some(value))) => {
                    let turned = match op.sym {
                        sym::LE => sym::GE,
                        sym::GE => sym::LE,
                        sym::LT => sym::GT,
                        sym::GT => sym::LT,
                        other => other,
                    };
                    Some((turned, value))
                }
                _ => None,
            };
            match found {
                Some((sym::GE | sym::LT, value)) => turns.push(value),
                Some((sym::GT | sym::LE, value)) => turns.push(value.saturating_add(1)),
                Some((sym::EQ | sym::NE, value)) => turns.extend([value, value.saturating_add(1)]),
                _ => plain = false,
            }
        }
        plain
    }

    /// Adds the effects of a region: the names that it may define or declare, and its surroundings.
    fn follow(&self, group: &Group, changed: &mut Changed) {
        if group.end == 0 {
            changed.all = true;
            return;
        }
        let toks = self.raw(group.file, group.start, group.end);
        // The rest of the first line is the condition, not code.
        let toks = toks.get(toks.iter().position(Tok::bol).unwrap_or(toks.len())..).unwrap_or_default();
        for line in directives(toks) {
            match line {
                [name, made, ..] if name.sym == sym::DEFINE || name.sym == sym::UNDEF => {
                    changed.change(made.sym);
                }
                // A header that is not in the tree adds nothing.
                [name, rest @ ..] if name.sym == sym::INCLUDE => changed.all |= self.is_in_tree(rest),
                [name, what, ..] if name.sym == sym::PRAGMA_DIR => {
                    changed.all |= self.program.text(what.sym).ends_with("_macro");
                }
                _ => {}
            }
        }
        changed.open_spans.push((group.file, group.start, group.end));
        // A write to a variable anywhere invalidates its known value.
        let plain: Vec<Tok> = code(toks).copied().collect();
        for (at, tok) in plain.iter().enumerate().filter(|(_, tok)| tok.kind == Kind::Ident) {
            if !self.program.globals_named(tok.sym).is_empty()
                && !self.program.only_reads(&plain, at, Named::number(tok.sym))
            {
                changed.change(tok.sym);
            }
        }
        let bodies = self.bodies.get(&group.file).into_iter().flatten();
        if bodies.into_iter().any(|&(from, to)| from <= group.start && group.end <= to) {
            return;
        }
        match declared(&plain, &self.program.interner, &|name| self.macros.contains(&name)) {
            Some(declared) => declared.into_iter().for_each(|name| changed.change(name)),
            None => {
                // The region is part of a declaration. If that is a struct or an enum, its names are affected.
                // Otherwise everything may be affected.
                let inside = |entity: &Entity| {
                    entity.file == group.file && entity.start <= group.start && group.end <= entity.end
                };
                changed.all |= !self.entities.iter().any(inside);
            }
        }
    }

    fn is_in_tree(&self, line: &[Tok]) -> bool {
        let text: String = line.iter().map(|tok| self.program.text(tok.sym)).collect();
        let name = text.trim_matches(['"', '<', '>']);
        let ends = |path: &str| path.strip_suffix(name).is_some_and(|head| head.is_empty() || head.ends_with('/'));
        let own = name.ends_with(self.program.macros.own_header);
        name.is_empty() || own || self.program.files.iter().any(|file| ends(&file.path))
    }
}

/// The differences that another value of a define causes.
#[derive(Default)]
struct Changed {
    names: FxSet<Sym>,
    /// Names and file ranges whose effects have not been followed yet.
    open: Vec<Sym>,
    open_spans: Vec<(u16, u32, u32)>,
    /// Conditionals that were already followed.
    seen: FxSet<(u16, u32)>,
    functions: FxSet<u32>,
    /// Whether everything may be affected.
    all: bool,
}

impl Changed {
    fn change(&mut self, name: Sym) {
        if self.names.insert(name) {
            self.open.push(name);
        }
    }
}
