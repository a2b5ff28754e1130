//! Tests real HIP programs other than llama.cpp on the stand-in, each against its own statement of what it launches.

use dryrun::sandbox::Enter;
use dryrun::{Blas, Card, Ending, Events, Outcome, Plan, Request, RunRoot, Selected, Streams, last_words, select};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

fn place(name: &str) -> Option<RunRoot> {
    test_artifacts::need(name).map(|dir| RunRoot::Tree { name: name.into(), root: dir.join("root") })
}

fn run(
    place: &RunRoot,
    card: &str,
    command: &[&str],
    show: &[PathBuf],
    variables: &[(&str, &str)],
) -> (Outcome, Vec<Selected>) {
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    let profile = gpu::find(card).expect("a card");
    let card = Card { given: card.to_owned(), profile, overridden: None };
    let program = command.first().map(Path::new);
    let plan = Plan::new(place, card, false, false, program).expect("a plan");
    let profiles = [plan.card.profile.clone()];
    let variables: Vec<_> = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let request = Request {
        place,
        profiles: &profiles,
        described: &plan.described,
        strict: plan.strict,
        command: &command,
        show,
        blas: Blas::Recorded,
        streams: Streams::Captured,
        preload: false,
        sparse_read: false,
        variables: &variables,
    };
    let outcome = request.run().expect("a run");
    let rows = select(&outcome, &profiles);
    (outcome, rows)
}

#[test]
fn a_program_of_debians_clang_is_refused_and_recorded_as_on_the_card() {
    let Some(place) = place("debian-experimental-programs") else { return };
    let RunRoot::Tree { root, .. } = &place else { unreachable!("a tree") };
    let home = tempfile::tempdir().expect("a directory");
    let source = home.path().join("scale.hip");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scale.hip"), &source).expect("a copy");
    let program = home.path().join("scale");
    let mut clang = Command::new("/usr/bin/clang++-22");
    clang
        .args(["-x", "hip", "--offload-arch=gfx1201", "--offload-arch=gfx942", "-O2", "-o"])
        .arg(&program)
        .arg(&source);
    clang.arg("-lamdhip64").env_clear().env("PATH", "/usr/lib/llvm-22/bin:/usr/bin:/bin").env("HOME", home.path());
    let made = Enter::new(root).bind(home.path()).output(&mut clang).expect("the tree can be entered");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let program = program.display().to_string();
    for (card, arch) in [("rx-9070-xt", "gfx1201"), ("mi300x", "gfx942:sramecc+:xnack-")] {
        let title = gpu::find(card).expect("a card").title;
        let (outcome, rows) = run(&place, card, &[&program], &[], &[]);
        assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
        for line in [
            &format!("{title}, {arch}, HIP 7"),
            "launches: hipSuccess",
            "too many threads: hipErrorLaunchFailure",
            "blocks: 1",
        ] {
            assert!(outcome.said.lines().any(|said| said == line), "{card}: {line} is missing in\n{}", outcome.said);
        }
        let seen: BTreeSet<(&str, [u32; 3], [u32; 3], u64)> =
            rows.iter().map(|row| (row.mangled.as_str(), row.grids[0], row.block, row.count)).collect();
        let expected = [
            ("_Z4turnPf", [1, 1, 1], [128, 1, 1], 1),
            ("_Z5scalePffi", [8, 1, 1], [512, 1, 1], 2),
            ("_Z5scalePffi", [16, 1, 1], [256, 1, 1], 1),
        ];
        assert_eq!(seen, expected.into_iter().collect(), "{card}");
        let turned = rows.iter().find(|row| row.mangled == "_Z4turnPf").and_then(|row| row.needs.as_ref());
        assert_eq!(turned.map(|needs| needs.lds), Some(512), "{card}: the size of the array in LDS");
        let events = Events::of(&outcome);
        assert_eq!(events.rejected.values().sum::<u64>(), 1, "{:?}", events.rejected);
        assert!(events.unsupported.is_empty(), "{:?}", events.unsupported);
    }
    let (outcome, rows) = run(&place, "rx-7900-xtx", &[&program], &[], &[]);
    assert!(outcome.said.contains("launches: hipErrorNoBinaryForGpu"), "{}", outcome.said);
    assert!(rows.is_empty(), "no launch was accepted: {rows:?}");
}

#[test]
fn hipblaslt_bench_launches_the_kernel_that_it_names() {
    let Some(place) = place("debian-experimental-programs") else { return };
    const BENCH: &str = "/usr/libexec/rocm/libhipblaslt1-bench/hipblaslt-bench";
    for size in [["512", "512", "512"], ["4096", "64", "4096"], ["17", "33", "65"]] {
        let [m, n, k] = size;
        let words = ["--precision", "f16_r", "--print_kernel_info", "-i", "1", "-j", "1"];
        let command = [&[BENCH, "-m", m, "-n", n, "-k", k][..], &words].concat();
        let (outcome, rows) = run(&place, "rx-9070-xt", &command, &[], &[]);
        assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
        let named: BTreeSet<&str> =
            outcome.said.lines().filter_map(|line| line.trim().strip_prefix("--kernel name:")).map(str::trim).collect();
        let launched: BTreeSet<&str> =
            rows.iter().map(|row| row.mangled.as_str()).filter(|name| name.starts_with("Cijk_")).collect();
        assert_eq!(named.len(), 1, "{}", outcome.said);
        assert_eq!(launched, named, "{size:?}");
        assert!(Events::of(&outcome).unsupported.is_empty(), "{:?}", Events::of(&outcome).unsupported);
    }
}

const TINYGRAD: &str = "
from tinygrad import Tensor, Device
a = Tensor.ones(128, 256).contiguous().realize()
b = Tensor.ones(256, 64).contiguous().realize()
((a @ b).relu().sum(axis=0) + 1).realize()
print('device', Device.DEFAULT)
";

#[test]
fn tinygrad_launches_the_kernels_that_it_lists() {
    let (Some(place), Some(package)) = (place("debian-experimental-programs"), test_artifacts::need("tinygrad-0.14.0"))
    else {
        return;
    };
    // tinygrad opens libraries by their paths.
    let variables = [
        ("PYTHONPATH", package.to_str().expect("text")),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("DEV", "HIP"),
        ("HIP_PATH", "/usr/lib/x86_64-linux-gnu/libamdhip64.so.7"),
        ("COMGR_PATH", "/usr/lib/x86_64-linux-gnu/libamd_comgr.so.3"),
        ("DEBUG", "2"),
        ("NO_COLOR", "1"),
    ];
    let command = ["/usr/bin/python3", "-c", TINYGRAD];
    let (outcome, rows) = run(&place, "rx-9070-xt", &command, std::slice::from_ref(&package), &variables);
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    assert!(outcome.said.contains("device HIP"), "{}", outcome.said);
    // `*** HIP    1 E_256_32_4   arg  1 mem ...`
    let listed: Vec<&str> = outcome
        .said
        .lines()
        .filter(|line| line.contains("*** HIP"))
        .filter_map(|line| line.split("HIP").nth(1)?.split_whitespace().nth(1))
        .collect();
    let launched: u64 = rows.iter().map(|row| row.count).sum();
    assert!(listed.len() >= 3, "{}", outcome.said);
    assert_eq!(launched, listed.len() as u64, "{listed:?}\n{rows:?}");
    for row in &rows {
        assert!(listed.contains(&row.mangled.as_str()), "{} is not in {listed:?}", row.mangled);
    }
}

/// Each function runs once; XLA's plan of each is printed at the end.
const JAX: &str = "
import glob, jax, jax.numpy as jnp
attention = jax.jit(lambda q, k, v: jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8.0) @ v)
fused = jax.jit(lambda x: jnp.tanh(x * 2 + 1).sum(axis=0))
q = jnp.ones((4, 128, 64), jnp.float16)
attention(q, q, q).block_until_ready()
fused(jnp.ones((1024, 256))).block_until_ready()
jax.jit(jnp.sort)(jnp.arange(4096.0)).block_until_ready()
print('device', jax.devices()[0].device_kind)
for name in sorted(glob.glob('/tmp/plan/*.thunk_sequence.txt')):
    print(open(name).read())
";

/// Libraries of AMD's own packages that Debian does not have, and the functions of them that XLA calls. All of them
/// fail, because a profiler or a monitor does not affect launches.
const ABSENT: [(&str, &[&str]); 5] = [
    (
        "librocprofiler-sdk.so.1",
        &[
            "rocprofiler_force_configure",
            "rocprofiler_get_status_string",
            "rocprofiler_get_timestamp",
            "rocprofiler_start_context",
            "rocprofiler_stop_context",
            "rocprofiler_context_is_valid",
            "rocprofiler_flush_buffer",
        ],
    ),
    (
        "libamd_smi.so.26",
        &[
            "amdsmi_init",
            "amdsmi_status_code_to_string",
            "amdsmi_get_socket_handles",
            "amdsmi_get_processor_handles",
            "amdsmi_get_processor_handle_from_bdf",
            "amdsmi_get_pcie_info",
            "amdsmi_get_xgmi_info",
            "amdsmi_get_gpu_metrics_info",
        ],
    ),
    ("librocm_sysdeps_drm.so.2", &[]),
    ("librocm_sysdeps_drm_amdgpu.so.1", &[]),
    ("librocm_sysdeps_numa.so.1", &[]),
];

/// A kernel's name, grid, block and shared memory.
type Shape = (String, [u32; 3], [u32; 3], u32);

/// `001: kKernel [...] fusion grid: [64, 1, 1] threads: [128, 1, 1]  shared_memory: 4096 bytes`
fn planned(line: &str) -> Option<Shape> {
    let (before, after) = line.split_once(" grid: [")?;
    let (grid, after) = after.split_once("] threads: [")?;
    let (block, after) = after.split_once(']')?;
    let shared = after.split_once("shared_memory: ")?.1.split_whitespace().next()?.parse().ok()?;
    let numbers = |text: &str| -> Option<[u32; 3]> {
        let list: Vec<u32> = text.split(',').filter_map(|number| number.trim().parse().ok()).collect();
        list.try_into().ok()
    };
    Some((before.split_whitespace().next_back()?.to_owned(), numbers(grid)?, numbers(block)?, shared))
}

/// `cargo xtask deep programs` sets the directory with JAX and its dependencies.
#[test]
fn jax_launches_what_xla_planned() {
    let Some(packages) = std::env::var_os("WHICHKERNEL_DEEP_JAX").map(PathBuf::from) else { return };
    let Some(root) = test_artifacts::need_deep("debian-experimental-jax").map(|dir| dir.join("root")) else { return };
    let place = RunRoot::Tree { name: "debian-experimental".into(), root };
    let libraries = packages.join("rocm/lib");
    std::fs::create_dir_all(&libraries).expect("a directory");
    for (name, functions) in ABSENT {
        let source = libraries.join(format!("{name}.c"));
        let code: String = functions.iter().map(|function| format!("int {function}(void) {{ return 2; }}\n")).collect();
        std::fs::write(&source, code).expect("a file");
        let mut gcc = Command::new("gcc");
        gcc.args(["-shared", "-fPIC", "-o"]).args([&libraries.join(name), &source]).arg(format!("-Wl,-soname,{name}"));
        assert!(gcc.status().expect("gcc runs").success());
    }
    let variables = [
        ("PYTHONPATH", packages.to_str().expect("text")),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("XLA_FLAGS", "--xla_gpu_autotune_level=0 --xla_dump_to=/tmp/plan --xla_gpu_enable_command_buffer="),
    ];
    let command = ["/usr/bin/python3", "-c", JAX];
    let (outcome, rows) = run(&place, "mi300x", &command, std::slice::from_ref(&packages), &variables);
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    assert!(outcome.said.contains("device AMD Instinct MI300X"), "{}", outcome.said);
    let plan: BTreeSet<Shape> = outcome.said.lines().filter_map(planned).collect();
    let launched: BTreeSet<Shape> = rows
        .iter()
        .flat_map(|row| row.grids.iter().map(|grid| (row.mangled.clone(), *grid, row.block, row.shared)))
        .collect();
    assert!(plan.len() >= 6, "{}", outcome.said);
    assert_eq!(launched, plan);
    eprintln!("{} kernels of XLA's plan, {} launched shapes, all equal", plan.len(), launched.len());
}
