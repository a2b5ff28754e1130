//! Whether a host file has device code, in itself or elsewhere. Uses only its headers, without reading the code.

use crate::file::File;
use crate::kpack::{archives_of, entries_of};
use crate::sniff::{Contents, contents};
use codeobject::kpack::{Environment, Reference};
use codeobject::nvidia;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The vendors whose device code a host file has or refers to.
#[derive(Debug, Clone, Default)]
pub struct DeviceCode {
    /// AMD's device code in the file itself.
    pub amd: bool,
    /// AMD's device code in archives next to the file.
    pub packed: Option<Packed>,
    pub nvidia: bool,
}

impl DeviceCode {
    /// Empty for a file that is unreadable or not a host file.
    pub fn of(file: &File) -> Self {
        let (amd, reference) = match contents(file) {
            Ok(Contents::Host { elf, fatbins }) => (!fatbins.is_empty(), Reference::of_elf(&elf)),
            Ok(Contents::Windows { pe, fatbins }) => (!fatbins.is_empty(), Reference::of_pe(file, &pe)),
            _ => return DeviceCode::default(),
        };
        let nvidia = nvidia::host_sections(file).is_ok_and(|sections| !sections.is_empty());
        let packed = reference.and_then(Result::ok).map(|reference| Packed { library: file.path().into(), reference });
        DeviceCode { amd, packed, nvidia }
    }

    pub fn is_amd(&self) -> bool {
        self.amd || self.packed.is_some()
    }
}

/// A library whose device code was moved out of it.
#[derive(Debug, Clone)]
pub struct Packed {
    pub library: PathBuf,
    pub reference: Reference,
}

impl Packed {
    /// The existing archives, in the order of the runtime.
    pub fn archives(&self, environment: &Environment) -> Vec<PathBuf> {
        archives_of(&self.reference, &self.library, environment)
    }

    /// The targets for which the archives have code of this library; an unreadable archive has none.
    pub fn targets(&self, environment: &Environment) -> BTreeSet<String> {
        let archives = self.archives(environment);
        let entries = archives.iter().filter_map(|path| entries_of(path, &self.reference).ok());
        entries.flatten().map(|entry| entry.target).collect()
    }
}
