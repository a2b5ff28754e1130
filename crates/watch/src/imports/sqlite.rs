//! Databases: rocpd, and Nsight Systems' export.
//!
//! A foreign database can contain hostile code. Only tables are read, never views; no function of its schema is
//! trusted; nothing is written next to it; and the whole read has a deadline.

use crate::Gap;
use crate::imports::{Dispatch, ImportError, Profile, Profiler};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The deadline. A million dispatches are read in seconds.
const PATIENCE: Duration = Duration::from_secs(300);

pub(super) fn read(path: &Path, into: &mut Profile) -> Result<(), ImportError> {
    read_within(path, into, PATIENCE)
}

pub(super) fn read_within(path: &Path, into: &mut Profile, most: Duration) -> Result<(), ImportError> {
    let failed = |source: rusqlite::Error| match source.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => ImportError::Slow { path: path.to_owned(), seconds: most.as_secs() },
        _ => ImportError::Sqlite { path: path.to_owned(), source },
    };
    let database = open(path, most).map_err(failed)?;
    let schema = Schema::read(&database).map_err(failed)?;
    if beside(path, "-wal").is_some_and(|size| size > 0) {
        into.gaps.push(Gap::WriteAhead.into());
    }
    const KERNELS: &str = "CUPTI_ACTIVITY_KIND_KERNEL";
    const GRAPHS: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    let dispatches = "rocpd_kernel_dispatch";
    if schema.has(KERNELS) || schema.has(GRAPHS) {
        into.by = Profiler::Nsight;
        if schema.has(GRAPHS) {
            into.graphs = count(&database, GRAPHS).map_err(failed)?;
        }
        if schema.has(KERNELS) {
            schema.needs(path, "StringIds")?;
            nsight(&database, into).map_err(failed)?;
        }
        if schema.has("TARGET_INFO_GPU") {
            into.device = first(&database, "SELECT name FROM TARGET_INFO_GPU WHERE name <> ''").map_err(failed)?;
        }
        if schema.has("TARGET_INFO_SYSTEM_ENV") {
            let text = "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'";
            into.host = first(&database, text).map_err(failed)?;
        }
        return Ok(());
    }
    // The data is in tables whose names end with the run's id. Views without the id join several runs and are not
    // needed.
    let suffixes: Vec<&str> = schema.tables.iter().filter_map(|name| name.strip_prefix(dispatches)).collect();
    if suffixes.is_empty() {
        schema.needs(path, dispatches)?;
    }
    into.by = Profiler::Rocprof;
    for suffix in suffixes {
        schema.needs(path, &format!("rocpd_info_kernel_symbol{suffix}"))?;
        rocpd(&database, suffix, into).map_err(failed)?;
        let quoted = suffix.replace('"', "\"\"");
        if schema.has(&format!("rocpd_info_agent{suffix}")) {
            let text = format!("SELECT name FROM \"rocpd_info_agent{quoted}\" WHERE type = 'GPU' AND name <> ''");
            into.device = into.device.take().or(first(&database, &text).map_err(failed)?);
        }
        if schema.has(&format!("rocpd_info_node{suffix}")) {
            let text = format!("SELECT hostname FROM \"rocpd_info_node{quoted}\" WHERE hostname <> ''");
            into.host = into.host.take().or(first(&database, &text).map_err(failed)?);
        }
    }
    Ok(())
}

/// Opens read-only: no journal is replayed, no lock taken, no file created next to it.
fn open(path: &Path, most: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(byte);
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let bytes = whole.as_os_str().as_encoded_bytes();
    let name: String = bytes
        .iter()
        .map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") })
        .collect();
    let mut database = Connection::open_with_flags(format!("file:{name}?immutable=1"), flags)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    database.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    database.set_limit(Limit::SQLITE_LIMIT_LENGTH, 16 << 20)?;
    database.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, 100)?;
    database.set_limit(Limit::SQLITE_LIMIT_COMPOUND_SELECT, 20)?;
    database.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    let deadline = Instant::now() + most;
    database.progress_handler(10_000, Some(move || Instant::now() >= deadline))?;
    Ok(database)
}

/// The size of a file with this suffix next to the database, if it exists.
fn beside(path: &Path, end: &str) -> Option<u64> {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    std::fs::metadata(PathBuf::from(name)).ok().map(|file| file.len())
}

/// The content of the file itself: ordinary tables, and views, which are untrusted text.
struct Schema {
    tables: Vec<String>,
    views: Vec<String>,
}

impl Schema {
    fn read(database: &Connection) -> rusqlite::Result<Schema> {
        let of = |text: &str| -> rusqlite::Result<Vec<String>> {
            let mut query = database.prepare(text)?;
            query.query_map([], |row| row.get(0))?.collect()
        };
        // A virtual table has no root page; it is code.
        Ok(Schema {
            tables: of("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 ORDER BY name")?,
            views: of(
                "SELECT name FROM sqlite_schema WHERE type = 'view' OR (type = 'table' AND rootpage = 0) ORDER BY name",
            )?,
        })
    }

    fn has(&self, table: &str) -> bool {
        self.tables.iter().any(|name| name == table)
    }

    fn needs(&self, path: &Path, table: &str) -> Result<(), ImportError> {
        let path = path.to_owned();
        if self.has(table) {
            Ok(())
        } else if self.views.iter().any(|name| name == table) {
            Err(ImportError::View { path, name: table.to_owned() })
        } else {
            const MOST: usize = 40;
            let names: Vec<&str> = self.tables.iter().chain(&self.views).map(String::as_str).take(MOST).collect();
            Err(ImportError::NoTable { path, tables: names.join(", ") })
        }
    }
}

fn columns(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

fn first(database: &Connection, text: &str) -> rusqlite::Result<Option<String>> {
    let mut query = database.prepare(text)?;
    let mut rows = query.query([])?;
    Ok(rows.next()?.and_then(|row| row.get::<_, Option<String>>(0).ok().flatten()))
}

fn count(database: &Connection, table: &str) -> rusqlite::Result<u64> {
    let count: i64 = database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// Two revisions of the schema exist, both numbered 3: times are in the row, or in a table that the row points to. Ids
/// are unique within a run; `guid` distinguishes the runs.
fn rocpd(database: &Connection, suffix: &str, into: &mut Profile) -> rusqlite::Result<()> {
    let has = columns(database, &format!("rocpd_kernel_dispatch{suffix}"))?;
    let has = |name: &str| has.iter().any(|column| column == name);
    // Identifiers cannot be bound; a quote in one is doubled.
    let suffix = suffix.replace('"', "\"\"");
    let same = |other: &str| if has("guid") { format!(" AND {other}.guid = d.guid") } else { String::new() };
    let mut joins = format!("JOIN \"rocpd_info_kernel_symbol{suffix}\" s ON s.id = d.kernel_id{}", same("s"));
    let (mut start, mut end) = ("d.start", "d.\"end\"");
    if !has("start") && has("start_id") {
        (start, end) = ("b.value", "e.value");
        for (name, column) in [("b", "start_id"), ("e", "end_id")] {
            joins
                .push_str(&format!(" JOIN \"rocpd_timestamp{suffix}\" {name} ON {name}.id = d.{column}{}", same(name)));
        }
    }
    let text = format!(
        "SELECT s.kernel_name, {start}, {end}, d.grid_size_x, d.grid_size_y, d.grid_size_z, d.workgroup_size_x, \
         d.workgroup_size_y, d.workgroup_size_z, d.group_segment_size \
         FROM \"rocpd_kernel_dispatch{suffix}\" d {joins}"
    );
    let mut query = database.prepare(&text)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let mut dispatch = dispatch(row)?;
        // The grid is given in threads.
        for (grid, block) in dispatch.grid.iter_mut().zip(dispatch.block) {
            *grid = if block == 0 { *grid } else { grid.div_ceil(block) };
        }
        into.add(dispatch);
    }
    Ok(())
}

fn nsight(database: &Connection, into: &mut Profile) -> rusqlite::Result<()> {
    // Older exports have no mangled name.
    let columns = columns(database, "CUPTI_ACTIVITY_KIND_KERNEL")?;
    let name = ["mangledName", "demangledName", "shortName"].into_iter().find(|name| columns.iter().any(|c| c == name));
    let text = format!(
        "SELECT s.value, k.start, k.\"end\", k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, \
         k.dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.{}",
        name.unwrap_or("demangledName")
    );
    let mut query = database.prepare(&text)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        into.add(dispatch(row)?);
    }
    Ok(())
}

fn dispatch(row: &Row<'_>) -> rusqlite::Result<Dispatch> {
    let number = |place: usize| row.get::<_, Option<i64>>(place).map(|n| u32::try_from(n.unwrap_or(0)).unwrap_or(0));
    Ok(Dispatch {
        name: row.get(0)?,
        start: row.get(1)?,
        end: row.get(2)?,
        grid: [number(3)?, number(4)?, number(5)?],
        block: [number(6)?, number(7)?, number(8)?],
        shared: number(9)?,
    })
}
