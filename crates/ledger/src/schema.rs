//! The database schema, and how to open a database without modifying foreign files.

use crate::error::{LedgerError, unfinished};
use crate::open_regular;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::time::Duration;

/// The application id in the header of the database file, which the `file` command also shows.
pub const APPLICATION_ID: u32 = u32::from_be_bytes(*b"whkl");
pub const FORMAT: u32 = 1;
/// The maximum time to wait for another process's write.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The maximum size of a row. An observation that lists all kernels of a library needs about a tenth of it.
pub const LONGEST: usize = 8 << 20;

/// The statements that create the tables. `verify` compares them verbatim.
pub const STATEMENTS: [&str; 5] = [
    "CREATE TABLE ledger (id TEXT NOT NULL) STRICT",
    "CREATE TABLE row (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, origin TEXT, time TEXT NOT NULL, \
     body BLOB NOT NULL, prev BLOB NOT NULL, hash BLOB NOT NULL) STRICT",
    "CREATE UNIQUE INDEX row_origin ON row(origin) WHERE origin IS NOT NULL",
    "CREATE TRIGGER row_is_not_altered BEFORE UPDATE ON row BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
    "CREATE TRIGGER row_is_not_deleted BEFORE DELETE ON row BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END",
];

/// Reads the file's header without SQLite, so that a file of a newer version is never opened. Offsets:
/// <https://www.sqlite.org/fileformat2.html#the_database_header>.
fn read_header(path: &Path) -> Result<Option<u64>, LedgerError> {
    match open_regular::open(path) {
        Ok(file) => header_of(&file, path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(LedgerError::Io { path: path.to_owned(), source }),
    }
}

/// Checks a copy of the database at `path`.
pub fn check_copy(copy: &File, path: &Path) -> Result<(), LedgerError> {
    let fail = |source| LedgerError::Io { path: path.to_owned(), source };
    (&*copy).rewind().map_err(fail)?;
    match (header_of(copy, path)?, copy.metadata().map_err(fail)?.len()) {
        (Some(wanted), size) if size >= wanted => Ok(()),
        (None, _) => Err(LedgerError::NotALedger { path: path.to_owned(), what: say::say!("ledger-file-empty") }),
        (Some(wanted), size) => {
            let what = say::say!("ledger-file-size", size, wanted);
            Err(LedgerError::Damaged { path: path.to_owned(), what })
        }
    }
}

fn header_of(file: &File, path: &Path) -> Result<Option<u64>, LedgerError> {
    let mut header = Vec::new();
    let read = file.take(100).read_to_end(&mut header);
    read.map_err(|source| LedgerError::Io { path: path.to_owned(), source })?;
    // A process died after it created the file and before it wrote the first page, so the file never had content.
    if header.is_empty() {
        return Ok(None);
    }
    let not = |what: say::Message| LedgerError::NotALedger { path: path.to_owned(), what };
    if header.len() < 100 {
        return Err(not(say::say!("ledger-file-short", size = header.len())));
    }
    if !header.starts_with(b"SQLite format 3\0") {
        return Err(not(say::say!("ledger-no-sqlite")));
    }
    let word = |at: usize| header.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_be_bytes);
    if word(68) != APPLICATION_ID {
        return Err(not(say::say!(
            "ledger-application",
            found = format!("{:#010x}", word(68)),
            most = format!("{APPLICATION_ID:#010x}")
        )));
    }
    match word(60) {
        found if found > FORMAT => return Err(LedgerError::Newer { path: path.to_owned(), found, known: FORMAT }),
        0 => return Err(not(say::say!("ledger-no-format"))),
        _ => {}
    }
    // A page size of 65,536 is stored as 1. The page count is valid if both change counters agree.
    let page = header.get(16..18).and_then(|b| b.try_into().ok()).map_or(0, u16::from_be_bytes);
    let page = if page == 1 { 65_536 } else { u64::from(page) };
    let wanted = if word(24) == word(92) { u64::from(word(28)) * page } else { 0 };
    Ok(Some(wanted))
}

/// Whether there is a database, according to its header. Fails if the file is shorter than its header says.
pub fn check_header(path: &Path) -> Result<bool, LedgerError> {
    let mut patience = 25;
    loop {
        let Some(wanted) = read_header(path)? else { return Ok(false) };
        let size = std::fs::metadata(path).map_err(|source| LedgerError::Io { path: path.to_owned(), source })?.len();
        // During a write, or after a killed write, the journal may restore missing pages.
        if size >= wanted || unfinished(path) {
            return Ok(true);
        }
        if patience == 0 {
            let what = say::say!("ledger-file-size", size, wanted);
            return Err(LedgerError::Damaged { path: path.to_owned(), what });
        }
        patience -= 1;
        std::thread::sleep(Duration::from_millis(4));
    }
}

/// Opens a database for writing, or for reading while other processes may write.
pub fn connect(path: &Path, write: bool) -> Result<Connection, LedgerError> {
    if write {
        // SQLite would make the file readable for everyone, so we create it. An empty file is a valid database without
        // any commit.
        match open_regular::create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(LedgerError::io(path, say::key!("ledger-doing-making"), error));
            }
            _ => {}
        }
    }
    // A reader also requests write access, because it must roll back what a killed writer left unfinished. If write
    // access is refused, it falls back to read access.
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let fail = |source| LedgerError::database(path, source);
    let connection = Connection::open_with_flags(path, access).map_err(fail)?;
    connection.busy_timeout(PATIENCE).map_err(fail)?;
    if write {
        // A database with a rollback journal can be read in a directory that is not writable; one with a write-ahead
        // log cannot. EXTRA also syncs the directory after the journal is deleted, so that a commit survives a power
        // failure.
        connection.pragma_update(None, "journal_mode", "DELETE").map_err(fail)?;
        connection.pragma_update(None, "synchronous", "EXTRA").map_err(fail)?;
    } else {
        connection.pragma_update(None, "query_only", true).map_err(fail)?;
    }
    harden(&connection).map_err(fail)?;
    Ok(connection)
}

/// Opens a copy of another ledger's database in our own directory. It has no journal, so nothing is rolled back.
pub fn connect_copy(path: &Path) -> Result<Connection, LedgerError> {
    let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let fail = |source| LedgerError::database(path, source);
    let connection = Connection::open_with_flags(path, access).map_err(fail)?;
    connection.pragma_update(None, "query_only", true).map_err(fail)?;
    harden(&connection).map_err(fail)?;
    Ok(connection)
}

fn harden(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "trusted_schema", false)?;
    // Make SQLite report a damaged page instead of reading past it.
    connection.pragma_update(None, "cell_size_check", true)?;
    // The limit must leave room for the INSERT statement in addition to the row.
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, (LONGEST + (1 << 20)) as i32)?;
    Ok(())
}

/// Whether anything was ever committed. If a process was killed while it created the ledger, SQLite rolls the file back
/// to empty when it is next opened.
pub fn is_made(connection: &Connection, path: &Path) -> Result<bool, LedgerError> {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let made = count("SELECT count(*) FROM sqlite_schema")
        .and_then(|tables| Ok(tables > 0 || count("PRAGMA page_count")? > 0));
    made.map_err(|source| LedgerError::database(path, source))
}

/// Checks that each table is an ordinary table, and not an endless view or a virtual table with the same name. Called
/// before the first row is read from a database that anyone may have written.
pub fn check_tables(connection: &Connection, path: &Path) -> Result<(), LedgerError> {
    let ours = |name: &str| -> Result<Option<String>, rusqlite::Error> {
        connection
            .query_row("SELECT sql FROM sqlite_schema WHERE name = ?1 AND type = 'table'", [name], |row| row.get(0))
            .optional()
    };
    for (name, statement) in ["ledger", "row"].into_iter().zip(STATEMENTS) {
        let found = ours(name).map_err(|source| LedgerError::database(path, source))?;
        if found.as_deref() != Some(statement) {
            let what = say::say!("ledger-other-table", name);
            return Err(LedgerError::Damaged { path: path.to_owned(), what });
        }
    }
    Ok(())
}

pub fn create(connection: &Connection, path: &Path, id: &str) -> Result<(), LedgerError> {
    let make = || {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", FORMAT)?;
        for statement in STATEMENTS {
            connection.execute_batch(statement)?;
        }
        connection.execute("INSERT INTO ledger (id) VALUES (?1)", [id])?;
        connection.execute_batch("COMMIT")
    };
    make().map_err(|source| LedgerError::database(path, source))
}
