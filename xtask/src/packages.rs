//! The programs that tests use as oracles and compilers: installed on Debian if we are root, otherwise only named.

use std::process::{Command, Stdio};

/// A program, its Debian package, and its purpose in the tests.
const PROGRAMS: [(&str, &str, &str); 18] = [
    ("git", "git", "reading revisions of a repository"),
    ("cc", "gcc", "programs that are compiled on the spot"),
    ("musl-gcc", "musl-tools", "a program of another C library, which nothing can be preloaded into"),
    ("setcap", "libcap2-bin", "the rights that doctor advises, given to a copy of the tool"),
    ("g++", "g++", "the comparison with compiled predicates"),
    ("python3", "python3-pip", "fetching wheels"),
    ("chromium", "chromium", "the report in a real browser"),
    ("cmake", "cmake", "the comparison of source lists with cmake's own"),
    ("zip", "zip", "device code inside archives"),
    ("zstd", "zstd", "device code inside streams"),
    ("xz", "xz-utils", "device code inside streams"),
    ("curl", "curl", "visitors of a served report"),
    ("gpg", "gnupg", "a package archive that is made and signed on the spot"),
    ("rpm", "rpm", "the installation of our package into a clean root"),
    ("llvm-readelf-22", "llvm-22", "the comparison of code objects and instructions with LLVM"),
    ("clang++-22", "clang-22", "libraries that are compiled on the spot"),
    ("clang-offload-bundler-22", "clang-tools-22", "bundles that are made on the spot"),
    ("ld.lld-22", "lld-22", "libraries that are compiled on the spot"),
];

/// Installs missing programs if allowed; reports the programs that are still missing and the tests that need them.
pub fn ensure() {
    let missing: Vec<_> = PROGRAMS.into_iter().filter(|(program, ..)| !is_there(program)).collect();
    if missing.is_empty() {
        return;
    }
    let packages: Vec<&str> = missing.iter().map(|(_, package, _)| *package).collect();
    if is_there("apt-get") && is_root() {
        eprintln!("installing {}", packages.join(" "));
        let apt = |args: &[&str]| {
            let mut command = Command::new("apt-get");
            command.args(["-q", "-y"]).args(args).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if !apt(&["update"]) || !apt(&[&["install"], packages.as_slice()].concat()) {
            eprintln!("apt-get could not install all of them");
        }
    }
    for (program, package, what) in missing.iter().filter(|(program, ..)| !is_there(program)) {
        eprintln!("missing {program} ({what} is skipped): sudo apt-get install {package}");
    }
}

fn is_there(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|dir| dir.join(program).is_file())
}

fn is_root() -> bool {
    let uid = Command::new("id").arg("-u").output();
    uid.is_ok_and(|output| output.stdout.starts_with(b"0"))
}
