//! The machine under examination: this one, or a directory tree that represents another one.
//!
//! Every path goes through [`Host`], so the same code can examine a file tree (the `/proc`, `/sys` and `/opt` of
//! another machine). Symlinks of a tree are resolved inside it ([`Inside`]). Trials are made only on the live machine.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use sys::rooted::Inside;
use sys::unix::MetadataExt;
use sys::{abi, regular_file};

/// The maximum size to read. Files under `/proc` and `/sys` are small; of a long log, the end is read.
const MOST: u64 = 4 << 20;

/// The result of a read. Refused and absent are different results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look<T> {
    Found(T),
    Absent,
    Denied,
    Failed(String),
}

impl<T> Look<T> {
    pub fn found(&self) -> Option<&T> {
        match self {
            Look::Found(value) => Some(value),
            _ => None,
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Look<U> {
        match self {
            Look::Found(value) => Look::Found(f(value)),
            Look::Absent => Look::Absent,
            Look::Denied => Look::Denied,
            Look::Failed(why) => Look::Failed(why),
        }
    }

    pub fn denied(&self) -> bool {
        matches!(self, Look::Denied)
    }
}

impl<T> From<io::Result<T>> for Look<T> {
    fn from(result: io::Result<T>) -> Look<T> {
        match result {
            Ok(value) => Look::Found(value),
            Err(error) => match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Look::Absent,
                ErrorKind::PermissionDenied => Look::Denied,
                // The process ended while its directory was read.
                _ if error.raw_os_error() == Some(abi::ESRCH) => Look::Absent,
                _ => Look::Failed(error.to_string()),
            },
        }
    }
}

/// Serializes the value itself, or an object with the reason why there is none.
impl<T: Serialize> Serialize for Look<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        match self {
            Look::Found(value) => value.serialize(serializer),
            Look::Absent => serializer.serialize_none(),
            Look::Denied => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("unseen", "permission denied")?;
                map.end()
            }
            Look::Failed(why) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("unseen", why)?;
                map.end()
            }
        }
    }
}

schemars::by_hand! {
    /// Matches the form that [`Serialize`] above writes.
    impl<T: schemars::JsonSchema> schemars::JsonSchema for Look<T> {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            format!("LookFor{}", T::schema_name()).into()
        }

        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            let found = generator.subschema_for::<T>();
            schemars::json_schema!({
                "anyOf": [
                    found,
                    { "type": "null", "description": "Absent." },
                    {
                        "type": "object",
                        "description": "It could not be read.",
                        "properties": { "unseen": { "type": "string" } },
                        "required": ["unseen"],
                    },
                ],
            })
        }
    }
}

#[derive(Debug, Clone)]
pub struct Host {
    root: Inside,
    live: bool,
    environment: BTreeMap<String, String>,
}

impl Host {
    /// The machine that we run on.
    pub fn this() -> Host {
        let environment = std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        Host { root: Inside::new("/"), live: true, environment }
    }

    /// A tree that represents another machine, with the environment of a shell there. No trials are made on it.
    pub fn at(root: impl Into<PathBuf>, environment: BTreeMap<String, String>) -> Host {
        Host { root: Inside::new(root), live: false, environment }
    }

    pub fn live(&self) -> bool {
        self.live
    }

    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// The full path, for messages and comparisons only: a symlink in it may lead elsewhere on this machine.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.outside(path.as_ref())
    }

    fn metadata(&self, path: &Path) -> io::Result<Metadata> {
        if self.live { fs::metadata(path) } else { self.root.metadata(path) }
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.metadata(path.as_ref()).is_ok()
    }

    pub fn is_dir(&self, path: impl AsRef<Path>) -> bool {
        self.metadata(path.as_ref()).is_ok_and(|found| found.is_dir())
    }

    pub fn is_file(&self, path: impl AsRef<Path>) -> bool {
        self.metadata(path.as_ref()).is_ok_and(|found| found.is_file())
    }

    /// The permission bits of a file.
    pub fn mode(&self, path: impl AsRef<Path>) -> Option<u32> {
        self.metadata(path.as_ref()).ok().map(|found| found.mode())
    }

    /// Opens a regular file.
    pub fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        if self.live { regular_file::open(path.as_ref()) } else { self.root.open(path.as_ref()) }
    }

    /// Whether a device file can be opened for reading and writing. In a tree, only its existence is checked.
    pub fn opens(&self, path: impl AsRef<Path>) -> io::Result<()> {
        if self.live {
            return sys::trial::opens(path.as_ref());
        }
        match self.root.metadata(path.as_ref())?.is_dir() {
            true => Err(ErrorKind::IsADirectory.into()),
            false => Ok(()),
        }
    }

    /// The path with all links resolved.
    pub fn real(&self, path: impl AsRef<Path>) -> io::Result<PathBuf> {
        if self.live { path.as_ref().canonicalize() } else { self.root.resolve(path.as_ref()) }
    }

    /// The text of a small file.
    pub fn text(&self, path: impl AsRef<Path>) -> Look<String> {
        self.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn bytes(&self, path: impl AsRef<Path>) -> Look<Vec<u8>> {
        Look::from(self.start(path.as_ref()))
    }

    fn start(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.live { regular_file::start(path, MOST) } else { self.root.start(path, MOST) }
    }

    /// The text of a file below a user's directory, if that user owns it.
    pub fn text_of(&self, owner: &str, path: &str) -> Look<String> {
        let (owner, path) = (Path::new(owner), Path::new(path));
        let read = if self.live { regular_file::owned_start(owner, path, MOST) } else { self.start(path) };
        Look::from(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first line, trimmed. Most files of `/proc/sys` and `/sys` have only one.
    pub fn line(&self, path: impl AsRef<Path>) -> Look<String> {
        self.text(path).map(|text| text.lines().next().unwrap_or_default().trim().to_owned())
    }

    pub fn number(&self, path: impl AsRef<Path>) -> Look<i64> {
        match self.line(path) {
            Look::Found(line) => {
                line.parse().map_or_else(|_| Look::Failed(format!("not a number: {line}")), Look::Found)
            }
            Look::Absent => Look::Absent,
            Look::Denied => Look::Denied,
            Look::Failed(why) => Look::Failed(why),
        }
    }

    /// The names in a directory, sorted.
    pub fn names(&self, path: impl AsRef<Path>) -> Look<Vec<String>> {
        let path = path.as_ref();
        let listed = || fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>();
        let names = if self.live { listed() } else { self.root.names(path) };
        Look::from(names).map(|names| {
            let mut names: Vec<String> = names.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            names.sort_unstable();
            names
        })
    }

    /// The names in a directory; empty if it cannot be read.
    pub fn entries(&self, path: impl AsRef<Path>) -> Vec<String> {
        self.names(path).found().cloned().unwrap_or_default()
    }

    pub fn link(&self, path: impl AsRef<Path>) -> Look<String> {
        let path = path.as_ref();
        let target = if self.live { fs::read_link(path) } else { self.root.link(path) };
        Look::from(target).map(|target| target.to_string_lossy().into_owned())
    }
}

impl server::sockets::Proc for Host {
    fn text(&self, path: &str) -> Option<String> {
        Host::text(self, path).found().cloned()
    }

    fn link(&self, path: &str) -> Option<String> {
        Host::link(self, path).found().cloned()
    }

    fn names(&self, path: &str) -> Vec<String> {
        Host::names(self, path).found().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absence_and_content_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("proc/sys")).unwrap();
        fs::write(dir.path().join("proc/sys/x"), "2\n").unwrap();
        let host = Host::at(dir.path(), BTreeMap::new());
        assert_eq!(host.number("/proc/sys/x"), Look::Found(2));
        assert_eq!(host.number("/proc/sys/y"), Look::Absent);
        assert_eq!(host.names("/proc"), Look::Found(vec!["sys".to_owned()]));
    }

    #[test]
    fn a_refusal_is_written_as_unseen() {
        let json = serde_json::to_string(&Look::<u32>::Denied).unwrap();
        assert_eq!(json, r#"{"unseen":"permission denied"}"#);
        assert_eq!(serde_json::to_string(&Look::Found(7)).unwrap(), "7");
        assert_eq!(serde_json::to_string(&Look::<u32>::Absent).unwrap(), "null");
    }
}
