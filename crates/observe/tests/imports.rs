//! Profiles in the documented layouts, made here: no profile of a real run was at hand.

use observe::imports::read;
use rusqlite::Connection;
use std::path::Path;

/// Name, first grid, count.
type Rows = Vec<(String, [u32; 3], u64)>;

fn launches(path: &Path) -> (u64, Rows, Vec<String>) {
    let bytes = std::fs::read(path).expect("a file");
    let (tally, account) = read(path, &bytes).expect("a profile").unwrap_or_else(|error| panic!("{error}"));
    let rows = tally.rows().into_iter().map(|row| (row.name.text(), row.grids[0], row.launches)).collect();
    assert_eq!((account.observer, account.device), ("import", evidence::DeviceKind::Real));
    (tally.launches(), rows, account.gaps.into_iter().map(|(what, _)| what).collect())
}

const NAME: &str = "_ZL9mul_mat_qIL9ggml_type12ELi112ELb0EEvPKc";

/// Tables of rocprofiler-sdk's rocpd schema, with a run's id behind their names.
#[test]
fn rocpd() {
    let home = tempfile::tempdir().expect("a directory");
    let path = home.path().join("results.db");
    let database = Connection::open(&path).expect("a database");
    database
        .execute_batch(&format!(
            "CREATE TABLE rocpd_info_kernel_symbol_0a1b (id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT);
             CREATE TABLE rocpd_kernel_dispatch_0a1b (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER,
               agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT,
               \"end\" BIGINT, private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER,
               workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER);
             INSERT INTO rocpd_info_kernel_symbol_0a1b VALUES (7, 'g', '{NAME}.kd', 'mul_mat_q');
             INSERT INTO rocpd_kernel_dispatch_0a1b VALUES (1,'g',1,1,1,1,7,1,1,1,1000,2000,0,512,32,8,1,64,16,1);
             INSERT INTO rocpd_kernel_dispatch_0a1b VALUES (2,'g',1,1,1,1,7,2,1,1,3000,4000,0,512,32,8,1,64,16,1);
             INSERT INTO rocpd_kernel_dispatch_0a1b VALUES (3,'g',1,1,1,1,7,3,1,1,0,0,0,512,32,8,1,64,16,1);"
        ))
        .expect("tables");
    drop(database);
    let (count, rows, gaps) = launches(&path);
    assert_eq!((count, rows), (2, vec![(NAME.to_owned(), [2, 2, 1], 2)]));
    assert_eq!(gaps, ["completion"], "a dispatch without times is not Completed");
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
    std::fs::write(&path, format!("{header}{}", row.replace("1000,2000", "soon,2000"))).expect("written");
    let bytes = std::fs::read(&path).expect("read");
    let error = read(&path, &bytes).expect("a profile").expect_err("a bad number").to_string();
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
    let error = read(&path, &bytes).expect("a database").expect_err("no profile").to_string();
    assert!(error.contains("rocpd_kernel_dispatch") && error.contains("cats"), "{error}");
    let mut torn = bytes[..100].to_vec();
    torn.resize(5000, 7);
    std::fs::write(&path, &torn).expect("written");
    assert!(read(&path, &torn).expect("a database").is_err());
    assert!(read(Path::new("x"), b"hello").is_none());
}
