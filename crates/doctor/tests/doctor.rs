//! Doctor on machines that are not here: each test builds one and reads doctor's answer.

mod machine;

use doctor::{Case, Facts, Fix, Look, Report, Status, Trial, Trials, Weight};
use machine::Machine;

const LIBS: [&str; 2] =
    ["/usr/local/lib/ollama/rocm/libggml-hip.so", "/usr/local/lib/ollama/rocm/libamdhip64.so.6.3.60303"];

fn ids(report: &Report) -> Vec<&'static str> {
    report.cases.iter().map(|case| case.id).collect()
}

fn case<'a>(report: &'a Report, id: &str) -> &'a Case {
    report.cases.iter().find(|case| case.id == id).unwrap_or_else(|| panic!("{id} is not in {:?}", ids(report)))
}

fn examine(machine: &Machine) -> Report {
    Report::examine(&machine.host(), &[])
}

fn status(report: &Report, name: &str) -> Status {
    report.observers.iter().find(|observer| observer.name == name).unwrap().status
}

fn refused() -> Trials {
    let no = || Trial::Refused { call: "x".to_owned(), error: "Operation not permitted (os error 1)".to_owned() };
    Trials { ptrace: no(), perf: no(), bpf: no(), uprobe: no(), user_namespace: no(), ..Trials::none() }
}

fn command(fix: Option<&Fix>) -> &str {
    match fix {
        Some(Fix::Run(command)) => command,
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
    // The library knows the variable, but nothing ran with it: never more than untested.
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
    assert_eq!(case(&report, "mixed-in-process").what.args[2].1, "6.3.3, 7.2.0");
}

#[test]
fn an_override_that_differs_names_both_targets() {
    let machine = Machine::new()
        .rx_9070_xt()
        .ollama("60303", &["gfx1100", "gfx1201"])
        .unit("Environment=\"HSA_OVERRIDE_GFX_VERSION=11.0.0\"");
    let report = examine(&machine);
    let found = case(&report, "override");
    let says = |name: &str| found.what.args.iter().find(|(key, _)| *key == name).unwrap().1.as_str();
    assert_eq!((says("target"), says("real")), ("gfx1100", "gfx1201"));
    assert!(command(found.fix.first()).contains("systemctl edit ollama"));
}

#[test]
fn an_override_to_what_the_card_is_anyway_is_only_a_note() {
    let machine = Machine::new().rx_9070_xt().env("HSA_OVERRIDE_GFX_VERSION", "12.0.1");
    let report = examine(&machine);
    assert_eq!(case(&report, "override-idle").weight, Weight::Note);
    assert_eq!(command(case(&report, "override-idle").fix.first()), "unset HSA_OVERRIDE_GFX_VERSION");
}

#[test]
fn a_catalog_without_the_target_is_found_before_anything_runs() {
    let machine = Machine::new().rx_9070_xt().ollama("60303", &["gfx1100"]);
    assert_eq!(case(&examine(&machine), "catalog-missing").weight, Weight::Problem);
    // hipBLASLt's index is missing, its kernels are there: they are never found.
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
    // With a compute context of the kernel driver it is not.
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
    assert!(command(case(&crash, "discovery").fix.first()).contains("OLLAMA_DEBUG=2"));
}

#[test]
fn hidden_devices_are_named_and_uuids_are_left_alone() {
    let machine = Machine::new().rx_9070_xt().env("HIP_VISIBLE_DEVICES", "-1").env("ROCR_VISIBLE_DEVICES", "GPU-73c1");
    let report = examine(&machine);
    let hidden: Vec<&Case> = report.cases.iter().filter(|case| case.id == "hidden").collect();
    assert_eq!(hidden.len(), 1);
    assert_eq!(hidden[0].what.args[0].1, "HIP_VISIBLE_DEVICES");
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
    assert_eq!(case(&examine(&machine), "service-group").what.args[0].1, "ollama");
}

#[test]
fn a_card_that_the_compute_driver_does_not_know_is_a_problem() {
    let slot = "/sys/bus/pci/devices/0000:03:00.0";
    let machine = Machine::new()
        .file(&format!("{slot}/vendor"), "0x1002\n")
        .file(&format!("{slot}/device"), "0x7550\n")
        .file(&format!("{slot}/class"), "0x030000\n");
    assert_eq!(case(&examine(&machine), "card-without-driver").what.args[1].1, "7550");
}

#[test]
fn a_verb_that_is_not_there_yet_is_said_so() {
    let without = Report::examine(&Machine::new().host(), &[]);
    let with = Report::examine(&Machine::new().host(), &["watch"]);
    let key = |report: &Report| report.observers[0].why.last().unwrap().key;
    assert_eq!((key(&without), key(&with)), ("doctor-not-yet", "doctor-used-by"));
}

mod recorded {
    use super::{LIBS, Machine};
    use doctor::HostObserver;
    use evidence::{GradeKind, Recorded, Why, default_investigation};
    use observe::{ObserveContext, Observer};

    fn grades(machine: &Machine) -> impl Fn(&str) -> GradeKind + use<> {
        let around = ObserveContext { time: "2025-01-01T00:00:00Z".to_owned(), ..ObserveContext::default() };
        let sightings = HostObserver::new(machine.host()).observe(&around, &mut |_| {}).unwrap();
        let observations: Vec<Recorded> = sightings.into_iter().map(|s| Recorded::new(s.observation)).collect();
        let (readings, _) = default_investigation().unwrap().read(&observations, &[]);
        move |id| readings.iter().find(|reading| reading.claim == id).unwrap().grade.kind()
    }

    #[test]
    fn the_notes_own_machine_confirms_what_they_read_and_refutes_the_pool() {
        let log = concat!(
            "level=INFO msg=\"discovering available GPUs...\"\n",
            "level=INFO msg=\"inference compute\" id=0 library=ROCm compute=gfx1201 name=ROCm0\n",
            "load_tensors: offloaded 29/29 layers to GPU\n",
        );
        let machine = Machine::new()
            .rx_9070_xt()
            .ollama("60303", &["gfx1201"])
            .process(900, "/usr/local/bin/ollama serve --port 18568", &[], &LIBS)
            .file("/var/log/ollama.log", log);
        let grade = grades(&machine);
        for id in [
            "ptrace-scope-1",
            "rocminfo-target",
            "rocminfo-device-id",
            "runtime-directory",
            "log-library",
            "log-compute",
            "log-offloaded",
            "server-port",
        ] {
            assert_eq!(grade(id), GradeKind::Confirmed, "{id}");
        }
        // 16,695,296 KB are 15.9 GiB, not 16.7.
        assert_eq!(grade("rocminfo-pool"), GradeKind::Refuted);
    }

    #[test]
    fn a_machine_without_the_card_says_so() {
        let grade = grades(&Machine::new());
        assert_eq!(grade("decode-mmvq"), GradeKind::Unresolved(Why::NotHere));
        assert_eq!(grade("size-96"), GradeKind::Unresolved(Why::NotHere));
        // What the notes say of their host is neither confirmed nor refuted by another machine.
        for id in ["ptrace-scope-1", "attach-blocked", "rocminfo-target", "host-rocm-72"] {
            assert_eq!(grade(id), GradeKind::Unresolved(Why::NoDevice), "{id}");
        }
    }
}
