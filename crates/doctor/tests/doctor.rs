//! Tests doctor on simulated machines: each test builds one and checks doctor's answer.

mod machine;
mod recorded;

use doctor::{Case, Facts, Fix, Look, Report, Status, Trial, Trials, Weight};
use evidence::{Reach, Word};
use machine::Machine;
use made_files as make;

const LIBS: [&str; 2] =
    ["/usr/local/lib/ollama/rocm/libggml-hip.so", "/usr/local/lib/ollama/rocm/libamdhip64.so.6.3.60303"];

fn ids(report: &Report) -> Vec<&'static str> {
    report.cases.iter().map(|case| case.id).collect()
}

fn case<'a>(report: &'a Report, id: &str) -> &'a Case {
    report.cases.iter().find(|case| case.id == id).unwrap_or_else(|| panic!("{id} is not in {:?}", ids(report)))
}

/// The value of a message argument, as text.
fn arg(message: &say::Message, name: &str) -> String {
    match message.args.get(name) {
        Some(say::Arg::Text(text)) => text.clone(),
        Some(say::Arg::List(names)) => names.join(", "),
        other => panic!("{name}: {other:?}"),
    }
}

fn examine(machine: &Machine) -> Report {
    Report::examine(&machine.host(), &[])
}

fn status(report: &Report, name: &str) -> Status {
    report.observers.iter().find(|observer| observer.name == name).unwrap().status
}

fn refused() -> Trials {
    let no = || Trial::refused("x", &std::io::Error::from_raw_os_error(1));
    Trials { ptrace: no(), perf: no(), bpf: no(), uprobe: no(), user_namespace: no(), ..Trials::none() }
}

fn command(fix: Option<&Fix>) -> &str {
    match fix {
        Some(Fix::Run(command) | Fix::Change { run: command, .. }) => command.as_str(),
        other => panic!("no command: {other:?}"),
    }
}

#[test]
fn the_card_of_the_field_notes_is_read_from_the_topology() {
    let facts = Machine::new().rx_9070_xt().facts();
    let [gpu] = facts.gpus.as_slice() else { panic!("{:?}", facts.gpus) };
    assert_eq!(gpu.target.as_deref(), Some("gfx1201"));
    assert_eq!((gpu.device_id, gpu.vram_bytes, gpu.wavefront), (Some(0x7550), Some(17_095_983_104), Some(32)));
    assert_eq!((gpu.compute_units, gpu.card.as_deref()), (Some(64), Some("rx-9070-xt")));
    assert!(!gpu.integrated && facts.kfd.opens);
}

#[test]
fn a_healthy_machine_has_no_problem() {
    let machine = Machine::new().rx_9070_xt().ollama("60303", &["gfx1201"]).unit("").process(
        900,
        "/usr/local/bin/ollama runner --model /blobs/sha256-x --port 4711",
        &["PATH=/bin", "SECRET=1"],
        &LIBS,
    );
    let report = examine(&machine);
    assert!(report.cases.iter().all(|case| case.weight == Weight::Note), "{:?}", report.cases);
    assert_eq!(report.facts.rocm.iter().map(|release| release.version.as_deref()).collect::<Vec<_>>(), [Some("6.3.3")]);
    assert_eq!(report.facts.catalogs[0].targets.get("gfx1201"), Some(&2));
    assert_eq!(report.facts.servers.running[0].ports, [4711]);
    // The library knows the variable, but nothing ran with it, so the verdict is only untested.
    for name in ["rocblas-log", "amd-log", "tensile-log"] {
        assert_eq!(status(&report, name), Status::Untested, "{name}");
    }
    assert_eq!(status(&report, "maps"), Status::Works);
    assert_eq!(status(&report, "uprobe"), Status::Untested);
}

#[test]
fn a_profiler_of_another_release_is_refused_before_it_breaks_anything() {
    let machine = Machine::new()
        .rx_9070_xt()
        .ollama("60303", &["gfx1201"])
        .file("/opt/rocm-7.2.0/.info/version", "7.2.0-43\n")
        .file("/opt/rocm-7.2.0/bin/rocprofv3", "#!/usr/bin/env python3\n")
        .link("/opt/rocm", "/opt/rocm-7.2.0");
    let report = examine(&machine);
    assert_eq!(status(&report, "rocprofv3"), Status::Blocked);
    assert_eq!(case(&report, "mixed-on-host").weight, Weight::Warning);
}

#[test]
fn two_releases_in_one_process_are_a_problem() {
    let mapped = ["/opt/rocm-7.2.0/lib/libamd_comgr.so.3.0.70200", LIBS[0], LIBS[1]];
    let machine = Machine::new().rx_9070_xt().process(900, "ollama runner --model x", &[], &mapped);
    let report = examine(&machine);
    assert_eq!(arg(&case(&report, "mixed-in-process").what, "releases"), "6.3.3, 7.2.0");
}

#[test]
fn an_override_that_differs_names_both_targets() {
    let machine = Machine::new()
        .rx_9070_xt()
        .ollama("60303", &["gfx1100", "gfx1201"])
        .unit("Environment=\"HSA_OVERRIDE_GFX_VERSION=11.0.0\"");
    let report = examine(&machine);
    let found = case(&report, "override");
    let says = |name: &str| arg(&found.what, name);
    assert_eq!([says("target"), says("real")], ["gfx1100", "gfx1201"]);
    // The fix is a drop-in that removes the variable, with the command that removes the drop-in. It does not open an
    // editor or start a second server.
    let Some(Fix::Change { run, undo }) = found.fix.first() else { panic!("{:?}", found.fix) };
    let (run, undo) = (run.as_str(), undo.as_str());
    assert!(run.contains("UnsetEnvironment=HSA_OVERRIDE_GFX_VERSION") && run.contains("daemon-reload"), "{run}");
    let file = "/etc/systemd/system/ollama.service.d/whichkernel-unset-HSA_OVERRIDE_GFX_VERSION.conf";
    assert!(run.contains(&format!("tee {file}")) && undo.starts_with(&format!("sudo rm {file}")), "{run}; {undo}");
    // After the fix is applied, the case is gone.
    let mended = machine.file(file, "[Service]\nUnsetEnvironment=HSA_OVERRIDE_GFX_VERSION\n");
    assert!(!ids(&examine(&mended)).contains(&"override"));
}

#[test]
fn a_server_that_has_the_override_from_its_unit_is_mended_there() {
    let environment = ["HSA_OVERRIDE_GFX_VERSION=11.0.0"];
    let machine = Machine::new().rx_9070_xt().process(800, "/usr/local/bin/ollama serve", &environment, &LIBS);
    let alone = examine(&machine);
    let found = case(&alone, "override");
    assert!(matches!(&found.fix[..], [Fix::Do(message)] if message.key == "doctor-unset-process-fix"), "{found:?}");
    let report = examine(&machine.unit("Environment=HSA_OVERRIDE_GFX_VERSION=11.0.0"));
    let found: Vec<&Case> = report.cases.iter().filter(|case| case.id == "override").collect();
    assert_eq!(found.len(), 1, "one place, one fix: {found:?}");
    assert!(command(found[0].fix.first()).contains("UnsetEnvironment="));
}

#[test]
fn an_override_of_one_node_is_held_against_that_card_alone() {
    let machine = || Machine::new().rx_9070_xt().gpu(2, 110_000, 0x744c, 1 << 34, 0);
    let report = examine(&machine().env("HSA_OVERRIDE_GFX_VERSION_1", "11.0.0"));
    assert_eq!(arg(&case(&report, "override").what, "real"), "gfx1201");
    assert_eq!(command(case(&report, "override").fix.first()), "unset HSA_OVERRIDE_GFX_VERSION_1");
    let report = examine(&machine().env("HSA_OVERRIDE_GFX_VERSION_2", "11.0.0"));
    assert!(ids(&report).contains(&"override-idle") && !ids(&report).contains(&"override"), "{:?}", ids(&report));
    let report = examine(&machine().env("HSA_OVERRIDE_GFX_VERSION_0", "11.0.0"));
    assert_eq!(case(&report, "override-nowhere").weight, Weight::Warning, "node 0 is the CPU");
}

#[test]
fn no_driver_is_loaded_that_is_loaded_and_none_from_inside_a_container() {
    let slot = "/sys/bus/pci/devices/0000:03:00.0";
    let card = || {
        let machine = Machine::new().file(&format!("{slot}/vendor"), "0x1002\n");
        machine.file(&format!("{slot}/device"), "0x7550\n").file(&format!("{slot}/class"), "0x030000\n")
    };
    let fix = |machine: Machine| case(&examine(&machine), "card-without-driver").fix.clone();
    assert_eq!(command(fix(card()).first()), "sudo modprobe amdgpu");
    let loaded = fix(card().file("/sys/module/amdgpu/refcnt", "3\n"));
    assert!(matches!(&loaded[..], [Fix::Do(message)] if message.key == "doctor-case-amdgpu-loaded-fix"), "{loaded:?}");
    let inside = fix(card().file("/proc/1/cgroup", "0::/docker/4f2a\n"));
    assert!(matches!(&inside[..], [Fix::Do(message)] if message.key == "doctor-case-kfd-container-fix"), "{inside:?}");
    // The topology comes from the loaded driver, so the driver is not missing.
    let report = examine(&Machine::new().rx_9070_xt().without("/dev/kfd"));
    assert!(!command(case(&report, "kfd-missing").fix.first()).contains("modprobe"));
}

#[test]
fn a_container_with_rocm_and_no_gpu_is_told_so() {
    let machine = Machine::new().ollama("60303", &["gfx1201"]).file("/proc/1/cgroup", "0::/docker/4f2a\n");
    assert_eq!(case(&examine(&machine), "container-no-gpu").weight, Weight::Problem);
}

#[test]
fn windows_lends_its_gpu_through_another_door() {
    let machine = Machine::new()
        .file("/proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n")
        .file("/dev/dxg", "")
        .ollama("60303", &["gfx1201"])
        .file("/proc/1/cgroup", "0::/docker/4f2a\n");
    let report = examine(&machine);
    assert_eq!(ids(&report), ["wsl"], "nothing to load, nothing missing");
}

#[test]
fn releases_below_one_directory_are_told_apart() {
    let machine = Machine::new()
        .file("/opt/rocm/core-7.14/lib/libamdhip64.so.7.14.71400", "")
        .file("/opt/rocm/core-10.0/lib/libamdhip64.so.8.0.100000", "")
        .file("/opt/rocm/core-7.14/bin/rocprofv3", "")
        .link("/opt/rocm/core", "core-10.0");
    let facts = machine.facts();
    let versions: Vec<_> = facts.rocm.iter().filter_map(|release| release.version.as_deref()).collect();
    assert_eq!(versions, ["10.0.0", "7.14.0"], "{:?}", facts.rocm);
    assert_eq!(facts.rocprofv3, ["/opt/rocm/core-7.14/bin/rocprofv3"]);
    assert!(ids(&examine(&machine)).contains(&"mixed-on-host"));
}

#[test]
fn a_runtime_that_registers_nothing_blocks_the_profiler() {
    let with = |content: &str| {
        let machine = Machine::new().rx_9070_xt().file("/usr/bin/rocprofv3", "");
        let machine = machine.file("/usr/lib/x86_64-linux-gnu/libhsa-runtime64.so.1.14.0", content);
        let report = examine(&machine);
        let observer = report.observers.iter().find(|observer| observer.name == "rocprofv3").unwrap();
        (observer.status, observer.why[0].key.clone().into_owned())
    };
    assert_eq!(with("..hsa_init.."), (Status::Blocked, "doctor-rocprofv3-unregistered".to_owned()));
    assert_eq!(with("..librocprofiler-register.so.0.."), (Status::Untested, "doctor-rocprofv3-untested".to_owned()));
}

/// Whether a command leaves a lasting change.
fn lasts(command: &str) -> bool {
    ["sysctl ", "usermod", "tee ", "modprobe", "setcap ", "mount ", "systemctl start", "systemctl edit"]
        .iter()
        .any(|word| command.contains(word))
}

#[test]
fn whatever_lasts_comes_with_the_command_that_takes_it_back() {
    let unit = "Environment=HSA_OVERRIDE_GFX_VERSION=11.0.0 OLLAMA_LLM_LIBRARY=rocm_v9";
    let log = "msg=\"discovering available GPUs...\"\nmsg=\"failure during GPU discovery\" error=\"x\"\n";
    let slot = "/sys/bus/pci/devices/0000:03:00.0";
    let machines = [
        Machine::new().rx_9070_xt().unit(unit).file("/etc/group", "render:x:992:alice\n").ollama("60303", &["gfx1100"]),
        Machine::new().rx_9070_xt().unit("").file("/var/log/ollama.log", log).env("OLLAMA_DEBUG", "1").process(
            800,
            "ollama serve",
            &["PATH=/bin"],
            &[],
        ),
        Machine::new()
            .file(&format!("{slot}/vendor"), "0x1002\n")
            .file(&format!("{slot}/device"), "0x7550\n")
            .file(&format!("{slot}/class"), "0x030000\n"),
        Machine::new().rx_9070_xt().file("/proc/self/mounts", "proc /proc proc rw 0 0\n"),
        Machine::new().file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"),
    ];
    let mut changes = 0;
    for machine in machines {
        let report = Report::judge(machine.facts(), refused(), &[]);
        let fixes = report.cases.iter().flat_map(|case| &case.fix);
        for fix in fixes.chain(report.observers.iter().filter_map(|observer| observer.fix.as_ref())) {
            match fix {
                Fix::Run(command) => assert!(!lasts(command.as_str()), "{command} has no undo"),
                Fix::Change { run, undo } => {
                    changes += 1;
                    assert!(lasts(run.as_str()) && !undo.as_str().is_empty() && undo != run, "{run}");
                }
                Fix::Do(_) => {}
            }
        }
    }
    assert!(changes > 10, "only {changes}");
}

#[test]
fn a_tree_that_holds_nothing_leaves_everything_open() {
    let empty = tempfile::tempdir().unwrap();
    let report = Report::examine(&doctor::Host::at(empty.path(), Default::default()), &[]);
    assert!(report.cases.is_empty() && !report.facts.devices_seen, "{:?}", report.cases);
    for found in [report.cases_found(), report.facts.gpus_found(), report.facts.servers_running()] {
        assert_eq!(found.word(), Word::NotKnown, "{found:?}");
    }
    std::fs::create_dir_all(empty.path().join("sys/class")).unwrap();
    let report = Report::examine(&doctor::Host::at(empty.path(), Default::default()), &[]);
    // Only the drivers' information is available: the PCI bus is not visible.
    let reach = [report.cases_found(), report.facts.gpus_found()].map(|found| found.reach());
    assert_eq!(reach, [Reach::Alone; 2]);
    let device = empty.path().join("sys/bus/pci/devices/0000:00:1f.0");
    std::fs::create_dir_all(&device).unwrap();
    let report = Report::examine(&doctor::Host::at(empty.path(), Default::default()), &[]);
    assert_eq!(report.facts.gpus_found().word(), Word::No, "the bus has no card either");
    for (file, text) in [("class", "0x030000"), ("vendor", "0x1002"), ("device", "0x7550")] {
        std::fs::write(device.join(file), text).unwrap();
    }
    let report = Report::examine(&doctor::Host::at(empty.path(), Default::default()), &[]);
    let found = report.facts.gpus_found();
    assert_eq!((found.word(), found.left_out().len()), (Word::NotKnown, 1), "a card that no driver knows: {found:?}");
    std::fs::remove_dir_all(empty.path().join("sys/bus")).unwrap();
    let report = Report::examine(&doctor::Host::at(empty.path(), Default::default()), &[]);
    // Nothing works and nothing is refused, because no trial was made.
    for observer in report.observers.iter().filter(|observer| observer.status != Status::Absent) {
        assert_eq!((observer.status, &observer.fix), (Status::Untested, &None), "{}", observer.name);
    }
}

#[test]
fn a_tree_without_processes_says_nothing_about_any() {
    let report = examine(&Machine::new().rx_9070_xt().unit("").without("/proc/self/status"));
    assert!(!report.facts.servers.processes_seen);
    for name in ["maps", "phase-proxy"] {
        let observer = report.observers.iter().find(|observer| observer.name == name).unwrap();
        assert_eq!((observer.status, &*observer.why[0].key), (Status::Untested, "doctor-no-processes"), "{name}");
        assert!(observer.fix.is_none(), "nothing is to be started: {:?}", observer.fix);
    }
}

#[test]
fn an_override_to_what_the_card_is_anyway_is_only_a_note() {
    let machine = Machine::new().rx_9070_xt().env("HSA_OVERRIDE_GFX_VERSION", "12.0.1");
    let report = examine(&machine);
    assert_eq!(case(&report, "override-idle").weight, Weight::Note);
    assert_eq!(command(case(&report, "override-idle").fix.first()), "unset HSA_OVERRIDE_GFX_VERSION");
}

#[test]
fn a_backend_without_code_for_the_card_is_named_and_a_generic_target_serves() {
    let library = "/usr/local/lib/ollama/rocm/libggml-hip.so";
    let with = |target: &str| {
        let object = make::two_kernels();
        let id = format!("hipv4-amdgcn-amd-amdhsa--{target}");
        let bundle = make::bundle(&[("host-x86_64-unknown-linux-gnu-", &[]), (id.as_str(), &object)], 256);
        examine(&Machine::new().rx_9070_xt().file(library, make::host(&bundle, &[0])))
    };
    let says = |case: &Case, name: &str| arg(&case.what, name);
    let missing = with("gfx1100");
    assert_eq!(case(&missing, "no-device-code").weight, Weight::Warning);
    assert_eq!(says(case(&missing, "no-device-code"), "others"), "gfx1100");
    // The generic target of another generation does not fit.
    assert_eq!(case(&with("gfx12-5-generic"), "no-device-code").weight, Weight::Warning);
    let generic = with("gfx12-generic");
    assert_eq!(case(&generic, "generic-code").weight, Weight::Note);
    assert_eq!(says(case(&generic, "generic-code"), "taken"), "gfx12-generic");
    assert!(!ids(&generic).contains(&"no-device-code"));
    let own = with("gfx1201");
    assert!(!ids(&own).contains(&"no-device-code") && !ids(&own).contains(&"generic-code"));
    // Tensile looks only for the card's own name.
    let report = examine(&Machine::new().rx_9070_xt().ollama("60303", &["gfx12-generic"]));
    assert_eq!(case(&report, "catalog-missing").weight, Weight::Problem);
}

#[test]
fn a_library_whose_archive_is_not_here_is_named() {
    const NAME: &str = "lib/librocsolver.so.0.7";
    let reference = make::kpack_reference(NAME, &["../.kpack/solver_@GFXARCH@.kpack"]);
    let machine = || {
        let library = "/opt/rocm/core-7.14/lib/librocsolver.so.0.7";
        Machine::new().rx_9070_xt().file(library, make::packed_host(1, &reference))
    };
    let with = |target: &str| {
        let archive = make::kpack(&[(format!("{NAME}#0"), target.to_owned(), make::two_kernels())], true);
        machine().file(&format!("/opt/rocm/core-7.14/.kpack/solver_{target}.kpack"), archive)
    };
    for (machine, others) in [(machine(), "-"), (with("gfx1100"), "gfx1100")] {
        let report = examine(&machine);
        let found = case(&report, "kpack-missing");
        let says = |name: &str| arg(&found.what, name);
        assert_eq!(found.weight, Weight::Problem);
        assert_eq!([says("target"), says("others")], ["gfx1201", others]);
        assert_eq!(says("paths"), "../.kpack/solver_@GFXARCH@.kpack");
    }
    for target in ["gfx1201", "gfx12-generic"] {
        let report = examine(&with(target));
        assert!(!ids(&report).contains(&"kpack-missing"), "{:?}", report.facts.device_code);
        assert_eq!(report.facts.device_code[0].targets, [target]);
    }
    let report = examine(&with("gfx1201").env("ROCM_KPACK_DISABLE", "1"));
    assert_eq!(case(&report, "kpack-disabled").weight, Weight::Problem);
}

#[test]
fn a_catalog_without_the_target_is_found_before_anything_runs() {
    let machine = Machine::new().rx_9070_xt().ollama("60303", &["gfx1100"]);
    assert_eq!(case(&examine(&machine), "catalog-missing").weight, Weight::Problem);
    // hipBLASLt's index is missing but its kernels are present: they are never found.
    let dir = "/usr/local/lib/ollama/rocm/hipblaslt/library";
    let machine = Machine::new()
        .rx_9070_xt()
        .ollama("60303", &["gfx1201"])
        .file(&format!("{dir}/TensileLibrary_lazy_gfx942.dat"), "")
        .file(&format!("{dir}/Kernels.so-000-gfx1201.hsaco"), "");
    assert!(ids(&examine(&machine)).contains(&"catalog-no-index"));
}

#[test]
fn what_a_shell_exports_does_not_reach_the_service() {
    let machine = Machine::new()
        .rx_9070_xt()
        .unit("")
        .process(800, "/usr/local/bin/ollama serve", &["PATH=/bin"], &[])
        .env("OLLAMA_DEBUG", "1");
    let report = examine(&machine);
    let fix = command(case(&report, "shell-only").fix.first()).to_owned();
    assert!(fix.contains("OLLAMA_DEBUG=1") && fix.contains("systemctl restart ollama"), "{fix}");
}

#[test]
fn a_runner_without_gpu_libraries_is_on_the_cpu() {
    let libs = ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/local/lib/ollama/libggml-cpu-haswell.so"];
    let machine = Machine::new().rx_9070_xt().process(900, "ollama runner --model x", &[], &libs);
    let report = examine(&machine);
    assert_eq!(case(&report, "on-cpu").weight, Weight::Problem);
    // If the kernel driver has a compute context, the case does not apply.
    let machine = machine.file("/sys/class/kfd/kfd/proc/900/vram_1234", "0");
    assert!(!ids(&examine(&machine)).contains(&"on-cpu"));
}

#[test]
fn a_discovery_that_timed_out_is_told_from_one_that_failed() {
    let log = |error: &str| {
        format!(
            "level=INFO msg=\"discovering available GPUs...\"\nlevel=INFO msg=\"failure during GPU discovery\" \
             OLLAMA_LIBRARY_PATH=\"[/x]\" error=\"{error}\"\nlevel=INFO msg=\"inference compute\" id=cpu library=cpu compute=\"\"\n"
        )
    };
    let with = |error: &str| examine(&Machine::new().rx_9070_xt().file("/var/log/ollama.log", log(error)));
    let timeout = with("failed to finish discovery before timeout");
    assert_eq!(case(&timeout, "discovery").what.key, "doctor-case-discovery-timeout");
    let crash = with("runner crashed");
    assert_eq!(case(&crash, "discovery").what.key, "doctor-case-discovery-failure");
    // Without a unit the server must be restarted; starting a second one is not enough.
    let fix = &case(&crash, "discovery").fix;
    assert!(matches!(&fix[..], [Fix::Do(message)] if message.key == "doctor-debug-fix"), "{fix:?}");
    let machine = Machine::new().rx_9070_xt().unit("").file("/var/log/ollama.log", log("runner crashed"));
    assert!(command(case(&examine(&machine), "discovery").fix.first()).contains("OLLAMA_DEBUG=2"));
}

#[test]
fn hidden_devices_are_named_and_uuids_are_left_alone() {
    let machine = Machine::new().rx_9070_xt().env("HIP_VISIBLE_DEVICES", "-1").env("ROCR_VISIBLE_DEVICES", "GPU-73c1");
    let report = examine(&machine);
    let hidden: Vec<&Case> = report.cases.iter().filter(|case| case.id == "hidden").collect();
    assert_eq!(hidden.len(), 1);
    assert_eq!(arg(&hidden[0].what, "name"), "HIP_VISIBLE_DEVICES");
}

#[test]
fn a_container_without_the_device_file_is_told_how_to_get_it() {
    let machine = Machine::new().rx_9070_xt().without("/dev/kfd").file("/proc/1/cgroup", "0::/docker/4f2a\n");
    let facts = machine.facts();
    assert_eq!(facts.container.kind.as_deref(), Some("docker"));
    let report = Report::judge(facts, refused(), &[]);
    assert_eq!(case(&report, "kfd-missing").fix.len(), 1);
    for name in ["uprobe", "bpf", "ptrace", "dryrun"] {
        assert_eq!(status(&report, name), Status::Blocked, "{name}");
        assert!(report.observers.iter().any(|observer| observer.name == name && observer.fix.is_some()), "{name}");
    }
}

#[test]
fn an_image_in_a_virtual_machine_is_no_container() {
    let facts = Machine::new()
        .file("/.dockerenv", "")
        .file("/proc/1/cgroup", "0::/\n")
        .file("/proc/self/mountinfo", "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n")
        .facts();
    assert_eq!((facts.container.kind, facts.container.signs.len()), (None, 1));
}

#[test]
fn refused_trials_name_the_setting_in_force() {
    let fix = |report: &Report, name: &str| {
        let observer = report.observers.iter().find(|observer| observer.name == name).unwrap();
        command(observer.fix.as_ref()).to_owned()
    };
    let report = Report::judge(Machine::new().facts(), refused(), &[]);
    assert_eq!(fix(&report, "ptrace"), "sudo sysctl kernel.yama.ptrace_scope=0");
    assert!(fix(&report, "uprobe").starts_with("sudo setcap cap_bpf,cap_perfmon+ep "));
    let ubuntu = Machine::new().file("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n");
    let report = Report::judge(ubuntu.facts(), refused(), &[]);
    assert_eq!(fix(&report, "dryrun"), "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0");
    let locked = Machine::new().file("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    let report = Report::judge(locked.facts(), refused(), &[]);
    assert_eq!(report.observers[0].why[0].key, "doctor-lockdown");
}

#[test]
fn what_may_not_be_seen_is_not_guessed() {
    let machine =
        Machine::new().rx_9070_xt().process(900, "ollama runner --model x", &["HSA_OVERRIDE_GFX_VERSION=9.0.0"], &[]);
    let mut facts: Facts = machine.facts();
    facts.servers.running[0].environment = Look::Denied;
    facts.servers.running[0].libraries = Look::Denied;
    facts.servers.running[0].attachable = Look::Denied;
    let report = Report::judge(facts, Trials::none(), &[]);
    assert_eq!(ids(&report), ["unseen"]);
    assert_eq!(status(&report, "maps"), Status::Blocked);
}

/// The unit belongs to another user. In the pasted command, that user's name is one quoted word. A name with control
/// characters gives no command.
#[test]
fn a_unit_that_names_a_command_for_a_user_is_quoted() {
    for (user, wanted) in [
        ("x; rm -rf ~", "sudo usermod -aG render,video 'x; rm -rf ~' && sudo systemctl restart ollama"),
        ("$(id)", "sudo usermod -aG render,video '$(id)' && sudo systemctl restart ollama"),
        ("x\u{1b}[2J", say::shell::NOT_SHOWN),
    ] {
        let unit = format!("[Service]\nExecStart=/usr/local/bin/ollama serve\nUser={user}\n");
        let machine = Machine::new().rx_9070_xt().file("/etc/systemd/system/ollama.service", unit);
        let report = examine(&machine.file("/etc/group", "render:x:992:alice\n"));
        assert_eq!(command(case(&report, "service-group").fix.first()), wanted);
    }
}

/// A tree that represents another machine: its symlinks stay inside, and its pipes do not block.
#[test]
fn links_of_a_tree_that_stands_for_a_machine_stay_in_it() {
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "planted_secret\n").unwrap();
    let outside = secret.path().to_str().unwrap();
    let up = format!("{}{}", "../".repeat(20), outside.trim_start_matches('/'));
    for target in [outside, &up] {
        let machine = Machine::new().rx_9070_xt().link("/opt/rocm/.info/version", target);
        let report = examine(&machine);
        assert!(!format!("{report:?}").contains("secret"), "{target}: {:?}", report.facts.rocm);
    }
    let machine = Machine::new().file("/opt/other/version", "6.4.1\n").file("/opt/rocm/lib/x", "");
    let report = examine(&machine.link("/opt/rocm/.info/version", "/opt/other/version"));
    assert_eq!(report.facts.rocm[0].version.as_deref(), Some("6.4.1"), "a link within the tree is followed");
}

#[test]
fn our_own_leftovers_come_with_the_line_that_removes_them() {
    let machine = Machine::new().file("/sys/kernel/tracing/uprobe_events", "p:whichkernel/launch /x.so:0x10 a=%di\n");
    let report = examine(&machine);
    assert_eq!(
        command(case(&report, "leftovers").fix.first()),
        "sudo sh -c 'for e in whichkernel/launch; do echo \"-:$e\" >> /sys/kernel/tracing/uprobe_events; done'"
    );
}

#[test]
fn a_service_user_outside_the_render_group_is_named() {
    let machine = Machine::new().rx_9070_xt().unit("").file("/etc/group", "render:x:992:alice\n");
    assert_eq!(arg(&case(&examine(&machine), "service-group").what, "user"), "ollama");
}

#[test]
fn a_card_that_the_compute_driver_does_not_know_is_a_problem() {
    let slot = "/sys/bus/pci/devices/0000:03:00.0";
    let machine = Machine::new()
        .file(&format!("{slot}/vendor"), "0x1002\n")
        .file(&format!("{slot}/device"), "0x7550\n")
        .file(&format!("{slot}/class"), "0x030000\n");
    assert_eq!(arg(&case(&examine(&machine), "card-without-driver").what, "device"), "7550");
}

#[test]
fn a_verb_that_is_not_there_yet_is_said_so() {
    let without = Report::examine(&Machine::new().host(), &[]);
    let with = Report::examine(&Machine::new().host(), &["watch"]);
    let key = |report: &Report| report.observers[0].why.last().unwrap().key.clone();
    assert_eq!([key(&without), key(&with)], ["doctor-not-yet", "doctor-used-by"]);
}

const RADV: &str =
    r#"{"ICD":{"api_version":"1.4.305","library_path":"libvulkan_radeon.so"},"file_format_version":"1.0.1"}"#;
const LAVAPIPE: &str =
    r#"{"ICD":{"api_version":"1.4.305","library_path":"libvulkan_lvp.so"},"file_format_version":"1.0.1"}"#;
const LIBRARIES: &str = "/usr/lib/x86_64-linux-gnu";

/// The card of the field notes, with Vulkan requested.
fn vulkan() -> Machine {
    Machine::new().rx_9070_xt().env("OLLAMA_VULKAN", "1")
}

fn radv(machine: Machine, manifest: &str) -> Machine {
    machine
        .file(&format!("{LIBRARIES}/libvulkan.so.1"), "")
        .file(&format!("{LIBRARIES}/libvulkan_radeon.so"), "")
        .file("/usr/share/vulkan/icd.d/radeon_icd.json", manifest)
}

fn vulkan_cases(machine: &Machine) -> Vec<&'static str> {
    ids(&examine(machine)).into_iter().filter(|id| id.starts_with("vulkan")).collect()
}

#[test]
fn vulkan_without_loader_or_driver_is_told_where_it_is_wanted() {
    assert!(vulkan_cases(&Machine::new().rx_9070_xt()).is_empty(), "nobody wants it");
    assert_eq!(vulkan_cases(&vulkan()), ["vulkan-no-loader", "vulkan-no-driver"]);
    assert!(vulkan_cases(&radv(vulkan(), RADV)).is_empty());
    let facts = radv(vulkan(), RADV).facts();
    assert_eq!(facts.vulkan.loader.as_deref(), Some("/usr/lib/x86_64-linux-gnu/libvulkan.so.1"));
    assert!(facts.vulkan.drivers.iter().all(|driver| driver.there && driver.is_radv()));
}

#[test]
fn a_driver_that_is_not_there_too_old_or_for_the_processor_is_named() {
    let missing = radv(vulkan(), &RADV.replace("libvulkan_radeon.so", "/opt/none/libvulkan_radeon.so"));
    assert_eq!(vulkan_cases(&missing), ["vulkan-driver-missing"]);
    let old = radv(vulkan(), &RADV.replace("1.4.305", "1.3.289"));
    assert_eq!(vulkan_cases(&old), ["vulkan-old-driver"]);
    let processor = vulkan()
        .file(&format!("{LIBRARIES}/libvulkan.so.1"), "")
        .file(&format!("{LIBRARIES}/libvulkan_lvp.so"), "")
        .file("/usr/share/vulkan/icd.d/lvp_icd.json", LAVAPIPE);
    let report = examine(&processor);
    assert_eq!(case(&report, "vulkan-no-driver").what.key, "doctor-case-vulkan-only-llvmpipe");
    // An invalid manifest does not count.
    assert!(vulkan_cases(&radv(vulkan(), "{")).contains(&"vulkan-no-driver"));
}

/// A device file that cannot be opened. The test uses a directory in its place, so that opening fails for root too.
#[test]
fn render_nodes_that_do_not_open_are_named() {
    let closed = |machine: Machine| radv(machine, RADV).file("/dev/dri/renderD128/x", "").file("/dev/dri/card0", "");
    let report = examine(&closed(vulkan()));
    assert_eq!(case(&report, "vulkan-render-denied").weight, doctor::Weight::Problem);
    assert!(vulkan_cases(&closed(Machine::new().rx_9070_xt())).is_empty(), "nobody wants Vulkan");
    // One node that opens is enough.
    assert!(vulkan_cases(&closed(vulkan()).file("/dev/dri/renderD129", "")).is_empty());
    let facts = closed(vulkan()).facts();
    assert_eq!(facts.vulkan.render_nodes.len(), 1);
    assert!(facts.vulkan.render_nodes.iter().all(|node| !node.opens && node.error.is_some()));
}

#[test]
fn matrices_that_are_switched_off_are_named() {
    let report = examine(&Machine::new().rx_9070_xt().env("GGML_VK_DISABLE_COOPMAT", "1"));
    assert_eq!(case(&report, "vulkan-no-matrices").weight, doctor::Weight::Note);
}

#[test]
fn variables_that_hide_vulkan_devices_are_named() {
    let report = examine(&Machine::new().rx_9070_xt().env("GGML_VK_VISIBLE_DEVICES", "").env("OLLAMA_VULKAN", "0"));
    assert_eq!(case(&report, "vulkan-visible-devices").what.key, "doctor-case-vulkan-hidden-all");
    assert_eq!(case(&report, "vulkan-visible-devices").weight, doctor::Weight::Problem);
    assert_eq!(case(&report, "vulkan-off").weight, doctor::Weight::Note);
    let report = examine(&Machine::new().rx_9070_xt().env("GGML_VK_VISIBLE_DEVICES", "1"));
    assert_eq!(case(&report, "vulkan-visible-devices").weight, doctor::Weight::Note);
}
