//! The decoder's tables match LLVM, and both agree on real code objects. Without LLVM 22 the tests are skipped and
//! reported.

use std::process::Command;

/// LLVM 22's tools and library. Other versions name some instructions differently; the tables are from this version.
fn llvm() -> Option<()> {
    test_artifacts::program("llvm-objdump-22", "install llvm-22").map(drop)
}

fn xtask(args: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().expect("xtask runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}\n{out}\n{err}");
}

/// One processor of each kind; `cargo xtask isa-tables --check` covers all of them.
#[test]
fn the_tables_are_what_llvm_says() {
    if llvm().is_some() {
        xtask(&["isa-tables", "--check", "gfx803", "gfx908", "gfx950", "gfx1030", "gfx1151", "gfx1201"]);
    }
}

#[test]
fn random_encodings_are_named_as_llvm_names_them() {
    if llvm().is_some() {
        xtask(&["isa-oracle", "random", "4000"]);
    }
}

#[test]
fn every_instruction_of_bitsandbytes_is_what_objdump_says() {
    if llvm().is_some() && test_artifacts::need("bitsandbytes-0.50.2").is_some() {
        xtask(&["isa-oracle", "quick"]);
    }
}
