//! Databases: rocpd, and Nsight Systems' export.

use super::{Dispatch, ImportError, Profile};
use rusqlite::{Connection, OpenFlags, Row};
use std::path::Path;

pub(super) fn read(path: &Path) -> Result<Profile, ImportError> {
    let failed = |source| ImportError::Sqlite { path: path.to_owned(), source };
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    let names = tables(&database).map_err(failed)?;
    let graphs = whole_graphs(&database, &names).map_err(failed)?;
    let kernels = names.iter().any(|name| name == "CUPTI_ACTIVITY_KIND_KERNEL");
    if kernels || graphs > 0 {
        let list = if kernels { nsight(&database).map_err(failed)? } else { Vec::new() };
        return Ok(Profile { maker: "Nsight Systems", list, graphs });
    }
    // The data stand in tables with the run's id behind the name; a view without it joins several runs.
    let plain = "rocpd_kernel_dispatch";
    let suffixes: Vec<&str> = if names.iter().any(|name| name == plain) {
        vec![""]
    } else {
        names.iter().filter_map(|name| name.strip_prefix(plain)).collect()
    };
    if suffixes.is_empty() {
        return Err(ImportError::NoTable { path: path.to_owned(), tables: names.join(", ") });
    }
    let mut list = Vec::new();
    for suffix in suffixes {
        list.extend(rocpd(&database, suffix).map_err(failed)?);
    }
    Ok(Profile { maker: "rocprofv3", list, graphs: 0 })
}

fn tables(database: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = database.prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")?;
    query.query_map([], |row| row.get(0))?.collect()
}

fn columns(database: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let mut query = database.prepare("SELECT name FROM pragma_table_info(?1)")?;
    query.query_map([table], |row| row.get(0))?.collect()
}

/// Two revisions of the schema are about, both numbered 3: times in the row, or in a table of times that the row points to.
/// Numbers are unique in a run, and a view may join several: `guid` tells the runs apart.
fn rocpd(database: &Connection, suffix: &str) -> rusqlite::Result<Vec<Dispatch>> {
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
         FROM \"rocpd_kernel_dispatch{suffix}\" d {joins} ORDER BY 2"
    );
    let mut query = database.prepare(&text)?;
    let list = query.query_map([], |row| {
        let mut dispatch = dispatch(row)?;
        // The grid is told in threads.
        for (grid, block) in dispatch.grid.iter_mut().zip(dispatch.block) {
            *grid = if block == 0 { *grid } else { grid.div_ceil(block) };
        }
        Ok(dispatch)
    })?;
    list.collect()
}

fn nsight(database: &Connection) -> rusqlite::Result<Vec<Dispatch>> {
    // Older exports have no mangled name.
    let columns = columns(database, "CUPTI_ACTIVITY_KIND_KERNEL")?;
    let name = ["mangledName", "demangledName", "shortName"].into_iter().find(|name| columns.iter().any(|c| c == name));
    let text = format!(
        "SELECT s.value, k.start, k.\"end\", k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, \
         k.dynamicSharedMemory FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds s ON s.id = k.{} ORDER BY k.start",
        name.unwrap_or("demangledName")
    );
    let mut query = database.prepare(&text)?;
    query.query_map([], dispatch)?.collect()
}

/// Replays of CUDA graphs that were traced as a whole (nsys' default): their kernels are in no row.
fn whole_graphs(database: &Connection, names: &[String]) -> rusqlite::Result<u64> {
    const TABLE: &str = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    if !names.iter().any(|name| name == TABLE) {
        return Ok(0);
    }
    let count: i64 = database.query_row(&format!("SELECT count(*) FROM {TABLE}"), [], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
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
