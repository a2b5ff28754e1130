//! Tests real HIP programs other than llama.cpp on the stand-in, each against its own statement of what it launches.

use dryrun::sandbox::Enter;
use dryrun::{
    Blas, Card, Described, Ending, Events, Outcome, Plan, Request, RunRoot, Selected, Streams, last_words, select,
};
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
    run_on(place, &[card], command, show, variables)
}

/// Several cards are one machine.
fn run_on(
    place: &RunRoot,
    cards: &[&str],
    command: &[&str],
    show: &[PathBuf],
    variables: &[(&str, &str)],
) -> (Outcome, Vec<Selected>) {
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    let program = command.first().map(Path::new);
    let plan = |card: &&str| {
        let profile = gpu::find(card).expect("a card");
        let card = Card { given: (*card).to_owned(), profile, overridden: None };
        Plan::new(place, card, false, false, program).expect("a plan")
    };
    let plans: Vec<Plan> = cards.iter().map(plan).collect();
    let profiles: Vec<_> = plans.iter().map(|plan| plan.card.profile.clone()).collect();
    let devices: Vec<_> = plans.iter().map(|plan| (&plan.described, plan.strict)).collect();
    let described = Described::of_devices(&devices).expect("tables");
    let variables: Vec<_> = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let request = Request {
        place,
        profiles: &profiles,
        described: &described,
        strict: plans.iter().all(|plan| plan.strict),
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

/// Compiles `scale.hip` for the card that the compiler finds, and for a fixed one with and without the stand-in, then runs it.
const COMPILES: &str = "
import os, subprocess, sys
source, home = sys.argv[1], os.environ['HOME']
clang = ['/usr/bin/clang++-22', '-x', 'hip', '-O2', source]
os.environ['PATH'] = '/usr/lib/llvm-22/bin:/usr/bin:/bin'
bare = {name: value for name, value in os.environ.items() if name not in ('LD_PRELOAD', 'LD_LIBRARY_PATH')}
# The name of the output is part of the code.
made = []
for environment in (os.environ, bare):
    subprocess.run(clang + ['--offload-arch=gfx1201', '-c', '-o', home + '/scale.o'], env=environment, check=True)
    made.append(open(home + '/scale.o', 'rb').read())
print('same code', made[0] == made[1])
subprocess.run(clang + ['--offload-arch=native', '-o', home + '/scale', '-lamdhip64'], check=True)
print(subprocess.run([home + '/scale'], check=True, capture_output=True, text=True).stdout)
";

#[test]
fn compilers_that_a_program_starts_are_not_changed_and_find_the_card() {
    let Some(place) = place("debian-experimental-programs") else { return };
    let home = tempfile::tempdir().expect("a directory");
    let source = home.path().join("scale.hip");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scale.hip"), &source).expect("a copy");
    let source = source.display().to_string();
    let command = ["/usr/bin/python3", "-c", COMPILES, &source];
    let show = [home.path().to_owned()];
    let (outcome, rows) = run(&place, "rx-9070-xt", &command, &show, &[]);
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    assert!(outcome.said.contains("same code True"), "{}", outcome.said);
    assert!(outcome.said.contains("AMD Radeon RX 9070 XT, gfx1201, HIP 7"), "{}", outcome.said);
    assert!(outcome.said.contains("launches: hipSuccess"), "{}", outcome.said);
    assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), 4, "{rows:?}");
    // The program that was compiled, and at most the tool that names the card for the compiler.
    assert!((1..=2).contains(&outcome.traces.len()), "{}", outcome.traces.len());
    assert!(Events::of(&outcome).unsupported.is_empty(), "{:?}", Events::of(&outcome).unsupported);
}

/// Quantizes 262,144 numbers through the library's own interface, as its Python code does.
const BITSANDBYTES: &str = "
import ctypes, sys
ctypes.CDLL('librocblas.so.5', ctypes.RTLD_GLOBAL)
hip = ctypes.CDLL('libamdhip64.so.7', ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(sys.argv[1])
def memory(size):
    at = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(at), ctypes.c_size_t(size)) == 0
    return at
n = 1 << 18
numbers, largest, out, code = memory(2 * n), memory(n // 16), memory(n), memory(1024)
library.cquantize_blockwise_fp16_nf4(None, numbers, largest, out, ctypes.c_int(64), ctypes.c_int(n))
library.cdequantize_blockwise_fp16_nf4(None, out, largest, numbers, ctypes.c_int(64), ctypes.c_int(n), None)
library.cquantize_blockwise_bf16(code, numbers, largest, out, ctypes.c_int(256), ctypes.c_int(n))
print('status', hip.hipGetLastError())
";

/// The grids follow from the library's source (csrc/ops.cu): small blocks are quantized by half a wavefront of 64 or a
/// whole one of 32, so a work group takes two of them on the MI300X.
#[test]
fn bitsandbytes_launches_what_its_source_computes_for_the_wavefront() {
    let (Some(place), Some(package)) =
        (place("debian-experimental-programs"), test_artifacts::need("bitsandbytes-0.50.2"))
    else {
        return;
    };
    let library = package.join("bitsandbytes/libbitsandbytes_rocm72.so").display().to_string();
    const BLOCKS: u32 = (1 << 18) / 64;
    for (card, grid, block) in [("mi300x", BLOCKS / 2, 64), ("rx-9070-xt", BLOCKS, 32)] {
        let command = ["/usr/bin/python3", "-c", BITSANDBYTES, &library];
        let (outcome, rows) = run(&place, card, &command, std::slice::from_ref(&package), &[]);
        assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
        assert!(outcome.said.contains("status 0"), "{card}: {}", outcome.said);
        let shape = |name: &str| {
            let row = rows.iter().find(|row| row.mangled.contains(name)).unwrap_or_else(|| panic!("{name}: {rows:?}"));
            (row.grids[0][0], row.block[0], row.count)
        };
        assert_eq!(shape("kQuantizeBlockwiseSmall"), (grid, block, 1), "{card}");
        assert_eq!(shape("20kDequantizeBlockwise"), ((1 << 18) / 1024, 64, 1), "{card}");
        assert_eq!(shape("18kQuantizeBlockwiseI"), ((1 << 18) / 256, 128, 1), "{card}");
        assert_eq!(rows.len(), 3, "{card}: {rows:?}");
        assert!(Events::of(&outcome).unsupported.is_empty(), "{:?}", Events::of(&outcome).unsupported);
    }
    // The library has no code for this card. It is compressed, so this is found after the run.
    let command = ["/usr/bin/python3", "-c", BITSANDBYTES, &library];
    let (outcome, _) = run(&place, "mi25", &command, std::slice::from_ref(&package), &[]);
    let refused = outcome.unjudged.iter().find(|file| library.ends_with(&file.file) || file.file == library);
    let refused = refused.unwrap_or_else(|| panic!("{:?}", outcome.unjudged));
    assert!(refused.targets.iter().any(|target| target.contains("gfx942")), "{refused:?}");
    assert_eq!(refused.launches, 3, "{refused:?}");
}

/// The tree of `cargo xtask deep programs`.
fn deep_place() -> Option<RunRoot> {
    std::env::var_os("WHICHKERNEL_DEEP_JAX")?;
    let root = test_artifacts::need_deep("debian-experimental-jax")?.join("root");
    Some(RunRoot::Tree { name: "debian-experimental".into(), root })
}

/// rocBLAS itself says which kernel it chose: `Running kernel: Cijk_...`.
fn said_by_rocblas(outcome: &Outcome) -> BTreeSet<&str> {
    outcome.said.lines().filter_map(|line| line.trim().strip_prefix("Running kernel: ")).map(str::trim).collect()
}

fn gemms(rows: &[Selected]) -> BTreeSet<&str> {
    rows.iter().map(|row| row.mangled.as_str()).filter(|name| name.starts_with("Cijk_")).collect()
}

#[test]
fn rocblas_bench_launches_the_kernel_that_rocblas_names() {
    let Some(place) = deep_place() else { return };
    const BENCH: &str = "/usr/libexec/rocm/librocblas5-bench/rocblas-bench";
    for kind in ["f16_r", "f32_r", "bf16_r"] {
        for [m, n, k] in [["512", "512", "512"], ["4096", "64", "4096"], ["17", "33", "65"]] {
            let types = ["--a_type", kind, "--b_type", kind, "--c_type", kind, "--d_type", kind];
            let rest = ["--compute_type", "f32_r", "-m", m, "-n", n, "-k", k, "-i", "1", "-j", "0"];
            let command = [&[BENCH, "-f", "gemm_ex"][..], &types, &rest].concat();
            let (outcome, rows) = run(&place, "mi300x", &command, &[], &[("TENSILE_DB", "0x8000")]);
            assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
            let named = said_by_rocblas(&outcome);
            assert!(!named.is_empty(), "{kind} {m} {n} {k}: {}", outcome.said);
            assert_eq!(gemms(&rows), named, "{kind} {m} {n} {k}");
            assert!(Events::of(&outcome).unsupported.is_empty(), "{:?}", Events::of(&outcome).unsupported);
            eprintln!("rocblas-bench {kind} {m}x{n}x{k}: {} kernels, all equal", named.len());
        }
    }
}

/// In immediate mode, MIOpen chooses by its database instead of measuring, and prints the solution.
#[test]
fn miopen_driver_launches_the_kernels_of_the_solution_that_it_names() {
    let Some(place) = deep_place() else { return };
    const DRIVER: &str = "/usr/libexec/rocm/libmiopen1-tests/MIOpenDriver";
    // Debian has no Winograd kernels.
    let variables = [("MIOPEN_DEBUG_CONV_WINOGRAD", "0"), ("TENSILE_DB", "0x8000")];
    let (kind, size, pad) = ("conv", "3", "1");
    let shape =
        ["-n", "1", "-c", "64", "-H", "56", "-W", "56", "-k", "64", "-y", size, "-x", size, "-p", pad, "-q", pad];
    let mode = ["-F", "1", "-S", "0", "-i", "1", "-V", "0", "-t", "1"];
    let command = [&[DRIVER, kind][..], &shape, &mode].concat();
    let (outcome, rows) = run(&place, "mi300x", &command, &[], &variables);
    assert_eq!(outcome.ending, Ending::Code(0), "{}", last_words(&outcome));
    let solution = outcome.said.lines().find_map(|line| line.split("Solution: ").nth(1)).unwrap_or_default();
    assert!(solution.contains("GemmFwdRest"), "{kind}: {solution}\n{}", outcome.said);
    // This solution turns the image into a matrix, then multiplies.
    let columns: Vec<_> = rows.iter().filter(|row| row.mangled.starts_with("Im2d2Col")).collect();
    assert_eq!(columns.iter().map(|row| row.count).sum::<u64>(), 1, "{kind}: {rows:?}");
    assert_eq!(gemms(&rows), said_by_rocblas(&outcome), "{kind}");
    assert_eq!(gemms(&rows).len(), 1, "{kind}: {rows:?}");
    eprintln!("MIOpenDriver {kind} {size}x{size}: {solution}, all equal");
}

/// Adds up four megabytes on every card.
const RCCL: &str = "
import ctypes
hip = ctypes.CDLL('libamdhip64.so.7', ctypes.RTLD_GLOBAL)
rccl = ctypes.CDLL('librccl.so.1')
count = ctypes.c_int()
assert hip.hipGetDeviceCount(ctypes.byref(count)) == 0
comms = (ctypes.c_void_p * count.value)()
assert rccl.ncclCommInitAll(comms, count, (ctypes.c_int * count.value)(*range(count.value))) == 0
rccl.ncclGroupStart()
for device in range(count.value):
    hip.hipSetDevice(device)
    at = ctypes.c_void_p()
    assert hip.hipMalloc(ctypes.byref(at), ctypes.c_size_t(4 << 20)) == 0
    size, kind, add = ctypes.c_size_t(1 << 20), ctypes.c_int(7), ctypes.c_int(0)
    assert rccl.ncclAllReduce(at, at, size, kind, add, ctypes.c_void_p(comms[device]), None) == 0
assert rccl.ncclGroupEnd() == 0
print('ranks', count.value)
";

/// RCCL says how many channels it uses, and which of its kernels: one work group is launched per channel.
#[test]
fn rccl_launches_the_channels_that_it_names_on_two_cards() {
    let Some(place) = deep_place() else { return };
    // RCCL refuses to start without the first one, because it can't read the version of the firmware.
    let variables = [("HSA_NO_SCRATCH_RECLAIM", "1"), ("NCCL_DEBUG", "INFO")];
    let command = ["/usr/bin/python3", "-c", RCCL];
    let (outcome, rows) = run_on(&place, &["mi300x", "mi300x"], &command, &[], &variables);
    assert_eq!(outcome.ending, Ending::Code(0), "{}", outcome.said);
    assert!(outcome.said.contains("ranks 2"), "{}", outcome.said);
    let said = |mark: &str| -> u32 {
        let line = outcome.said.lines().find(|line| line.contains(mark)).unwrap_or_else(|| panic!("{}", outcome.said));
        line.rsplit([':', ' ']).next().and_then(|number| number.trim().parse().ok()).expect("a number")
    };
    let (channels, unroll) = (said("post-adjustment based on threadThreshold"), said("RCCL Unroll Factor"));
    let launches: BTreeSet<(u32, u64)> = rows.iter().map(|row| (row.device, row.count)).collect();
    assert_eq!((rows.len(), launches), (2, [(0, 1), (1, 1)].into()), "{rows:?}");
    for row in &rows {
        assert!(row.mangled.contains(&format!("ncclDevKernel_Generic_{unroll}")), "{row:?}");
        assert_eq!(row.grids, [[channels, 1, 1]], "{row:?}");
    }
    eprintln!("RCCL: {channels} channels, unroll factor {unroll}, both cards equal");
}
