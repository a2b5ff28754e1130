//! Machines made of files, each with one planted cause: the verdict names it first and names no other. A machine
//! without a cause is called fine.
//!
//! The log lines are those of real servers. Facts that would need a library's bytes are set directly.

#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "../../doctor/tests/machine/mod.rs"]
mod machine;

use machine::Machine;
use server::claims::{Claim, Claims, Meaning, Origin, of_command, of_log};
use server::log_facts::Stage;
use server::{Counters, Identity, Kind, Loaded, llama_build};
use std::collections::BTreeSet;
use why::gather::{self, Told};
use why::{Answer, Facts, Id, Says};

const PID: u32 = 4711;
const VRAM: u64 = 17_095_983_104;

/// The log of Debian's llama-server in a normal run.
const LOG: &str = "0.00.100.1 I llama_prepare_model_devices: using device ROCm0 (AMD Radeon RX 9070 XT) (0000:03:00.0) - 16304 MiB free\n\
    0.00.100.7 I load_tensors: offloaded 33/33 layers to GPU\n\
    0.00.105.3 I llama_context: n_ubatch              = 512\n\
    0.00.101.2 I llama_kv_cache: size = 1024.00 MiB (  8192 cells,  32 layers,  1/1 seqs), K (f16):  512.00 MiB, V (f16):  512.00 MiB\n\
    0.00.108.3 I resolve_fused_ops: Flash Attention enabled\n\
    0.00.108.9 I sched_reserve: graph: nodes = 1030, splits = 2, input objects = 4, input tensors = 9\n";

/// All inputs of a run; each test changes some of them.
struct Run {
    machine: Machine,
    command: String,
    environment: Vec<&'static str>,
    mapped: Vec<&'static str>,
    log: String,
    kind: Kind,
    version: String,
    metrics: &'static str,
    share: Option<(u64, u64)>,
    slots: u64,
    edit: fn(&mut Facts),
}

fn header(head: u32) -> Vec<u8> {
    let shape = gguf::Shape { head, ..gguf::known("llama-3.1-8b").expect("a shape") };
    let mix = gguf::Mix::parse("Q4_K_M").expect("a mix");
    gguf::skeleton_of(&shape, mix, 32, false).expect("a skeleton").header
}

/// A card's directory as amdgpu writes it, at its address on the bus.
fn card(machine: Machine, minor: u32, vram_used: u64, vram: u64) -> Machine {
    let place = format!("/sys/devices/pci0000:00/0000:00:01.1/0000:03:00.{}", minor - 128);
    machine
        .file(&format!("{place}/power_dpm_force_performance_level"), "auto\n")
        .file(&format!("{place}/hwmon/hwmon3/power1_cap"), "304000000\n")
        .file(&format!("{place}/hwmon/hwmon3/power1_cap_default"), "304000000\n")
        .file(&format!("{place}/mem_info_vram_used"), format!("{vram_used}\n"))
        .file(&format!("{place}/mem_info_vram_total"), format!("{vram}\n"))
        .file(&format!("{place}/current_link_width"), "16\n")
        .file(&format!("{place}/max_link_width"), "16\n")
        .file(&format!("{place}/current_link_speed"), "32.0 GT/s PCIe\n")
        .file("/sys/devices/pci0000:00/0000:00:01.1/current_link_width", "16\n")
        .link(
            &format!("/sys/class/drm/renderD{minor}/device"),
            &format!("../../../devices/pci0000:00/0000:00:01.1/0000:03:00.{}", minor - 128),
        )
}

/// Two modules in the format of systemd's dmi_memory_id.
const MODULES: &str = "E:MEMORY_ARRAY_NUM_DEVICES=4\nE:MEMORY_DEVICE_0_PRESENT=0\n\
    E:MEMORY_DEVICE_1_TYPE=DDR5\nE:MEMORY_DEVICE_1_CONFIGURED_SPEED_MTS=5600\nE:MEMORY_DEVICE_1_DATA_WIDTH=64\n\
    E:MEMORY_DEVICE_2_PRESENT=0\n\
    E:MEMORY_DEVICE_3_TYPE=DDR5\nE:MEMORY_DEVICE_3_CONFIGURED_SPEED_MTS=5600\nE:MEMORY_DEVICE_3_DATA_WIDTH=64\n";

fn base() -> Machine {
    Machine::new().file("/run/udev/data/+dmi:id", MODULES).file("/models/m.gguf", header(128))
}

fn on(machine: Machine) -> Run {
    Run {
        machine,
        command: "/usr/bin/llama-server -m /models/m.gguf -c 8192".into(),
        environment: vec!["PATH=/usr/bin"],
        mapped: vec!["/opt/lib/libggml-hip.so", "/opt/lib/libamdhip64.so.7"],
        log: LOG.into(),
        kind: Kind::LlamaServer,
        version: "b10586-Debian".into(),
        metrics: "llamacpp:requests_processing 0\nllamacpp:requests_deferred 0\n",
        share: None,
        slots: 1,
        edit: |_| {},
    }
}

fn healthy() -> Run {
    on(open(card(base().rx_9070_xt(), 128, 6 << 30, VRAM), PID, 128))
}

fn open(machine: Machine, pid: u32, minor: u32) -> Machine {
    machine
        .link(&format!("/proc/{pid}/fd/7"), "/dev/kfd")
        .link(&format!("/proc/{pid}/fd/8"), &format!("/dev/dri/renderD{minor}"))
        .file(&format!("/dev/dri/renderD{minor}"), "")
}

impl Run {
    fn facts(self) -> Facts {
        let machine = self.machine.process(PID, &self.command, &self.environment, &self.mapped);
        let (host, found) = (machine.host(), machine.facts());
        let words: Vec<String> = self.command.split(' ').map(str::to_owned).collect();
        let mut claims = Claims { blocks: Some(32), ..Claims::default() };
        of_command(PID, &words, &[], &mut claims);
        of_log("server.log", &self.log, &mut claims);
        if let Some((vram, size)) = self.share {
            let origin = Origin::Answer { path: "/api/ps" };
            claims.list.push(Claim {
                meaning: Meaning::Share { vram, size },
                said: "m 45%/55% CPU/GPU".into(),
                origin,
            });
        }
        let mut log = Stage::default();
        self.log.lines().for_each(|line| log.line(line));
        let identity = Identity {
            kind: self.kind,
            version: Some(self.version.clone()),
            slots: Some(self.slots),
            loaded: vec![Loaded { name: "m".into(), file_type: None }],
            ..Identity::default()
        };
        let build = llama_build::build(&identity, log.build);
        let counters = Some(Counters::read(self.metrics)).filter(|counters| counters.kind.is_some());
        let told = Told { identity, claims, log: (!self.log.is_empty()).then_some(log), counters, build, url: None };
        let mut facts = gather::with_server(&host, &found, &BTreeSet::from([PID]), &told);
        (self.edit)(&mut facts);
        facts
    }

    fn answer(self) -> Answer {
        Answer::of(&self.facts(), [None, None], None)
    }
}

fn code(facts: &mut Facts, targets: &[&str]) {
    facts.cards[0].code =
        Some(("/opt/lib/libggml-hip.so".into(), targets.iter().map(|target| (*target).to_owned()).collect()));
}

fn counted(facts: &mut Facts, stubs: u64, matrix: u64) {
    code(facts, &["gfx1201"]);
    let kernel = "mul_mat_q<Q4_K,128>".to_owned();
    facts.cards[0].census = Some(why::facts::Census { kernel, kernels: 2, stubs, matrix });
}

const PCI: &str = "/sys/devices/pci0000:00/0000:00:01.1";

/// A server on Vulkan alone; its log lists the device, with these matrix cores.
fn vulkan(matrix: &str) -> Run {
    let device = format!(
        "ggml_vulkan: 0 = AMD Radeon RX 9070 XT (RADV GFX1201) (radv) | uma: 0 | fp16: 1 | bf16: 1 | warp size: 64 | \
         shared memory: 65536 | int dot: 1 | matrix cores: {matrix}\n"
    );
    Run { log: device + &LOG.replace("ROCm0", "Vulkan0"), mapped: vec!["/opt/lib/libggml-vulkan.so"], ..healthy() }
}

fn planted() -> Vec<(&'static str, Id, Run)> {
    let run = healthy;
    let log = |from: &str, to: &str| LOG.replace(from, to);
    let with = |file: &str, text: &str| {
        let run = healthy();
        Run { machine: run.machine.file(file, text), ..run }
    };
    let two_cards = || {
        let machine = card(base().rx_9070_xt(), 128, 1 << 30, VRAM);
        let small = "/sys/class/kfd/kfd/topology/nodes/2";
        let properties = "cpu_cores_count 16\nsimd_count 24\nwave_front_size 32\nsimd_per_cu 2\ngfx_target_version 110003\n\
            vendor_id 4098\ndevice_id 5567\ndrm_render_minor 129\n";
        let machine = card(machine.file(&format!("{small}/properties"), properties), 129, 1 << 30, 2 << 30);
        on(open(machine, PID, 129))
    };
    vec![
        (
            "layers on the CPU, by the log",
            Id::PartialOffload,
            Run {
                log: log("33/33", "22/33"),
                command: "/usr/bin/llama-server -m /models/m.gguf -c 131072".into(),
                ..run()
            },
        ),
        (
            "layers on the CPU, by the command line",
            Id::PartialOffload,
            Run {
                log: String::new(),
                command: "/usr/bin/llama-server -m /models/m.gguf -c 8192 -ngl 10".into(),
                ..run()
            },
        ),
        (
            "a part of the model in system memory, by /api/ps",
            Id::PartialOffload,
            Run {
                kind: Kind::Ollama,
                version: "0.30.0".into(),
                command: "/usr/bin/ollama runner --model /models/m.gguf --ctx-size 131072".into(),
                log: String::new(),
                share: Some((4_480_000_000, 10_000_000_000)),
                ..run()
            },
        ),
        (
            "no GPU backend loaded",
            Id::CpuOnly,
            Run { mapped: vec!["/usr/lib/libggml-cpu.so"], log: String::new(), ..run() },
        ),
        ("the integrated GPU is used", Id::IntegratedGpu, two_cards()),
        (
            "a library without the card's target",
            Id::MissingTarget,
            Run { edit: |facts| code(facts, &["gfx1030", "gfx1100"]), ..run() },
        ),
        ("generic code only", Id::GenericTarget, Run { edit: |facts| code(facts, &["gfx12-generic"]), ..run() }),
        (
            "HSA_OVERRIDE_GFX_VERSION",
            Id::GfxOverride,
            Run { environment: vec!["HSA_OVERRIDE_GFX_VERSION=12.0.0"], ..run() },
        ),
        ("BLAS for long prompts", Id::BlasPath, Run { version: "b6841".into(), ..run() }),
        (
            "an Ollama release with BLAS",
            Id::BlasPath,
            Run {
                kind: Kind::Ollama,
                version: "0.12.3".into(),
                command: "/usr/bin/ollama runner --model /models/m.gguf --ctx-size 8192".into(),
                ..run()
            },
        ),
        ("stub kernels", Id::StubKernels, Run { edit: |facts| counted(facts, 2, 0), ..run() }),
        ("no matrix instructions", Id::NoMatrixUnits, Run { edit: |facts| counted(facts, 0, 0), ..run() }),
        ("Vulkan without cooperative matrices, by the log", Id::NoMatrixUnits, vulkan("none")),
        (
            "Vulkan's cooperative matrices switched off",
            Id::NoMatrixUnits,
            Run { environment: vec!["GGML_VK_DISABLE_COOPMAT=1"], ..vulkan("none") },
        ),
        ("a debug build", Id::DebugBuild, {
            let run = run();
            let machine = run.machine.link(&format!("/proc/{PID}/exe"), "/src/build/bin/llama-server");
            Run { machine: machine.file("/src/build/CMakeCache.txt", "CMAKE_BUILD_TYPE:STRING=Debug\n"), ..run }
        }),
        (
            "flash attention off, by the log",
            Id::FlashAttention,
            Run { log: log("Attention enabled", "Attention disabled"), ..run() },
        ),
        (
            "flash attention off, by the command line",
            Id::FlashAttention,
            Run {
                log: log("Flash Attention enabled", ""),
                command: "/usr/bin/llama-server -m /models/m.gguf -c 8192 -fa off".into(),
                ..run()
            },
        ),
        ("heads without kernels", Id::HeadSize, {
            let run = run();
            Run { machine: run.machine.file("/models/m.gguf", header(48)), ..run }
        }),
        ("two types in the KV cache", Id::KvType, Run { log: log("V (f16)", "V (q8_0)"), ..run() }),
        ("an f32 KV cache", Id::KvType, Run { log: log("(f16)", "(f32)"), ..run() }),
        (
            "a context that does not fit",
            Id::ContextSize,
            Run { command: "/usr/bin/llama-server -m /models/m.gguf -c 131072".into(), ..run() },
        ),
        (
            "slots that do not fit",
            Id::Slots,
            Run { command: "/usr/bin/llama-server -m /models/m.gguf -c 131072 -np 8".into(), slots: 8, ..run() },
        ),
        (
            "a small micro-batch",
            Id::MicroBatch,
            Run { log: log("n_ubatch              = 512", "n_ubatch              = 32"), ..run() },
        ),
        ("graph splits", Id::GraphSplits, Run { log: log("splits = 2", "splits = 66"), ..run() }),
        ("VRAM in use", Id::VramFull, with(&format!("{PCI}/0000:03:00.0/mem_info_vram_used"), "17000000000\n")),
        (
            "a low performance level",
            Id::PowerState,
            with(&format!("{PCI}/0000:03:00.0/power_dpm_force_performance_level"), "low\n"),
        ),
        (
            "a low power limit",
            Id::PowerState,
            with(&format!("{PCI}/0000:03:00.0/hwmon/hwmon3/power1_cap"), "180000000\n"),
        ),
        ("four PCIe lanes", Id::PcieLink, with(&format!("{PCI}/current_link_width"), "4\n")),
        ("a second server on the GPU", Id::TwoServers, {
            let run = run();
            let machine =
                run.machine.process(5120, "/usr/bin/llama-server -m /models/n.gguf", &[], &["/opt/lib/libggml-hip.so"]);
            Run { machine: open(machine, 5120, 128), ..run }
        }),
        (
            "requests in the queue",
            Id::Queueing,
            Run { metrics: "llamacpp:requests_processing 1\nllamacpp:requests_deferred 5\n", ..run() },
        ),
    ]
}

/// Runs in which nothing is wrong, some of them unusual.
fn fine() -> Vec<(&'static str, Run)> {
    let run = healthy;
    vec![
        ("an ordinary machine", run()),
        ("Vulkan with cooperative matrices", vulkan("KHR_coopmat")),
        (
            "Vulkan's variable on a server that uses HIP",
            Run { environment: vec!["GGML_VK_DISABLE_COOPMAT=1"], ..run() },
        ),
        ("a large micro-batch", Run { log: LOG.replace("= 512", "= 2048"), ..run() }),
        ("a quantised cache with flash attention", Run { log: LOG.replace("(f16)", "(q8_0)"), ..run() }),
        (
            "all layers by number",
            Run { command: "/usr/bin/llama-server -m /models/m.gguf -c 8192 -ngl 99".into(), ..run() },
        ),
        ("several slots that fit", Run { slots: 4, ..run() }),
        (
            "a long context that fits",
            Run { command: "/usr/bin/llama-server -m /models/m.gguf -c 65536".into(), ..run() },
        ),
        ("code for the card", Run { edit: |facts| counted(facts, 0, 64), ..run() }),
        ("an override to the card's own target", Run { environment: vec!["HSA_OVERRIDE_GFX_VERSION=12.0.1"], ..run() }),
        ("a release build", {
            let run = run();
            let machine = run.machine.link(&format!("/proc/{PID}/exe"), "/src/build/bin/llama-server");
            Run { machine: machine.file("/src/build/CMakeCache.txt", "CMAKE_BUILD_TYPE:STRING=Release\n"), ..run }
        }),
        (
            "a whole model in VRAM, by /api/ps",
            Run {
                kind: Kind::Ollama,
                version: "0.30.0".into(),
                command: "/usr/bin/ollama runner --model /models/m.gguf --ctx-size 8192".into(),
                log: String::new(),
                share: Some((6_000_000_000, 6_000_000_000)),
                ..run()
            },
        ),
        ("a power limit a little below the usual", {
            let run = run();
            Run {
                machine: run.machine.file(&format!("{PCI}/0000:03:00.0/hwmon/hwmon3/power1_cap"), "290000000\n"),
                ..run
            }
        }),
        ("a second server on the CPU", {
            let run = run();
            Run {
                machine: run.machine.process(
                    5120,
                    "/usr/bin/llama-server -m /models/n.gguf",
                    &[],
                    &["/usr/lib/libggml-cpu.so"],
                ),
                ..run
            }
        }),
    ]
}

#[test]
fn every_planted_cause_is_named_first_and_alone() {
    let (mut found, mut extra) = (0, Vec::new());
    let all = planted();
    let count = all.len();
    for (name, id, run) in all {
        let answer = run.answer();
        let ids: Vec<Id> = answer.causes.iter().map(|cause| cause.id).collect();
        assert_eq!(ids.first(), Some(&id), "{name}: {ids:?}");
        assert_eq!(answer.verdict.cause, Some(id), "{name}");
        found += 1;
        extra.extend(ids.iter().skip(1).map(|other| format!("{name}: {other:?}")));
        accounted(&answer);
        let cause = &answer.causes[0];
        assert!(!cause.evidence.is_empty(), "{name} has no evidence");
        assert!(cause.grade.strength() > 0, "{name}: {:?}", cause.grade);
        if let Some(fix) = &cause.fix {
            assert!(!fix.undo.is_empty() && fix.undo != fix.command, "{name}: {fix:?}");
        }
    }
    assert_eq!((found, extra), (count, vec![]), "causes that nobody planted");
    assert!(count >= 20, "{count}");
}

#[test]
fn a_run_without_a_cause_is_called_fine() {
    for (name, run) in fine() {
        let answer = run.answer();
        assert_eq!(answer.causes.iter().map(|cause| cause.id).collect::<Vec<_>>(), [], "{name}");
        assert_eq!(answer.verdict.says, Says::NothingWrongFound, "{name}: {}", answer.verdict.text);
        accounted(&answer);
    }
}

/// Every cause of the list is in exactly one of the four lists.
fn accounted(answer: &Answer) {
    let mut ids: Vec<Id> = answer.causes.iter().map(|cause| cause.id).collect();
    ids.extend(answer.fine.iter().map(|fine| fine.id));
    ids.extend(answer.not_checked.iter().map(|one| one.id));
    ids.extend(&answer.not_applicable);
    ids.sort_unstable();
    assert_eq!(ids, Id::ALL);
}

/// 22 of 33 layers on a card with 640 GB/s, the rest on two modules of DDR5-5600.
#[test]
fn a_split_model_has_both_memories_as_its_limit() {
    let run = Run { log: LOG.replace("33/33", "22/33"), ..healthy() };
    let answer = run.answer();
    let decode = answer.phase(why::Phase::Decode).expect("decode");
    let limit = decode.limit.as_ref().expect("a limit");
    assert!((limit.value - 41.2).abs() < 0.3, "{}", limit.value);
    assert!((decode.alone.expect("alone") - 136.4).abs() < 0.5);
    assert_eq!(answer.verdict.says, Says::Slow);
    assert_eq!(answer.verdict.text.to_string(), "Slow: 11 of 33 layers run on the CPU");
    let prefill = answer.phase(why::Phase::Prefill).and_then(|speed| speed.limit.as_ref()).expect("a limit");
    assert!((prefill.value - 27_890.0).abs() < 50.0, "{}", prefill.value);
}

/// Flash attention off costs nothing for certain at 512 tokens of context, and much at 131,072; the range has its inputs.
#[test]
fn attention_without_flash_has_a_range_of_costs() {
    let off = || LOG.replace("Attention enabled", "Attention disabled");
    let with = |context: &str| {
        let command = format!("/usr/bin/llama-server -m /models/m.gguf -c {context}");
        Run { log: off(), command, ..healthy() }.answer()
    };
    let cost = |answer: &Answer| {
        let cause = answer.causes.iter().find(|cause| cause.id == Id::FlashAttention).expect("the cause");
        let why::Cost::Between { low, high, instead_of, inputs, .. } = cause.cost.clone() else {
            panic!("{:?}", cause.cost)
        };
        assert!(low <= high && high <= instead_of, "{low} {high} {instead_of}");
        (low, high, instead_of, inputs)
    };
    // 32 layers x 32 heads x 8,192 tokens x 4 B, four times through 640 GB/s, for each token of a prompt.
    let answer = with("8192");
    let (low, high, instead_of, inputs) = cost(&answer);
    let expected = 1.0 / (1.0 / instead_of + 4.0 * 4.0 * 32.0 * 32.0 * 8192.0 / 640e9);
    assert!((low / expected - 1.0).abs() < 0.01, "{low} {expected}");
    assert_eq!(high, instead_of, "32 MiB of scores can stay in a cache");
    let value = |name: &str| inputs.iter().find(|input| input.name == name).map(|input| input.value);
    assert_eq!(value("scores-prompt"), Some(512.0 * 512.0 * 32.0 * 4.0));
    assert_eq!(value("scores-context"), Some(512.0 * 8192.0 * 32.0 * 4.0));
    assert_eq!(answer.verdict.says, Says::ProbablySlow, "{}", answer.verdict.text);
    // The range is small if the context is.
    let answer = with("512");
    let (low, _, instead_of, _) = cost(&answer);
    assert!(instead_of / low < 1.5);
    assert_eq!(answer.verdict.says, Says::PossiblySlow, "{}", answer.verdict.text);
}

/// Layers on the CPU come before flash attention, even if the cost of neither is certain.
#[test]
fn layers_on_the_cpu_come_before_a_possible_cost() {
    let log = LOG.replace("Attention enabled", "Attention disabled").replace("33/33", "22/33");
    let run = Run { log, edit: |facts| facts.system = None, ..healthy() };
    let ids: Vec<Id> = run.answer().causes.iter().map(|cause| cause.id).collect();
    assert_eq!(ids, [Id::PartialOffload, Id::FlashAttention]);
}

/// One backend uses the matrix units and the other does not: the cause names the better one. Otherwise the answer names
/// the measurement.
#[test]
fn the_other_backend_is_decided_by_facts_or_measured() {
    let open = |answer: &Answer| answer.not_checked.iter().find(|one| one.id == Id::OtherBackend).cloned();
    let answer = Run { edit: |facts| counted(facts, 0, 0), ..healthy() }.answer();
    assert!(answer.not_applicable.contains(&Id::OtherBackend) && open(&answer).is_none());
    let reason = answer.causes[0].reason.clone().expect("a reason").to_string();
    assert!(reason.contains("Vulkan"), "{reason}");
    let answer = healthy().answer();
    let command = open(&answer).and_then(|one| one.command).expect("a command");
    assert!(command.starts_with("whichkernel probe --lane rocm="), "{command}");
}

/// A speed from one of three requests is not a measurement.
#[test]
fn a_speed_from_too_few_requests_is_not_called_measured() {
    let sure = |values: &[f64]| {
        let now = why::Now::of(values);
        Answer::of(&healthy().facts(), [now, now], None).verdict.sure
    };
    assert_eq!(sure(&[100.0, 101.0, 99.0]), why::Sure::Measured);
    assert_eq!(sure(&[100.0]), why::Sure::PartlySeen);
}

/// Without a GPU, running on the CPU is not a cause, and the system's memory sets the bound.
#[test]
fn a_machine_without_a_gpu_computes_on_the_cpu() {
    let machine = base().file("/sys/class/net/lo", "");
    let run = Run { mapped: vec!["/usr/lib/libggml-cpu.so"], log: String::new(), ..on(machine) };
    let answer = run.answer();
    assert_eq!((answer.verdict.says, answer.causes.len()), (Says::OnCpu, 0));
    let limit = answer.phase(why::Phase::Decode).and_then(|speed| speed.limit.clone()).expect("a limit");
    assert!((limit.value - 89.6 / 4.692).abs() < 0.1, "{}", limit.value);
    accounted(&answer);
}

/// If nothing could be read, the server is neither fine nor slow.
#[test]
fn a_server_elsewhere_is_not_called_fine() {
    let machine = Machine::new().rx_9070_xt();
    let told = Told {
        identity: Identity { kind: Kind::Ollama, version: Some("0.13.5".into()), ..Identity::default() },
        ..Told::default()
    };
    let facts = gather::with_server(&machine.host(), &machine.facts(), &BTreeSet::new(), &told);
    let answer = Answer::of(&facts, [None, None], None);
    assert_eq!(answer.verdict.says, Says::NotKnown, "{}", answer.verdict.text);
    accounted(&answer);
}

/// NVIDIA's driver writes no state into files; the link's state comes from the PCI bus.
#[test]
fn an_nvidia_card_shows_its_link_and_says_what_is_missing() {
    let place = "/sys/devices/pci0000:00/0000:00:02.0/0000:0a:00.0";
    let machine = base()
        .file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Release\n")
        .file("/proc/driver/nvidia/gpus/0000:0a:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 5\n")
        .file("/dev/nvidia0", "")
        .file(&format!("{place}/current_link_width"), "8\n")
        .file(&format!("{place}/max_link_width"), "16\n")
        .file("/sys/devices/pci0000:00/0000:00:02.0/current_link_width", "16\n")
        .link("/sys/bus/pci/devices/0000:0a:00.0", "../../../devices/pci0000:00/0000:00:02.0/0000:0a:00.0");
    let mut run = on(machine);
    run.machine = run.machine.link(&format!("/proc/{PID}/fd/7"), "/dev/nvidia0");
    run.mapped = vec!["/opt/lib/libggml-cuda.so"];
    let facts = run.facts();
    let state = &facts.card().expect("a card").state;
    assert_eq!((state.link, state.power, state.vram), (Some((8, 16)), None, None));
    let answer = Answer::of(&facts, [None, None], None);
    let link = answer.causes.iter().find(|cause| cause.id == Id::PcieLink).expect("the link");
    assert!(link.evidence[0].place.ends_with("0000:0a:00.0"), "{link:?}");
    let open: Vec<&str> = answer.not_checked.iter().map(|one| one.id.name()).collect();
    assert!(open.contains(&"vram-full") && open.contains(&"power-state"), "{open:?}");
    accounted(&answer);
}
