//! The conclusions about a directory: something in it serves a GPU, all of it does, or the list is complete.

use crate::directory::libraries::{Library, Survey};
use evidence::{Account, Basis, Conclusion, LeftOutWhy, Reach, Rung, Says, Unit, Witness, Word};
use gpu::Arch;
use say::Say;
use std::path::Path;

/// The observer's name in the ledger.
const NAME: &str = "inspect";

/// A kernel catalog of the directory, with the conclusion for the requested GPU.
#[derive(Debug)]
pub struct CatalogSaid<'a> {
    pub path: &'a Path,
    pub files: u64,
    /// How it serves the GPU; None if the target's files were left out when the runtime was fetched.
    pub serves: Option<Conclusion>,
}

/// A directory examined for one GPU.
#[derive(Debug)]
pub struct DirectorySurvey<'a> {
    /// The path as the user gave it.
    pub path: &'a Path,
    pub survey: &'a Survey,
    pub catalogs: Vec<CatalogSaid<'a>>,
}

impl DirectorySurvey<'_> {
    /// Covers every file in the directory. Files that could not be read or opened are listed as left out.
    fn basis(&self) -> Basis {
        let survey = self.survey;
        let in_part: u64 = survey.libraries.iter().map(|library| library.unread.len() as u64).sum();
        let catalogs: u64 = self.catalogs.iter().map(|catalog| catalog.files).sum();
        let files = survey.files + catalogs;
        let asked = files + (survey.unread.len() + survey.packs.len()) as u64;
        self.left_out(Basis::new(
            NAME,
            [self.path.to_string_lossy()],
            Rung::Shipped,
            Unit::Files,
            asked,
            files.saturating_sub(in_part),
        ))
    }

    fn left_out(&self, mut basis: Basis) -> Basis {
        let survey = self.survey;
        for unread in survey.unread.iter().chain(survey.libraries.iter().flat_map(|library| &library.unread)) {
            basis = basis.without(unread.message().to_string(), None, LeftOutWhy::Unreadable);
        }
        for (path, _) in &survey.packs {
            basis = basis.without(path.display().to_string(), None, LeftOutWhy::NotAsked);
        }
        // Every file that was read in full has a byte map; bytes that no format explains are among the unread.
        basis.account(Account::searched(Witness::ByteMap))
    }

    /// Does the list contain everything there is?
    pub fn completeness(&self) -> Conclusion {
        let mut basis = self.basis();
        if self.survey.unsearched > 0 {
            let what = "host files without device sections";
            basis = basis.without(what, Some(self.survey.unsearched), LeftOutWhy::NotAsked);
        }
        basis.completeness()
    }

    /// Would the GPU find kernels in any file of the directory?
    pub fn presence(&self) -> Conclusion {
        let mut basis = self.basis();
        let mut found = self.survey.libraries.iter().filter(|library| library.answer() == Some(true)).count() as u64;
        for library in &self.survey.libraries {
            if library.serves.is_some() && library.answer().is_none() && library.unread.is_empty() {
                basis = basis.without(library.path.display().to_string(), None, LeftOutWhy::Undetermined);
            }
        }
        for catalog in &self.catalogs {
            let name = catalog.path.display().to_string();
            match &catalog.serves {
                Some(serves) if has_any(serves) => found += 1,
                Some(serves) if serves.word() == Word::No => {}
                Some(_) => basis = basis.without(name, None, LeftOutWhy::Unreadable),
                None => basis = basis.without(name, None, LeftOutWhy::NotAsked),
            }
        }
        basis.presence(found)
    }

    /// Does every file for GPUs of this vendor serve this one? Loose objects count together, because they are sorted by
    /// target.
    pub fn service(&self, wanted: &Arch) -> Conclusion {
        let (mut asked, mut answered, mut failing) = (0, 0, 0);
        let mut take = |answer: Option<bool>| {
            asked += 1;
            answered += u64::from(answer.is_some());
            failing += u64::from(answer == Some(false));
        };
        let for_it = || self.survey.libraries.iter().filter(|library| library.is_for(wanted));
        for_it().filter(|library| library.loose.is_none()).for_each(|library| take(library.answer()));
        let loose: Vec<Option<bool>> =
            for_it().filter(|library| library.loose.is_some()).map(Library::answer).collect();
        if !loose.is_empty() {
            take(match () {
                () if loose.contains(&Some(true)) => Some(true),
                () if loose.contains(&None) => None,
                () => Some(false),
            });
        }
        let mut not_fetched = Vec::new();
        for catalog in &self.catalogs {
            match catalog.serves.as_ref().map(Conclusion::word) {
                Some(Word::Yes) => take(Some(true)),
                Some(Word::No) => take(Some(false)),
                Some(Word::Partly | Word::NotKnown) => take(None),
                None => not_fetched.push(catalog.path),
            }
        }
        let mut basis = self.left_out(Basis::new(
            NAME,
            [self.path.to_string_lossy()],
            Rung::Shipped,
            Unit::Libraries,
            asked,
            answered,
        ));
        for path in not_fetched {
            basis = basis.without(path.display().to_string(), None, LeftOutWhy::NotAsked);
        }
        basis.of_all(failing)
    }
}

/// Whether the catalog has kernels: one that serves at least in part does.
fn has_any(serves: &Conclusion) -> bool {
    !matches!(serves.says(), Says::Nothing) && serves.reach() != Reach::Unknown
}
