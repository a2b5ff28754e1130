//! `source --graph --code`: the resources of a real library's kernels, and the grids that depend on them.

use gpu::TargetId;
use source::graph::instance;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

const GOLDEN: &str = "../source/tests/golden";

fn library() -> Option<PathBuf> {
    test_artifacts::file("debian-sid", "root/usr/lib/x86_64-linux-gnu/ggml/backends0/libggml-hip.so")
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(GOLDEN).join(name)
}

/// The flash attention instances launched in the dry runs for which `crates/source/tests` predicts the grids.
fn launched() -> BTreeSet<String> {
    let read = |name: &str| std::fs::read_to_string(golden(name)).expect("recorded");
    let lines = ["nodes.txt", "graph.txt"].map(read).join("\n");
    let names = lines.lines().map(|line| line.trim_start_matches("> ").split(' ').next().unwrap_or_default());
    names
        .map(instance)
        .filter(|name| name.starts_with("flash_attn_ext") || name.starts_with("flash_attn_tile"))
        .collect()
}

#[test]
fn recorded_registers_are_the_librarys() {
    let Some(library) = library() else { return };
    let wanted = launched();
    assert!(wanted.len() > 10, "{wanted:?}");
    let mut text = String::new();
    for gpu in ["gfx1030", "gfx1100", "gfx90a"] {
        let target = TargetId::named(gpu).expect("a target");
        let cache = runtime::Cache::from_env();
        let described = dryrun::describe(&[(library.clone(), "lib".to_owned())], &target, false, cache.dir());
        let tables = launch::tables::Tables::parse(&described.expect("read").table).expect("a table");
        let mut kernels: Vec<_> = tables.first().expect("one").kernels.iter().collect();
        kernels.retain(|kernel| wanted.contains(&instance(&kernel.name)));
        kernels.sort_by_key(|kernel| &kernel.name);
        for kernel in kernels {
            let (vgprs, sgprs, lds, wavefront) = (kernel.vgprs, kernel.sgprs, kernel.lds, kernel.wavefront);
            let wgp = u8::from(kernel.wgp_mode);
            let _ = writeln!(text, "{gpu} {} {vgprs} {sgprs} {lds} {wavefront} {wgp}", kernel.name);
        }
    }
    let path = golden("registers.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).expect("written");
    }
    assert!(std::fs::read_to_string(&path).expect("recorded") == text, "BLESS=1 writes {}", path.display());
}

/// Attention over 512 positions, whose grid depends on how many blocks fit.
const ATTENTION: &str = "q = F32 128,4,32 strides 4,16384,512,65536\nk = F16 128,512,8 strides 2,2048,256,1048576\n\
     v = F16 128,512,8 strides 2,2048,256,1048576\nm = F16 512,4\n\
     a = FLASH_ATTN_EXT F32 128,32,4 from q,k,v,m with 0.088f,0f,0f\n";

fn asked(gpu: &str, code: Option<&str>) -> Option<(serde_json::Value, String)> {
    let tree = test_artifacts::need("llama-cpp-sys-2-0.1.160")?;
    let home = tempfile::tempdir().expect("a directory");
    let graph = home.path().join("graph.txt");
    std::fs::write(&graph, ATTENTION).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
    command.arg("source").arg(tree).args(["--gpu", gpu, "--format", "json", "--graph"]).arg(&graph);
    if let Some(code) = code {
        command.args(["--code", code]);
    }
    let done = command.output().expect("runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let answer = serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    Some((answer, said))
}

#[test]
fn a_grid_that_hangs_on_registers_is_known_with_the_code_and_open_without() {
    let Some(library) = library() else { return };
    let library = library.display().to_string();
    let attention = |answer: &serde_json::Value| answer["evaluations"][0]["steps"][0].clone();
    let Some((open, _)) = asked("gfx1100", None) else { return };
    assert!(open["code"].is_null());
    assert!(
        attention(&open)["grid_undetermined"].as_str().expect("open").ends_with("depends on the kernel's registers"),
        "{open}"
    );
    let (known, _) = asked("gfx1100", Some(&library)).expect("there");
    assert!(attention(&known)["grid_undetermined"].is_null(), "{known}");
    assert!(attention(&known)["launches"][0]["grid"].is_array(), "{known}");
    assert_eq!(known["code"]["file"], library);
    assert!(known["code"]["kernels"].as_u64() > Some(1000), "{}", known["code"]);
    // Code of other targets is not used, however similar they are.
    let (other, said) = asked("gfx1201", Some(&library)).expect("there");
    assert_eq!(other["code"]["kernels"], 0);
    assert!(said.contains("no code for gfx1201; it has gfx"), "{said}");
    assert!(!other.to_string().contains("\"grid_undetermined\":null"));
}

#[test]
fn what_is_no_library_is_told() {
    let Some(tree) = test_artifacts::need("llama-cpp-sys-2-0.1.160") else { return };
    let home = tempfile::tempdir().expect("a directory");
    let (graph, code) = (home.path().join("graph.txt"), home.path().join("code.so"));
    std::fs::write(&graph, ATTENTION).expect("a file");
    for (bytes, gpu) in [(&b""[..], "gfx1100"), (b"\x7fELF\x02\x01", "gfx1100"), (b"", "sm_90")] {
        std::fs::write(&code, bytes).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_whichkernel"));
        command.arg("source").arg(&tree).args(["--gpu", gpu, "--graph"]).arg(&graph).arg("--code").arg(&code);
        let done = command.output().expect("runs");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains("code.so"), "{said}");
        assert!(done.stdout.is_empty());
    }
}
