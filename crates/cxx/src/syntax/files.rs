//! The opened files of a tree, each lexed once, and the mapping from positions back to lines and text.

use super::lex::{Tok, lex};
use super::sym::Interner;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A range of source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, PartialOrd, Ord)]
pub struct Span {
    pub file: u16,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn of(tok: &Tok) -> Span {
        Span { file: tok.file, start: tok.off, end: tok.end() }
    }

    /// The span from the start of this one to the end of the other, in the same file.
    pub fn to(self, end: Span) -> Span {
        match end.file == self.file && end.end >= self.start {
            true => Span { end: end.end, ..self },
            false => self,
        }
    }
}

/// The files of a program, by path (with `/`, relative to one root).
pub trait Sources {
    fn has(&self, path: &str) -> bool;
    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_>;
    /// Files whose last path component is `name`, in the order of all files.
    fn named(&self, name: &str) -> Vec<&str> {
        let last = |path: &&str| path.rsplit('/').next() == Some(name);
        self.paths().filter(last).collect()
    }
    fn text(&self, path: &str) -> Result<Arc<str>, Unreadable>;
}

/// An empty set of files.
pub(crate) struct NoSources;

impl Sources for NoSources {
    fn has(&self, _: &str) -> bool {
        false
    }

    fn paths(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }

    fn text(&self, path: &str) -> Result<Arc<str>, Unreadable> {
        Err(say::say!("cxx-no-file", path))
    }
}

/// Why a file cannot be read, as worded by the implementation of [`Sources`].
pub type Unreadable = say::Message;

#[derive(Debug)]
pub enum LoadError {
    Unreadable(Unreadable),
    Conflict { path: String, line: usize },
    TooMany(usize),
}

say::worded! { LoadError {
    Unreadable(why) => why,
    Conflict { path, line } => "cxx-conflict",
    TooMany(most) => "cxx-too-many-files",
}}

#[derive(Debug, Clone)]
pub struct SourceFile {
    pub path: Arc<str>,
    pub text: Arc<str>,
    pub toks: Arc<Vec<Tok>>,
    lines: OnceLock<Vec<u32>>,
}

#[derive(Debug, Clone, Default)]
pub struct Files {
    files: Vec<SourceFile>,
    by_path: HashMap<Arc<str>, u16>,
}

const MAX_OPEN: usize = 4000;

impl Files {
    /// The index of a file, which is read and lexed on first use.
    pub fn open(&mut self, tree: &dyn Sources, path: &str, interner: &mut Interner) -> Result<u16, LoadError> {
        if let Some(&file) = self.by_path.get(path) {
            return Ok(file);
        }
        let text = tree.text(path).map_err(LoadError::Unreadable)?;
        if let Some(line) = conflict(&text) {
            return Err(LoadError::Conflict { path: path.to_owned(), line });
        }
        self.add(path, text, interner)
    }

    pub fn add(&mut self, path: &str, text: Arc<str>, interner: &mut Interner) -> Result<u16, LoadError> {
        if self.files.len() >= MAX_OPEN {
            return Err(LoadError::TooMany(MAX_OPEN));
        }
        let file = self.files.len() as u16;
        let toks = Arc::new(lex(file, &text, interner));
        self.files.push(SourceFile { path: path.into(), text, toks, lines: OnceLock::new() });
        self.by_path.insert(path.into(), file);
        Ok(file)
    }

    pub fn get(&self, file: u16) -> Option<&SourceFile> {
        self.files.get(usize::from(file))
    }

    pub fn number(&self, path: &str) -> Option<u16> {
        self.by_path.get(path).copied()
    }

    pub fn path(&self, file: u16) -> &str {
        self.get(file).map_or("?", |file| &file.path)
    }

    pub fn toks(&self, file: u16) -> Arc<Vec<Tok>> {
        self.get(file).map_or_else(Arc::default, |file| file.toks.clone())
    }

    /// The line number, starting at 1.
    pub fn line(&self, span: Span) -> usize {
        let Some(file) = self.get(span.file) else { return 0 };
        let lines =
            file.lines.get_or_init(|| memchr::memchr_iter(b'\n', file.text.as_bytes()).map(|at| at as u32).collect());
        lines.partition_point(|&newline| newline < span.start) + 1
    }

    /// The text of a span on one line, including comments, with runs of white space collapsed.
    pub fn text(&self, span: Span) -> String {
        let text = self.get(span.file).and_then(|file| file.text.get(span.start as usize..span.end as usize));
        let text = strip_comments(text.unwrap_or_default());
        text.split_whitespace().filter(|word| *word != "\\").collect::<Vec<_>>().join(" ")
    }

    /// The position as `path:line`.
    pub fn place(&self, span: Span) -> String {
        format!("{}:{}", self.path(span.file), self.line(span))
    }

    pub fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }
}

fn strip_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        out.push_str(rest.get(..at).unwrap_or_default());
        let tail = rest.get(at..).unwrap_or_default();
        let close = if tail.starts_with("/*") { tail.find("*/").map(|end| end + 2) } else { tail.find('\n') };
        rest = close.and_then(|end| tail.get(end..)).unwrap_or_default();
        out.push(' ');
    }
    out.push_str(rest);
    out
}

fn conflict(text: &str) -> Option<usize> {
    let marker = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") || line == "=======";
    if memchr::memmem::find(text.as_bytes(), b"\n<<<<<<< ").is_none() && !text.starts_with("<<<<<<< ") {
        return None;
    }
    text.lines().position(marker).map(|line| line + 1)
}
