//! The WebAssembly module of the web page, which is not a part of this program: `atlas` and `report` add it to their pages.

use say::Context as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The module alone, and in a script for pages opened from disk.
const NAMES: [&str; 2] = ["whichkernel.wasm", "offline.js"];

/// Larger than any module.
const MOST: u64 = 64 << 20;

/// A file's name and bytes.
pub type Part = (&'static str, Vec<u8>);

/// Reads the module from the given folder, or from the one that was installed with this program. None if neither exists.
pub fn read(given: Option<&Path>) -> say::Result<Option<Vec<Part>>> {
    let Some(dir) = given.map(Path::to_owned).or_else(installed) else { return Ok(None) };
    let read = |name: &'static str| -> say::Result<Part> {
        let path = dir.join(name);
        let mut bytes = Vec::new();
        let file = sys::regular_file::open(&path).about(path.display().to_string())?;
        file.take(MOST).read_to_end(&mut bytes).about(path.display().to_string())?;
        Ok((name, bytes))
    };
    NAMES.into_iter().map(read).collect::<say::Result<Vec<_>>>().map(Some)
}

/// Next to the program as packages install it, or as an archive is unpacked.
fn installed() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let places = ["../share/whichkernel/web", "web"].map(|place| program.parent().map(|dir| dir.join(place)));
    places.into_iter().flatten().find(|dir| dir.join(NAMES[0]).is_file())
}
