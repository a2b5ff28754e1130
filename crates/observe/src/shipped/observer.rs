//! The observer of shipped files, for `investigate`: the files that the user named, and the GPU libraries of the
//! runtimes in the cache.

use crate::shipped::{NAME, look, runtime_of};
use crate::{Blocked, ObserveContext, Observer, Sighting};
use codeobject::TargetId;
use evidence::{FieldOfView, Rung, View};
use inventory::{DeviceCode, File};
use say::shell::CommandLine;
use say::{Say, say};
use std::fs;
use std::path::{Path, PathBuf};

/// A runtime has a few dozen libraries; a directory with more files than this was probably named by mistake.
const FILES_LIMIT: usize = 4096;

#[derive(Debug, Clone, Copy)]
pub struct ShippedFiles;

impl Observer for ShippedFiles {
    fn name(&self) -> &'static str {
        NAME
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let views = ["file.*", "bundle.*", "kernel", "kernel.*"].map(View::new).to_vec();
        vec![(Rung::Shipped, FieldOfView::new(views).reach(say!("view-files")))]
    }

    fn observe(&self, around: &ObserveContext, progress: &mut dyn FnMut(&str)) -> Result<Vec<Sighting>, Blocked> {
        let mut files = Vec::new();
        for path in around.runtimes_to_read().iter().flat_map(|installed| &installed.parts) {
            collect(path, &mut files);
        }
        files.sort();
        files.dedup();
        if files.is_empty() {
            let why = say!("observe-no-amd-runtime");
            return Err(Blocked { why, fix: "whichkernel runtime fetch debian-sid --parts ggml".to_owned() });
        }
        let target = around.scope.target.as_deref().and_then(TargetId::parse);
        let mut all = Vec::new();
        for path in files {
            progress(&path.display().to_string());
            let runtime = runtime_of(&path);
            let (_, sightings) = look(&path, runtime.as_deref(), target.as_ref(), Some(&around.asked), &around.time)
                .map_err(|error| Blocked {
                    why: error.message(),
                    fix: CommandLine::new("whichkernel inspect {}", [path.to_string_lossy()]).into(),
                })?;
            all.extend(sightings);
        }
        Ok(all)
    }
}

/// Shared libraries below a path that have device code in them or in archives next to them. Symlinks are not followed.
fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    let mut open = vec![path.to_owned()];
    let mut seen = 0;
    while let Some(path) = open.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else if metadata.is_file() && path.to_string_lossy().contains(".so") {
            seen += 1;
            if seen > FILES_LIMIT {
                return;
            }
            if has_device_code(&path) {
                files.push(path);
            }
        }
    }
}

fn has_device_code(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| {
        let code = DeviceCode::of(&file);
        code.is_amd() || code.nvidia
    })
}
