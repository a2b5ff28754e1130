//! A program gets the wrapper of a wrapped function, for every function and every way of looking it up.

use codeobject::elf::{Elf, SymbolKind};
use std::path::Path;
use std::process::Command;
use watch::preload::Session;

/// The dynamic symbol table (ELF specification, sh_type).
const DYNSYM: u32 = 11;
/// Functions of the loader and the C library: forwarded, but never returned in place of another library's function.
const NOT_GIVEN_OUT: [&str; 11] =
    ["dlsym", "dlvsym", "dlopen", "dlmopen", "_exit", "_Exit", "prctl", "syscall", "chroot", "unshare", "setns"];

fn wrapped() -> Vec<String> {
    let library = embedded_shims::PRELOAD.to_vec();
    let elf = Elf::parse(&library).expect("our own library");
    let table = elf.symbols_of_kind(DYNSYM).expect("readable").expect("a table");
    let ours = table.iter().filter(|symbol| symbol.section != 0 && symbol.kind == SymbolKind::Function);
    ours.map(|symbol| symbol.name.to_string()).filter(|name| !NOT_GIVEN_OUT.contains(&name.as_str())).collect()
}

#[test]
fn every_wrapped_function_is_given_out_however_it_is_asked_for() {
    let home = tempfile::tempdir().expect("a directory");
    let names = wrapped();
    assert!(names.len() > 100 && names.iter().any(|name| name == "hipblasGemmEx"), "{names:?}");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/lookup.c");
    let script = home.path().join("versions");
    std::fs::write(&script, "TEST_1 { global: *; };").expect("written");
    let list: String = names.iter().map(|name| format!("X({name}) ")).collect();
    let compile = |to: &Path, words: &[&str]| {
        let mut cc = Command::new("cc");
        cc.args(["-O1", "-fno-builtin", &format!("-DNAMES={list}"), "-o"]).arg(to).arg(&source).args(words).arg("-ldl");
        let output = cc.output().expect("a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let (library, behind, program) =
        (home.path().join("libamdhip64.so.6"), home.path().join("libbehind.so"), home.path().join("lookup"));
    let versions = format!("-Wl,--version-script={}", script.display());
    compile(&library, &["-DLIBRARY", "-shared", "-fPIC", "-Wl,-soname,libamdhip64.so.6", &versions]);
    let search = format!("-L{}", home.path().display());
    compile(&behind, &["-DBEHIND", "-shared", "-fPIC", "-Wl,-soname,libbehind.so"]);
    compile(&program, &[&search, "-Wl,--no-as-needed", "-l:libbehind.so", "-l:libamdhip64.so.6"]);
    let session = Session::new(None).expect("a session");
    let mut command = Command::new(&program);
    let output = command.arg(&library).env("LD_LIBRARY_PATH", home.path()).envs(session.environment()).output();
    let output = output.expect("a run");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut missed: Vec<&str> = Vec::new();
    let mut asked = 0;
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["other", _, file] => assert!(file.starts_with("libc."), "{line}"),
            ["none", _, file] => assert_eq!(file, "-", "{line}"),
            [_, _, "libwhichkernel-preload.so"] => asked += 1,
            _ => missed.push(line),
        }
    }
    assert_eq!(missed, Vec::<&str>::new());
    assert_eq!(asked, names.len() * 5);
}
