//! The machine under examination: this one, or a directory tree that stands for another.
//!
//! Every path goes through [`Host::path`], so that a tree of files (the `/proc`, `/sys` and `/opt` of a machine that
//! is not here) can be examined by the same code. Trials are made on the live machine alone.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use sys::abi;

/// Files under `/proc` and `/sys` are small; a log may be long, and its end is what counts there.
const MOST: u64 = 4 << 20;

/// What came of looking: refusal and absence are different answers.
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
                // A process that ended while its directory was read.
                _ if error.raw_os_error() == Some(abi::ESRCH) => Look::Absent,
                _ => Look::Failed(error.to_string()),
            },
        }
    }
}

/// A value as itself; otherwise an object that says what came of looking.
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
    /// As [`Serialize`] above writes it.
    impl<T: schemars::JsonSchema> schemars::JsonSchema for Look<T> {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            format!("LookFor{}", T::schema_name()).into()
        }

        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            let found = generator.subschema_for::<T>();
            schemars::json_schema!({
                "anyOf": [
                    found,
                    { "type": "null", "description": "It is not there." },
                    {
                        "type": "object",
                        "description": "Nobody could look.",
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
    root: PathBuf,
    live: bool,
    environment: BTreeMap<String, String>,
}

impl Host {
    /// The machine that we run on.
    pub fn this() -> Host {
        let environment = std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        Host { root: PathBuf::from("/"), live: true, environment }
    }

    /// A tree that stands for another machine, with the environment of a shell there. Nothing is tried on it.
    pub fn at(root: impl Into<PathBuf>, environment: BTreeMap<String, String>) -> Host {
        Host { root: root.into(), live: false, environment }
    }

    pub fn live(&self) -> bool {
        self.live
    }

    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }

    /// The text of a small file.
    pub fn text(&self, path: impl AsRef<Path>) -> Look<String> {
        self.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn bytes(&self, path: impl AsRef<Path>) -> Look<Vec<u8>> {
        Look::from(sys::regular_file::start(&self.path(path), MOST))
    }

    /// The text of a file below a directory of somebody's, if it is theirs.
    pub fn text_of(&self, owner: &str, path: &str) -> Look<String> {
        let read = sys::regular_file::owned_start(&self.path(owner), &self.path(path), MOST);
        Look::from(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first line, trimmed: most of `/proc/sys` and `/sys`.
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
        let read = || {
            let mut names = Vec::new();
            for entry in fs::read_dir(self.path(path))? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
            names.sort_unstable();
            Ok(names)
        };
        Look::from(read())
    }

    /// The names in a directory, or none where it cannot be read.
    pub fn entries(&self, path: impl AsRef<Path>) -> Vec<String> {
        self.names(path).found().cloned().unwrap_or_default()
    }

    pub fn link(&self, path: impl AsRef<Path>) -> Look<String> {
        Look::from(fs::read_link(self.path(path))).map(|target| target.to_string_lossy().into_owned())
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
