//! A loaded program: every unit read so far, and the meaning of its names. When a function is called that is only
//! declared, the unit that defines it is found and loaded.

mod bodies;
mod dependencies;
mod expression_tokens;
mod lookup_declarations;
mod read_only_use;
mod region;
mod relevance;
mod same_build;
mod state;
mod visible;

pub use dependencies::{Alike, Reached};
pub use relevance::{Hanging, Relevance};

use crate::syntax::ast::{Body, Enum, Function, Global, Initial, Members, Struct, Type, same_type};
use crate::syntax::files::{Files, LoadError, NoSources, Sources, Span};
use crate::syntax::lex::{BodyId, Kind, Tok, lex};
use crate::syntax::macro_table::Macro;
use crate::syntax::macros::Macros;
use crate::syntax::parse::{self, Declared, Names, Pick, SeenSignatures};
use crate::syntax::preprocess::Preprocessor;
use crate::syntax::sym::{self, FxMap, FxSet, Interner, Sym};
use crate::syntax::vocabulary::Vocabulary;
use lookup_declarations::Spelled;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Macros that are not expanded but treated as calls, because they never affect a decision.
const KEPT: &[&str] = &["assert", "static_assert"];

/// Initial capacity for functions: a question reads about seven units with 7,000 functions in all.
const FUNCTIONS: usize = 8192;

#[derive(Debug, Default)]
pub struct Program {
    pub files: Files,
    pub interner: Interner,
    pub macros: Macros,
    names: Names,
    units: Vec<Arc<Vec<Tok>>>,
    pub functions: Vec<Function>,
    /// A reusable empty list with capacity for the functions of a unit.
    room: Vec<Function>,
    seen: SeenSignatures,
    by_name: FxMap<Sym, Vec<u32>>,
    /// Methods that are defined outside their struct, by struct and name.
    outlined: FxMap<(Sym, Sym), Vec<u32>>,
    structs: FxMap<Sym, Vec<Arc<Struct>>>,
    aliases: FxMap<Sym, Vec<(u32, Type)>>,
    /// Template aliases that are equivalent to one of their arguments, per unit.
    picks: FxMap<Sym, Vec<(u32, Option<Pick>)>>,
    pub enums: Vec<Enum>,
    /// Operators defined by functions, with the names in their parameters.
    operators: Vec<(Sym, Vec<Sym>)>,
    enum_names: FxSet<Sym>,
    enumerators: FxMap<Sym, Vec<(u32, u32)>>,
    pub globals: Vec<Global>,
    global_names: FxMap<Sym, Vec<u32>>,
    spaces: Vec<Vec<Sym>>,
    /// Names from `using a::name`, by unit.
    pub(crate) brought: FxSet<(u32, Sym)>,
    /// Namespaces from `using namespace`, by unit.
    opened: FxSet<(u32, Sym)>,
    pub(crate) spelled: Spelled,
    loaded: FxSet<Sym>,
    /// Whether the program started with headers that were read for another build.
    pub(crate) taken_over: bool,
    /// Variables whose writers were searched for, and functions that were looked up by name.
    looked_for: Mutex<FxSet<Sym>>,
    /// Units that the build excludes: no definition is taken from them.
    pub left_out: Arc<BTreeSet<String>>,
    /// Functions that were searched for and are not defined anywhere in the tree.
    pub missing: FxSet<Sym>,
    /// Units in the order in which they are searched for a definition, by the declaring file.
    near: FxMap<String, Arc<[String]>>,
}

impl Program {
    /// An empty program under these defines; `None` undefines a name permanently.
    pub fn new(vocabulary: &'static Vocabulary, defines: &[(String, Option<String>)]) -> Result<Program, LoadError> {
        let mut program =
            Program { interner: Interner::with(vocabulary.words), names: Names::new(vocabulary), ..Program::default() };
        program.start(defines, None)?;
        Ok(program)
    }

    /// An empty program under other defines that reuses the files this one has read. Their text and tokens are the
    /// same, and so are the results of headers that do not involve the changed defines. The record of names that
    /// conditionals read is not carried over.
    pub fn again(&self, defines: &[(String, Option<String>)]) -> Result<Program, LoadError> {
        let vocabulary = self.vocabulary();
        let mut program = Program {
            interner: self.interner.clone(),
            files: self.files.clone(),
            names: Names::new(vocabulary),
            near: self.near.clone(),
            left_out: self.left_out.clone(),
            seen: self.seen.clone(),
            taken_over: true,
            ..Program::default()
        };
        program.start(defines, Some(&self.macros))?;
        Ok(program)
    }

    fn start(&mut self, defines: &[(String, Option<String>)], before: Option<&Macros>) -> Result<(), LoadError> {
        let vocabulary = self.vocabulary();
        self.macros.own_header = vocabulary.own_header;
        for name in KEPT.iter().chain(vocabulary.kept) {
            let name = self.interner.intern(name);
            self.macros.kept.insert(name);
        }
        self.spaces.push(Vec::new());
        self.functions.reserve(FUNCTIONS);
        for (name, value) in defines {
            self.define(name, value.as_deref());
        }
        if let Some(before) = before {
            let otherwise = self.macros.otherwise(before);
            // `__has_include(<x>)` is looked up under a name that no file contains.
            if !otherwise.iter().any(|name| self.interner.text(*name).contains('(')) {
                let named = |tok: &Tok| tok.kind == Kind::Ident && otherwise.contains(&tok.sym);
                let mentions = |file| self.files.get(file).is_none_or(|file| file.toks.iter().any(named));
                let fixed = self.macros.fixed != before.fixed;
                self.macros.included = before.included_without(&otherwise, mentions, fixed);
            }
            self.macros.definitions.clone_from(&before.definitions);
            self.macros.system.clone_from(&before.system);
            self.macros.quoted.clone_from(&before.quoted);
            self.macros.absent.clone_from(&before.absent);
            self.macros.packed.clone_from(&before.packed);
            self.macros.renumbered.clone_from(&before.renumbered);
        }
        if self.files.number("<prelude>").is_none() {
            self.files.add("<prelude>", vocabulary.prelude.into(), &mut self.interner)?;
        }
        self.load(&NoSources, "<prelude>")
    }

    pub fn vocabulary(&self) -> &'static Vocabulary {
        self.names.vocabulary
    }

    fn define(&mut self, name: &str, value: Option<&str>) {
        let sym = self.interner.intern(name);
        match value {
            Some(value) => {
                let made = self.made(value);
                self.macros.ever.insert(sym);
                self.macros.base.insert(sym, made);
            }
            None => drop(self.macros.fixed.insert(sym)),
        }
    }

    fn made(&mut self, value: &str) -> Arc<Macro> {
        let body = lex(u16::MAX, value, &mut self.interner);
        Arc::new(Macro::new(None, false, &body))
    }

    /// Adds defines for files whose path has this ending; `None` undefines a name.
    pub fn define_in(&mut self, end: &str, defines: &[(String, Option<String>)]) {
        let mut list = Vec::with_capacity(defines.len());
        for (name, value) in defines {
            let sym = self.interner.intern(name);
            self.macros.ever.insert(sym);
            let made = value.as_ref().map(|value| self.made(value));
            list.push((sym, made));
        }
        self.macros.of_file.push((end.to_owned(), list));
    }

    /// Reads a unit with its includes. Does nothing if the unit is already loaded.
    pub fn load(&mut self, tree: &dyn Sources, path: &str) -> Result<(), LoadError> {
        let key = self.interner.intern(path);
        if !self.loaded.insert(key) {
            return Ok(());
        }
        let (mut toks, done) =
            Preprocessor::new(tree, &mut self.files, &mut self.interner, &mut self.macros).unit(path)?;
        let unit = self.units.len() as u32;
        let room = std::mem::take(&mut self.room);
        let mut declared = parse::declarations(&toks, &self.names, &self.interner, unit, room, &mut self.seen);
        if bodies::give_back(&toks, &mut declared) {
            self.macros.included.keep(done, &toks, bodies::long(&declared));
        } else {
            self.macros.included.keep(done, &toks, Vec::new());
            toks = Arc::new(self.with_bodies(&toks));
            declared.functions.clear();
            let room = declared.functions;
            declared = parse::declarations(&toks, &self.names, &self.interner, unit, room, &mut self.seen);
        }
        self.units.push(toks);
        // The new unit may write to variables that others can see.
        for global in self.globals.iter_mut().filter(|global| !global.internal) {
            global.written = OnceLock::new();
        }
        self.merge(declared, unit);
        self.spelled.read(self.files.iter());
        Ok(())
    }

    fn merge(&mut self, mut declared: Declared, unit: u32) {
        let spaces: Vec<u32> =
            std::mem::take(&mut declared.spaces).into_iter().map(|path| self.numbered(path)).collect();
        let space = |local: u32| spaces.get(local as usize).copied().unwrap_or(0);
        self.brought.extend(declared.brought.iter().map(|name| (unit, *name)));
        self.operators.append(&mut declared.operators);
        self.opened.extend(declared.opened.into_iter().map(|name| (unit, name)));
        self.names.types.add(&declared.names.types);
        self.names.templates.add(&declared.names.templates);
        for found in declared.structs {
            if let Some(name) = found.name {
                self.structs.entry(name).or_default().push(found);
            }
        }
        for mut function in declared.functions.drain(..) {
            function.space = space(function.space);
            let index = self.functions.len() as u32;
            match function.of {
                Some(of) => {
                    let own = self.structs(of).last().map(|of| self.members(of));
                    let fields = own.map(|own| own.fields.iter().chain(&own.statics).filter_map(|field| field.name));
                    function.owner = fields.map(|names| names.collect());
                    self.outlined.entry((of, function.name)).or_default().push(index);
                }
                None => self.by_name.entry(function.name).or_default().push(index),
            }
            self.functions.push(function);
        }
        // `typedef enum name { ... } name;` says nothing more.
        for (name, ty) in declared.aliases.into_iter().filter(|(name, ty)| !ty.is_only(*name)) {
            self.aliases.entry(name).or_default().push((unit, ty));
        }
        for (name, pick) in declared.picks {
            self.picks.entry(name).or_default().push((unit, pick));
        }
        for mut found in declared.enums {
            found.space = space(found.space);
            let index = self.enums.len() as u32;
            self.enum_names.extend(found.name);
            for (position, item) in found.list.iter().enumerate() {
                self.enumerators.entry(item.name).or_default().push((index, position as u32));
            }
            self.enums.push(found);
        }
        for mut global in declared.globals {
            global.space = space(global.space);
            let index = self.globals.len() as u32;
            self.global_names.entry(global.name).or_default().push(index);
            self.globals.push(global);
        }
        self.room = declared.functions;
    }

    pub fn overloads(&self, name: Sym) -> &[u32] {
        self.by_name.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The definition of a method outside its struct, if there is only one with this many parameters.
    pub(crate) fn outlined(&self, of: Sym, name: Sym, params: usize) -> Option<&Function> {
        let all = self.outlined.get(&(of, name))?.iter().filter_map(|&index| self.function(index));
        let mut found = all.filter(|function| function.body.is_some() && function.params.len() == params);
        let first = found.next()?;
        // A header is read once per unit.
        found.all(|other| other.span == first.span).then_some(first)
    }

    pub fn function(&self, index: u32) -> Option<&Function> {
        self.functions.get(index as usize)
    }

    pub fn structs(&self, name: Sym) -> &[Arc<Struct>] {
        self.structs.get(&name).map_or(&[], Vec::as_slice)
    }

    pub fn all_structs(&self) -> impl Iterator<Item = &Arc<Struct>> {
        self.structs.values().flatten()
    }

    pub fn all_aliases(&self) -> impl Iterator<Item = (Sym, &Type)> {
        self.aliases.iter().flat_map(|(&name, list)| list.iter().map(move |(_, ty)| (name, ty)))
    }

    /// The namespace with this number, without its inline and unnamed parts.
    pub fn space(&self, number: u32) -> &[Sym] {
        self.spaces.get(number as usize).map_or(&[], Vec::as_slice)
    }

    fn numbered(&mut self, path: Vec<Sym>) -> u32 {
        let known = self.spaces.iter().position(|space| *space == path);
        known.unwrap_or_else(|| {
            self.spaces.push(path);
            self.spaces.len() - 1
        }) as u32
    }

    /// Whether a unit contains `using namespace name`.
    pub fn opens(&self, unit: u32, name: Sym) -> bool {
        self.opened.contains(&(unit, name))
    }

    /// The type of an alias in a unit.
    pub fn alias(&self, name: Sym, unit: u32) -> Option<&Type> {
        let list = self.aliases.get(&name)?;
        list.iter().find(|(of, _)| *of == unit).or(list.first()).map(|(_, ty)| ty)
    }

    /// Which of its arguments a template alias is equivalent to, and with how many stars. None if it is another type,
    /// or if declarations of that name differ.
    pub fn pick(&self, name: Sym, unit: u32) -> Option<Pick> {
        let list = self.picks.get(&name)?;
        let own = list.iter().any(|(of, _)| *of == unit);
        let mut all = list.iter().filter(|(of, _)| !own || *of == unit).map(|(_, pick)| *pick);
        let first = all.next()??;
        all.all(|other| other == Some(first)).then_some(first)
    }

    /// Whether a unit has several aliases of that name, in different namespaces.
    pub fn is_several(&self, name: Sym, unit: u32) -> bool {
        let Some(list) = self.aliases.get(&name).filter(|list| list.len() > 1) else { return false };
        let mut own = list.iter().filter(|(of, _)| *of == unit).map(|(_, ty)| ty);
        own.next().is_some_and(|first| own.any(|other| !same_type(first, other)))
    }

    /// Whether a function overloads an operator for an enum.
    pub fn defines_operator(&self, operator: &str) -> bool {
        let of_enum = |names: &[Sym]| names.iter().any(|name| self.is_enum(*name));
        self.operators.iter().any(|(known, names)| self.text(*known) == operator && of_enum(names))
    }

    pub fn has_operators(&self) -> bool {
        !self.operators.is_empty()
    }

    pub fn is_enum(&self, name: Sym) -> bool {
        self.enum_names.contains(&name)
    }

    pub fn is_type(&self, name: Sym) -> bool {
        self.names.types.contains(name)
    }

    /// Every enum with an enumerator of this name, and the enumerator's position in it.
    pub fn enumerators_named(&self, name: Sym) -> &[(u32, u32)] {
        self.enumerators.get(&name).map_or(&[], Vec::as_slice)
    }

    pub fn globals_named(&self, name: Sym) -> &[u32] {
        self.global_names.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The variable that all units share with this one: the only definition of an `extern` variable, or the first copy
    /// of a variable in a header.
    pub(crate) fn definition_of(&self, index: u32) -> u32 {
        let Some(global) = self.globals.get(index as usize).filter(|global| !global.internal) else { return index };
        let all = self.globals_named(global.name).iter().filter_map(|&at| Some((at, self.globals.get(at as usize)?)));
        let mut found = all.filter(|(_, other)| !other.internal && !other.external && other.space == global.space);
        match found.next() {
            Some((first, defined)) if found.all(|(_, other)| other.span == defined.span) => first,
            _ => index,
        }
    }

    pub(crate) fn look_for(&self, name: Sym) {
        self.looked_for.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
    }

    pub(crate) fn looked_for(&self) -> FxSet<Sym> {
        self.looked_for.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn text(&self, sym: Sym) -> &str {
        self.interner.text(sym)
    }

    pub fn body<'a>(&'a self, function: &'a Function) -> &'a Body {
        function
            .parsed
            .get_or_init(|| Box::new(parse::body(function, self.stands_in(function), &self.names, &self.interner)))
    }

    pub fn members<'a>(&'a self, of: &'a Struct) -> &'a Members {
        let toks = || self.toks_of(of.unit, of.home);
        of.members.get_or_init(|| parse::members(of, toks(), &self.names, &self.interner))
    }

    /// Whether a struct has an unusual memory layout: packed, aligned members, virtual functions, or empty.
    pub fn is_laid_out_otherwise(&self, of: &Struct) -> bool {
        let toks = self.toks_of(of.unit, of.home);
        let words = [sym::ALIGNAS, sym::ALIGN, sym::ATTRIBUTE, sym::VIRTUAL, sym::DECLSPEC];
        let is = |tok: &Tok| tok.kind == Kind::Ident && words.contains(&tok.sym);
        let body = toks.get(of.body.clone()).unwrap_or_default();
        // The struct's own `alignas` is handled elsewhere. This finds `struct __attribute__((packed)) name {` and `}
        // __attribute__((packed))`.
        let before = toks.get(of.body.start.saturating_sub(12)..of.body.start).unwrap_or_default();
        let starts = |tok: &&Tok| !matches!(tok.sym, sym::STRUCT | sym::UNION | sym::CLASS | sym::SEMI);
        let mut head = before.iter().rev().take_while(starts);
        let after = toks.get(of.body.end + 1);
        body.is_empty()
            || body.iter().any(is)
            || head.any(|tok| tok.sym == sym::ATTRIBUTE || tok.sym == sym::DECLSPEC)
            || after.is_some_and(is)
            || self.macros.packed.contains(&of.span.file)
    }

    /// The initial value of a global. A long list is parsed on demand, because most long lists are tables of numbers
    /// that are never read.
    pub fn initial<'a>(&'a self, global: &'a Global) -> &'a Initial {
        match &global.list {
            Some(list) => global.parsed.get_or_init(|| {
                let toks = self.toks_of(global.unit, global.home);
                let range = if global.home.is_some() { 0..toks.len() } else { list.clone() };
                parse::list(global, (toks, range), &self.names, &self.interner)
            }),
            None => &global.init,
        }
    }

    pub fn unit_toks(&self, unit: u32) -> &[Tok] {
        self.units.get(unit as usize).map_or(&[], |toks| toks)
    }

    pub fn unit_count(&self) -> u32 {
        self.units.len() as u32
    }

    /// Loads the unit that defines `name`. Tries the unit next to the header that declares it (`area.cpp` for
    /// `area.hpp`), then any nearby unit whose text contains the name. Returns false if there is none.
    pub fn define_function(&mut self, tree: &dyn Sources, name: Sym) -> Result<bool, LoadError> {
        let text = self.text(name).to_owned();
        let declared: Vec<Span> =
            self.overloads(name).iter().filter_map(|&index| Some(self.function(index)?.span)).collect();
        let mut beside = Vec::new();
        for span in &declared {
            let path = self.files.path(span.file);
            let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
            let other = stem.replace("/include/", "/src/");
            for extension in self.vocabulary().beside {
                beside.push(format!("{stem}.{extension}"));
                beside.push(format!("{other}.{extension}"));
            }
        }
        beside.retain(|path| tree.has(path) && !self.left_out.contains(path));
        let home = declared.first().map_or(String::new(), |span| self.files.path(span.file).to_owned());
        let shared = |path: &str| path.split('/').zip(home.split('/')).take_while(|(a, b)| a == b).count();
        for path in &beside {
            if self.defines(tree, path, name, &text)? {
                return Ok(true);
            }
        }
        let near = match self.near.get(&home) {
            Some(known) => known.clone(),
            None => {
                let is_built = |path: &&str| self.vocabulary().is_unit(path) && !self.left_out.contains(*path);
                let mut near: Vec<&str> = tree.paths().filter(is_built).collect();
                near.sort_by_cached_key(|path| (usize::MAX - shared(path), path.len()));
                let near: Arc<[String]> = near.into_iter().take(600).map(str::to_owned).collect();
                self.near.insert(home.clone(), near.clone());
                near
            }
        };
        let mut depth = 0;
        for path in near.iter() {
            // The tree's own functions are defined in the same directory or the one above.
            let level = shared(path);
            depth = depth.max(level);
            if level + 2 < depth {
                break;
            }
            if self.defines(tree, path, name, &text)? {
                return Ok(true);
            }
        }
        self.missing.insert(name);
        Ok(false)
    }

    /// Loads a unit that may define a function. Returns false if it does not define it, or if it is already loaded.
    fn defines(&mut self, tree: &dyn Sources, path: &str, name: Sym, text: &str) -> Result<bool, LoadError> {
        let loaded = self.interner.get(path).is_some_and(|sym| self.loaded.contains(&sym));
        if loaded || !tree.text(path).is_ok_and(|content| mentions_call(&content, text)) {
            return Ok(false);
        }
        self.load(tree, path)?;
        Ok(self.overloads(name).iter().any(|&index| self.function(index).is_some_and(|f| f.body.is_some())))
    }

    /// Names that conditionals read and that were never defined, with their positions.
    pub fn asked(&self) -> impl Iterator<Item = (&str, &[Span])> {
        self.macros.asked.iter().map(|(&name, spans)| (self.text(name), spans.as_slice()))
    }

    pub fn is_defined(&self, name: &str) -> bool {
        self.interner.get(name).is_some_and(|name| self.macros.ever.contains(&name))
    }

    /// The functions whose bodies contain a name.
    pub fn naming(&self, name: Sym) -> FxSet<u32> {
        // Many units share the same body, so the result is cached.
        let mut known: FxMap<BodyId, bool> = FxMap::default();
        let mut named = |function: &Function| match &function.home {
            Some((body, _)) => *known.entry(*body).or_insert_with(|| self.mentions(function, name)),
            None => self.mentions(function, name),
        };
        let all = self.functions.iter().enumerate();
        all.filter(|(_, function)| named(function)).map(|(index, _)| index as u32).collect()
    }

    /// Every identifier of a token list.
    pub fn idents<'a>(&self, toks: &'a [Tok]) -> impl Iterator<Item = Sym> + 'a {
        toks.iter().filter(|tok| tok.kind == Kind::Ident).map(|tok| tok.sym)
    }
}

/// Whether `text` contains `name` as a whole word followed by a parenthesis.
pub fn mentions_call(text: &str, name: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, name.as_bytes()).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(|&byte| word(byte));
        let after = bytes.get(at + name.len()..).unwrap_or_default();
        !before && after.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'(')
    })
}

impl Program {
    /// The tokens of a unit with its includes, without reading its declarations.
    pub(crate) fn tokens(&mut self, tree: &dyn Sources, path: &str) -> Result<Vec<Tok>, LoadError> {
        let (toks, _) = Preprocessor::new(tree, &mut self.files, &mut self.interner, &mut self.macros).unit(path)?;
        Ok(self.with_bodies(&toks))
    }
}
