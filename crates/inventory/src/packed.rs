//! Has a host file device code, of its own or elsewhere? Told by its headers, without reading the code.

use crate::file::File;
use crate::kpack::{archives_of, entries_of};
use crate::sniff::{Contents, contents};
use codeobject::kpack::{Environment, Reference};
use codeobject::nvidia;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Whose device code a host file has or names.
#[derive(Debug, Clone, Default)]
pub struct DeviceCode {
    /// AMD's, in the file itself.
    pub amd: bool,
    /// AMD's, in archives beside the file.
    pub packed: Option<Packed>,
    pub nvidia: bool,
}

impl DeviceCode {
    /// Nothing for a file that is not a host file, or is unreadable.
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

/// A library whose device code was taken out of it.
#[derive(Debug, Clone)]
pub struct Packed {
    pub library: PathBuf,
    pub reference: Reference,
}

impl Packed {
    /// The archives that are there, in the order of the runtime.
    pub fn archives(&self, environment: &Environment) -> Vec<PathBuf> {
        archives_of(&self.reference, &self.library, environment)
    }

    /// The targets that the archives have code of this library for; an archive that cannot be read has none.
    pub fn targets(&self, environment: &Environment) -> BTreeSet<String> {
        let archives = self.archives(environment);
        let entries = archives.iter().filter_map(|path| entries_of(path, &self.reference).ok());
        entries.flatten().map(|entry| entry.target).collect()
    }
}
