//! The observer `isa`: counts the instructions of the libraries that an investigation names.

use crate::census::record::{TOPIC, observations};
use crate::{Blocked, ObserveContext, Observer, Sighting};
use codeobject::TargetId;
use evidence::{FieldOfView, Rung, Subject};
use findings::census::{By, Groups};
use findings::census::{Census, Select};
use inventory::{File, Options, inspect};
use say::{Message, Say, say};
use std::fs;
use std::path::{Path, PathBuf};

/// Counts instructions in libggml-hip and in rocBLAS' helper kernels, or in the file that the investigation is about.
#[derive(Debug, Clone, Copy, Default)]
pub struct Isa;

impl Observer for Isa {
    fn name(&self) -> &'static str {
        "isa"
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let reach = say!("view-isa-runtime");
        vec![(Rung::Shipped, FieldOfView::topic(TOPIC).reach(reach))]
    }

    fn observe(&self, around: &ObserveContext, progress: &mut dyn FnMut(&str)) -> Result<Vec<Sighting>, Blocked> {
        let files = candidates(around);
        if files.is_empty() {
            return Err(Blocked {
                why: say!("observe-no-hip-library"),
                fix: "whichkernel runtime fetch debian-sid".into(),
            });
        }
        let mut sightings = Vec::new();
        let mut refused = Vec::new();
        for (runtime, path) in files {
            progress(&format!("isa: {}", path.display()));
            match self.count(&path, runtime.as_deref(), around) {
                Ok(seen) => sightings.extend(seen),
                Err(why) => refused.push(say!("about-why", what = path, why)),
            }
        }
        if sightings.is_empty() {
            let fix = "whichkernel isa FILE says more about each".to_owned();
            let why = say::listed(refused).unwrap_or_else(|| say!("observe-no-target-code"));
            return Err(Blocked { why, fix });
        }
        Ok(sightings)
    }
}

impl Isa {
    fn count(&self, path: &Path, runtime: Option<&str>, around: &ObserveContext) -> Result<Vec<Sighting>, Message> {
        let file = File::open(path).map_err(|error| error.message())?;
        let target = around.scope.target.as_deref().and_then(TargetId::parse);
        // The field notes count per bundle; without a target that would give a thousand groups.
        let by = if target.is_some() { By::Bundle } else { By::Target };
        let look = Census::new(Select { target, kernel: None }, by);
        let mut groups = Groups::new(path.to_string_lossy(), by);
        let report = inspect(&file, &Options::all(), true, &look, |_, objects| {
            for object in &objects {
                groups.add(object, &look.select);
            }
            Ok::<(), std::convert::Infallible>(())
        });
        let Ok(report) = report;
        let sha256 = report.sha256.ok_or_else(|| say!("observe-not-read-to-end"))?;
        for problem in report.all_problems() {
            groups.unread.push(crate::census::Unread { what: say!("missed-file").into(), why: problem.message() });
        }
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let mut subject = Subject::file(name, sha256.to_string());
        if let Some(runtime) = runtime {
            subject = subject.runtime(runtime);
        }
        let seen = observations(&groups, &subject, &self.id(), &around.time).map_err(|error| error.message())?;
        Ok(seen.into_iter().map(Sighting::from).collect())
    }
}

/// The runtime's name, if it has one, and the file.
fn candidates(around: &ObserveContext) -> Vec<(Option<String>, PathBuf)> {
    let mut found = Vec::new();
    for installed in around.runtimes_to_read() {
        let files = installed.parts.iter().flat_map(|part| below(part)).filter(|file| wanted(file, around));
        found.extend(files.map(|file| (installed.name.clone(), file)));
    }
    found
}

fn wanted(file: &Path, around: &ObserveContext) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(asked) = &around.scope.file {
        return *asked == name;
    }
    let target = around.scope.target.as_deref().unwrap_or_default();
    let helpers = name.starts_with("Kernels.so-000-") && name.contains(target);
    name == "libggml-hip.so" || helpers
}

/// Files below a directory. Symlinks are not followed, because a runtime's symlinks point to its own files.
fn below(place: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut todo = vec![place.to_owned()];
    while let Some(path) = todo.pop() {
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => {
                todo.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
            Ok(metadata) if metadata.is_file() => files.push(path),
            _ => {}
        }
    }
    files.sort();
    files
}
