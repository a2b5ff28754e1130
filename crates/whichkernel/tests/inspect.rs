//! `inspect` on generated files, valid and invalid, through the binary.

use made_files as make;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn inspect(path: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.arg("--lang").arg("en").arg("inspect").arg(path).args(args).output().unwrap()
}

fn json(path: &Path) -> (Value, i32, String) {
    let output = inspect(path, &["--format", "json"]);
    let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout);
    (value, output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn text(output: &Output) -> String {
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Two bundles with a gap of zeros between them, in a host library.
fn library() -> (Vec<u8>, u64) {
    let mut fatbin = make::usual_bundle();
    fatbin.resize(fatbin.len().next_multiple_of(4096), 0);
    let second = fatbin.len() as u64;
    fatbin.extend_from_slice(&make::ccob(3, 1, &make::usual_bundle()));
    (make::host(&fatbin, &[0, second]), second)
}

#[test]
fn every_view_has_a_schema_of_its_own_and_keeps_to_it() {
    let place = Place::new();
    let (bytes, _) = library();
    let path = place.file("lib.so", &bytes);
    let fatbin = place.file("x.fatbin", &make::nvidia_container(&[(1, 90, 0x11, PTX, 0)]));
    let objects = place.0.path().join("objects");
    let objects = objects.to_str().unwrap();
    let own = PathBuf::from(std::process::id().to_string());
    let program = PathBuf::from(env!("CARGO_BIN_EXE_whichkernel"));
    let views: [(&Path, &[&str], &str); 11] = [
        (&path, &[], "inspect"),
        (&fatbin, &[], "inspect"),
        (&path, &["--has-target", "gfx1201"], "inspect-has-target"),
        (&path, &["--kernels"], "inspect-kernels"),
        (&fatbin, &["--kernels"], "inspect-kernels"),
        (&path, &["--bundles"], "inspect-bundles"),
        (&path, &["--extract", objects], "inspect-extract"),
        (&path, &["--fingerprint"], "inspect-fingerprint"),
        (&program, &["--needed"], "inspect-needed"),
        (place.0.path(), &["--gpu", "gfx1201"], "inspect-directory/2"),
        (&own, &[], "inspect-process"),
    ];
    for (path, args, name) in views {
        let output = inspect(path, &[args, &["--format", "json"]].concat());
        let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &output.stdout);
        assert_eq!(
            value["schema"],
            format!("whichkernel.{}", if name.contains('/') { name.to_owned() } else { format!("{name}/1") }),
            "{args:?}"
        );
    }
}

const PTX: &[u8] = b"//\n.version 8.7\n.target sm_90\n.address_size 64\n.visible .entry _Z1aPf(\n)\n{\nret;\n}\n";

#[test]
fn a_library_gives_the_promised_json() {
    let place = Place::new();
    let (bytes, _) = library();
    let path = place.file("lib.so", &bytes);
    let (value, code, errors) = json(&path);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(value["schema"], "whichkernel.inspect/1");
    assert_eq!(value["size"], bytes.len());
    assert_eq!(value["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(value["bundles"][0]["compression"], "none");
    assert_eq!(value["bundles"][0]["ccob_version"], Value::Null);
    assert_eq!(value["bundles"][1]["index"], 1);
    assert_eq!(value["bundles"][1]["compression"], "zstd");
    assert_eq!(value["bundles"][1]["ccob_version"], 3);
    let entry = &value["bundles"][1]["entries"][1];
    assert_eq!(entry["id"], "hipv4-amdgcn-amd-amdhsa--gfx1201");
    assert_eq!(entry["target"], "gfx1201");
    assert_eq!(entry["kind"], "hipv4");
    assert_eq!(entry["code_object_version"], 5);
    assert_eq!(entry["kernels"], 2);
    assert_eq!(value["targets"]["gfx1201"]["kernels"], 4);
    assert_eq!(value["targets"].as_object().unwrap().len(), 1, "host entries are left out");
    assert_eq!(value["coverage"]["complete"], true);
    assert_eq!(value["coverage"]["not_understood"], 0);
}

#[test]
fn kernels_are_listed_and_chosen() {
    let place = Place::new();
    let path = place.file("lib.so", &library().0);
    let all = text(&inspect(&path, &["--kernels", "--target", "gfx1201", "--format", "csv"]));
    let header = all.lines().next().unwrap();
    let promised = "name,mangled,bundle,sgpr,vgpr,agpr,lds,scratch,wavefront,kernarg_size,max_workgroup,stub";
    assert!(header.starts_with(promised), "{header}");
    let live = "live(float*),_Z4livePf,0,18,8,0,1024,0,32,16,256,false,gfx1201,,,20,no,8,";
    assert_eq!(all.lines().nth(1), Some(live));
    assert_eq!(all.lines().filter(|line| line.contains(",true,gfx1201,")).count(), 2);
    let one = text(&inspect(&path, &["--kernels", "--kernel", "^stub", "--format", "csv"]));
    assert_eq!(one.lines().count(), 3);
    let none = inspect(&path, &["--kernels", "--target", "gfx942", "--format", "csv"]);
    assert_eq!((text(&none).lines().count(), none.status.code()), (1, Some(2)));
    assert!(String::from_utf8_lossy(&none.stderr).contains("gfx1201"), "what is there is named");
    let rows: Value = schema_check::answer(
        env!("CARGO_BIN_EXE_whichkernel"),
        &inspect(&path, &["--kernels", "--format", "json"]).stdout,
    );
    assert_eq!(rows["kernels"][0]["args"][1]["kind"], "hidden_block_count_x");
    assert_eq!(rows["kernels"].as_array().unwrap().len(), 4);
}

#[test]
fn an_absence_is_only_stated_with_complete_coverage() {
    let place = Place::new();
    let (bytes, _) = library();
    let path = place.file("lib.so", &bytes);
    assert_eq!(inspect(&path, &["--has-target", "gfx1201"]).status.code(), Some(0));
    let absent = inspect(&path, &["--has-target", "gfx942"]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(text(&absent).contains("has no code for gfx942"));
    let mut broken = bytes.clone();
    let at = find(&broken, b"CCOB");
    broken[at + 40] ^= 0xff;
    let unknown = inspect(&place.file("broken.so", &broken), &["--has-target", "gfx942"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown).starts_with("Unknown: ") && text(&unknown).contains("but there may be one"));
    assert_eq!(inspect(&path, &["--has-target", "rubbish here"]).status.code(), Some(2));
}

#[test]
fn code_outside_the_device_section_is_found_too() {
    let place = Place::new();
    let rodata = make::Section::new(".rodata", 1, make::two_kernels());
    let path = place.file("embedded.so", &make::elf(62, 0, 0, 0, &[rodata]));
    let (value, code, _) = json(&path);
    assert_eq!(code, 0);
    assert_eq!(value["embedded"][0]["target"], "gfx1201");
    assert_eq!(inspect(&path, &["--has-target", "gfx1201"]).status.code(), Some(0));
}

#[test]
fn extraction_writes_names_that_sort_and_overwrites_nothing() {
    let place = Place::new();
    let evil = make::bundle(
        &[
            ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", &make::two_kernels()),
            ("../../x-a-b-c-gfx../../y", &make::two_kernels()),
        ],
        8,
    );
    let path = place.file("evil.bundle", &evil);
    let dir = place.0.path().join("out");
    let to = dir.to_str().unwrap();
    assert_eq!(inspect(&path, &["--extract", to]).status.code(), Some(0));
    let mut names: Vec<String> =
        fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.contains(&"bundle_0000.gfx90a_xnack-.hsaco".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("bundle_0000.") && !name.contains(['/', ':'])), "{names:?}");
    assert_eq!(fs::read(dir.join("bundle_0000.gfx90a_xnack-.hsaco")).unwrap(), make::two_kernels());
    let again = inspect(&path, &["--extract", to]);
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("exists"));
}

#[test]
fn a_contradicted_target_is_reported() {
    let place = Place::new();
    let bundle = make::bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx942", &make::two_kernels())], 8);
    let (value, code, _) = json(&place.file("wrong.bundle", &bundle));
    assert_eq!(code, 0);
    let said = &value["bundles"][0]["entries"][0]["contradictions"][0];
    assert_eq!((said["place"].as_str(), said["e_flags"].as_str()), (Some("bundle id"), Some("gfx1201")));
    let (value, _, _) = json(&place.file("kernels_gfx906.co", &make::two_kernels()));
    assert_eq!(value["code_object"]["contradictions"][0]["place"], "file name");
    assert_eq!(value["targets"]["gfx1201"]["kernels"], 2);
}

#[test]
fn every_truncation_shows_what_is_left_and_says_where_it_ends() {
    let place = Place::new();
    let (bytes, _) = library();
    // The section headers of a generated library come last: without them nothing can be located.
    let bundles = [make::usual_bundle(), make::ccob(2, 0, &make::usual_bundle())].concat();
    for len in [1, 3, 8, 24, 31, 60, 100, 600, 1000, 2047, bundles.len() - 1] {
        let (value, code, errors) = json(&place.file("cut", &bundles[..len]));
        assert_eq!(code, 2, "{len}: {value}");
        assert!(errors.contains("at offset 0x"), "{len}: {errors}");
        assert_eq!(value["coverage"]["complete"], false, "{len}");
        assert!(!errors.contains("panicked"), "{errors}");
    }
    let (value, ..) = json(&place.file("cut", &bundles[..bundles.len() - 1]));
    assert_eq!(value["targets"]["gfx1201"]["kernels"], 2, "the first bundle is still shown");
    for len in [0, 5, 63, 64, 700, bytes.len() / 2, bytes.len() - 1] {
        let (_, code, errors) = json(&place.file("cut.so", &bytes[..len]));
        assert_eq!(code, 2, "{len}: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
    }
}

#[test]
fn lies_about_sizes_are_refused_in_little_memory() {
    let place = Place::new();
    let mut four_gigabytes = make::ccob(2, 1, &make::usual_bundle());
    four_gigabytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut beyond = make::ccob(3, 1, &make::usual_bundle());
    beyond[8..16].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let mut hash = make::ccob(3, 0, &make::usual_bundle());
    hash[24] ^= 1;
    let mut entry = make::usual_bundle();
    let at = find(&entry, b"hipv4") - 16;
    entry[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    let mut overlap =
        make::bundle(&[("hip-amdgcn-amd-amdhsa--gfx900", &[1; 64]), ("hip-amdgcn-amd-amdhsa--gfx906", &[1; 64])], 8);
    let at = find(&overlap, b"hip-amdgcn-amd-amdhsa--gfx906") - 24;
    let first = find(&overlap, b"hip-amdgcn-amd-amdhsa--gfx900") - 24;
    overlap.copy_within(first..first + 8, at);
    for (name, bytes, field) in [
        ("4gb", four_gigabytes, "CCOB unpacked size"),
        ("beyond", beyond, "CCOB total size"),
        ("hash", hash, "CCOB hash"),
        ("entry", entry, "bundle entry"),
        ("overlap", overlap, "overlaps"),
    ] {
        let path = place.file(name, &bytes);
        // 1 GiB of address space: allocating the claimed size would abort.
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v 1048576; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_whichkernel"), "inspect"]);
        let output = limited.arg(&path).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{name}: {errors}");
        assert!(errors.contains(field) && errors.contains("at offset 0x"), "{name}: {errors}");
        // The offset is inside the file.
        let at =
            errors.split("at offset 0x").nth(1).and_then(|rest| rest.split(|c: char| !c.is_ascii_hexdigit()).next());
        let at = at.unwrap();
        assert!(usize::from_str_radix(at, 16).unwrap() < bytes.len(), "{name}: {errors}");
        assert!(text(&output).contains("Incomplete"), "{name}");
    }
}

#[test]
fn rubbish_between_bundles_is_not_understood_and_the_walk_goes_on() {
    let place = Place::new();
    let mut bytes = make::usual_bundle();
    let rubbish = bytes.len();
    bytes.extend_from_slice(b"not a bundle, though __CLANG_OFFLOAD_BUNDLE__ is written here");
    bytes.extend_from_slice(&make::usual_bundle());
    let (value, code, _) = json(&place.file("rubbish", &bytes));
    assert_eq!(code, 2);
    assert_eq!(value["targets"]["gfx1201"]["kernels"], 4);
    assert_eq!(value["coverage"]["ranges"][0]["offset"], rubbish);
    assert_eq!(value["coverage"]["not_understood"], 61);
}

#[test]
fn what_is_no_file_is_refused_with_a_reason() {
    let place = Place::new();
    let denied = place.file("denied", b"x");
    let mut permissions = fs::metadata(&denied).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0);
    fs::set_permissions(&denied, permissions).unwrap();
    let readable = fs::File::open(&denied).is_ok();
    let fifo = place.0.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let empty = place.file("empty", b"");
    let script = place.file("script", b"#!/bin/sh\necho hello\n");
    for (path, word) in [
        (Path::new("/dev/zero"), "a character device"),
        (fifo.as_path(), "a pipe"),
        (Path::new("/nonexistent/lib.so"), "No such file"),
        (empty.as_path(), "magic"),
        (script.as_path(), "not an ELF or Windows file"),
        (denied.as_path(), if readable { "magic" } else { "denied" }),
    ] {
        let output = inspect(path, &[]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{}", path.display());
        assert!(errors.contains(word) && !errors.contains("panicked"), "{}: {errors}", path.display());
        assert_eq!(errors.matches("os error").count() / 2, 0, "said twice: {errors}");
    }
}

#[test]
fn loose_objects_of_a_directory_are_added_up_and_what_is_locked_is_said() {
    let place = Place::new();
    let locked = place.0.path().join("locked");
    fs::create_dir(&locked).unwrap();
    place.file("a.co", &make::usual_bundle());
    place.file("b.co", &make::ccob(3, 1, &make::usual_bundle()));
    place.file("locked/lib.so", &library().0);
    let dir = place.0.path();
    let (value, code, errors) = json(dir);
    assert_eq!((code, errors.as_str()), (0, ""));
    let rows = value["libraries"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["loose_files"].as_u64()).collect::<Vec<_>>(), [Some(2), None]);
    assert_eq!(rows.iter().map(|row| row["targets"]["gfx1201"].as_u64()).collect::<Vec<_>>(), [Some(4), Some(4)]);
    let serves = |gpu: &str| inspect(dir, &["--gpu", gpu, "--strict"]).status.code();
    assert_eq!((serves("gfx1201"), serves("gfx942")), (Some(0), Some(1)));
    let mode = |mode: u32| std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(&locked, mode(0)).unwrap();
    if fs::read_dir(&locked).is_err() {
        let (value, code, errors) = json(dir);
        assert_eq!((code, value["libraries"].as_array().map(Vec::len)), (2, Some(1)));
        assert!(errors.contains("locked") && value["unread"][0].as_str().unwrap().contains("denied"), "{errors}");
    }
    fs::set_permissions(&locked, mode(0o700)).unwrap();
}

#[test]
fn a_truncated_library_of_a_directory_is_named_and_no_answer_is_given_without_it() {
    let place = Place::new();
    let bytes = library().0;
    place.file("libgood.so", &bytes);
    place.file("libcut.so", &bytes[..bytes.len() - 40]);
    let dir = place.0.path();
    let code = |args: &[&str]| inspect(dir, args).status.code();
    assert_eq!(code(&["--has-target", "gfx1201"]), Some(0));
    assert_eq!(code(&["--gpu", "gfx1201", "--strict"]), Some(2));
    let none = inspect(dir, &["--has-target", "gfx942"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none).contains("Unknown: ") && text(&none).contains("libcut.so"), "{}", text(&none));
    assert!(String::from_utf8_lossy(&none.stderr).contains("libcut.so"));
    let (value, code, _) = json(dir);
    assert_eq!((code, value["conclusion"]["says"].as_str()), (2, Some("incomplete")));
    assert!(value["unread"][0].as_str().unwrap().contains("libcut.so"), "{value}");
    let isa = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
        command.args(["--lang", "en", "isa"]).arg(dir).args(["--target", "gfx1201"]).args(args).output().unwrap()
    };
    let has = isa(&["--has", "mfma"]);
    assert_eq!(has.status.code(), Some(2), "{}", text(&has));
    assert!(String::from_utf8_lossy(&has.stderr).contains("libcut.so"));
    let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &isa(&["--format", "json"]).stdout);
    assert_eq!(value["answers"][1]["schema"], "whichkernel.error/1", "{value}");
}

#[test]
fn strict_passes_only_where_something_serves_and_nothing_was_left_out() {
    let place = Place::new();
    let strict = |name: &str| {
        let output = inspect(&place.0.path().join(name), &["--gpu", "gfx1201", "--strict"]);
        (output.status.code(), text(&output))
    };
    for name in ["cuda", "host", "packed", "good"] {
        fs::create_dir(place.0.path().join(name)).unwrap();
    }
    place.file("cuda/x.fatbin", &make::nvidia_container(&[(1, 90, 0x11, PTX, 0)]));
    place.file("host/libggml-base.so", &make::elf(62, 0, 0, 0, &[]));
    place.file("packed/x.whl", b"PK\x03\x04rest");
    place.file("good/lib.so", &library().0);
    assert_eq!(strict("good").0, Some(0));
    assert!(strict("good").1.contains("Yes: everything in the directory"), "{}", strict("good").1);
    assert_eq!((strict("cuda").0, strict("host").0, strict("packed").0), (Some(1), Some(1), Some(2)));
    assert!(strict("cuda").1.contains("No: no file in "), "{}", strict("cuda").1);
    place.file("good/x.whl", b"PK\x03\x04rest");
    assert_eq!(strict("good").0, Some(2));
}

/// The bundle names gfx1100, e_flags say gfx1201: for neither can presence or absence of code be claimed.
#[test]
fn where_bundle_and_flags_contradict_each_other_no_target_is_answered() {
    let place = Place::new();
    let bundle = make::bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx1100", &make::two_kernels())], 8);
    let path = place.file("wrong.bundle", &bundle);
    for target in ["gfx1100", "gfx1201"] {
        let output = inspect(&path, &["--has-target", target]);
        assert_eq!(output.status.code(), Some(2), "{target}: {}", text(&output));
        let said = text(&output);
        assert!(said.starts_with("Unknown: ") && said.contains("bundle id gfx1100, e_flags gfx1201"), "{said}");
    }
    assert_eq!(inspect(&path, &["--has-target", "gfx942"]).status.code(), Some(1), "neither name is that");
    assert_eq!(inspect(place.0.path(), &["--has-target", "gfx1201"]).status.code(), Some(2));
    let seen = recorded(&place, &path, &["--target", "gfx1100"]);
    assert!(!seen.is_empty() && seen.iter().all(|one| !one.coverage().is_complete()));
    let target = |one: &evidence::Recorded| one.fact().is_some_and(|fact| fact.topic.starts_with("file.target"));
    assert!(!seen.iter().any(target), "no target was seen");
    // An uncontradicted target is still reported.
    let both = [
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", &make::two_kernels()[..]),
        ("hipv4-amdgcn-amd-amdhsa--gfx1201", &make::two_kernels()[..]),
    ];
    let both = place.file("both.bundle", &make::bundle(&both, 8));
    assert_eq!(inspect(&both, &["--has-target", "gfx1201"]).status.code(), Some(0));
}

/// SYCL's modules: memory model OpenCL, addressing Physical64, an entry point of the model Kernel.
#[test]
fn modules_for_opencl_are_not_taken_for_vulkans() {
    let place = Place::new();
    let mut module = make::spirv(7);
    let word = |at: usize, value: u32, module: &mut Vec<u8>| {
        module[at * 4..at * 4 + 4].copy_from_slice(&value.to_le_bytes());
    };
    assert_eq!(&module[7 * 4..8 * 4], (3u32 << 16 | 14).to_le_bytes());
    word(8, 2, &mut module);
    word(9, 2, &mut module);
    word(11, 6, &mut module);
    let path = place.file("sycl.spv", &module);
    let said = inspect(&path, &["--has-target", "gfx1201"]);
    assert_eq!(said.status.code(), Some(2), "{}", text(&said));
    assert!(
        text(&said).contains("1 SPIR-V (OpenCL, Level Zero)") && !text(&said).contains("for Vulkan"),
        "{}",
        text(&said)
    );
    let (value, ..) = json(&path);
    assert_eq!(value["spirv"]["environments"]["opencl"], 1);
    let vulkan = place.file("vulkan.spv", &make::spirv(7));
    assert_eq!(inspect(&vulkan, &["--has-target", "gfx1201"]).status.code(), Some(0));
}

/// One changed byte in one kernel's metadata.
#[test]
fn a_changed_constant_is_a_difference() {
    let place = Place::new();
    let whole = make::two_kernels();
    let diff = |name: &str, bytes: &[u8]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
        let (a, b) = (place.file("a.co", &whole), place.file(name, bytes));
        let output = command.args(["--lang", "en", "diff"]).arg(a).arg(b).output().unwrap();
        (output.status.code(), text(&output))
    };
    let (code, said) = diff("same.co", &whole);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("The same in all 2 kernels"), "{said}");
    let mut changed = whole.clone();
    let at = find(&changed, b"hidden_block_count_x");
    changed[at] = b'H';
    let (code, said) = diff("changed.co", &changed);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("metadata") && said.contains("Different in 1 of 2"), "{said}");
}

#[test]
fn a_file_without_gpu_code_is_no_error() {
    let output = inspect(Path::new(env!("CARGO_BIN_EXE_whichkernel")), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text(&output).contains("no AMD or NVIDIA GPU code"));
}

fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|window| window == what).unwrap()
}

/// Records one file in a separate ledger and reads it back.
fn recorded(place: &Place, path: &Path, args: &[&str]) -> Vec<evidence::Recorded> {
    let ledger = place.0.path().join("ledger");
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.arg("--ledger").arg(&ledger).arg("inspect").arg(path).arg("--record").args(args);
    command.output().unwrap();
    ledger::Reader::open(&ledger).unwrap().observations().unwrap()
}

#[test]
fn what_is_shipped_goes_to_the_ledger() {
    let place = Place::new();
    let path = place.file("lib.so", &library().0);
    let seen = recorded(&place, &path, &["--target", "gfx1201"]);
    assert!(seen.iter().all(|o| o.rung() == evidence::Rung::Shipped && o.coverage().is_complete()));
    let value = |topic: &str, key: &str, text: &str| {
        let fits =
            |o: &&evidence::Recorded| o.fact().is_some_and(|f| f.topic == topic && f.about.get(key) == Some(text));
        seen.iter().find(fits).and_then(|o| o.fact()).map(|fact| fact.value.clone())
    };
    assert_eq!(value("file.target", "name", "gfx1201"), Some(4u32.into()));
    assert_eq!(value("bundle.size", "bundle", "1"), Some(make::two_kernels().len().into()));
    assert_eq!(value("kernel.stub", "bundle", "0"), Some(false.into()));
    assert!(seen.iter().any(|o| matches!(o.finding(), evidence::Finding::Swept)
        && o.field_of_view().covers("file.target", &evidence::About::new([("name", "gfx942")]))
        && matches!(o.canary_seen(), evidence::Canary::InTarget(_))));
}

#[test]
fn what_could_not_be_read_leaves_a_gap_in_the_ledger() {
    let place = Place::new();
    let mut bytes = library().0;
    let at = find(&bytes, b"CCOB");
    bytes[at + 40] ^= 0xff;
    let path = place.file("lib.so", &bytes);
    let seen = recorded(&place, &path, &[]);
    assert!(!seen.is_empty() && seen.iter().all(|o| !o.coverage().is_complete()));
    let target = seen.iter().filter_map(|o| o.fact()).find(|fact| fact.topic == "file.target").unwrap();
    assert_eq!(target.bound, evidence::Bound::AtLeast);
}

/// A library for HIP and one for Vulkan in one directory: each is reported correctly.
#[test]
fn spirv_is_listed_counted_recorded_and_no_code_of_amds() {
    let place = Place::new();
    place.file("libhip.so", &library().0);
    let modules = [make::spirv(1), vec![0; 12], make::spirv(2), make::spirv(1)].concat();
    // Data after the sections of a host file is found only by searching the whole file.
    let path = place.file("libggml-vulkan.so", &[make::host(&[], &[]), modules].concat());
    let (value, code, errors) = json(&path);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!((&value["spirv"]["modules"], &value["spirv"]["different"]), (&3.into(), &2.into()));
    assert_eq!(value["spirv"]["operations"]["OpFunction"], 3);
    assert_eq!(value["spirv"]["features"]["matrix"], 3);
    let overview = text(&inspect(&path, &[]));
    assert!(overview.contains("3 SPIR-V modules for Vulkan (2 distinct)"), "{overview}");
    assert!(overview.contains("no other SPIR-V modules"), "{overview}");
    let listed = inspect(&path, &["--modules", "--format", "json"]);
    let value = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &listed.stdout);
    let rows = value["modules"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["constants"]["3"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(2), Some(1)]);
    assert_eq!(rows[0]["module"], rows[2]["module"]);
    assert_eq!(rows[0]["entry_points"][0]["local_size"], serde_json::json!([64, 1, 1]));
    let csv = text(&inspect(&path, &["--modules", "--format", "csv"]));
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.starts_with("offset,size,module,name,features,entry_points,local_size,constants,"), "{csv}");
    let (value, code, _) = json(place.0.path());
    let rows = value["libraries"].as_array().unwrap();
    let told = |row: &Value| (row["spirv_modules"].as_u64().unwrap(), row["targets"].as_object().unwrap().len());
    assert_eq!((code, rows.iter().map(told).collect::<Vec<_>>()), (0, vec![(3, 0), (0, 1)]), "{value}");
    let mut isa = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    let isa = isa.args(["--lang", "en", "isa"]).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&isa.stderr).into_owned();
    assert!(isa.status.code() == Some(2) && said.contains("3 SPIR-V modules, which a Vulkan driver"), "{said}");
    let seen = recorded(&place, &path, &[]);
    let counted = |feature: Option<&str>| {
        let fits = |o: &&evidence::Recorded| {
            o.fact().is_some_and(|f| f.topic == "file.modules" && f.about.get("feature") == feature)
        };
        seen.iter().find(fits).and_then(|o| o.fact()).map(|fact| fact.value.clone())
    };
    assert_eq!((counted(None), counted(Some("matrix"))), (Some(3.into()), Some(3.into())));
}

/// Files of a catalog as rocBLAS writes them, which the fuzzer starts from.
fn catalog(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dev/fuzz/corpus/catalog").join(name)).unwrap()
}

#[test]
fn a_catalog_file_lists_its_solutions_and_says_what_is_for_a_card() {
    let place = Place::new();
    let (leaf, root) = (place.file("leaf.dat", &catalog("leaf")), place.file("root.dat", &catalog("lazy_root")));
    let (answer, code, said) = json(&leaf);
    assert_eq!((answer["form"].as_str(), code, said.as_str()), (Some("catalog"), 0, ""), "{answer}");
    assert_eq!((&answer["solutions"], &answer["targets"][0]["solutions"]), (&Value::from(1), &Value::from(1)));
    let has = |path: &Path, target: &str| inspect(path, &["--has-target", target]).status.code();
    // The solution of this file is for any GPU that has the code.
    assert_eq!([has(&leaf, "gfx1201"), has(&leaf, "sm_90")], [Some(2), Some(1)], "a catalog of AMD's library");
    let rows = inspect(&leaf, &["--kernels", "--gpu", "9070xt", "--format", "json"]);
    let rows = schema_check::answer(env!("CARGO_BIN_EXE_whichkernel"), &rows.stdout);
    assert_eq!((rows["asked"]["found"].as_str(), rows["rows"].as_array().map(Vec::len)), (Some("any"), Some(1)));
    assert!(text(&inspect(&leaf, &["--kernels"])).contains(rows["rows"][0]["kernel"].as_str().expect("a kernel")));
    // The solutions of a root are in other files: nothing is known about them.
    let (answer, ..) = json(&root);
    assert_eq!(answer["solutions"], 0);
    assert_eq!(answer["leaves"], 1, "{answer}");
    assert_eq!([has(&root, "gfx1201"), has(&root, "gfx1100")], [Some(2), Some(1)]);
    // Not read by this option, damaged, and a filter that matches nothing.
    for (path, option) in [(&leaf, ["--bundles"].as_slice()), (&leaf, &["--kernel", "no_such_kernel"])] {
        let refused = inspect(path, option);
        assert_eq!((refused.status.code(), refused.stdout.as_slice()), (Some(2), b"".as_slice()), "{option:?}");
    }
    let cut = place.file("cut.dat", &catalog("leaf")[..200]);
    let refused = inspect(&cut, &[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cut.dat"), "{refused:?}");
}
