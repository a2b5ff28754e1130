//! Every quick artifact, with exact numbers: registry versions never change. The goldens were compared with
//! `llvm-readelf --notes` (see `readelf.rs`) before they were committed; `BLESS=1` rewrites them.

use inventory::{File, FileReport, Nothing, Options, inspect};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{convert::Infallible, env, fs};

fn report(path: &Path) -> FileReport {
    let file = File::open(path).unwrap();
    inspect(&file, &Options::default(), true, &Nothing, |_, ()| Ok::<(), Infallible>(())).unwrap()
}

/// All counts of a file's inventory, one line per target.
fn describe(name: &str, report: &FileReport, out: &mut String) {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for summary in &report.bundles {
        let version = summary.bundle.ccob_version().map_or("plain".to_owned(), |v| format!("v{v}"));
        *kinds.entry(format!("{} {version}", summary.bundle.compression())).or_default() += 1;
    }
    let c = &report.coverage;
    let sha256 = report.sha256.map(|hash| hash.to_string()).unwrap_or_default();
    let short = sha256.get(..16).unwrap_or_default();
    let _ = writeln!(
        out,
        "{name}\tsize {}\tsha256 {short}\twrappers {}\tbundles {kinds:?}\tscanned {}\tpadding {}\tlost {}\tcomplete {}",
        report.size,
        report.wrappers,
        c.scanned,
        c.padding,
        c.lost(),
        report.is_complete()
    );
    for (target, t) in report.targets() {
        let _ = writeln!(
            out,
            "  {target}\tobjects {}\tkernels {}\tstubs {}\tdiffering {}\tbytes {}\tversions {:?}",
            t.objects, t.kernels, t.stubs, t.differing, t.bytes, t.versions
        );
    }
}

fn check(golden: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(golden);
    if env::var_os("BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    for (line, (kept, now)) in kept.lines().zip(text.lines()).enumerate() {
        assert_eq!(kept, now, "{}:{}", path.display(), line + 1);
    }
    assert_eq!(kept.lines().count(), text.lines().count(), "{}", path.display());
}

/// All ELF files of an artifact with GPU code for AMD, by name.
fn artifact(name: &str) {
    let Some(dir) = test_artifacts::need(name) else { return };
    let mut paths = Vec::new();
    test_artifacts::files(&dir, &mut |path| {
        if fs::metadata(path).is_ok_and(|m| m.len() > 64) && path.to_string_lossy().contains(".so") {
            paths.push(path.to_owned());
        }
    });
    paths.sort();
    let mut text = String::new();
    for path in paths {
        let report = report(&path);
        assert!(report.all_problems().next().is_none(), "{}", path.display());
        describe(&path.strip_prefix(&dir).unwrap().to_string_lossy(), &report, &mut text);
    }
    check(&format!("{name}.txt"), &text);
}

#[test]
fn bitsandbytes_0_50_2() {
    artifact("bitsandbytes-0.50.2");
}

#[test]
fn bitsandbytes_0_49_2() {
    artifact("bitsandbytes-0.49.2");
}

#[test]
fn jax_rocm7_plugin() {
    artifact("jax-rocm7-plugin-0.12.0");
}

#[test]
fn jax_rocm60_plugin() {
    artifact("jax-rocm60-plugin-0.5.0");
}

#[test]
fn onnxruntime_rocm() {
    artifact("onnxruntime-rocm-1.22.2.post3");
}

/// 2,613 bare code objects, summed up by target and version.
#[test]
fn amd_aiter() {
    let Some(dir) = test_artifacts::need("amd-aiter-0.1.7.post2.dev18") else { return };
    let mut groups: BTreeMap<String, (u64, u64, u64, u64)> = BTreeMap::new();
    test_artifacts::files(&dir, &mut |path| {
        if !path.extension().is_some_and(|extension| extension == "co" || extension == "hsaco") {
            return;
        }
        let report = report(path);
        assert!(report.is_complete(), "{}", path.display());
        let object = report.object.unwrap();
        let target = object.target.map(|target| target.to_string()).unwrap_or_default();
        let stated = if object.contradictions.is_empty() { "" } else { " contradicted" };
        let group = groups.entry(format!("{target} V{}{stated}", object.version.unwrap_or(0)));
        let group = group.or_default();
        group.0 += 1;
        group.1 += object.kernels;
        group.2 += object.size;
        group.3 += object.contradictions.len() as u64;
    });
    let total: u64 = groups.values().map(|group| group.0).sum();
    assert_eq!(total, 2613);
    let line = |(group, (n, kernels, bytes, wrong)): (&String, &(u64, u64, u64, u64))| {
        format!("{group}\tobjects {n}\tkernels {kernels}\tbytes {bytes}\tcontradictions {wrong}\n")
    };
    check("amd-aiter.txt", &groups.iter().map(line).collect::<String>());
}

/// Results arrive in file order, also in pieces, and also if the first bundle is the slowest.
#[test]
fn pieces_come_in_order() {
    use codeobject::{CodeObject, Kernel};
    use inventory::{Found, Look};

    struct Names;

    impl Look for Names {
        type Out = Vec<(usize, usize, String)>;

        fn entry(&self, _: &Found<'_>, _: &mut Self::Out) -> bool {
            true
        }

        fn kernel(&self, found: &Found<'_>, _: &CodeObject<'_>, kernel: &Kernel, out: &mut Self::Out) {
            out.push((found.bundle.unwrap(), found.entry, kernel.mangled().to_owned()));
        }

        // Large weights make the scan hand over a piece every few kernels.
        fn weight(&self, out: &Self::Out) -> usize {
            out.len() << 18
        }
    }

    let Some(dir) = test_artifacts::need("onnxruntime-rocm-1.22.2.post3") else { return };
    let file = File::open(&dir.join("onnxruntime/capi/libonnxruntime_providers_rocm.so")).unwrap();
    let listed = |threads: usize, budget: u64| {
        let options = Options { threads, budget, ..Options::default() };
        let (mut all, mut pieces) = (Vec::new(), 0);
        inspect(&file, &options, false, &Names, |bundle, out| {
            assert!(out.iter().all(|(index, ..)| *index == bundle.unwrap().index));
            pieces += 1;
            all.extend(out);
            Ok::<(), Infallible>(())
        })
        .unwrap();
        assert!(pieces > 1000);
        all
    };
    let one = listed(1, 1);
    assert_eq!(one.len(), 81_688);
    assert!(one.is_sorted_by_key(|(bundle, entry, _)| (*bundle, *entry)));
    assert_eq!(one, listed(5, 1 << 20));
    assert_eq!(one, listed(0, 1), "without threads");
}
