//! Evaluates ggml's Metal backend: the kernels that an operation launches on an Apple GPU.
//!
//! The tree's own code runs from the backend's registration to the dispatch ([`crate::registered`]). Its units in Objective-C are
//! rewritten as C++ ([`objc`]). The answers of the card and of macOS come from a profile of `gpu`; the functions of the shader
//! library come from the tree's shader files.

mod answer;
mod dialect;
mod launch;
mod objc;
mod shaders;

pub use answer::{MetalChoice, MetalCondition, MetalDeclared, MetalDiff, MetalDifference, MetalProperty};
pub use launch::MetalLaunch;

use crate::op::Shape;
use crate::registered::{BackendCode, Registered};
use crate::rules::RulesError;
use crate::tree::Tree;
use cxx::Sources;
use cxx::eval::{Platform, Property};
use dialect::METAL;
use gpu::AppleGpu;
use launch::MetalRun;
use say::{Message, say};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

static CODE: BackendCode = BackendCode {
    dialect: &METAL,
    unit: "ggml-metal.cpp",
    register: "ggml_backend_metal_reg",
    cmake: &[
        ("GGML_METAL", "ON"),
        ("APPLE", "1"),
        ("LINUX", ""),
        ("CMAKE_SYSTEM_NAME", "Darwin"),
        ("CMAKE_SYSTEM_PROCESSOR", "arm64"),
        ("CMAKE_C_COMPILER_ID", "AppleClang"),
        ("CMAKE_CXX_COMPILER_ID", "AppleClang"),
    ],
    compiler: &[
        ("__APPLE__", "1"),
        ("__MACH__", "1"),
        ("__aarch64__", "1"),
        ("__arm64__", "1"),
        ("TARGET_OS_OSX", "1"),
        ("TARGET_OS_IOS", "0"),
        ("TARGET_OS_TV", "0"),
        ("TARGET_OS_VISION", "0"),
        ("TARGET_CPU_X86_64", "0"),
        ("TARGET_CPU_ARM64", "1"),
        ("__MAC_OS_X_VERSION_MAX_ALLOWED", "260000"),
        ("__clang_major__", "17"),
        ("NDEBUG", "1"),
    ],
    supported: None,
    units: &["cpp", "m"],
    missing: |tree| RulesError::NoMetal { tree: tree.label.clone() },
};

/// Questions with more cells get no conditions, because recording them takes longer than the answers.
const MOST_TRACED: usize = 8;

/// A tree whose files in Objective-C read as C++.
struct ObjcTree<'t> {
    tree: &'t Tree,
    texts: Mutex<HashMap<String, Arc<str>>>,
}

impl Sources for ObjcTree<'_> {
    fn has(&self, path: &str) -> bool {
        self.tree.has(path)
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.tree.paths())
    }

    fn named(&self, name: &str) -> Vec<&str> {
        Sources::named(self.tree, name)
    }

    fn text(&self, path: &str) -> Result<Arc<str>, cxx::files::Unreadable> {
        if !path.ends_with(".m") {
            return Sources::text(self.tree, path);
        }
        if let Some(text) = self.texts.lock().ok().and_then(|texts| texts.get(path).cloned()) {
            return Ok(text);
        }
        let text: Arc<str> = objc::as_cpp(&Sources::text(self.tree, path)?).into();
        if let Ok(mut texts) = self.texts.lock() {
            texts.insert(path.to_owned(), text.clone());
        }
        Ok(text)
    }
}

/// A tree's Metal backend.
#[derive(Debug)]
pub struct MetalRules<'t> {
    backend: Registered<'t>,
    /// The functions of each shader file.
    shaders: Vec<(String, Property)>,
}

impl<'t> MetalRules<'t> {
    pub fn open(tree: &'t Tree) -> Result<MetalRules<'t>, RulesError> {
        MetalRules::open_with(tree, &[], &[])
    }

    /// Opens a tree with CMake options and preprocessor defines of the user; a define without a value is undefined.
    pub fn open_with(
        tree: &'t Tree,
        cmake: &[(String, String)],
        defines: &[(String, Option<String>)],
    ) -> Result<MetalRules<'t>, RulesError> {
        let sources = Arc::new(ObjcTree { tree, texts: Mutex::default() });
        let backend = Registered::open(&CODE, tree, sources, cmake, defines)?;
        let mut shaders = Vec::new();
        for path in tree.paths().filter(|path| path.ends_with(".metal")) {
            let name = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".metal");
            let text = tree.text(path).unwrap_or_default();
            let functions = shaders::kernels(&text).into_iter().collect::<Vec<_>>().join(" ");
            shaders.push((format!("{}{name}", dialect::FUNCTIONS), Property::Text(functions)));
        }
        Ok(MetalRules { backend, shaders })
    }

    /// Whether the backend's sources name an environment variable.
    pub fn reads(&self, variable: &str) -> bool {
        self.backend.reads(variable)
    }

    /// Evaluates several cells of a card, each in a process that has computed nothing before. Where a property of the
    /// card is not known, the rules are evaluated with each of its values.
    pub fn choices(
        &mut self,
        card: &AppleGpu,
        environment: &[(String, String)],
        shape: &Shape,
        cells: &[(String, i64)],
    ) -> Result<Vec<MetalChoice>, RulesError> {
        let mut answers = self.ask(card, environment, None, shape, cells)?;
        for answer in &mut answers {
            if let Some(why) = answer.as_ref().ok().and_then(|run| run.stopped.clone()) {
                *answer = Err(why);
            }
        }
        for (name, unknown) in card.unknown() {
            for value in unknown.values.iter().skip(1) {
                let others = self.ask(card, environment, Some((&name, *value)), shape, cells)?;
                for (own, other) in answers.iter_mut().zip(others) {
                    vary(own, other, &name);
                }
            }
        }
        let all = cells.iter().zip(answers);
        Ok(all.map(|((kind, columns), answer)| choice(card, kind, *columns, answer)).collect())
    }

    fn ask(
        &mut self,
        card: &AppleGpu,
        environment: &[(String, String)],
        varied: Option<(&str, i64)>,
        shape: &Shape,
        cells: &[(String, i64)],
    ) -> Result<Vec<Result<MetalRun, Message>>, RulesError> {
        let mut facts: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        facts.extend(card.properties().iter().map(|(name, number)| (name.clone(), vec![number.value])));
        for (name, unknown) in card.unknown() {
            let varied = varied.filter(|(of, _)| *of == name).map(|(_, value)| value);
            facts.insert(name, varied.or(unknown.values.first().copied()).into_iter().collect());
        }
        let macos = facts.get("macOS").and_then(|versions| versions.first().copied()).unwrap_or_default();
        facts.insert("families".to_owned(), card.families(macos));
        let mut properties = self.shaders.clone();
        properties.push(("name".to_owned(), Property::Text(card.title.clone())));
        let platform = Platform { properties, environment: environment.to_vec(), facts: Arc::new(facts) };
        self.backend.traces = varied.is_none() && cells.len() <= MOST_TRACED;
        self.backend.ask(&platform, shape, cells, dialect::launched)
    }
}

/// Joins the answers for two values of a property that is not known. A kernel that differs is undetermined; a constant or
/// a number of the launch that differs is unknown. A run that the program itself stops with the second value is a requirement of
/// the program, not another answer.
fn vary(own: &mut Result<MetalRun, Message>, other: Result<MetalRun, Message>, property: &str) {
    let Ok(run) = &mut *own else { return };
    let other = match other {
        Ok(other) if other.stopped.is_some() => return,
        Ok(other) => other,
        Err(_) => {
            *own = Err(say!("source-open-metal-property", property));
            return;
        }
    };
    let same = |(mine, theirs): (&MetalLaunch, &MetalLaunch)| mine.kernel == theirs.kernel;
    if run.launches.len() != other.launches.len() || !run.launches.iter().zip(&other.launches).all(same) {
        *own = Err(say!("source-open-metal-property", property));
        return;
    }
    for (mine, theirs) in run.launches.iter_mut().zip(&other.launches) {
        mine.join(theirs);
    }
}

fn choice(card: &AppleGpu, kind: &str, columns: i64, answer: Result<MetalRun, Message>) -> MetalChoice {
    let (run, undetermined) = match answer {
        Ok(run) => (run, None),
        Err(why) => (MetalRun::default(), Some(why.into())),
    };
    let kernel = answer::main_kernel(&run.launches).map(|launch| launch.kernel.clone());
    MetalChoice {
        card: card.name.clone(),
        target: format!("Apple{}", card.family),
        kind: kind.to_owned(),
        columns,
        path: kernel.as_deref().map(answer::path_of),
        kernel,
        launches: run.launches,
        rule: run.rule,
        undetermined,
    }
}

/// The properties with which a card's rules are evaluated.
pub fn metal_properties(card: &AppleGpu) -> BTreeMap<String, MetalProperty> {
    let known = card.properties().iter().map(|(name, number)| {
        (name.clone(), MetalProperty { values: vec![number.value], origin: number.origin.clone() })
    });
    let unknown = card
        .unknown()
        .into_iter()
        .map(|(name, unknown)| (name, MetalProperty { values: unknown.values, origin: unknown.why }));
    let family = MetalProperty { values: vec![card.family], origin: gpu::APPLE_FAMILY_ORIGIN.to_owned() };
    known.chain(unknown).chain([(format!("family of {}", card.name), family)]).collect()
}
