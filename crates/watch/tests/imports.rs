//! Profiles in the layouts of their vendors' own schema files and samples, created here; and the rows of a real run.

use rusqlite::Connection;
use std::path::Path;
use watch::imports::read;

/// Name, first grid, count.
type Rows = Vec<(String, [u32; 3], u64)>;

fn launches(path: &Path) -> (u64, Rows, Vec<String>) {
    let bytes = std::fs::read(path).expect("a file");
    let (tally, account) = read(path, &bytes, HASH).expect("a profile").unwrap_or_else(|error| panic!("{error}"));
    let rows = tally.rows().into_iter().map(|row| (row.name.text(), row.grids[0], row.launches)).collect();
    assert_eq!(
        (account.observer, account.device),
        (watch::ObserverKind::Import, evidence::DeviceKind::Unknown),
        "no device is named"
    );
    (tally.launches(), rows, account.gaps.iter().map(|unseen| unseen.what().to_string()).collect())
}

const HASH: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// The rung and host of a file's observations.
fn word(path: &Path) -> (evidence::Rung, Option<String>) {
    let bytes = std::fs::read(path).expect("a file");
    let (tally, account) = read(path, &bytes, HASH).expect("a profile").unwrap_or_else(|error| panic!("{error}"));
    let scene = watch::RecordContext {
        account: &account,
        window: "test",
        model: None,
        place: watch::LaunchSite::default(),
        time: "2026-01-01T00:00:00Z",
    };
    let list = scene.sightings(&tally).expect("observations");
    let seen = &list[0].observation;
    let claim = evidence::Scope::default();
    assert!(claim.differences(seen.subject()).contains(&evidence::Part::Host), "it speaks for this host");
    (seen.rung(), seen.subject().host.clone())
}

const NAME: &str = "_ZL9mul_mat_qIL9ggml_type12ELi112ELb0EEvPKc";

/// A database with the tables and views of rocpd_tables.sql and rocpd_views.sql that a dispatch needs. The names of the
/// tables end with a run's id, those of the views do not. `split`: the revision with times in a separate table.
fn rocpd_database(path: &Path, split: bool) -> Connection {
    let database = Connection::open(path).expect("a database");
    let run = "_0000ddb5_8903_7903_b269_cd8d3745bb8a";
    let id = "\"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, \"guid\" TEXT DEFAULT \"g1\" NOT NULL";
    let times = if split {
        "start_id INTEGER NOT NULL, end_id INTEGER NOT NULL"
    } else {
        "\"start\" BIGINT NOT NULL, \"end\" BIGINT NOT NULL"
    };
    let place = if split {
        "track_id INTEGER NOT NULL"
    } else {
        "nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER, queue_id INTEGER, stream_id INTEGER"
    };
    let sizes = ["workgroup_size", "grid_size"]
        .map(|name| ["x", "y", "z"].map(|axis| format!("{name}_{axis} INTEGER NOT NULL")).join(", "));
    let symbol = "nid INTEGER, pid INTEGER, code_object_id INTEGER, kernel_name TEXT, display_name TEXT, kernel_object INTEGER, \
        group_segment_size INTEGER, sgpr_count INTEGER, arch_vgpr_count INTEGER";
    let dispatch = format!(
        "{place}, kernel_id INTEGER NOT NULL, dispatch_id INTEGER NOT NULL, {times}, private_segment_size INTEGER, \
         group_segment_size INTEGER, {}, {}, region_name_id INTEGER, event_id INTEGER",
        sizes[0], sizes[1]
    );
    let mut tables = vec![("rocpd_info_kernel_symbol", symbol.to_owned()), ("rocpd_kernel_dispatch", dispatch)];
    if split {
        tables.push(("rocpd_timestamp", "value BIGINT NOT NULL, phase INTEGER, track_id INTEGER".to_owned()));
    }
    for (name, columns) in tables {
        let text = format!(
            "CREATE TABLE `{name}{run}` ({id}, {columns}); CREATE VIEW `{name}` AS SELECT * FROM `{name}{run}`;"
        );
        database.execute_batch(&text).expect("a table");
    }
    let symbols = format!(
        "INSERT INTO `rocpd_info_kernel_symbol{run}` (id, guid, kernel_name, display_name) VALUES (7, 'g1', '{NAME}.kd', 'mul_mat_q');"
    );
    database.execute_batch(&symbols).expect("a kernel");
    let times: [(i64, i64); 3] =
        [(1_550_151_853_029_637, 1_550_151_853_042_437), (1_550_151_853_052_877, 1_550_151_853_064_037), (0, 0)];
    for (at, (start, end)) in times.into_iter().enumerate() {
        let (columns, values) = if split {
            let (first, second) = (2 * at + 1, 2 * at + 2);
            let text = format!(
                "INSERT INTO `rocpd_timestamp{run}` (id, guid, value, phase) VALUES ({first}, 'g1', {start}, 1), ({second}, 'g1', {end}, 2);"
            );
            database.execute_batch(&text).expect("times");
            ("track_id, start_id, end_id", format!("1, {first}, {second}"))
        } else {
            ("start, \"end\"", format!("{start}, {end}"))
        };
        let text = format!(
            "INSERT INTO `rocpd_kernel_dispatch{run}` (guid, kernel_id, dispatch_id, {columns}, group_segment_size, workgroup_size_x, workgroup_size_y, \
             workgroup_size_z, grid_size_x, grid_size_y, grid_size_z) VALUES ('g1', 7, {at}, {values}, 43072, 32, 8, 1, 64, 16, 1);"
        );
        database.execute_batch(&text).expect("a dispatch");
    }
    database
}

#[test]
fn rocpd_in_both_revisions_of_its_schema() {
    let home = tempfile::tempdir().expect("a directory");
    for split in [false, true] {
        let path = home.path().join(format!("{split}_results.db"));
        let database = rocpd_database(&path, split);
        let (count, rows, gaps) = launches(&path);
        assert_eq!((count, rows), (2, vec![(NAME.to_owned(), [2, 2, 1], 2)]), "times apart: {split}");
        assert_eq!(gaps, ["completion"], "a dispatch without times is not Completed");
        let anybody = format!("an unknown host ({split}_results.db 0123456789ab)");
        assert_eq!(word(&path), (evidence::Rung::Selected, Some(anybody)), "a file that names no device");
        let agents = "CREATE TABLE `rocpd_info_agent_0000ddb5_8903_7903_b269_cd8d3745bb8a` (id INTEGER, type TEXT, name TEXT); \
            INSERT INTO `rocpd_info_agent_0000ddb5_8903_7903_b269_cd8d3745bb8a` VALUES (1, 'CPU', 'Ryzen'), (2, 'GPU', 'gfx1201'); \
            CREATE TABLE `rocpd_info_node_0000ddb5_8903_7903_b269_cd8d3745bb8a` (id INTEGER, hostname TEXT); \
            INSERT INTO `rocpd_info_node_0000ddb5_8903_7903_b269_cd8d3745bb8a` VALUES (1, 'workshop');";
        database.execute_batch(agents).expect("agents");
        assert_eq!(word(&path), (evidence::Rung::Completed, Some("workshop".to_owned())));
        database.execute_batch("DROP TABLE `rocpd_info_agent_0000ddb5_8903_7903_b269_cd8d3745bb8a`;").expect("dropped");
        // A second run in the same view has kernels with the same numbers.
        let run = "_0000ddb5_8903_7903_b269_cd8d3745bb8a";
        let other = format!(
            "CREATE TABLE other (id INTEGER, guid TEXT, kernel_name TEXT); INSERT INTO other VALUES (7, 'g2', 'another.kd'); \
             DROP VIEW rocpd_info_kernel_symbol; \
             CREATE VIEW rocpd_info_kernel_symbol AS SELECT id, guid, kernel_name FROM `rocpd_info_kernel_symbol{run}` UNION ALL SELECT * FROM other;"
        );
        database.execute_batch(&other).expect("a second run");
        assert_eq!(launches(&path).1, vec![(NAME.to_owned(), [2, 2, 1], 2)], "runs are kept apart");
        // The tables alone, without the views.
        database
            .execute_batch("DROP VIEW rocpd_kernel_dispatch; DROP VIEW rocpd_info_kernel_symbol;")
            .expect("dropped");
        assert_eq!(launches(&path).1, vec![(NAME.to_owned(), [2, 2, 1], 2)]);
    }
}

/// "SQLite Export Schema Reference".
#[test]
fn nsight_systems() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("report.sqlite");
    let database = Connection::open(&path).expect("a database");
    database
        .execute_batch(&format!(
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
             CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT NOT NULL, \"end\" INT NOT NULL, deviceId INT, contextId INT,
               streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT, mangledName INT, gridX INT,
               gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT);
             INSERT INTO StringIds VALUES (1, 'mul_mat_q<12>(char const*)'), (2, 'mul_mat_q'), (3, '{NAME}');
             INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 0, 1, 7, 1, 1, 1, 2, 3, 4, 2, 1, 32, 8, 1, 0, 43072);"
        ))
        .expect("tables");
    drop(database);
    assert_eq!(launches(&path).1, vec![(NAME.to_owned(), [4, 2, 1], 1)]);
    // Graphs traced as a whole, which is nsys' default.
    let database = Connection::open(&path).expect("the database");
    let graphs = "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT NOT NULL, \"end\" INT NOT NULL, deviceId INT, graphId INT, graphExecId INT); \
        INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (30, 40, 0, 1, 1), (40, 50, 0, 1, 1);";
    database.execute_batch(graphs).expect("graphs");
    drop(database);
    assert_eq!(launches(&path).2, ["graph launches"], "what is in no row is said");
    let database = Connection::open(&path).expect("the database");
    let target = "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H200'); \
        CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'rack7');";
    database.execute_batch(target).expect("a target");
    drop(database);
    assert_eq!(word(&path), (evidence::Rung::Completed, Some("rack7".to_owned())));
}

/// Rows of real exports (`data/nsys-h200.tsv`) in tables with the columns that Nsight Systems 2025.3 gives them.
#[test]
fn a_real_run_as_nsight_systems_exported_it() {
    let data = include_str!("data/nsys-h200.tsv");
    let lines = || data.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>());
    let of = |kind: &'static str| lines().filter(move |fields| fields[0] == kind);
    let home = tempfile::tempdir().expect("a directory");
    let export = |kind: &'static str, graphs: bool| {
        let path = home.path().join(format!("{kind}.sqlite"));
        let database = Connection::open(&path).expect("a database");
        let others = "deviceId INTEGER, contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER";
        let mut text = format!(
            "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
             CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, {others}, demangledName INTEGER,
               shortName INTEGER, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER,
               gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER,
               dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER, gridId INTEGER,
               sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
        );
        for name in of("name") {
            text.push_str(&format!("INSERT INTO StringIds VALUES ({}, '{}');", name[1], name[2]));
        }
        for row in of(kind) {
            let values = row[1..].join(", ");
            text.push_str(&format!(
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,
                 dynamicSharedMemory, graphNodeId, mangledName) VALUES ({values});"
            ));
        }
        if graphs {
            text.push_str(&format!("CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, \"end\" INTEGER, {others}, graphId INTEGER, graphExecId INTEGER);"));
            for row in of("graph") {
                text.push_str(&format!(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start, \"end\") VALUES ({}, {});",
                    row[1], row[2]
                ));
            }
        }
        database.execute_batch(&text).expect("an export");
        path
    };
    let (whole, rows, gaps) = launches(&export("kernel", true));
    assert_eq!(
        (whole, gaps),
        (of("kernel").count() as u64, vec!["graph launches".to_owned()]),
        "what a graph launched is in no row"
    );
    let products: u64 = rows.iter().filter(|(name, ..)| name.contains("gemm")).map(|(.., count)| count).sum();
    assert!(products >= 20, "20 products were made: {rows:?}");
    let (by_node, _, gaps) = launches(&export("node", false));
    assert_eq!((by_node - whole, gaps.len()), (2 * of("graph").count() as u64, 0), "two kernels in each replay");
}

#[test]
fn csv_and_json() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("kernel_trace.csv");
    let header = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n";
    let row =
        "\"KERNEL_DISPATCH\",\"Agent 1\",1,0,100,1,7,\"copy(int, float*)\",1,1000,2000,0,0,8,0,16,64,1,1,640,1,1\n";
    std::fs::write(&path, format!("{header}{row}{row}")).expect("written");
    assert_eq!(launches(&path).1, vec![("copy(int, float*)".to_owned(), [10, 1, 1], 2)]);
    assert_eq!(word(&path).0, evidence::Rung::Selected, "two rows that anybody can type");
    let agents = "\"Node_Id\",\"Agent_Type\",\"Name\"\n0,\"CPU\",\"Ryzen\"\n1,\"GPU\",\"gfx1201\"\n";
    std::fs::write(home.path().join("agent_info.csv"), agents).expect("written");
    assert_eq!(word(&path).0, evidence::Rung::Completed, "rocprofv3 names the device beside it");
    std::fs::remove_file(home.path().join("agent_info.csv")).expect("removed");
    // A kernel of ggml as rocprofv3 prints it: demangled, with its parameters; and with the older name of the LDS size.
    let older = header.replace("LDS_Block_Size", "Group_Segment_Size");
    let name = "void mul_mat_q<(ggml_type)12, 112, false>(char const*, int const*, float*)";
    let text = format!("{older}{}", row.replace("copy(int, float*)", name).replace("2000,0,0", "2000,43072,0"));
    std::fs::write(&path, &text).expect("written");
    let (tally, _) = read(&path, text.as_bytes(), HASH).expect("a profile").expect("read");
    let rows = tally.rows();
    assert_eq!(
        (rows[0].kernel.as_str(), rows[0].weights.as_deref(), rows[0].shared),
        ("mul_mat_q<Q4_K,112,false>", Some("Q4_K"), 43072)
    );
    std::fs::write(&path, format!("{header}{}", row.replace("1000,2000", "soon,2000"))).expect("written");
    let bytes = std::fs::read(&path).expect("read");
    let error = read(&path, &bytes, HASH).expect("a profile").expect_err("a bad number").to_string();
    assert!(error.contains("line 2") && error.contains("Start_Timestamp is \"soon\""), "{error}");

    let path = home.path().join("results.json");
    let text = format!(
        r#"{{"rocprofiler-sdk-tool":[{{"kernel_symbols":[{{"kernel_id":7,"kernel_name":"{NAME}.kd"}}],"buffer_records":{{"kernel_dispatch":[{{"start_timestamp":5,"end_timestamp":9,"dispatch_info":{{"kernel_id":7,"group_segment_size":0,"workgroup_size":{{"x":64,"y":1,"z":1}},"grid_size":{{"x":128,"y":3,"z":1}}}}}}]}}}}]}}"#
    );
    std::fs::write(&path, &text).expect("written");
    assert_eq!(launches(&path).1, vec![(NAME.to_owned(), [2, 3, 1], 1)]);
}

#[test]
fn what_is_no_profile_is_said() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("other.db");
    Connection::open(&path).expect("a database").execute_batch("CREATE TABLE cats (id INTEGER);").expect("a table");
    let bytes = std::fs::read(&path).expect("read");
    let error = read(&path, &bytes, HASH).expect("a database").expect_err("no profile").to_string();
    assert!(error.contains("rocpd_kernel_dispatch") && error.contains("cats"), "{error}");
    let mut torn = bytes[..100].to_vec();
    torn.resize(5000, 7);
    std::fs::write(&path, &torn).expect("written");
    assert!(read(&path, &torn, HASH).expect("a database").is_err());
    assert!(read(Path::new("x"), b"hello", HASH).is_none());
}

/// Reading any of these files would never end, or fill the memory.
#[test]
fn files_without_an_end_are_refused() {
    let home = tempfile::tempdir().expect("a directory");
    let refused = |name: &str, schema: &str| {
        let path = home.path().join(name);
        Connection::open(&path).expect("a database").execute_batch(schema).expect("a schema");
        let bytes = std::fs::read(&path).expect("read");
        read(&path, &bytes, HASH).expect("a database").expect_err("refused").to_string()
    };
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x";
    let said = refused(
        "view.db",
        &format!(
            "CREATE VIEW rocpd_kernel_dispatch AS {endless} AS id, 1 AS kernel_id, 1 AS start, 2 AS \"end\" FROM n; \
             CREATE VIEW rocpd_info_kernel_symbol AS SELECT 1 AS id, 'k' AS kernel_name;"
        ),
    );
    assert!(said.contains("rocpd_kernel_dispatch is a view"), "{said}");
    let said = refused(
        "names.db",
        &format!(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, mangledName INTEGER); \
             CREATE VIEW StringIds AS {endless} AS id, 'k' AS value FROM n;"
        ),
    );
    assert!(said.contains("StringIds is a view"), "{said}");
    let deep = format!("{{\"rocprofiler-sdk-tool\": {}", "[".repeat(10_000));
    let error = read(Path::new("deep.json"), deep.as_bytes(), HASH).expect("a profile").expect_err("too deep");
    assert!(error.to_string().contains("recursion limit"), "{error}");
    let long = format!("Kernel_Name,Start_Timestamp,End_Timestamp\n{}", "x".repeat(2 << 20));
    let error = read(Path::new("long.csv"), long.as_bytes(), HASH).expect("a profile").expect_err("too long");
    assert!(error.to_string().contains("line 2"), "{error}");
}
