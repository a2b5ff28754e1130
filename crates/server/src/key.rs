//! An API key: read from a variable or a private file, sent to one server, never shown.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use sys::regular_file;
use sys::unix::MetadataExt;

/// A size limit; keys are far shorter.
const MOST: u64 = 8 << 10;

/// The key implements neither `Display` nor `Serialize`: only [`crate::Endpoint`] can send it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

#[derive(Debug)]
pub enum KeyError {
    Unset { name: String },
    Shape { place: String },
    Io { path: PathBuf, source: std::io::Error },
    Readable { path: PathBuf, mode: u32 },
}

say::worded! { KeyError {
    Unset { name } => "server-key-unset",
    Shape { place } => "server-key-shape",
    Io { path, source } => "about-why" (what = path, why = source),
    Readable { path, mode } => "server-key-readable" (path, mode = format!("{mode:03o}")),
}}

impl Key {
    pub fn from_env(name: &str) -> Result<Key, KeyError> {
        let value = std::env::var_os(name).ok_or_else(|| KeyError::Unset { name: name.to_owned() })?;
        Key::new(&value.to_string_lossy(), name)
    }

    pub fn from_file(path: &Path) -> Result<Key, KeyError> {
        let failed = |source| KeyError::Io { path: path.to_owned(), source };
        let file = regular_file::open(path).map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.mode() & 0o777;
        if mode & 0o044 != 0 {
            return Err(KeyError::Readable { path: path.to_owned(), mode });
        }
        let mut text = String::new();
        file.take(MOST).read_to_string(&mut text).map_err(failed)?;
        Key::new(&text, &path.display().to_string())
    }

    /// The key is written into a request header, so it must not contain a line break.
    fn new(text: &str, place: &str) -> Result<Key, KeyError> {
        let text = text.trim();
        let plain = !text.is_empty() && text.len() as u64 <= MOST && text.bytes().all(|byte| byte.is_ascii_graphic());
        if plain { Ok(Key(text.to_owned())) } else { Err(KeyError::Shape { place: place.to_owned() }) }
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Removes the key from a text, because a server may echo it.
    pub(crate) fn hide(&self, text: String) -> String {
        if text.contains(&self.0) { text.replace(&self.0, "[redacted]") } else { text }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key([redacted])")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_file_is_private_and_holds_one_word() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let read = |text: &str, mode: u32| {
            write(&path, text).unwrap();
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            Key::from_file(&path)
        };
        assert_eq!(read("sk-123\n", 0o600).unwrap(), Key("sk-123".into()));
        assert!(matches!(read("sk-123\n", 0o640), Err(KeyError::Readable { mode: 0o640, .. })));
        assert!(matches!(read("sk-123\n", 0o604), Err(KeyError::Readable { .. })));
        for wrong in ["", "a b", "a\r\nX: y", "schlüssel"] {
            assert!(matches!(read(wrong, 0o600), Err(KeyError::Shape { .. })), "{wrong:?}");
        }
        assert!(matches!(Key::from_file(dir.path()), Err(KeyError::Io { .. })), "no regular file");
        assert!(matches!(Key::from_env("WHICHKERNEL_NO_SUCH_KEY"), Err(KeyError::Unset { .. })));
    }

    #[test]
    fn it_is_shown_to_nobody() {
        let key = Key::new("sk-123", "here").unwrap();
        assert_eq!(format!("{key:?}"), "Key([redacted])");
        assert_eq!(key.hide("you sent sk-123".into()), "you sent [redacted]");
        let error = Key::new("sk 123", "here").unwrap_err();
        assert!(!error.to_string().contains("123"), "{error}");
    }
}
