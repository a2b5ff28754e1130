//! The observer for `investigate`: the runtimes in the cache and the directories that the user named.

use crate::libraries::{NAME, catalog, needed};
use crate::{Blocked, ObserveContext, Observer, Sighting};
use evidence::{FieldOfView, Rung, View};
use runtime::{
    Cache, Index, catalogs,
    installed::Installed,
    library_names,
    linkage::{Chain, Inside, Search},
};
use say::shell::CommandLine;
use say::{Message, Say, say};
use std::{
    fs,
    path::{Path, PathBuf},
};
use tensile::serve;

#[derive(Debug, Clone, Copy)]
pub struct RuntimeLibraries;

impl Observer for RuntimeLibraries {
    fn name(&self) -> &'static str {
        NAME
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let views = ["library.needs", "library.chain", "catalog.file", "catalog.files", "catalog.serves"];
        let reach = say!("view-libraries");
        vec![(Rung::Shipped, FieldOfView::new(views.map(View::new).to_vec()).reach(reach))]
    }

    fn observe(&self, around: &ObserveContext, progress: &mut dyn FnMut(&str)) -> Result<Vec<Sighting>, Blocked> {
        let cache = Cache::from_env();
        let dirs: Vec<Installed> = around.runtimes().into_iter().filter(|one| one.path.is_dir()).collect();
        if dirs.is_empty() {
            let why = say!("observe-no-runtime");
            return Err(Blocked { why, fix: "whichkernel runtime fetch debian-sid --parts ggml,rocblas".to_owned() });
        }
        let mut all = Vec::new();
        for Installed { name: runtime, path: dir, .. } in dirs {
            let blocked = |why: Message| Blocked {
                why,
                fix: CommandLine::new("whichkernel inspect {} --record", [dir.to_string_lossy()]).into(),
            };
            progress(&dir.display().to_string());
            let whole = Inside::new(if dir.join("usr/lib").is_dir() { dir.clone() } else { PathBuf::from("/") });
            let search = Search::new(whole, "");
            let chains: Vec<Chain> =
                backends(&dir, search.inside.root()).iter().map(|path| Chain::of(&search, path, &[])).collect();
            let seen = needed(&search, &chains, runtime.as_deref(), &around.time);
            all.extend(seen.map_err(|error| blocked(error.message()))?);
            let found = match catalogs::find(&dir) {
                Ok(found) => found,
                Err(error) if around.paths.contains(&dir) => return Err(blocked(error.message())),
                // The directory was discovered, not named by the user: the directory of a process may have been removed
                // since.
                Err(_) => continue,
            };
            for found in found {
                // Files that a fetch left out show nothing about the package.
                let there = |target: &&str| {
                    Index::read(&cache.runtime(runtime.as_deref().unwrap_or_default())).map_or(true, |index| {
                        index.targets.is_empty() || index.targets.iter().any(|known| known == target)
                    })
                };
                let target = around.scope.target.as_deref().filter(there);
                let service = target.map(|target| serve(&found, target, &mut |name| progress(name)));
                let seen = catalog(&found, runtime.as_deref(), target, service.as_ref(), &around.time);
                all.extend(seen.map_err(|error| blocked(error.message()))?);
            }
        }
        Ok(all)
    }
}

/// ggml's GPU backends below a directory, as paths relative to the root in which they are looked up.
fn backends(dir: &Path, root: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut queue = vec![dir.to_owned()];
    while let Some(dir) = queue.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => queue.push(path),
                Ok(kind)
                    if kind.is_file()
                        && matches!(library_names::part(&name.to_string_lossy()), Some("ggml-hip" | "ggml-cuda")) =>
                {
                    let inside = path.strip_prefix(root).map_or(path.clone(), |rest| Path::new("/").join(rest));
                    out.push(inside);
                }
                _ => {}
            }
        }
    }
    out.sort();
    out
}
