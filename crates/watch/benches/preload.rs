//! Overhead of the preload shim per launch: the same program without it, with it, and with argument bytes.
//!
//! The runtime is a stub whose launch returns at once, so the difference is the shim's alone. The variants run in turn,
//! several times, and the best of each counts, because other load on the machine only adds time. The shim is always
//! built optimised, regardless of this program's profile.

use launch::table::{Builder, KernelInfo, KernelTable};
use std::path::{Path, PathBuf};
use std::process::Command;
use watch::preload::{Session, layouts};

const STUB: &str = "#include <stddef.h>\n#include <stdint.h>\ntypedef struct { uint32_t x, y, z; } dim3;
void **__hipRegisterFatBinary(const void *w) { static void *m; (void)w; return &m; }
void __hipRegisterFunction(void **m, const void *h, const char *a, const char *n, unsigned t, void *b, void *c, void *d, void *e, int *f)
{ (void)m; (void)h; (void)a; (void)n; (void)t; (void)b; (void)c; (void)d; (void)e; (void)f; }
void __hipUnregisterFatBinary(void **m) { (void)m; }
int hipMemcpy(void *a, const void *b, size_t n, int k) { (void)a; (void)b; (void)n; (void)k; return 0; }
int hipMalloc(void **p, size_t n) { (void)p; (void)n; return 0; }
int hipLaunchKernel(const void *h, dim3 g, dim3 b, void **a, size_t s, void *o)
{ (void)h; (void)g; (void)b; (void)a; (void)s; (void)o; return 0; }
";
/// One number fits in one segment of the record, the other needs several.
const LAUNCHES: [&str; 2] = ["10000", "200000"];
const ROUNDS: usize = 5;

fn compile(to: &Path, source: &Path, more: &[&str]) {
    let status = Command::new("cc").arg("-O2").arg("-o").arg(to).arg(source).args(more).status();
    assert!(status.expect("a C compiler").success());
}

fn main() {
    let home = tempfile::tempdir().expect("a directory");
    let (stub, runtime) = (home.path().join("stub.c"), home.path().join("libamdhip64.so.6"));
    std::fs::write(&stub, STUB).expect("written");
    compile(&runtime, &stub, &["-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6"]);
    let program = home.path().join("launcher");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/launcher.c");
    let search = format!("-Wl,-rpath,{}", home.path().display());
    let link = home.path().display().to_string();
    compile(
        &program,
        &source,
        &["-L", &link, "-l:libamdhip64.so.6", "-lpthread", "-ldl", "-Wl,--build-id=sha1", &search],
    );
    let plain = Session::new(None).expect("a session");
    let with_arguments =
        Session::new(Some(&layouts(&table(&program), &[(program.clone(), program.display().to_string())])));
    let with_arguments = with_arguments.expect("a session");
    for (launches, what) in LAUNCHES.into_iter().zip(["the launch path", "with the record's growth"]) {
        let mut best = [f64::MAX; 3];
        for _ in 0..ROUNDS {
            for (slot, session) in best.iter_mut().zip([None, Some(&plain), Some(&with_arguments)]) {
                *slot = slot.min(once(&program, launches, session));
            }
        }
        let [bare, named, argued] = best;
        println!("{what}");
        println!("  unobserved launch              {bare:7.1} ns");
        println!("  preload, name and grid         {named:7.1} ns  added {:6.1} ns", named - bare);
        println!("  preload, argument bytes too    {argued:7.1} ns  added {:6.1} ns", argued - bare);
    }
}

/// The best round of one process, in nanoseconds per launch.
fn once(program: &Path, launches: &str, session: Option<&Session>) -> f64 {
    let mut command = Command::new(program);
    command.args(["time", launches]);
    if let Some(session) = session {
        command.envs(session.environment());
    }
    let output = command.output().expect("a run");
    // Frees space for the next run's records.
    session.into_iter().flat_map(|session| watch::preload::files(session.path())).for_each(drop_file);
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("nanoseconds")
}

fn drop_file(path: PathBuf) {
    let _ = std::fs::remove_file(path);
}

/// A pointer and an integer, for each kernel of the launcher.
fn table(program: &Path) -> KernelTable {
    let names =
        ["_Z5firstv", "_Z6secondPfi", "_Z5thirdv", "_Z6fourthv", "_Z5fifthv", "_Z5sixthv", "_Z7seventhv", "_Z6eighthv"];
    let mut builder = Builder::default();
    builder.file(&program.display().to_string());
    builder.bundle(0, 0, true);
    for name in names {
        builder.kernel(&KernelInfo { name: name.to_owned(), args: vec![(0, 8), (8, 4)], ..KernelInfo::default() });
    }
    KernelTable::parse(&builder.finish()).expect("a table")
}
