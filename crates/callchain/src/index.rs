//! The results of both parsers in one form: functions, classes, and what each function calls, refers to and waits for.

use super::edge::Edge;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Go,
    Cpp,
}

/// How one piece of code reaches another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// An ordinary call.
    Call,
    /// A call from Go into C: `C.name(...)`.
    Cgo,
    /// A function used as a value: passed as an argument or stored.
    Reference,
    /// A goroutine that is started here: `go f()`.
    Spawn,
    /// Wakes the waiters of this condition variable, or sends on this channel.
    Wake,
    /// Waits on this condition variable, or receives from this channel.
    Wait,
    /// A kernel launch, `kernel<<<...>>>`.
    Launch,
}

#[derive(Debug, Clone)]
pub struct Use {
    pub reach: Reach,
    pub name: String,
    /// The expression before the name: `s.lc`, `backend->iface`, a package, `ns::`; `?` if it is not a chain of names.
    pub object: String,
    pub line: u32,
}

/// A variable, parameter, result or field: its type as written, or the expression that it comes from.
#[derive(Debug, Clone)]
pub struct Local {
    pub name: String,
    /// The type as written. Empty if it is not written out.
    pub of: String,
    pub from: String,
    /// The index of this variable among the values of that expression.
    pub nth: usize,
    pub line: u32,
    /// The last line on which the variable is visible.
    pub until: u32,
    /// An embedded field, which has no name of its own. The methods of its type also belong to the struct.
    pub embedded: bool,
}

impl Local {
    pub fn typed(name: &str, of: String, line: u32) -> Local {
        Local { name: name.to_owned(), of, from: String::new(), nth: 0, line, until: u32::MAX, embedded: false }
    }
}

#[derive(Debug, Clone)]
pub struct Function {
    pub language: Language,
    pub name: String,
    /// Receiver or class, empty for a free function.
    pub owner: String,
    /// The namespace of the function.
    pub space: String,
    pub file: usize,
    pub line: u32,
    pub uses: Vec<Use>,
    /// String literals with their lines: routes, addresses, names of variables.
    pub strings: Vec<(String, u32)>,
    /// Receiver, parameters and variables.
    pub locals: Vec<Local>,
    /// The types of the function's results.
    pub returns: Vec<String>,
    /// Switch cases such as `case GGML_OP_MUL_MAT: f(...)`: the label, the called function, and the line.
    pub cases: Vec<(String, String, u32)>,
    /// Whether code in other files cannot call the function.
    pub internal: bool,
    /// Virtual, or overriding.
    pub dynamic: bool,
}

impl Function {
    pub fn new(language: Language, name: &str, line: u32) -> Function {
        Function {
            language,
            name: name.to_owned(),
            owner: String::new(),
            space: String::new(),
            file: 0,
            line,
            uses: Vec::new(),
            strings: Vec::new(),
            locals: Vec::new(),
            returns: Vec::new(),
            cases: Vec::new(),
            internal: false,
            dynamic: false,
        }
    }

    /// The name as shown to users.
    pub fn title(&self) -> String {
        match (self.language, self.owner.as_str()) {
            (_, "") => self.name.clone(),
            (Language::Go, owner) => format!("{owner}.{}", self.name),
            (Language::Cpp, owner) => format!("{owner}::{}", self.name),
        }
    }
}

/// The function that serves a route such as `"/completion"`.
#[derive(Debug, Clone)]
pub struct Route {
    pub path: String,
    pub handler: String,
    pub file: usize,
    pub line: u32,
}

/// A field or variable through which a function is called: `newServerFn: llm.NewLlamaServer`,
/// `/* .graph_compute = */ ggml_backend_cuda_graph_compute`.
#[derive(Debug, Clone)]
pub struct Alias {
    pub function: String,
    pub file: usize,
    pub line: u32,
    /// A slot in a table of functions: one of several implementations.
    pub table: bool,
}

/// A name that a macro replaces: `#define cublasCreate hipblasCreate`.
#[derive(Debug, Clone)]
pub struct Remap {
    pub to: String,
    pub file: usize,
    pub line: u32,
}

/// The definition of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    Struct,
    /// A Go interface: any type with these methods implements it.
    Interface(Vec<(String, Vec<String>)>),
    /// A type alias.
    Other(String),
}

#[derive(Debug, Clone)]
pub struct Class {
    pub language: Language,
    pub name: String,
    pub file: usize,
    pub line: u32,
    pub shape: Shape,
    pub fields: Vec<Local>,
    /// The base classes or, in Go, the embedded types.
    pub bases: Vec<String>,
}

impl Class {
    pub fn new(language: Language, name: &str, line: u32) -> Class {
        let shape = Shape::Struct;
        Class { language, name: name.to_owned(), file: 0, line, shape, fields: Vec::new(), bases: Vec::new() }
    }
}

/// A method or function that is only declared: owner, name, return type, whether it is virtual.
pub type Prototype = (String, String, String, bool);

/// The methods that an interface method may call; None if the interface has no such method.
type Implementations = Option<Arc<Vec<usize>>>;

#[derive(Debug, Default)]
pub struct Index {
    /// Paths, slash-separated, relative to the tree.
    pub files: Vec<String>,
    pub functions: Vec<Function>,
    pub classes: Vec<Class>,
    pub routes: Vec<Route>,
    pub aliases: HashMap<String, Vec<Alias>>,
    pub remaps: HashMap<String, Vec<Remap>>,
    /// Per file: the names under which it imports packages, with the package's path.
    imports: Vec<HashMap<String, String>>,
    globals: HashMap<String, Vec<(usize, Local)>>,
    prototypes: HashMap<String, Vec<(usize, Prototype)>>,
    by_name: HashMap<String, Vec<usize>>,
    classes_by_name: HashMap<String, Vec<usize>>,
    /// Classes by their base classes or embedded types.
    derived: HashMap<String, Vec<usize>>,
    directories: HashMap<String, Vec<usize>>,
    waits: HashMap<String, Vec<(usize, u32)>>,
    pub(super) edges: Vec<OnceLock<Vec<Edge>>>,
    /// The methods that a call of an interface method may run; None if there is no such method.
    implementations: Mutex<HashMap<(usize, String), Implementations>>,
}

impl Index {
    /// Adds the results of one file. Sets their `file` indices, which are relative until then.
    pub fn add(&mut self, path: &str, part: Part) {
        let file = self.files.len();
        self.files.push(path.to_owned());
        self.functions.extend(part.functions.into_iter().map(|function| Function { file, ..function }));
        self.classes.extend(part.classes.into_iter().map(|class| Class { file, ..class }));
        self.routes.extend(part.routes.into_iter().map(|route| Route { file, ..route }));
        for (field, alias) in part.aliases {
            self.aliases.entry(field).or_default().push(Alias { file, ..alias });
        }
        self.imports.push(part.imports.into_iter().collect());
        for local in part.globals {
            self.globals.entry(local.name.clone()).or_default().push((file, local));
        }
        for prototype in part.prototypes {
            self.prototypes.entry(prototype.1.clone()).or_default().push((file, prototype));
        }
        for (from, remap) in part.remaps {
            self.remaps.entry(from).or_default().push(Remap { file, ..remap });
        }
    }

    /// Builds the lookup tables after all files have been added.
    pub fn finish(&mut self) {
        for (id, function) in self.functions.iter().enumerate() {
            self.by_name.entry(function.name.clone()).or_default().push(id);
            for wait in function.uses.iter().filter(|wait| wait.reach == Reach::Wait) {
                self.waits.entry(wait.name.clone()).or_default().push((id, wait.line));
            }
        }
        for (id, class) in self.classes.iter().enumerate() {
            self.classes_by_name.entry(class.name.clone()).or_default().push(id);
            for base in &class.bases {
                self.derived.entry(base.clone()).or_default().push(id);
            }
        }
        for file in 0..self.files.len() {
            let directory = self.directory(file).to_owned();
            self.directories.entry(directory).or_default().push(file);
        }
        self.edges = (0..self.functions.len()).map(|_| OnceLock::new()).collect();
    }

    pub fn named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn classes_named(&self, name: &str) -> &[usize] {
        self.classes_by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Classes that derive from or embed a class of this name.
    pub fn derived_from(&self, name: &str) -> &[usize] {
        self.derived.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn globals_named(&self, name: &str) -> &[(usize, Local)] {
        self.globals.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn prototypes_named(&self, name: &str) -> &[(usize, Prototype)] {
        self.prototypes.get(name).map_or(&[], Vec::as_slice)
    }

    /// The functions that wait on this condition variable or channel, and where.
    pub fn waiting(&self, name: &str) -> &[(usize, u32)] {
        self.waits.get(name).map_or(&[], Vec::as_slice)
    }

    /// The path of the package that a file imports as `name`; None for any other word.
    pub fn imported(&self, file: usize, name: &str) -> Option<&str> {
        self.imports.get(file)?.get(name).map(String::as_str)
    }

    /// The directory of this tree with an imported package's code; None for other modules.
    pub fn package(&self, file: usize, import: &str) -> Option<&str> {
        let tree = tree_of(self.path(file));
        // `github.com/ollama/ollama/llm` is `llm`: the part before it is the module. Standard library imports have no
        // host.
        let (host, _) = import.split_once('/').filter(|(host, _)| host.contains('.'))?;
        let parts: Vec<&str> = import.split('/').collect();
        let roots = if host == "github.com" { 3..=3 } else { 1..=3 };
        roots.into_iter().find_map(|root| {
            let rest = parts.get(root..)?.join("/");
            let directory = if tree.is_empty() { rest } else { format!("{tree}/{rest}") };
            let (known, files) = self.directories.get_key_value(&directory)?;
            files.iter().any(|&file| self.path(file).ends_with(".go")).then_some(known.as_str())
        })
    }

    /// The methods that a call of an interface method may mean; cached.
    pub fn implementations(
        &self,
        interface: usize,
        name: &str,
        find: impl FnOnce() -> Option<Vec<usize>>,
    ) -> Implementations {
        let key = (interface, name.to_owned());
        if let Some(known) = self.implementations.lock().ok().and_then(|known| known.get(&key).cloned()) {
            return known;
        }
        let found = find().map(Arc::new);
        if let Ok(mut known) = self.implementations.lock() {
            known.insert(key, found.clone());
        }
        found
    }

    pub fn path(&self, file: usize) -> &str {
        self.files.get(file).map_or("", String::as_str)
    }

    pub fn directory(&self, file: usize) -> &str {
        self.path(file).rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    pub fn same_tree(&self, a: usize, b: usize) -> bool {
        tree_of(self.path(a)) == tree_of(self.path(b))
    }
}

/// The directory of the tree that contains a path: `tree2` for a second tree, empty for the first.
fn tree_of(path: &str) -> &str {
    let first = path.split('/').next().unwrap_or("");
    let number = first.strip_prefix("tree").unwrap_or("");
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) { first } else { "" }
}

/// The content of one file, before it has an index.
#[derive(Debug, Default)]
pub struct Part {
    pub functions: Vec<Function>,
    pub classes: Vec<Class>,
    pub prototypes: Vec<Prototype>,
    pub globals: Vec<Local>,
    pub routes: Vec<Route>,
    pub aliases: Vec<(String, Alias)>,
    pub remaps: Vec<(String, Remap)>,
    pub imports: Vec<(String, String)>,
}
