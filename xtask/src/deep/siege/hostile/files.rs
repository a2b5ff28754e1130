//! Files that are not regular, that never end, or that are far larger than they look.

use super::Scene;
use anyhow::ensure;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const BOUND: Duration = Duration::from_secs(15);
/// The maximum disk space that unpacking an archive of three megabytes may take.
const GROWN: u64 = 512 << 20;

/// Two profiles whose table is an endless view, and an archive that consists almost only of zeros.
const MAKE: &str = r#"
import sqlite3, sys, zipfile
home = sys.argv[1]
endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
for name, tables in {
    "nsys": ["CUPTI_ACTIVITY_KIND_KERNEL", "StringIds", "TARGET_INFO_GPU"],
    "rocpd": ["rocpd_kernel_dispatch", "rocpd_info_kernel_symbol", "rocpd_string", "kernels", "rocpd_info_agent"],
}.items():
    base = sqlite3.connect(f"{home}/{name}.sqlite")
    columns = "x AS id, x AS shortName, x AS demangledName, x AS mangledName, x AS gridX, 1 AS gridY, 1 AS gridZ, 64 AS blockX, 1 AS blockY, 1 AS blockZ, 'k' AS value, 'k' AS kernel_name, 'k' AS name, x AS start, x AS end, 0 AS deviceId, 0 AS dynamicSharedMemory, 0 AS staticSharedMemory, x AS kernel_id, x AS graphNodeId, 0 AS grid_size_x, 0 AS grid_size_y, 0 AS grid_size_z, 0 AS workgroup_size_x, 0 AS workgroup_size_y, 0 AS workgroup_size_z, 0 AS group_segment_size, 0 AS private_segment_size, x AS start_id, x AS end_id, 0 AS guid, 0 AS nid, 0 AS pid, 0 AS agent_id, 0 AS display_name"
    for table in tables:
        base.execute(f"CREATE VIEW {table} AS {endless} SELECT {columns} FROM c")
    base.commit()
with zipfile.ZipFile(f"{home}/bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
    with bomb.open("libggml-hip.so", "w", force_zip64=True) as inside:
        for _ in range(768):
            inside.write(bytes(1 << 20))
"#;

pub fn run(scene: &mut Scene) -> anyhow::Result<()> {
    let home = scene.yard.path("home");
    let at = |name: &str| home.join(name).display().to_string();
    let made = Command::new("python3").args(["-c", MAKE]).arg(&home).output()?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    ensure!(Command::new("mkfifo").arg(at("fifo")).status()?.success(), "mkfifo");
    ensure!(Command::new("truncate").args(["-s", "8T"]).arg(at("sparse")).status()?.success(), "truncate");
    // As large as the file system allows: 16 TiB on ext4, more on others.
    let _ = Command::new("truncate").args(["-s", "64T"]).arg(at("sparse")).stderr(std::process::Stdio::null()).status();
    let files =
        [("a FIFO", at("fifo")), ("a sparse file of many TiB", at("sparse")), ("/dev/zero", "/dev/zero".to_owned())];
    let verbs: [(&str, &[&str]); 6] = [
        ("watch --read", &["watch", "--read"]),
        ("inspect", &["inspect"]),
        ("isa", &["isa"]),
        ("ledger import", &["ledger", "import"]),
        ("runtime add", &["runtime", "add"]),
        ("check", &["check"]),
    ];
    for (name, file) in &files {
        for (verb, words) in verbs {
            try_it(scene, &format!("{verb} of {name}"), &[words, &[file]].concat())?;
        }
    }
    for name in ["nsys", "rocpd"] {
        let file = at(&format!("{name}.sqlite"));
        try_it(scene, &format!("watch --read of an endless view ({name})"), &["watch", "--read", &file])?;
    }
    let what = "runtime add of a small zip of 768 MiB";
    if scene.wants(what) {
        let bound = Duration::from_secs(60);
        let came = scene.bounded(&mut scene.tool(&["runtime", "add", &at("bomb.zip"), "--name", "bomb"]), bound)?;
        let grown = on_disk(&scene.yard.path("cache"));
        let did = format!("{}; {} MiB on the disk", came.did(), grown >> 20);
        scene.row(what, &came, bound, came.well() && grown < GROWN, Some(did));
    }
    Ok(())
}

/// The command must end by itself, in time, with a message.
fn try_it(scene: &mut Scene, what: &str, words: &[&str]) -> anyhow::Result<()> {
    if scene.wants(what) {
        let came = scene.bounded(&mut scene.tool(words), BOUND)?;
        let ok = came.well() && came.code != Some(0) && !came.messages.trim().is_empty();
        scene.row(what, &came, BOUND, ok, None);
    }
    Ok(())
}

fn on_disk(path: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let own = std::fs::symlink_metadata(path).map_or(0, |meta| if meta.is_dir() { 0 } else { meta.blocks() * 512 });
    own + std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| on_disk(&entry.path())).sum::<u64>()
}
