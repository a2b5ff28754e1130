//! Records which declarations of a program the answers depend on, to compare it with another version of the sources. If
//! everything that was run or was visible on the way has the same tokens after preprocessing, the answers are the same
//! and nothing has to be run again.
//!
//! A function counts only if its name appears in something else that counts. A function that was not run counts with
//! its signature only. Everything outside functions (types, enums, variables, `using`) counts. A body that names a
//! variable whose writers were searched counts too. All rules err on the safe side: two versions that may differ are
//! treated as different.

use super::Program;
use crate::syntax::lex::{BOL, BodyId, Kind, Tok};
use crate::syntax::sym::{self, FxMap, FxSet, Sym};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// The declarations that another program must have in common with this one.
#[derive(Debug, Clone)]
pub struct Reached {
    /// Names that appear in anything that counts, or that the caller searched for.
    names: FxSet<u128>,
    /// Variables whose writers were searched for.
    state: FxSet<u128>,
    /// A hash of everything that counts except the bodies of the functions that were run.
    base: u128,
    /// The functions with those names, by index in the program. For each function that was run, also a hash of its
    /// body.
    pub functions: Vec<u32>,
    bodies: Vec<Option<u128>>,
}

/// A program that matches except for the bodies of some functions.
#[derive(Debug)]
pub struct Alike {
    /// The indices of [`Reached::functions`] in this program.
    pub functions: Vec<u32>,
    /// Positions in `functions` whose bodies differ.
    pub changed: FxSet<u32>,
}

/// A part of a unit.
enum Part {
    /// Tokens outside functions.
    Plain(Range<usize>),
    /// A function definition: its number, the tokens before its body, and the position of the body.
    Function(u32, Range<usize>),
}

/// Hashes of spellings, which are the same in every program.
struct Spellings(Vec<u128>);

/// Names that the language itself looks up although the source does not spell them.
const ALWAYS: &[&str] = &["operator", "begin", "end", "get"];

const FACTOR: u128 = 0x2d99_787a_926d_4693_2da9_42f4_b5c8_c2a7;

fn fold(into: &mut u128, item: u128) {
    *into = (into.rotate_left(41) ^ item).wrapping_mul(FACTOR);
}

/// The hash of a spelling.
fn spelled(text: &str) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, text).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(1) << 64 | half(2)
}

impl Spellings {
    fn of(program: &Program) -> Spellings {
        Spellings(program.interner.texts().map(spelled).collect())
    }

    fn get(&self, sym: Sym) -> u128 {
        self.0.get(sym.0 as usize).copied().unwrap_or_default()
    }

    fn fold(&self, into: &mut u128, toks: &[Tok], with_lines: bool) {
        for tok in toks {
            let line = if with_lines && tok.flags & BOL != 0 { 1 } else { 0 };
            fold(into, self.get(tok.sym).wrapping_add((tok.kind as u128) << 1 | line));
        }
    }
}

fn idents(toks: &[Tok]) -> impl Iterator<Item = Sym> {
    toks.iter().filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym)
}

impl Program {
    /// Collects what the answers depend on. `ran` are the functions that were run or searched. `wanted` are names that
    /// the caller looked up.
    pub fn reached(&self, ran: &FxSet<u32>, wanted: &[&str]) -> Reached {
        let spellings = Spellings::of(self);
        let parts = self.parts();
        let mut names: FxSet<Sym> = FxSet::default();
        for (unit, parts) in parts.iter().enumerate() {
            let toks = self.unit_toks(unit as u32);
            for part in parts {
                match part {
                    Part::Plain(range) => {
                        self.whole(toks.get(range.clone()).unwrap_or_default(), |toks| names.extend(idents(toks)));
                    }
                    // The names in a signature, except the name that it declares.
                    Part::Function(index, range) => {
                        let own = self.function(*index).map(|function| function.name);
                        let all = idents(toks.get(range.clone()).unwrap_or_default());
                        names.extend(all.filter(|name| Some(*name) != own));
                    }
                }
            }
        }
        for function in ran.iter().filter_map(|&index| self.function(index)) {
            names.insert(function.name);
            names.extend(idents(self.body_toks(function)));
        }
        let looked_for = self.looked_for();
        let named = |tok: &Tok| tok.kind == Kind::Ident && looked_for.contains(&tok.sym);
        for function in self.functions.iter().filter(|function| self.has_tok(function, named)) {
            names.extend(idents(self.body_toks(function)));
        }
        let mut reached = Reached {
            names: names.into_iter().map(|name| spellings.get(name)).collect(),
            state: looked_for.iter().map(|&name| spellings.get(name)).collect(),
            base: 0,
            functions: Vec::new(),
            bodies: Vec::new(),
        };
        reached.names.extend(wanted.iter().chain(ALWAYS).map(|name| spelled(name)));
        reached.base = self.base(&reached, &spellings, &parts);
        reached.functions = self.of_names(&reached.names, &spellings);
        let body = |index: &u32| ran.contains(index).then(|| self.body_print(*index, &spellings));
        reached.bodies = reached.functions.iter().map(body).collect();
        reached
    }

    /// Compares this program with the declarations that the answers of another depend on. Returns None if more than
    /// function bodies may differ.
    pub fn like(&self, reached: &Reached) -> Option<Alike> {
        let spellings = Spellings::of(self);
        let functions = self.of_names(&reached.names, &spellings);
        if functions.len() != reached.functions.len() || self.base(reached, &spellings, &self.parts()) != reached.base {
            return None;
        }
        let both = functions.iter().zip(&reached.bodies).enumerate();
        let otherwise =
            both.filter(|(_, (index, body))| body.is_some_and(|body| body != self.body_print(**index, &spellings)));
        let changed = otherwise.map(|(place, _)| place as u32).collect();
        Some(Alike { functions, changed })
    }

    fn of_names(&self, names: &FxSet<u128>, spellings: &Spellings) -> Vec<u32> {
        let counts = |index: &u32| self.function(*index).is_some_and(|f| names.contains(&spellings.get(f.name)));
        (0..self.functions.len() as u32).filter(counts).collect()
    }

    /// A hash of a body. It includes line breaks, so that tokens on one line stay on one line.
    fn body_print(&self, index: u32, spellings: &Spellings) -> u128 {
        let mut print = 1;
        if let Some(function) = self.function(index) {
            spellings.fold(&mut print, self.body_toks(function), true);
        }
        print
    }

    fn base(&self, reached: &Reached, spellings: &Spellings, parts: &[Vec<Part>]) -> u128 {
        let mut base = 1;
        // Which bodies name a variable that counts. A header's body appears in many units, so the result is cached.
        let mut known: FxMap<BodyId, Option<u128>> = FxMap::default();
        let known_state = |(_, spelled): &(usize, &u128)| reached.state.contains(spelled);
        let state = spellings.0.iter().enumerate().filter(known_state).map(|(number, _)| Sym(number as u32));
        let state: FxSet<Sym> = state.collect();
        for (unit, parts) in parts.iter().enumerate() {
            fold(&mut base, 0x5e9);
            let toks = self.unit_toks(unit as u32);
            for part in parts {
                match part {
                    Part::Plain(range) => {
                        let toks = toks.get(range.clone()).unwrap_or_default();
                        self.whole(toks, |toks| spellings.fold(&mut base, toks, false));
                    }
                    Part::Function(index, range) => {
                        let Some(function) = self.function(*index) else { continue };
                        if reached.names.contains(&spellings.get(function.name)) {
                            fold(&mut base, 0xf00);
                            spellings.fold(&mut base, toks.get(range.clone()).unwrap_or_default(), false);
                        }
                        let print = || {
                            let named =
                                self.has_tok(function, |tok| tok.kind == Kind::Ident && state.contains(&tok.sym));
                            named.then(|| self.body_print(*index, spellings))
                        };
                        let names_state = match &function.home {
                            Some((body, _)) => *known.entry(*body).or_insert_with(print),
                            None => print(),
                        };
                        if let Some(print) = names_state {
                            fold(&mut base, print);
                        }
                    }
                }
            }
        }
        self.macros.absent.iter().for_each(|text| fold(&mut base, spelled(text)));
        let mut missing: Vec<u128> = self.missing.iter().map(|&name| spellings.get(name)).collect();
        missing.sort_unstable();
        missing.into_iter().for_each(|name| fold(&mut base, name));
        base
    }

    /// Tokens, with body tokens replaced by the tokens of the body.
    fn whole(&self, toks: &[Tok], mut take: impl FnMut(&[Tok])) {
        for stretch in toks.split_inclusive(|tok| tok.kind == Kind::Body) {
            match stretch.split_last().and_then(|(last, before)| Some((last.body()?, before))) {
                Some((body, before)) => {
                    take(before);
                    take(self.stored(body));
                }
                None => take(stretch),
            }
        }
    }

    /// Splits every unit into function definitions and the tokens between them.
    fn parts(&self) -> Vec<Vec<Part>> {
        let mut defined: Vec<Vec<(usize, usize, u32)>> = (0..self.unit_count()).map(|_| Vec::new()).collect();
        for (index, function) in self.functions.iter().enumerate() {
            if let (Some(body), Some(list)) = (&function.body, defined.get_mut(function.unit as usize)) {
                list.push((body.start, body.end, index as u32));
            }
        }
        defined.iter_mut().for_each(|list| list.sort_unstable());
        let of_unit = |(unit, list): (usize, &Vec<(usize, usize, u32)>)| {
            let toks = self.unit_toks(unit as u32);
            let (mut parts, mut done) = (Vec::with_capacity(2 * list.len() + 1), 0);
            for &(from, to, index) in list.iter().filter(|(from, ..)| *from > 0) {
                // A body inside another body counts as part of it.
                if from - 1 < done {
                    continue;
                }
                let start = signature(toks, done, from - 1);
                parts.extend((done < start).then_some(Part::Plain(done..start)));
                parts.push(Part::Function(index, start..from));
                // Include the closing brace.
                done = (to + 1).min(toks.len());
            }
            parts.extend((done < toks.len()).then_some(Part::Plain(done..toks.len())));
            parts
        };
        defined.iter().enumerate().map(of_unit).collect()
    }
}

/// The position at which the tokens of a signature start: after the end of the previous declaration. If the result is
/// too early, more tokens count, which is safe.
fn signature(toks: &[Tok], done: usize, brace: usize) -> usize {
    let mut depth = 0usize;
    let mut at = brace;
    while at > done {
        let Some(tok) = toks.get(at - 1) else { break };
        if tok.kind == Kind::Body {
            break;
        }
        if tok.is(sym::RPAREN) {
            depth += 1;
        } else if tok.is(sym::LPAREN) {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && (tok.is(sym::SEMI) || tok.is(sym::RBRACE) || tok.is(sym::LBRACE)) {
            break;
        }
        at -= 1;
    }
    at
}
