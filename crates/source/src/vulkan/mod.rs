//! Evaluates ggml's Vulkan backend: the pipeline that a product of weights is dispatched to.
//!
//! The tree's own code runs from the backend's registration to the dispatch, in a process that has just started: it opens
//! the device, creates the pipelines, allocates buffers, is asked whether it supports the operation, and computes a
//! graph of one node. The driver's answers come from a [`VulkanProfile`]. The run ends when a command buffer dispatches
//! a pipeline for a product; the name of that pipeline is the answer.

mod dialect;
mod profile;
mod reported;
mod session;

pub use profile::VulkanProfile;
pub use reported::ReportedError;

use crate::cmake::{Cmake, Compiled, Targets, left_out};
use crate::op::Shape;
use crate::outcome::with_place;
use crate::preset;
use crate::rules::RulesError;
use crate::session::explain;
use crate::tree::Tree;
use answer::Answer;
use cxx::Program;
use cxx::eval::{Machine, Stop};
use dialect::{CHOSEN, VULKAN};
use evidence::{Basis, Conclusion, Rung};
use say::{Kept, Message, say};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The choices that a tree declares for Vulkan.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VulkanDeclared {
    pub tree: String,
    /// The rung, always `declared`.
    pub rung: Rung,
    pub cells: Vec<VulkanChoice>,
    /// Whether every cell has its pipeline.
    pub complete: Conclusion,
}

impl VulkanDeclared {
    pub fn new(tree: String, cells: Vec<VulkanChoice>) -> VulkanDeclared {
        let named = cells.iter().filter(|cell| cell.kernel.is_some()).count() as u64;
        let asked = cells.len() as u64;
        let complete = Basis::listed("source", [tree.as_str()], Rung::Declared, evidence::Unit::Cells, asked, named)
            .completeness();
        VulkanDeclared { tree, rung: Rung::Declared, cells, complete }
    }
}

impl Answer for VulkanDeclared {
    const SCHEMA: &'static str = "whichkernel.source-vulkan/1";
}

/// One card, type and column count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VulkanChoice {
    pub card: String,
    pub target: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub columns: i64,
    /// `mul_mat_vec` or `matmul`; null if the path is undetermined.
    pub path: Option<String>,
    /// The pipeline's name; null if it is undetermined.
    pub kernel: Option<String>,
    /// The unsettled condition and its position.
    pub undetermined: Option<Kept>,
}

/// A tree's Vulkan backend.
#[derive(Debug)]
pub struct VulkanRules<'t> {
    tree: &'t Tree,
    program: Program,
    /// The unit with the backend's device and graph.
    unit: String,
    /// The user's CMake options.
    options: Vec<(String, String)>,
    /// The user's defines; None undefines a name.
    defines: Vec<(String, Option<String>)>,
    /// Defines that the build files do not settle. The program is read without them.
    unsure: Vec<String>,
    /// Why no answer can be given: build files that are not understood, or a unit that is not compiled.
    doubt: Option<Message>,
}

/// The results of the checks in Debian's build: its shader compiler supports every extension that ggml tests for.
const FOUND: &str = "_GLSLC_SUPPORT";

impl<'t> VulkanRules<'t> {
    pub fn open(tree: &'t Tree) -> Result<VulkanRules<'t>, RulesError> {
        VulkanRules::open_with(tree, &[], &[])
    }

    /// Opens a tree with CMake options and preprocessor defines of the user; a define without a value is undefined.
    pub fn open_with(
        tree: &'t Tree,
        cmake: &[(String, String)],
        defines: &[(String, Option<String>)],
    ) -> Result<VulkanRules<'t>, RulesError> {
        let unit = tree.paths().filter(|path| path.ends_with("/ggml-vulkan.cpp")).min_by_key(|path| path.len());
        let none = || RulesError::NoVulkan { tree: tree.label.clone() };
        let unit = unit.ok_or_else(none)?.to_owned();
        let mut doubt = None;
        let mut unsure = Vec::new();
        let mut all: Vec<(String, Option<String>)> = Vec::new();
        let mut targets = Targets::default();
        if let Some(root) = preset::root(tree, &unit) {
            let mut vars = vec![("GGML_VULKAN".to_owned(), "ON".to_owned())];
            vars.extend(cmake.iter().cloned());
            let build = Cmake::run(tree, &root, &vars);
            doubt = build.unread.clone();
            for (define, _) in &build.defines {
                let (name, value) = define.split_once('=').unwrap_or((define, "1"));
                all.push((name.to_owned(), Some(value.to_owned())));
            }
            // The build asks its shader compiler, which is not run here.
            let open = build.unsure.iter().filter(|name| !all.iter().any(|(known, _)| known == *name));
            let asked: Vec<String> = open.cloned().collect();
            for name in asked {
                if name.ends_with(FOUND) {
                    all.push((name, Some("1".to_owned())));
                } else {
                    unsure.push(name);
                }
            }
            let own = unit.rsplit_once('/').map(|(dir, _)| format!("{dir}/CMakeLists.txt"));
            targets = build.targets.entered_at(&unit);
            targets.has_backend = own.is_some_and(|own| build.files.contains(&own));
        } else {
            // A tree without build files: the conditions that the unit itself names.
            let text = tree.text(&unit).map(|text| text.to_string()).unwrap_or_default();
            let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let mut names: Vec<&str> = words.filter(|word| word.ends_with(FOUND)).collect();
            names.sort_unstable();
            names.dedup();
            all.extend(names.into_iter().map(|name| (name.to_owned(), Some("1".to_owned()))));
        }
        all.retain(|(name, _)| !defines.iter().any(|(given, _)| given == name));
        unsure.retain(|name| !defines.iter().any(|(given, _)| given == name));
        all.extend(defines.iter().cloned());
        for (name, value) in [("__linux__", "1"), ("__x86_64__", "1"), ("NDEBUG", "1")] {
            if !all.iter().any(|(known, _)| known == name) {
                all.push((name.to_owned(), Some(value.to_owned())));
            }
        }
        // The macros of the Vulkan headers apply to every unit.
        let headers =
            VULKAN.vocabulary.prelude.lines().filter_map(|line| line.strip_prefix("#define ")?.split_once(' '));
        for (name, value) in headers {
            if !all.iter().any(|(known, _)| known == name) {
                all.push((name.to_owned(), Some(value.to_owned())));
            }
        }
        if doubt.is_none() {
            doubt = match targets.compiled(&unit) {
                Compiled::No => Some(say!("source-open-not-compiled")),
                Compiled::NotListed if targets.has_backend => Some(say!("source-open-no-target")),
                Compiled::Unknown(at) => Some(say!("source-open-compiled", at)),
                _ => None,
            };
        }
        let mut program = Program::new(&VULKAN.vocabulary, &all)?;
        program.left_out = Arc::new(left_out(&targets, tree.paths().filter(|path| VULKAN.vocabulary.is_unit(path))));
        program.define_in(".cpp", &[("__cplusplus".to_owned(), Some("201703L".to_owned()))]);
        program.load(tree, &unit)?;
        // The other units of the backend define variables that this one declares.
        let dir = unit.rsplit_once('/').map_or("", |(dir, _)| dir);
        let beside = |path: &&str| path.rsplit_once('/').is_some_and(|(of, _)| of == dir) && path.ends_with(".cpp");
        let built: Vec<&str> = tree.paths().filter(beside).filter(|path| !program.left_out.contains(*path)).collect();
        for path in built {
            program.load(tree, path)?;
        }
        let (options, defines) = (cmake.to_vec(), defines.to_vec());
        Ok(VulkanRules { tree, program, unit, options, defines, unsure, doubt })
    }

    /// Whether the backend's sources name an environment variable.
    pub fn reads(&self, variable: &str) -> bool {
        mentions(self.tree, &self.unit, &format!("\"{variable}\""))
    }

    /// Evaluates one cell; `shape` must be a product of weights.
    pub fn choice(
        &mut self,
        card: &VulkanProfile,
        shape: &Shape,
        kind: &str,
        columns: i64,
    ) -> Result<VulkanChoice, RulesError> {
        let mut cells = self.choices(card, shape, &[(kind.to_owned(), columns)])?;
        Ok(cells.remove(0))
    }

    /// Evaluates several cells of a card, each in a process that has computed nothing before.
    pub fn choices(
        &mut self,
        card: &VulkanProfile,
        shape: &Shape,
        cells: &[(String, i64)],
    ) -> Result<Vec<VulkanChoice>, RulesError> {
        let mut done: Vec<VulkanChoice> = Vec::new();
        while done.len() < cells.len() {
            let platform = dialect::platform(card);
            let mut machine = Machine::new(&self.program, &VULKAN, platform, |_, _| false);
            let needed = match session::Session::open(&mut machine) {
                Err(Stop::Need(name)) => Some(name),
                Err(stop) => {
                    let why = self.why(&stop);
                    for (kind, columns) in cells.iter().skip(done.len()) {
                        done.push(open(card, kind, *columns, &why));
                    }
                    None
                }
                Ok(mut session) => {
                    let mut needed = None;
                    for (kind, columns) in cells.iter().skip(done.len()) {
                        match session.run(shape, kind, *columns) {
                            Err(Stop::Need(name)) => {
                                needed = Some(name);
                                break;
                            }
                            ended => done.push(self.answer(card, kind, *columns, ended.err())),
                        }
                    }
                    needed
                }
            };
            drop(machine);
            if let Some(name) = needed {
                self.program.define_function(self.tree, name)?;
            }
        }
        self.with_each_define(card, shape, cells, &mut done)?;
        Ok(done)
    }

    fn answer(&self, card: &VulkanProfile, kind: &str, columns: i64, stop: Option<Stop>) -> VulkanChoice {
        let chosen = match &stop {
            Some(Stop::Abort { what, .. }) => what.strip_prefix(CHOSEN),
            _ => None,
        };
        match (chosen, &self.doubt, &stop) {
            (Some(name), None, _) => {
                let path = if name.starts_with("mul_mat_vec") { "mul_mat_vec" } else { "matmul" };
                VulkanChoice {
                    path: Some(path.to_owned()),
                    kernel: Some(name.to_owned()),
                    undetermined: None,
                    ..open(card, kind, columns, &say!("source-open-vulkan-none"))
                }
            }
            (Some(_), Some(doubt), _) => open(card, kind, columns, doubt),
            (None, _, Some(stop)) => open(card, kind, columns, &self.why(stop)),
            (None, _, None) => open(card, kind, columns, &say!("source-open-vulkan-none")),
        }
    }

    /// Makes every answer undetermined that changes when an unsettled define is set. Only defines that a file names
    /// count.
    fn with_each_define(
        &self,
        card: &VulkanProfile,
        shape: &Shape,
        cells: &[(String, i64)],
        done: &mut [VulkanChoice],
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
            let mut other = VulkanRules::open_with(self.tree, &self.options, &defines)?;
            other.unsure.clear();
            for (own, other) in done.iter_mut().zip(other.choices(card, shape, cells)?) {
                if own.kernel != other.kernel && own.kernel.is_some() {
                    let name = way.first().map_or("", |name| name.as_str());
                    *own = open(card, &own.kind, own.columns, &say!("source-open-vulkan-define", name));
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

/// A cell without an answer.
fn open(card: &VulkanProfile, kind: &str, columns: i64, why: &Message) -> VulkanChoice {
    VulkanChoice {
        card: card.card.clone(),
        target: card.target.clone(),
        kind: kind.to_owned(),
        columns,
        path: None,
        kernel: None,
        undetermined: Some(why.clone().into()),
    }
}

/// Whether a file in the unit's directory contains a text.
fn mentions(tree: &Tree, unit: &str, text: &str) -> bool {
    let dir = unit.rsplit_once('/').map_or("", |(dir, _)| dir);
    let beside = |path: &&str| {
        path.rsplit_once('/')
            .is_some_and(|(of, name)| of == dir && [".cpp", ".h"].iter().any(|end| name.ends_with(end)))
    };
    tree.paths().filter(beside).any(|path| tree.text(path).is_ok_and(|found| found.contains(text)))
}
