//! Files with device code in unexpected places. The truth is the number of kernels that the test put into the file.

use super::{Bench, Case, Outcome};
use anyhow::{Context, ensure};
use made_files as make;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const fn case(name: &'static str, quick: bool, run: fn(&Bench) -> anyhow::Result<Outcome>) -> Case {
    Case { observer: "inspect", name, quick, run }
}

pub const CASES: &[Case] = &[
    case("code object in .rodata", true, |b| in_rodata(b, &object(), 2)),
    case("code object at an odd offset", false, |b| in_rodata(b, &[&b"odd"[..], &object()].concat(), 2)),
    case("code object in .text", false, |b| in_section(b, ".text", &object(), 2)),
    case("two code objects for one target in .rodata", true, |b| in_rodata(b, &[object(), object()].concat(), 4)),
    case("cubin in .rodata", true, |b| in_rodata(b, &make::cubin(&["a", "b", "c"]), 3)),
    case("PTX in .rodata", true, |b| in_rodata(b, &ptx(2), 2)),
    case("PTX on one line in .rodata", true, |b| in_rodata(b, PTX_LINE, 1)),
    case("two PTX texts in sequence", false, |b| in_rodata(b, &[ptx(2), ptx(3)].concat(), 5)),
    case("fatbin container in .rodata", true, |b| in_rodata(b, &fatbin(1), 2)),
    case("fatbin entry of an unknown kind", false, |b| in_rodata(b, &fatbin(77), 2)),
    case("offload bundle in .rodata", true, |b| in_rodata(b, &make::usual_bundle(), 2)),
    case("CCOB in .rodata", true, |b| in_rodata(b, &make::ccob(3, 1, &make::usual_bundle()), 2)),
    case("device code in the host entry of a bundle", false, host_entry),
    case("code object as base64 text", false, |b| packed(b, &["base64", "-w0"], 2)),
    case("gzip in .rodata", true, |b| packed(b, &["gzip", "-c"], 2)),
    case("xz in .rodata", true, |b| packed(b, &["xz", "-c"], 2)),
    case("zstd in .rodata", true, |b| packed(b, &["zstd", "-qc"], 2)),
    case("zlib in .rodata", true, |b| packed(b, &["python3", "-c", ZLIB], 2)),
    case("bzip2 in .rodata", true, |b| packed(b, &["bzip2", "-c"], 2)),
    case("lz4 in .rodata", true, |b| packed(b, &["lz4", "-qc"], 2)),
    case("lzma in .rodata", false, |b| packed(b, &["xz", "--format=lzma", "-c"], 2)),
    case("gzip in gzip", false, |b| packed(b, &["sh", "-c", "gzip -c | gzip -c"], 2)),
    case("truncated gzip", false, |b| packed(b, &["sh", "-c", "(cat; seq 90000) | gzip -c | head -c 150000"], 2)),
    case("zip, deflated", true, |b| archived(b, "zip -q a.zip object && cat a.zip", 2)),
    case("zip, stored", false, |b| archived(b, "zip -q0 a.zip object && cat a.zip", 2)),
    case("zip, encrypted", false, |b| archived(b, "zip -q -P secret a.zip object && cat a.zip", 2)),
    case("tar", false, |b| archived(b, "tar -cf - object", 2)),
    case("tar.gz", true, |b| archived(b, "tar -czf - object", 2)),
    case("zip in tar.xz", false, |b| archived(b, "zip -q a.zip object && tar -cJf - a.zip", 2)),
    case("7z", false, |b| archived(b, "7z a -bd a.7z object >/dev/null && cat a.7z", 2)),
    case("squashfs", false, |b| {
        archived(b, "mkdir d && cp object d && mksquashfs d a.sqfs >/dev/null && cat a.sqfs", 2)
    }),
    case("a squashfs superblock", true, |b| in_rodata(b, &squashfs(), 2)),
    case("256 KiB of noise", true, |b| archived(b, "head -c 262144 /dev/urandom", 2)),
    case("encrypted with openssl", false, |b| {
        archived(b, "(cat object; seq 200000) | gzip -c | openssl enc -aes-256-ctr -pass pass:x -pbkdf2", 2)
    }),
    case("code object after the end of a program", true, |b| behind(b, &object(), 2)),
    case("zip after the end of a program", true, |b| behind(b, &shell(b, "zip -q a.zip object && cat a.zip")?, 2)),
    case("program without section headers", false, without_sections),
    case("two code objects in sequence", true, |b| alone(b, "two.hsaco", &[object(), object()].concat(), 4)),
    case("two cubins in sequence", true, |b| {
        alone(b, "two.cubin", &[make::cubin(&["a"]), make::cubin(&["b", "c"])].concat(), 3)
    }),
    case("two host objects in sequence", false, two_hosts),
    case("SPIR-V module followed by a code object", false, |b| {
        alone(b, "two.spv", &[make::spirv(1), object()].concat(), 2)
    }),
    case("PTX file", true, |b| alone(b, "kernels.ptx", &ptx(3), 3)),
    case("Windows library followed by a code object", false, |b| {
        alone(b, "a.dll", &[make::windows(&make::usual_bundle()), object()].concat(), 4)
    }),
    case("archive with .llvm.offloading", true, offloading),
    case("directory with a PTX file", true, |b| directory(b, "kernels.ptx", &ptx(1), "sm_90")),
    case("directory with a code object in a file of unknown type", true, |b| {
        directory(b, "weights.bin", &[&[1; 100][..], &object()].concat(), "gfx1201")
    }),
    case("extraction of two code objects for one target", true, extraction),
    case("isa on words that are not instructions", true, undecodable),
    case("stack size of a kernel that calls functions", true, stack),
    case("ordinary programs and libraries", false, ordinary),
];

const ZLIB: &str = "import sys,zlib;sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read()))";
const PTX_LINE: &[u8] = b".version 7.0 .target sm_90 .address_size 64 .visible .entry one(){ret;}\0";

/// Two kernels for gfx1201.
fn object() -> Vec<u8> {
    make::two_kernels()
}

fn ptx(kernels: usize) -> Vec<u8> {
    let entries: String = (0..kernels).map(|i| format!(".visible .entry k{i}(\n)\n{{\nret;\n}}\n")).collect();
    format!("//\n.version 8.0\n.target sm_90\n.address_size 64\n{entries}").into_bytes()
}

fn fatbin(kind: u16) -> Vec<u8> {
    make::nvidia_container(&[(kind, 90, 0x11, &ptx(2), 0)])
}

/// The first bytes that mksquashfs writes: inodes 2, blocks of 128 KiB, zlib, version 4.0. The rest is not needed for
/// recognising the format.
fn squashfs() -> Vec<u8> {
    let mut block = b"hsqs".to_vec();
    for word in [2u32, 0, 1 << 17, 0, 17 << 16 | 1, 1 << 16, 4, 0, 0] {
        block.extend_from_slice(&word.to_le_bytes());
    }
    block.extend_from_slice(&4096u64.to_le_bytes());
    block.resize(4096, 1);
    block
}

/// Compares the command's answer about a file with the truth.
fn judge(bench: &Bench, path: &Path, kernels: u64) -> anyhow::Result<Outcome> {
    let out = bench.run([Path::new("inspect"), path, Path::new("--format"), Path::new("json")])?;
    let text = String::from_utf8_lossy(&out.stdout);
    let Ok(answer) = serde_json::from_str::<serde_json::Value>(&text) else {
        return Ok(Outcome::Refused {
            why: String::from_utf8_lossy(&out.stderr).lines().next().unwrap_or("").to_owned(),
        });
    };
    let all = answer["answers"].as_array().cloned().unwrap_or_else(|| vec![answer.clone()]);
    let targets = all.iter().filter_map(|answer| answer["targets"].as_object()).flat_map(|targets| targets.values());
    let found: u64 = targets.filter_map(|target| target["kernels"].as_u64()).sum();
    if let Some(why) = all.iter().find_map(|answer| answer["error"].as_str()) {
        return Ok(Outcome::Refused { why: why.to_owned() });
    }
    let complete = all.iter().all(|answer| answer["conclusion"]["says"] == "complete");
    let left: Vec<&str> = all
        .iter()
        .flat_map(|answer| answer["conclusion"]["left_out"].as_array().into_iter().flatten())
        .filter_map(|left| left["what"].as_str())
        .collect();
    let truth = format!("{kernels} kernel{}", if kernels == 1 { "" } else { "s" });
    let said = format!(
        "{found} kernels found; {}",
        if complete { "complete".to_owned() } else { format!("{} is not understood", left.join(", ")) }
    );
    Ok(match (found == kernels, complete) {
        (true, _) => Outcome::Equal { truth },
        (false, false) => Outcome::Said { truth, said },
        (false, true) => Outcome::Silent { truth, said },
    })
}

/// A host program with these bytes in a section.
fn program(bench: &Bench, section: &str, payload: &[u8]) -> anyhow::Result<PathBuf> {
    fs::write(bench.dir.join("payload"), payload)?;
    let flags = if section == ".text" { "ax" } else { "a" };
    let code = format!(
        "__asm__(\".section {section},\\\"{flags}\\\"\\n.incbin \\\"{}\\\"\\n.byte 0\\n.previous\\n\");\nint main(void) {{ return 0; }}\n",
        bench.dir.join("payload").display()
    );
    bench.compile("program", &code, &[])
}

fn in_section(bench: &Bench, section: &str, payload: &[u8], kernels: u64) -> anyhow::Result<Outcome> {
    judge(bench, &program(bench, section, payload)?, kernels)
}

fn in_rodata(bench: &Bench, payload: &[u8], kernels: u64) -> anyhow::Result<Outcome> {
    in_section(bench, ".rodata", payload, kernels)
}

/// The code object, filtered by a program, inside a host program. Skipped if the filter is not installed.
fn packed(bench: &Bench, filter: &[&str], kernels: u64) -> anyhow::Result<Outcome> {
    let line: Vec<String> = filter.iter().map(|word| format!("'{word}'")).collect();
    archived(bench, &format!("{} < object", line.join(" ")), kernels)
}

/// The output of a shell command that has the code object as the file `object`.
fn shell(bench: &Bench, line: &str) -> anyhow::Result<Vec<u8>> {
    fs::write(bench.dir.join("object"), object())?;
    let out = Command::new("sh").args(["-c", line]).current_dir(&bench.dir).output()?;
    ensure!(!out.stdout.is_empty(), "{line}: {}", String::from_utf8_lossy(&out.stderr));
    Ok(out.stdout)
}

fn archived(bench: &Bench, line: &str, kernels: u64) -> anyhow::Result<Outcome> {
    match shell(bench, line) {
        Ok(payload) => in_rodata(bench, &payload, kernels),
        Err(why) => Ok(Outcome::Skipped { why: why.to_string() }),
    }
}

fn alone(bench: &Bench, name: &str, bytes: &[u8], kernels: u64) -> anyhow::Result<Outcome> {
    let path = bench.dir.join(name);
    fs::write(&path, bytes)?;
    judge(bench, &path, kernels)
}

fn behind(bench: &Bench, payload: &[u8], kernels: u64) -> anyhow::Result<Outcome> {
    let host = fs::read(program(bench, ".rodata", b"nothing")?)?;
    alone(bench, "longer", &[host.as_slice(), payload].concat(), kernels)
}

fn without_sections(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut host = fs::read(program(bench, ".rodata", &object())?)?;
    host.get_mut(40..48).context("a header")?.fill(0);
    host.get_mut(58..64).context("a header")?.fill(0);
    alone(bench, "stripped", &host, 2)
}

fn two_hosts(bench: &Bench) -> anyhow::Result<Outcome> {
    let plain = fs::read(program(bench, ".rodata", b"nothing")?)?;
    alone(bench, "two.so", &[plain, make::host(&make::usual_bundle(), &[0])].concat(), 2)
}

fn host_entry(bench: &Bench) -> anyhow::Result<Outcome> {
    let host = make::host(&make::usual_bundle(), &[0]);
    let entries: [(&str, &[u8]); 2] =
        [("host-x86_64-unknown-linux-gnu-", &host), ("hipv4-amdgcn-amd-amdhsa--gfx1201", &object())];
    alone(bench, "a.bundle", &make::bundle(&entries, 4096), 4)
}

/// A member of a static library as clang's new driver writes it: the package of the offload packager, version 1.
fn offloading(bench: &Bench) -> anyhow::Result<Outcome> {
    let image = object();
    let mut package = vec![0x10, 0xff, 0x10, 0xad, 1, 0, 0, 0];
    for number in [72 + image.len() as u64, 32, 40, 1, 0, 0, 72, image.len() as u64] {
        package.extend_from_slice(&number.to_le_bytes());
    }
    package.extend_from_slice(&image);
    fs::write(bench.dir.join("package"), &package)?;
    fs::write(bench.dir.join("a.c"), "int a(void) { return 0; }\n")?;
    let line = "cc -c a.c -o a.o && objcopy --add-section .llvm.offloading=package a.o && ar rc liba.a a.o";
    let made = Command::new("sh").args(["-c", line]).current_dir(&bench.dir).output()?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    judge(bench, &bench.dir.join("liba.a"), 2)
}

/// There is a kernel for the target: the answer must be "yes" or "unknown".
fn directory(bench: &Bench, name: &str, bytes: &[u8], target: &str) -> anyhow::Result<Outcome> {
    let place = bench.dir.join("place");
    fs::create_dir(&place)?;
    fs::write(place.join(name), bytes)?;
    let out = bench.run([Path::new("inspect"), &place, Path::new("--has-target"), Path::new(target)])?;
    let (truth, said) = ("the target is found".to_owned(), String::from_utf8_lossy(&out.stdout).trim().to_owned());
    Ok(match out.status.code() {
        Some(0) => Outcome::Equal { truth },
        Some(1) => Outcome::Silent { truth, said },
        _ => Outcome::Said { truth, said },
    })
}

fn extraction(bench: &Bench) -> anyhow::Result<Outcome> {
    let path = program(bench, ".rodata", &[object(), object(), object()].concat())?;
    let out = bench.run([Path::new("inspect"), &path, Path::new("--extract"), Path::new("out")])?;
    let truth = "3 files, equal to the originals".to_owned();
    let files = fs::read_dir(bench.dir.join("out"))?.flatten().filter_map(|entry| fs::read(entry.path()).ok());
    let equal = files.filter(|bytes| *bytes == object()).count();
    let said = format!("{equal} files, exit {:?}", out.status.code());
    Ok(match (equal, out.status.success()) {
        (3, true) => Outcome::Equal { truth },
        (_, false) => Outcome::Said { truth, said },
        (_, true) => Outcome::Silent { truth, said },
    })
}

/// A kernel whose first word is not an instruction of gfx1201.
fn undecodable(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut kernel = make::Kernel::live("k");
    kernel.code.insert(0, 0xffff_ffff);
    let path = bench.dir.join("bad.hsaco");
    fs::write(&path, make::code_object(make::GFX1201, Some("amdgcn-amd-amdhsa--gfx1201"), &[kernel]))?;
    let out = bench.run([Path::new("isa"), &path])?;
    let truth = "exit code 1".to_owned();
    Ok(match out.status.code() {
        Some(1) => Outcome::Equal { truth },
        code => Outcome::Silent { truth, said: format!("exit {code:?}") },
    })
}

/// 16 bytes alone, 80 including its callees.
fn stack(bench: &Bench) -> anyhow::Result<Outcome> {
    let path = bench.dir.join("a.cubin");
    fs::write(&path, make::cubin(&["caller"]))?;
    let out = bench.run([Path::new("inspect"), &path, "--kernels".as_ref(), "--format".as_ref(), "json".as_ref()])?;
    let answer: serde_json::Value = serde_json::from_slice(&out.stdout)?;
    let (truth, said) =
        ("a stack of 80 bytes".to_owned(), format!("a stack of {} bytes", answer["kernels"][0]["scratch"]));
    Ok(if said == truth { Outcome::Equal { truth } } else { Outcome::Silent { truth, said } })
}

/// Files without device code, for which the command must still report that there is none.
fn ordinary(bench: &Bench) -> anyhow::Result<Outcome> {
    let mut paths = vec![program(bench, ".rodata", b"nothing")?];
    for name in ["libstdc++.so.6", "libc.so.6", "libz.so.1", "libcrypto.so.3", "libm.so.6", "libgcc_s.so.1"] {
        paths.extend(["/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu"].map(|dir| Path::new(dir).join(name)));
    }
    for path in paths.iter().filter(|path| path.exists()) {
        let path = fs::canonicalize(path)?;
        let out = bench.run([Path::new("inspect"), &path, Path::new("--has-target"), Path::new("gfx1201")])?;
        ensure!(out.status.code() == Some(1), "{}: {}", path.display(), String::from_utf8_lossy(&out.stdout));
    }
    Ok(Outcome::Equal { truth: "no device code is found".into() })
}
