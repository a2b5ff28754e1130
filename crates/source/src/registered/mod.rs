//! Evaluates a backend of ggml whole: the tree's own code runs from the backend's registration to the dispatch, in a
//! process that has just started. It opens the device, allocates buffers, is asked whether it supports the operation,
//! and computes a graph of one node. A [`BackendCode`] says where a backend's code is, and the platform answers for the
//! card.

mod session;

use crate::cmake::{Cmake, Compiled, Targets, left_out};
use crate::op::Shape;
use crate::outcome::with_place;
use crate::preset;
use crate::rules::RulesError;
use crate::session::explain;
use crate::tree::Tree;
use cxx::eval::{Machine, Platform, Run, Stop};
use cxx::{Dialect, Program, Sources};
use say::{Message, say};
use session::Session;
use std::sync::Arc;

/// Where a backend's code is, and how it is built.
#[derive(Debug)]
pub struct BackendCode {
    pub dialect: &'static Dialect,
    /// The file with the backend's registration.
    pub unit: &'static str,
    /// The function that registers the backend.
    pub register: &'static str,
    /// The cache variables of a build with this backend.
    pub cmake: &'static [(&'static str, &'static str)],
    /// The macros of the compiler.
    pub compiler: &'static [(&'static str, &'static str)],
    /// Macros with this ending say what the shader compiler supports. Builds of releases find a compiler that supports
    /// everything that ggml tests for.
    pub supported: Option<&'static str>,
    /// The extensions of the backend's units.
    pub units: &'static [&'static str],
    /// The error for a tree without this backend.
    pub missing: fn(&Tree) -> RulesError,
}

/// Types and column counts.
pub type Cells = [(String, i64)];

/// Reads the answer after a run: what the run left in memory, and how it ended.
pub type Read<T> = fn(&mut Machine<'_>, Run<()>) -> Run<T>;

/// A backend in a tree.
pub struct Registered<'t> {
    code: &'static BackendCode,
    tree: &'t Tree,
    sources: Arc<dyn Sources + 't>,
    program: Program,
    /// The unit with the backend's registration.
    unit: String,
    /// The user's CMake options.
    options: Vec<(String, String)>,
    /// The user's defines; None undefines a name.
    defines: Vec<(String, Option<String>)>,
    /// Defines that the build files do not settle. The program is read without them.
    unsure: Vec<String>,
    /// Why no answer can be given: build files that are not understood, or a unit that is not compiled.
    doubt: Option<Message>,
    /// Whether the conditions on the way to an answer are recorded, which takes several times as long.
    pub traces: bool,
}

impl std::fmt::Debug for Registered<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registered").field("unit", &self.unit).finish_non_exhaustive()
    }
}

impl<'t> Registered<'t> {
    /// Opens a tree with CMake options and preprocessor defines of the user; a define without a value is undefined.
    /// `sources` are the tree's files as the evaluator reads them.
    pub fn open(
        code: &'static BackendCode,
        tree: &'t Tree,
        sources: Arc<dyn Sources + 't>,
        cmake: &[(String, String)],
        defines: &[(String, Option<String>)],
    ) -> Result<Registered<'t>, RulesError> {
        let named = |path: &&str| path.rsplit('/').next() == Some(code.unit);
        let unit = tree.paths().filter(named).min_by_key(|path| path.len());
        let unit = unit.ok_or_else(|| (code.missing)(tree))?.to_owned();
        let mut build = built(code, tree, &unit, cmake);
        build.defines.retain(|(name, _)| !defines.iter().any(|(given, _)| given == name));
        build.unsure.retain(|name| !defines.iter().any(|(given, _)| given == name));
        build.defines.extend(defines.iter().cloned());
        // The macros of the platform's headers apply to every unit.
        let prelude = code.dialect.vocabulary.prelude;
        let headers = prelude.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
        for (name, value) in code.compiler.iter().copied().chain(headers) {
            if !build.defines.iter().any(|(known, _)| known == name) {
                build.defines.push((name.to_owned(), Some(value.to_owned())));
            }
        }
        let Built { defines: all, unsure, targets, mut doubt } = build;
        if doubt.is_none() {
            doubt = match targets.compiled(&unit) {
                Compiled::No => Some(say!("source-open-not-compiled")),
                Compiled::NotListed if targets.has_backend => Some(say!("source-open-no-target")),
                Compiled::Unknown(at) => Some(say!("source-open-compiled", at)),
                _ => None,
            };
        }
        let vocabulary = &code.dialect.vocabulary;
        let mut program = Program::new(vocabulary, &all)?;
        program.left_out = Arc::new(left_out(&targets, tree.paths().filter(|path| vocabulary.is_unit(path))));
        program.define_in(".cpp", &[("__cplusplus".to_owned(), Some("201703L".to_owned()))]);
        program.load(&*sources, &unit)?;
        // The other units of the backend define variables that this one declares.
        let dir = unit.rsplit_once('/').map_or("", |(dir, _)| dir);
        let own = |name: &str| name.rsplit_once('.').is_some_and(|(_, ending)| code.units.contains(&ending));
        let beside = |path: &&str| path.rsplit_once('/').is_some_and(|(of, name)| of == dir && own(name));
        let beside: Vec<&str> = tree.paths().filter(beside).filter(|path| !program.left_out.contains(*path)).collect();
        for path in beside {
            program.load(&*sources, path)?;
        }
        let (options, defines) = (cmake.to_vec(), defines.to_vec());
        Ok(Registered { code, tree, sources, program, unit, options, defines, unsure, doubt, traces: false })
    }

    /// Whether the backend's sources name an environment variable.
    pub fn reads(&self, variable: &str) -> bool {
        let wanted = format!("\"{variable}\"");
        self.files().any(|path| self.tree.text(path).is_ok_and(|text| text.contains(&wanted)))
    }

    /// The files in the directory of the backend.
    fn files(&self) -> impl Iterator<Item = &str> {
        let dir = self.unit.rsplit_once('/').map_or("", |(dir, _)| dir);
        self.tree.paths().filter(move |path| path.rsplit_once('/').is_some_and(|(of, _)| of == dir))
    }

    /// Evaluates several cells, each in a process that has computed nothing before. An answer is the reason if there is
    /// none.
    pub fn ask<T: PartialEq>(
        &mut self,
        platform: &Platform,
        shape: &Shape,
        cells: &Cells,
        read: Read<T>,
    ) -> Result<Vec<Result<T, Message>>, RulesError> {
        let mut done = self.run(platform, shape, cells, read)?;
        if let Some(doubt) = &self.doubt {
            for answer in done.iter_mut().filter(|answer| answer.is_ok()) {
                *answer = Err(doubt.clone());
            }
        }
        self.with_each_define(platform, shape, cells, read, &mut done)?;
        Ok(done)
    }

    fn run<T: PartialEq>(
        &mut self,
        platform: &Platform,
        shape: &Shape,
        cells: &Cells,
        read: Read<T>,
    ) -> Result<Vec<Result<T, Message>>, RulesError> {
        let mut done: Vec<Result<T, Message>> = Vec::new();
        while done.len() < cells.len() {
            let mut machine = Machine::new(&self.program, self.code.dialect, platform.clone(), |_, _| false);
            let rest = cells.iter().skip(done.len());
            let mut needed = None;
            match Session::open(&mut machine, self.code.register, self.traces) {
                Err(Stop::Need(name)) => needed = Some(name),
                Err(stop) => {
                    let why = self.why(&stop);
                    done.extend(rest.map(|_| Err(why.clone())));
                }
                Ok(mut session) => {
                    for (kind, columns) in rest {
                        match session.run(shape, kind, *columns, read) {
                            Err(Stop::Need(name)) => {
                                needed = Some(name);
                                break;
                            }
                            ended => done.push(ended.map_err(|stop| self.why(&stop))),
                        }
                    }
                }
            }
            drop(machine);
            if let Some(name) = needed {
                self.program.define_function(&*self.sources, name)?;
            }
        }
        Ok(done)
    }

    /// Opens every answer that differs when a define that is not settled is set. Only defines that a file names count.
    fn with_each_define<T: PartialEq>(
        &self,
        platform: &Platform,
        shape: &Shape,
        cells: &Cells,
        read: Read<T>,
        done: &mut [Result<T, Message>],
    ) -> Result<(), RulesError> {
        let named = |name: &&String| {
            self.program
                .interner
                .get(name)
                .is_some_and(|sym| self.program.files.iter().any(|file| file.toks.iter().any(|tok| tok.sym == sym)))
        };
        let names: Vec<&String> = self.unsure.iter().filter(named).collect();
        let mut ways: Vec<Vec<&String>> = names.iter().map(|name| vec![*name]).collect();
        if names.len() > 1 {
            ways.push(names.clone());
        }
        for way in ways {
            let mut defines = self.defines.clone();
            defines.extend(self.unsure.iter().map(|name| {
                let set = way.contains(&name).then(|| "1".to_owned());
                (name.clone(), set)
            }));
            let mut other = Registered::open(self.code, self.tree, self.sources.clone(), &self.options, &defines)?;
            other.unsure.clear();
            for (own, other) in done.iter_mut().zip(other.ask(platform, shape, cells, read)?) {
                if own.as_ref().ok() != other.as_ref().ok() && own.is_ok() {
                    let name = way.first().map_or("", |name| name.as_str());
                    *own = Err(say!("source-open-backend-define", name));
                }
            }
        }
        Ok(())
    }

    fn why(&self, stop: &Stop) -> Message {
        let (place, why) = explain(&self.program, stop);
        with_place(&place, &why)
    }
}

/// What the build files say.
struct Built {
    defines: Vec<(String, Option<String>)>,
    unsure: Vec<String>,
    targets: Targets,
    doubt: Option<Message>,
}

fn built(code: &BackendCode, tree: &Tree, unit: &str, cmake: &[(String, String)]) -> Built {
    let mut defines: Vec<(String, Option<String>)> = Vec::new();
    let mut unsure = Vec::new();
    let is_supported = |name: &str| code.supported.is_some_and(|end| name.ends_with(end));
    let Some(root) = preset::root(tree, unit) else {
        // A tree without build files: the conditions that the unit itself names.
        let text = tree.text(unit).map(|text| text.to_string()).unwrap_or_default();
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let mut names: Vec<&str> = words.filter(|word| is_supported(word)).collect();
        names.sort_unstable();
        names.dedup();
        defines.extend(names.into_iter().map(|name| (name.to_owned(), Some("1".to_owned()))));
        return Built { defines, unsure, targets: Targets::default(), doubt: None };
    };
    let mut vars: Vec<(String, String)> =
        code.cmake.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    vars.extend(cmake.iter().cloned());
    let build = Cmake::run(tree, &root, &vars);
    for (define, _) in &build.defines {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        defines.push((name.to_owned(), Some(value.to_owned())));
    }
    // The build asks its shader compiler, which this machine does not run.
    let open = build.unsure.iter().filter(|name| !defines.iter().any(|(known, _)| known == *name));
    let asked: Vec<String> = open.cloned().collect();
    for name in asked {
        if is_supported(&name) {
            defines.push((name, Some("1".to_owned())));
        } else {
            unsure.push(name);
        }
    }
    let own = unit.rsplit_once('/').map(|(dir, _)| format!("{dir}/CMakeLists.txt"));
    let mut targets = build.targets.entered_at(unit);
    targets.has_backend = own.is_some_and(|own| build.files.contains(&own));
    Built { defines, unsure, targets, doubt: build.unread }
}
