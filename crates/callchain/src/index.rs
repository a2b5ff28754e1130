//! What the two parsers found in a tree, in one vocabulary: functions, what each calls, refers to, waits for.

use std::collections::{HashMap, HashSet};

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
    /// `C.name(...)`: from Go into C.
    Cgo,
    /// A function named as a value: handed over as an argument or stored.
    Reference,
    /// `go f()`: a goroutine started here.
    Spawn,
    /// Wakes whoever waits on this condition variable, or sends on this channel.
    Wake,
    /// The other side: waits on the condition variable, or receives from the channel.
    Wait,
    /// A kernel launch, `kernel<<<...>>>`.
    Launch,
}

#[derive(Debug, Clone)]
pub struct Use {
    pub reach: Reach,
    pub name: String,
    /// The text before the name: `s.lc`, `backend->iface`, a package, a class.
    pub object: String,
    pub line: u32,
}

#[derive(Debug, Clone)]
pub struct Function {
    pub language: Language,
    pub name: String,
    /// Receiver or class, empty for a free function.
    pub owner: String,
    pub file: usize,
    pub line: u32,
    pub uses: Vec<Use>,
    /// String literals with their lines: routes, addresses, names of variables.
    pub strings: Vec<(String, u32)>,
    /// Receiver and parameters with their types.
    pub typed: Vec<Typed>,
    /// `case GGML_OP_MUL_MAT: f(...)`: the label, what is called there first, and the line.
    pub cases: Vec<(String, String, u32)>,
}

impl Function {
    /// The name as a reader of the source would say it.
    pub fn title(&self) -> String {
        match (self.language, self.owner.as_str()) {
            (_, "") => self.name.clone(),
            (Language::Go, owner) => format!("{owner}.{}", self.name),
            (Language::Cpp, owner) => format!("{owner}::{}", self.name),
        }
    }
}

/// `"/completion"` is served by a function of this name.
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
}

/// `#define cublasCreate hipblasCreate`.
#[derive(Debug, Clone)]
pub struct Remap {
    pub to: String,
    pub file: usize,
    pub line: u32,
}

/// A variable, parameter or field and the name of its type, without package, pointer or template arguments.
#[derive(Debug, Clone)]
pub struct Typed {
    pub name: String,
    pub of: String,
}

#[derive(Debug, Default)]
pub struct Index {
    /// Paths, slash-separated, relative to the tree.
    pub files: Vec<String>,
    pub functions: Vec<Function>,
    pub routes: Vec<Route>,
    pub aliases: HashMap<String, Vec<Alias>>,
    pub remaps: HashMap<String, Vec<Remap>>,
    /// Per file: the names under which it imports packages, with the package's directory.
    imports: Vec<HashMap<String, String>>,
    /// Field name -> the types that some struct gives it.
    fields: HashMap<String, Vec<String>>,
    packages: HashSet<String>,
    by_name: HashMap<String, Vec<usize>>,
    waits: HashMap<String, Vec<(usize, u32)>>,
}

impl Index {
    /// Takes what one file gave; `file` indices are relative to that file and set here.
    pub fn add(&mut self, path: &str, part: Part) {
        let file = self.files.len();
        self.files.push(path.to_owned());
        self.functions.extend(part.functions.into_iter().map(|function| Function { file, ..function }));
        self.routes.extend(part.routes.into_iter().map(|route| Route { file, ..route }));
        for (field, alias) in part.aliases {
            self.aliases.entry(field).or_default().push(Alias { file, ..alias });
        }
        self.imports.push(part.imports.into_iter().collect());
        for typed in part.fields {
            self.fields.entry(typed.name).or_default().push(typed.of);
        }
        for (from, remap) in part.remaps {
            self.remaps.entry(from).or_default().push(Remap { file, ..remap });
        }
    }

    /// Builds the look-ups once every file is in.
    pub fn finish(&mut self) {
        for (id, function) in self.functions.iter().enumerate() {
            if function.language == Language::Go {
                self.packages.insert(self.directory(function.file).rsplit('/').next().unwrap_or("").to_owned());
            }
            self.by_name.entry(function.name.clone()).or_default().push(id);
            for wait in function.uses.iter().filter(|wait| wait.reach == Reach::Wait) {
                self.waits.entry(wait.name.clone()).or_default().push((id, wait.line));
            }
        }
    }

    pub fn named(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Who waits on this condition variable or channel, and where.
    pub fn waiting(&self, name: &str) -> &[(usize, u32)] {
        self.waits.get(name).map_or(&[], Vec::as_slice)
    }

    /// What a file calls `name` when it is a package: its last path element; None for any other word.
    pub fn imported(&self, file: usize, name: &str) -> Option<&str> {
        self.imports.get(file)?.get(name).map(|path| path.rsplit('/').next().unwrap_or(""))
    }

    /// Whether a package of this name has code in the tree.
    pub fn has_package(&self, name: &str) -> bool {
        self.packages.contains(name)
    }

    /// The types that a field of this name has somewhere in the tree.
    pub fn field_types(&self, name: &str) -> &[String] {
        self.fields.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn path(&self, file: usize) -> &str {
        self.files.get(file).map_or("", String::as_str)
    }

    pub fn directory(&self, file: usize) -> &str {
        self.path(file).rsplit_once('/').map_or("", |(directory, _)| directory)
    }
}

/// What one file holds, before it has a number.
#[derive(Debug, Default)]
pub struct Part {
    pub functions: Vec<Function>,
    pub routes: Vec<Route>,
    pub aliases: Vec<(String, Alias)>,
    pub remaps: Vec<(String, Remap)>,
    pub imports: Vec<(String, String)>,
    pub fields: Vec<Typed>,
}
