//! One run: installs the stand-ins, starts the program, reads its records back.

use crate::ending::{Ending, Finish, ending};
use crate::error::{DryrunError, io_at};
use crate::kernels::Described;
use crate::late_code::Unjudged;
use crate::loaded::Loaded;
use crate::products::Account;
use crate::program_file::{check_program, inside, seen_at};
use crate::run_records::{Counted, collect, products_in, texts};
use crate::sandbox::Enter;
use crate::surroundings::Environment;
use crate::visible::{Started, VisibleDevices};
use crate::wait::wait;
use crate::{RunRoot, cuda, device, images, late_code, machine, solutions};
use gpu::{Arch, Profile};
use launch::nullgpu_input::{COUNTS, COUNTS_SIZE, DIRECTORY};
use launch::table::KernelTable;
use launch::tables::Tables;
use launch::trace::Trace;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use sys::files::{self, Access};
use sys::guard::GroupGuard;
use sys::on_path;
use sys::private_dir::{SessionDir, put};

/// The BLAS library that the program gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blas {
    /// A stand-in that records each call. The answer then ends at "BLAS call with m, n, k".
    Recorded,
    /// The runtime's own hipBLAS, which calls rocBLAS. Each call is recorded first.
    Real,
    /// Each call is recorded, and the same product is passed to the runtime's hipBLASLt.
    Lt,
    /// The runtime's own BLAS first, then hipBLASLt.
    Both,
}

impl Blas {
    pub fn rocblas(self) -> bool {
        matches!(self, Blas::Real | Blas::Both)
    }

    pub fn hipblaslt(self) -> bool {
        matches!(self, Blas::Lt | Blas::Both)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// The program's output goes to our standard error, so that standard output contains only the answer.
    Shown,
    Captured,
}

#[derive(Debug)]
pub struct Request<'a> {
    pub place: &'a RunRoot,
    pub profiles: &'a [Profile],
    pub described: &'a Described,
    pub strict: bool,
    pub command: &'a [OsString],
    /// Directories and files that the program must see at their own paths.
    pub show: &'a [PathBuf],
    pub blas: Blas,
    pub streams: Streams,
    /// Whether the preload shim observes too, for comparing the two records.
    pub preload: bool,
    /// Whether the model is a skeleton. Mapping it must not fill memory with zeros.
    pub sparse_read: bool,
    /// Variables that are set for the program in addition to the inherited environment.
    pub variables: &'a [(String, String)],
}

#[derive(Debug)]
pub struct Outcome {
    pub ending: Ending,
    /// The signal that asked us to stop. It was passed on to the program. The results up to that point are included.
    pub interrupted: Option<i32>,
    /// The program's output, if captured.
    pub said: String,
    /// One per process that called HIP, in the order of their start.
    pub traces: Vec<Trace>,
    /// The records of the preload shim.
    pub seen: Vec<Trace>,
    /// The known facts about the kernels, for each device.
    pub tables: Tables,
    /// Files that loaded images came from, by the hash of their content.
    pub images: HashMap<u64, String>,
    /// The computed graphs, if requested by [`GRAPHS`], in the format that `source --graph` reads.
    pub graphs: String,
    /// Solution numbers of BLAS kernels, by their names.
    pub solutions: HashMap<String, Vec<i64>>,
    /// The products of the graphs that each process computed, if requested by [`PRODUCTS`].
    pub products: Account,
    /// Files whose code the stand-in accepted without knowing whether it fits the device, with their targets and
    /// launches.
    pub unjudged: Vec<Unjudged>,
    /// Kernels of images that the program compiled or unpacked, and loaded, itself.
    pub loaded: Loaded,
    /// The stand-in's counts, including records that it could not write; None if there was no counter page.
    pub counted: Option<Counted>,
    /// The caller's variables that the program did not get.
    pub withheld: Vec<String>,
    /// Set if variables of the caller hide devices.
    pub visible: Option<VisibleDevices>,
}

impl Outcome {
    /// Records that did not fit or were never finished, according to the traces or to the stand-in's own count.
    pub fn lost(&self) -> u64 {
        let told: u64 = self.traces.iter().map(|trace| trace.lost + trace.torn).sum();
        told.max(self.counted.as_ref().map_or(0, |counted| counted.beyond(&self.traces)))
    }

    /// How far the program got. A program that was told to stop and exited normally (a server) has finished. A program
    /// that the signal killed has not.
    pub fn finish(&self) -> Finish {
        Finish::of(self.interrupted, self.ending)
    }

    /// Whether HIP was called but no record could be started.
    pub fn is_unrecorded(&self) -> bool {
        self.traces.is_empty() && self.counted.as_ref().is_some_and(|counted| counted.processes() > 0)
    }
}

/// One of [`Request::variables`], with any value: records the graphs that the program computes.
pub const GRAPHS: &str = "WHICHKERNEL_GRAPHS";

/// A name for [`Request::variables`]: with any value, the products of every graph are counted, as a second account of
/// the launches.
pub const PRODUCTS: &str = "WHICHKERNEL_PRODUCTS";

/// A program that is running on the stand-in.
#[derive(Debug)]
pub struct Running {
    child: Child,
    program: OsString,
    session_dir: SessionDir,
    _guard: GroupGuard,
    table: Vec<u8>,
    place: RunRoot,
    /// The target of each device.
    targets: Vec<Arch>,
    withheld: Vec<String>,
    visible: Option<VisibleDevices>,
}

impl Running {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The directory that the stand-ins and the shims write to.
    pub fn directory(&self) -> &Path {
        self.session_dir.inner()
    }

    /// Asks a server to exit, as a service manager would.
    pub fn stop(&self) {
        let _ = sys::host::signal(self.child.id(), sys::abi::SIGTERM);
    }

    /// Waits for the end and reads the records.
    pub fn finish(self) -> Result<Outcome, DryrunError> {
        let ended = wait(self.child, &self.program)?;
        let (traces, seen) = collect(self.session_dir.inner())?;
        let tables = Tables::parse(&self.table).unwrap_or_default();
        let images = images::name(&self.place, &traces);
        let solutions = solutions::numbers(&self.place, &traces, &images);
        let (ending, interrupted, said) = (ending(ended.status), ended.interrupted, ended.said);
        let directory = self.session_dir.inner();
        let graphs = texts(directory, "graph.")?.into_values().collect();
        let products = products_in(directory)?;
        let unjudged = late_code::of((&self.place, directory), &traces, &tables, &images, &self.targets);
        let mut loaded = cuda::loaded(&self.place, directory, &traces);
        loaded.extend(images::kernels(directory, &traces, &self.targets));
        let page = sys::regular_file::whole(&directory.join(COUNTS), COUNTS_SIZE as u64);
        let counted = page.ok().and_then(|page| Counted::parse(&page));
        Ok(Outcome {
            ending,
            interrupted,
            said,
            traces,
            seen,
            tables,
            images,
            graphs,
            solutions,
            products,
            unjudged,
            loaded,
            counted,
            withheld: self.withheld,
            visible: self.visible,
        })
    }
}

impl Request<'_> {
    /// Runs the program to its end.
    pub fn run(&self) -> Result<Outcome, DryrunError> {
        self.spawn()?.finish()
    }

    /// Starts the program.
    pub fn spawn(&self) -> Result<Running, DryrunError> {
        let base = std::env::temp_dir();
        let session_dir = SessionDir::new("dryrun", &base).map_err(io_at(base))?;
        let directory = session_dir.inner();
        let libraries = session_dir.outer().join("lib");
        self.lay_out(directory, &libraries)?;
        let program = self.located();
        let mut command = sys::program::given(&program);
        command.args(self.command.iter().skip(1).map(|word| self.argument(word)));
        let environment = Environment::of(std::env::vars_os(), self.root());
        let home = session_dir.home().map_err(io_at(directory))?;
        environment.give(&mut command, &home, self.root());
        self.environment(&mut command, directory, &libraries);
        self.blas_behind(&mut command)?;
        connect(self.streams, &mut command)?;
        // The program gets a separate process group. We pass signals on to it, and it is killed if we are.
        let guard = GroupGuard::new().map_err(io_at("a process that waits"))?;
        guard.enter_before_exec(&mut command);
        let child = self.start(&mut command, &session_dir, (&program, &environment.named))?;
        let (table, place) = (self.described.table.clone(), self.place.clone());
        let targets = self.profiles.iter().filter_map(Profile::arch).collect();
        let started = Started { cuda: self.is_cuda(), devices: self.profiles.len(), variables: self.variables };
        let visible = started.visible_devices(|name| environment.passed.get(OsStr::new(name)).cloned());
        let withheld = environment.withheld;
        Ok(Running { child, program, session_dir, _guard: guard, table, place, targets, withheld, visible })
    }

    /// The tree that the program runs in.
    pub(crate) fn root(&self) -> Option<&Path> {
        match self.place {
            RunRoot::Tree { root, .. } => Some(root),
            _ => None,
        }
    }

    /// An argument as the program gets it. Files that are made visible to the program have the path at which it sees
    /// them.
    fn argument(&self, word: &OsStr) -> OsString {
        let RunRoot::Tree { root, .. } = self.place else { return word.to_owned() };
        let path = std::path::absolute(word).unwrap_or_default();
        if self.show.iter().any(|shown| path.starts_with(shown)) && path.exists() {
            return seen_at(root, &path).into_os_string();
        }
        word.to_owned()
    }

    /// The path of the program, which may be in the directory of libraries.
    fn located(&self) -> OsString {
        let program = self.command.first().cloned().unwrap_or_default();
        match self.place {
            RunRoot::Directory { path } => {
                let beside = [path.join(&program), path.join("bin").join(&program)];
                beside.into_iter().find(|path| path.is_file()).map_or(program, PathBuf::into_os_string)
            }
            // A program of this machine with the libraries of the tree. It is visible inside at its own path.
            RunRoot::Tree { root, .. } if inside(root, &program).is_none() && Path::new(&program).is_file() => {
                fs::canonicalize(&program).map_or(program, PathBuf::into_os_string)
            }
            _ => program,
        }
    }

    fn lay_out(&self, directory: &Path, libraries: &Path) -> Result<(), DryrunError> {
        files::create_dir(libraries, Access::Public).map_err(io_at(libraries))?;
        let write = |path: PathBuf, bytes: &[u8]| put(&path, bytes).map_err(io_at(path));
        write(directory.join("device"), &device::file(self.profiles, self.strict, self.cuda_release()?)?)?;
        write(directory.join("kernels"), &self.described.table)?;
        write(directory.join(COUNTS), &[0; COUNTS_SIZE])?;
        for soname in ["libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"] {
            write(libraries.join(soname), embedded_shims::nullgpu(soname).unwrap_or_default())?;
        }
        if !self.is_cuda() {
            // libhiprtc opens the name without a number.
            let named = self.hip().unwrap_or("libamdhip64.so.7");
            write(libraries.join("libamdhip64.so"), embedded_shims::nullgpu(named).unwrap_or_default())?;
            machine::lay_out(libraries, self.profiles)?;
        }
        write(libraries.join("libwhichkernel-preload.so"), embedded_shims::PRELOAD)?;
        if self.preload {
            let tables = Tables::parse(&self.described.table).unwrap_or_default();
            let none = KernelTable::default();
            let list = self.place.libraries(self.blas == Blas::Real, None).unwrap_or_default();
            write(
                directory.join(launch::preload_input::FILE),
                &watch::preload::layouts(tables.first().unwrap_or(&none), &list),
            )?;
        }
        write(libraries.join("libwhichkernel-sparse-read.so"), embedded_shims::SPARSE_READ)?;
        write(libraries.join("libwhichkernel-graph.so"), embedded_shims::GRAPH)?;
        if self.is_cuda() {
            return cuda::lay_out(self.profiles, directory, libraries);
        }
        if self.keeps_blas() {
            return Ok(());
        }
        let front: &[&str] = &["libhipblas.so.0", "libhipblas.so.1", "libhipblas.so.2", "libhipblas.so.3"];
        write(libraries.join("librocsolver.so.0"), embedded_shims::NULLSOLVER)?;
        // ROCm 5 has .so.3, Debian's build of it .so.0.
        let all: &[&str] = &["librocblas.so.0", "librocblas.so.3", "librocblas.so.4", "librocblas.so.5"];
        let behind = if self.blas.rocblas() { &[] } else { all };
        for name in front {
            write(libraries.join(name), embedded_shims::NULLBLAS)?;
        }
        for name in behind {
            write(libraries.join(name), embedded_shims::NULLROCBLAS)?;
        }
        Ok(())
    }

    /// Whether the program keeps the BLAS libraries that it has. The recording stand-ins have the functions that ggml
    /// calls; other programs call more of them.
    fn keeps_blas(&self) -> bool {
        let has_real = || ["librocblas.so.", "libhipblas.so."].iter().any(|start| self.place.library(start).is_some());
        self.blas == Blas::Recorded && has_real() && !self.place.has_ggml(self.command.first().map(Path::new))
    }

    fn environment(&self, command: &mut Command, directory: &Path, libraries: &Path) {
        let mut path = libraries.as_os_str().to_owned();
        let mut add = |more: &OsStr| {
            path.push(":");
            path.push(more);
        };
        if let RunRoot::Directory { path } = self.place {
            add(path.as_os_str());
        }
        if let (Some(inherited), None) = (std::env::var_os("LD_LIBRARY_PATH"), self.root()) {
            add(&inherited);
        }
        self.compilers().iter().for_each(|directory| add(directory.as_os_str()));
        // Debian's reference BLAS and LAPACK, which an installed system reaches by links (update-alternatives).
        for directory in ["/usr/lib/x86_64-linux-gnu/blas", "/usr/lib/x86_64-linux-gnu/lapack"] {
            if self.root().is_some_and(|root| root.join(directory.trim_start_matches('/')).is_dir()) {
                add(OsStr::new(directory));
            }
        }
        // Programs put their own directories first (Ollama does), but a preloaded library with the right SONAME takes
        // precedence.
        let mut names = if self.is_cuda() { cuda::preloads() } else { self.hip().into_iter().collect() };
        if self.preload {
            names.insert(0, "libwhichkernel-preload.so");
            command.env("WHICHKERNEL_PRELOAD", directory);
        }
        if self.sparse_read {
            names.push("libwhichkernel-sparse-read.so");
        }
        let wanted: Vec<&str> = [GRAPHS, PRODUCTS]
            .into_iter()
            .filter(|wanted| self.variables.iter().any(|(name, _)| name == wanted))
            .collect();
        if !wanted.is_empty() {
            // This library must come before the stand-in, because it examines readbacks.
            names.insert(0, "libwhichkernel-graph.so");
        }
        let mut preload: Vec<OsString> = names.iter().map(|name| libraries.join(name).into()).collect();
        // If a preload watch observes this process, pass its shim on to the program that we start.
        if let Some(watched) = watched().filter(|_| !self.preload) {
            preload.insert(0, watch::preload::library(&watched).into());
            let limit = std::env::var_os(watch::preload::LIMIT_VARIABLE).unwrap_or_default();
            command.env(watch::preload::DIRECTORY_VARIABLE, watched).env(watch::preload::LIMIT_VARIABLE, limit);
        }
        if self.is_cuda() {
            // Triton looks for the driver in the system's cache of libraries, unless it is told where it is.
            command.env("TRITON_LIBCUDA_PATH", libraries);
        }
        let preload = preload.join(OsStr::new(":"));
        command.env("LD_LIBRARY_PATH", path).env("LD_PRELOAD", preload).env(DIRECTORY, directory);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.envs(wanted.into_iter().map(|name| (name, directory)));
    }

    /// Sets the paths of the real libraries as the program sees them. The stand-in forwards calls to them.
    fn blas_behind(&self, command: &mut Command) -> Result<(), DryrunError> {
        let lanes = [
            (self.blas.rocblas(), "WHICHKERNEL_HIPBLAS", "libhipblas.so."),
            (self.blas.hipblaslt(), "WHICHKERNEL_HIPBLASLT", "libhipblaslt.so."),
        ];
        for (_, variable, library) in lanes.into_iter().filter(|lane| lane.0) {
            let found = self.place.library(library);
            let missing = || DryrunError::NoBlas { place: self.place.name(), library: library.trim_end_matches('.') };
            command.env(variable, found.ok_or_else(missing)?);
        }
        Ok(())
    }

    /// `named`: directories that variables of the program name.
    fn start(
        &self,
        command: &mut Command,
        session_dir: &SessionDir,
        (program, named): (&OsStr, &[PathBuf]),
    ) -> Result<Child, DryrunError> {
        let name = program.to_string_lossy().into_owned();
        if let RunRoot::Tree { root, .. } = self.place {
            let mut enter = self.machine(Enter::new(root).bind(session_dir.outer()), session_dir)?;
            if let Some(watched) = watched().as_deref().and_then(Path::parent) {
                enter = enter.bind(watched);
            }
            let found = match (inside(root, program), Path::new(program)) {
                (Some(found), _) => found,
                (None, here) if here.is_absolute() && here.is_file() => {
                    enter = enter.bind_read_only(here);
                    here.to_owned()
                }
                _ => return Err(DryrunError::NoProgramInside { program: name }),
            };
            check_program(&found, root)?;
            for path in self.show.iter().chain(named) {
                enter = enter.bind_as(path, seen_at(root, path), false);
            }
            return Ok(enter.spawn(command)?);
        }
        let found = on_path(program).ok_or(DryrunError::NoProgram { program: name.clone() })?;
        check_program(&found, Path::new("/"))?;
        if let Some(enter) = self.machine_here(session_dir)? {
            return Ok(enter.spawn(command)?);
        }
        command.spawn().map_err(|source| DryrunError::Start { program: name, source })
    }
}

/// Connects the program's streams.
pub(crate) fn connect(streams: Streams, command: &mut Command) -> Result<(), DryrunError> {
    command.stdin(Stdio::null());
    match streams {
        Streams::Captured => {
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        Streams::Shown => {
            let copy = sys::host::standard_error().map_err(io_at("standard error"))?;
            command.stdout(copy).stderr(Stdio::inherit());
        }
    }
    Ok(())
}

/// The directory of a preload watch that observes this process.
fn watched() -> Option<PathBuf> {
    let directory = PathBuf::from(std::env::var_os(watch::preload::DIRECTORY_VARIABLE)?);
    watch::preload::library(&directory).is_file().then_some(directory)
}
