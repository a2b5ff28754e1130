//! Live processes: our own child, a program inside an unpacked tree, a deleted library, another user's process.

use dryrun::sandbox::Enter;
use observe::process::{Origin, Process, ProcessError};
use runtime::linkage::How;
use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Ends the child with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Polls until `ready` is true: a program needs a moment to load.
fn wait_for(pid: u32, ready: impl Fn(&Process) -> bool) -> Process {
    let mut last = None;
    for _ in 0..1200 {
        if let Ok(process) = Process::read(pid) {
            if ready(&process) {
                return process;
            }
            last = Some(process);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("never ready: {last:?}");
}

#[test]
fn an_ordinary_child() {
    let child = Running(Command::new("sleep").arg("60").spawn().unwrap());
    let process = wait_for(child.0.id(), |p| {
        p.name == "sleep" && p.libraries.iter().any(|l| l.soname.as_deref() == Some("libc.so.6"))
    });
    let libc = process.libraries.iter().find(|l| l.soname.as_deref() == Some("libc.so.6")).expect("libc");
    assert_eq!(libc.origin, Origin::System);
    assert!(libc.needed_by.iter().any(|name| name.ends_with("sleep")), "{libc:?}");
    assert_ne!(libc.how, How::Dlopen);
    assert!(process.mixed_releases().is_empty());
}

/// A library that the test compiles, opens by path at run time, and then removes: it is still read, and marked.
#[test]
fn dlopened_and_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("inner.c", "int inner(void){return 1;}");
    write("outer.c", "int inner(void); int outer(void){return inner();}");
    write(
        "main.c",
        "#include <dlfcn.h>\n#include <unistd.h>\nint main(int c,char**v){void*h=dlopen(v[1],RTLD_NOW);if(!h)return 3;write(1,\"x\",1);sleep(60);return 0;}",
    );
    let cc = |args: &[&str]| Command::new("cc").args(args).current_dir(dir.path()).status();
    // A name in the form of AMD's own builds.
    let inner = ["-shared", "-fPIC", "-o", "librocblas.so.4.3.60303", "inner.c", "-Wl,-soname,librocblas.so.4"];
    assert!(cc(&inner).expect("a C compiler").success());
    std::os::unix::fs::symlink("librocblas.so.4.3.60303", dir.path().join("librocblas.so.4")).unwrap();
    let outer = ["-shared", "-fPIC", "-o", "libhipblas.so.3.1.70100", "outer.c", "-L.", "-l:librocblas.so.4.3.60303"];
    assert!(cc(&[&outer[..], &["-Wl,-soname,libhipblas.so.3", "-Wl,-rpath,$ORIGIN"]].concat()).unwrap().success());
    assert!(cc(&["-o", "main", "main.c", "-ldl"]).unwrap().success());
    let target = dir.path().join("libhipblas.so.3.1.70100");
    let mut child = Command::new(dir.path().join("main"));
    let child = Running(child.arg(&target).stdout(Stdio::piped()).spawn().unwrap());
    let loaded = |p: &Process| p.libraries.iter().any(|l| l.soname.as_deref() == Some("librocblas.so.4"));
    let process = wait_for(child.0.id(), loaded);
    let find = |process: &Process, soname: &str| {
        process.libraries.iter().find(|l| l.soname.as_deref() == Some(soname)).cloned().expect(soname)
    };
    let (hipblas, rocblas) = (find(&process, "libhipblas.so.3"), find(&process, "librocblas.so.4"));
    assert_eq!((hipblas.how, hipblas.part, hipblas.origin), (How::Dlopen, Some("hipblas"), Origin::Bundle));
    assert_eq!((rocblas.how, rocblas.needed_by.as_slice()), (How::Runpath, ["libhipblas.so.3".to_owned()].as_slice()));
    let mixed = process.mixed_releases();
    let releases: Vec<&str> = mixed.iter().map(|(release, _)| release.as_str()).collect();
    assert_eq!(releases, ["6.3.3", "7.1.0"]);

    std::fs::remove_file(&target).unwrap();
    let process = Process::read(child.0.id()).unwrap();
    let gone = process.libraries.iter().find(|l| l.path == target).expect("still mapped");
    assert!(gone.deleted);
    // map_files needs CAP_CHECKPOINT_RESTORE: as root the SONAME is still read, else the reason is there.
    assert!(gone.soname.as_deref() == Some("libhipblas.so.3") || gone.problem.is_some(), "{gone:?}");
}

/// The real llama-server in its own root: paths are those that it sees, and the chain is Debian's.
#[test]
fn llama_server_inside_a_tree() {
    let Some(dir) = test_artifacts::need("debian-sid") else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut command = Command::new("/usr/bin/llama-server");
    // Without a model, llama-server waits for requests with every backend loaded.
    command.args(["--host", "127.0.0.1", "--port", &port, "--offline"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = Running(Enter::new(dir.join("root")).spawn(&mut command).unwrap());
    let process = wait_for(child.0.id(), |p| p.libraries.iter().any(|l| l.part == Some("ggml-hip")));
    assert_eq!(process.program, Path::new("/usr/bin/llama-server"));
    let hip = process.libraries.iter().find(|l| l.part == Some("ggml-hip")).unwrap();
    assert_eq!(hip.path, Path::new("/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so"));
    assert_eq!((hip.how, hip.problem.as_ref()), (How::Dlopen, None));
    let rocblas = process.libraries.iter().find(|l| l.part == Some("rocblas")).expect("rocBLAS");
    assert!(rocblas.needed_by.iter().any(|name| name.starts_with("libggml-hip") || name == "libhipblas.so.2"));
    let llama = process.libraries.iter().find(|l| l.soname.as_deref() == Some("libllama-server-impl.so")).unwrap();
    assert_eq!(llama.how, How::Runpath);
}

#[test]
fn what_is_not_there_is_said() {
    assert!(matches!(Process::read(u32::MAX), Err(ProcessError::Gone { .. })));
    // Outside containers, process 2 is the kernel's thread starter; in one it may be anything.
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name.trim() == "kthreadd") {
        let error = Process::read(2).unwrap_err();
        assert!(matches!(error, ProcessError::Empty { .. } | ProcessError::Refused { .. }), "{error}");
    }
    if !rustix::process::geteuid().is_root() {
        let error = Process::read(1).unwrap_err();
        assert!(matches!(error, ProcessError::Refused { .. }), "{error}");
    }
}

/// Checks the observations of `inspect PID --record`: they have the machine name that a watch uses and the field of
/// view that the observer states.
#[test]
fn what_is_recorded_of_a_process_has_the_subject_and_the_view_of_everybody() {
    let child = Running(Command::new("sleep").arg("60").spawn().unwrap());
    // While the loader runs, its cache is mapped too.
    let process = wait_for(child.0.id(), |p| p.libraries.len() > 1 && !format!("{p:?}").contains("ld.so.cache"));
    let seen = process.sightings("2026-01-01T00:00:00Z").unwrap();
    let swept = seen.iter().map(|one| &one.observation).find(|one| matches!(one.finding(), evidence::Finding::Swept));
    let swept = swept.expect("a sweep");
    let stated = observe::Observer::field_of_view(&observe::process::ProcessMaps);
    assert_eq!(stated.first().map(|(_, view)| view), Some(swept.field_of_view()));
    assert!(format!("{:?}", swept.subject()).contains("this host"), "{:?}", swept.subject());
    assert!(seen.iter().all(|one| one.raw.len() == 1 && one.raw[0].kind == "maps"));
    assert_eq!(process.gpu_stack().word(), evidence::Word::No);
    assert!(process.completeness().is_whole(), "{:?}", process.completeness());
}
