//! The catalog of a library in a runtime, for a card.

use crate::asked::dry::DEFAULT_RUNTIME;
use dryrun::RunRoot;
use gpu::Profile;
use runtime::catalogs::{LibraryDir, of_library};
use say::{Context as _, error};
use tensile::select::{Hardware, Library, Selector};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Blas {
    Hipblaslt,
    Rocblas,
}

impl From<Blas> for Library {
    fn from(blas: Blas) -> Library {
        match blas {
            Blas::Hipblaslt => Library::HipBlasLt,
            Blas::Rocblas => Library::RocBlas,
        }
    }
}

#[derive(Debug)]
pub struct Catalog {
    pub dir: LibraryDir,
    pub library: Library,
    /// The library's own version; None if it cannot be determined.
    pub version: Option<String>,
    pub runtime: String,
    pub profile: Profile,
}

impl Catalog {
    /// Without a runtime: Debian's, in full if it is in the cache, otherwise its catalogs alone.
    pub fn open(runtime: Option<&str>, library: Library, gpu: &str) -> say::Result<Catalog> {
        let profile = gpu::find(gpu)?;
        let full = || RunRoot::find(DEFAULT_RUNTIME).is_ok();
        let runtime = runtime.unwrap_or_else(|| if full() { DEFAULT_RUNTIME } else { "debian-sid-catalogs" });
        let place = RunRoot::find(runtime)?;
        let none = || error!("command-gemm-no-catalog", runtime, library = library.name());
        Ok(Catalog { runtime: runtime.to_owned(), ..Catalog::of(&place, library, profile)?.ok_or_else(none)? })
    }

    /// The catalog of a library in a tree, for the card that the profile describes.
    pub fn of(place: &RunRoot, library: Library, profile: Profile) -> say::Result<Option<Catalog>> {
        let root = match place {
            RunRoot::Tree { root, .. } => root.clone(),
            RunRoot::Directory { path } => path.clone(),
            RunRoot::Host => std::path::PathBuf::from("/"),
        };
        let found = of_library(&root, library.name()).about(root.display())?;
        let runtime = place.name().to_owned();
        Ok(found.map(|dir| Catalog { version: dir.version(), dir, library, runtime, profile }))
    }

    pub fn selector(&self) -> Selector<'_> {
        let hardware = Hardware {
            processor: self.profile.processor().to_owned(),
            compute_units: u64::try_from(self.profile.get("multiProcessorCount")).unwrap_or(0),
            is_apu: self.profile.get("integrated") != 0,
        };
        let selector = Selector::new(&self.dir, self.library, self.version.as_deref().unwrap_or("?"), hardware);
        if self.dir.hands_over() { selector.handing_over() } else { selector }
    }

    /// The version for display.
    pub fn version_text(&self) -> String {
        self.version.clone().unwrap_or_else(|| "?".to_owned())
    }
}
