//! The embedded tables against the answers of the compiled functions, and against the real sources if they are
//! available.

use source::{ALL_TYPES, DEFAULT_GPUS, Device, Overrides, Row, Shape, Survey, Tree, decision_table};

/// Rows of a golden file, produced by compiling that version's own functions.
fn golden(name: &str) -> Vec<Row> {
    let text = match name {
        "b10586" => include_str!("golden/b10586.txt"),
        _ => include_str!("golden/ollama-4fda6980.txt"),
    };
    let mut rows = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        let (arch, cc, ty) = (words.next().expect("arch"), words.next().expect("cc"), words.next().expect("type"));
        for word in words {
            let (columns, rest) = word.split_once(':').expect("columns");
            let rest: Vec<&str> = rest.split('/').collect();
            let [path, variant, tiles, check] = rest.as_slice() else { panic!("{word}") };
            rows.push(Row {
                arch: arch.to_owned(),
                cc: i64::from_str_radix(cc.trim_start_matches("0x"), 16).ok(),
                ty: ty.to_owned(),
                columns: columns.parse().expect("a number"),
                path: source::Path::from_name(path),
                variant: variant.parse().expect("a number"),
                tiles: tiles.parse().expect("a number"),
                need_check: *check == "1",
                shape: None,
            });
        }
    }
    rows
}

#[test]
fn embedded_tables_are_the_compiled_truth() {
    for name in ["b10586", "ollama-4fda6980"] {
        let table: decision_table::DecisionTable =
            serde_json::from_str(decision_table::text(name).expect("embedded")).expect("a table");
        let rows = golden(name);
        assert_eq!(rows.len(), 2704);
        for row in rows {
            let found = table.look_up(&row.arch, &row.ty, row.columns).expect("in the table");
            let tile = found.tile.unwrap_or(0);
            let tiles = match row.path {
                Some(source::Path::Mmq) => (row.columns + tile - 1) / tile,
                Some(source::Path::Mmvq) => 1,
                _ => 0,
            };
            let cc = table.targets[&row.arch].cc;
            let path = row.path.map(|path| path.name());
            assert_eq!((Some(found.path), tile, tiles, cc), (path, row.variant, row.tiles, row.cc), "{name} {row:?}");
        }
    }
}

#[test]
fn every_embedded_table_can_be_read_and_settles_every_quantised_type() {
    assert_eq!(decision_table::all().len(), decision_table::names().count());
    for table in decision_table::all() {
        for (target, rules) in &table.targets {
            for (ty, plan) in rules.types.iter().filter(|(ty, _)| ty.ends_with("_K")) {
                let paths: Vec<&str> = table.plans[*plan].iter().map(|entry| entry.path.as_str()).collect();
                assert!(!paths.contains(&"UNDETERMINED"), "{} {target} {ty}: {paths:?}", table.version);
            }
        }
        assert!(table.order.iter().any(|path| path == "MMQ"), "{}: {:?}", table.version, table.order);
    }
}

fn survey<'t>(tree: &'t Tree, types: &[&str], columns: Vec<i64>) -> Survey<'t> {
    let devices = DEFAULT_GPUS.iter().map(|name| Device::find(name).expect("known")).collect();
    let types = types.iter().map(|ty| (*ty).to_owned()).collect();
    let question = Shape::MulMat { rows: 4096, k: 4096 }.question(devices, types, columns);
    Survey::run(tree, question, &Overrides::default()).expect("evaluates")
}

/// The compute capability of a device does not depend on the last type asked about, here one that the tree does not
/// have.
#[test]
fn the_compute_capability_is_told_also_beside_an_unknown_type() {
    let Some(dir) = test_artifacts::need("llama-cpp-sys-2-0.1.100") else { return };
    let tree = Tree::open(&dir.display().to_string()).expect("opens");
    for row in survey(&tree, &["MXFP4"], vec![1]).rows() {
        assert!(row.path.is_none(), "{row:?}");
        match row.arch.strip_prefix("gfx") {
            Some(target) => assert_eq!(row.cc.map(|cc| format!("{cc:x}")), Some(format!("1{target:0>6}")), "{row:?}"),
            None => assert!(row.cc.is_some(), "{row:?}"),
        }
    }
}

/// If `WHICHKERNEL_LLAMA_REPO` and `WHICHKERNEL_OLLAMA_REPO` are set to clones, the sources themselves are evaluated:
/// `cargo xtask deep tests`.
#[cfg(feature = "deep")]
#[test]
fn the_sources_are_the_compiled_truth() {
    for (variable, rev, name) in
        [("WHICHKERNEL_LLAMA_REPO", "b10586", "b10586"), ("WHICHKERNEL_OLLAMA_REPO", "4fda6980", "ollama-4fda6980")]
    {
        let Ok(repo) = std::env::var(variable) else {
            test_artifacts::skip(variable, "let it name a clone");
            continue;
        };
        let tree = Tree::open(&format!("{repo}@{rev}")).expect("opens");
        let survey = survey(&tree, source::DEFAULT_TYPES, source::DEFAULT_COLUMNS.to_vec());
        // The compiled programs answer with the path; launch shapes are compared with recorded launches.
        let rows: Vec<Row> = survey.rows().into_iter().map(|row| Row { shape: None, ..row }).collect();
        assert_eq!(rows, golden(name), "{name}");
    }
}

/// Every crate in the cache that vendors ggml: no quantised type is left open on any target.
#[test]
fn crates_that_vendor_ggml_are_settled() {
    for artifact in [
        "llama-cpp-sys-2-0.1.39",
        "llama-cpp-sys-2-0.1.64",
        "llama-cpp-sys-2-0.1.100",
        "llama-cpp-sys-2-0.1.115",
        "llama-cpp-sys-2-0.1.130",
        "llama-cpp-sys-2-0.1.160",
        "whisper-rs-sys-0.15.0",
        "llama-cpp-sys-4-0.11.0",
    ] {
        let Some(dir) = test_artifacts::need(artifact) else { continue };
        let tree = Tree::open(&dir.display().to_string()).expect("opens");
        let types: Vec<&str> =
            ALL_TYPES.iter().copied().filter(|ty| ty.ends_with("_K") || *ty == "IQ1_S" || *ty == "Q8_0").collect();
        let survey = survey(&tree, &types, vec![1, 8, 9, 64, 256, 257, 512]);
        let open: Vec<Row> = survey.rows().into_iter().filter(|row| row.path.is_none()).collect();
        assert!(open.is_empty(), "{artifact}: {open:?}");
        let kept = decision_table::all().iter().rev().find(|table| table.commit == artifact);
        if let Some(kept) = kept {
            for row in survey.rows() {
                let found = kept.look_up(&row.arch, &row.ty, row.columns).map(|found| found.path.to_owned());
                assert_eq!(found.as_deref(), row.path.map(|path| path.name()), "{row:?}");
            }
        }
    }
}
