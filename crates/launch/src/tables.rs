//! The kernel tables of several devices in one file, and which of them applies to a launch.
//!
//! The devices of one machine may have different targets. A kernel with code on one can be a stub on another, and
//! registers and block sizes differ. So each launch is checked with the table of its own device.

use crate::nullgpu_input::{MOST_TABLES, TABLES_MAGIC};
use crate::table::{KernelInfo, KernelPlace, KernelTable, TableError};
use crate::trace::{Kernel, Module};
use std::collections::HashMap;

/// Bytes of [`crate::nullgpu_input::TablesFile`] and [`crate::nullgpu_input::TableAt`].
const HEAD: usize = 16;
const ROW: usize = 24;

/// Puts the tables of all devices, in order, into one file. Equal tables are stored once. With `strict`, the device
/// refuses files without its target. None if there are too many devices.
pub fn join(tables: &[(&[u8], bool)]) -> Option<Vec<u8>> {
    if tables.len() > MOST_TABLES {
        return None;
    }
    let mut out = TABLES_MAGIC.to_vec();
    out.extend((tables.len() as u64).to_le_bytes());
    let mut body = Vec::new();
    let mut known: HashMap<&[u8], u64> = HashMap::new();
    let start = (HEAD + ROW * tables.len()).next_multiple_of(8);
    for &(bytes, strict) in tables {
        let at = *known.entry(bytes).or_insert_with(|| {
            let at = (start + body.len()) as u64;
            body.extend(bytes);
            body.resize(body.len().next_multiple_of(8), 0);
            at
        });
        out.extend(at.to_le_bytes());
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend(u64::from(strict).to_le_bytes());
    }
    out.resize(start, 0);
    out.extend(body);
    Some(out)
}

/// The tables as read back: one for all devices, or one each.
#[derive(Debug, Default)]
pub struct Tables {
    list: Vec<KernelTable>,
    /// The index in `list` of each device's table; empty if all share the first.
    of_device: Vec<usize>,
    /// Entries of each table by kernel name, for tables that the trace's indices do not refer to.
    by_name: Vec<HashMap<String, Vec<u32>>>,
}

impl Tables {
    pub fn parse(bytes: &[u8]) -> Result<Tables, TableError> {
        if !bytes.starts_with(&TABLES_MAGIC) {
            return Ok(Tables { list: vec![KernelTable::parse(bytes)?], ..Tables::default() });
        }
        let wrong = |at: usize, field| TableError { at: at as u64, field };
        let number = |at: usize| {
            let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
            bytes.map(|bytes| u64::from_le_bytes(*bytes)).ok_or(wrong(at, "number"))
        };
        let mut tables = Tables::default();
        let mut known: HashMap<u64, usize> = HashMap::new();
        for device in 0..number(8)?.min(MOST_TABLES as u64) as usize {
            let row = HEAD + ROW * device;
            let (at, len) = (number(row)?, number(row + 8)?);
            let place = match known.get(&at) {
                Some(place) => *place,
                None => {
                    let range = usize::try_from(at).ok().zip(usize::try_from(len).ok());
                    let part = range.and_then(|(at, len)| bytes.get(at..)?.get(..len)).ok_or(wrong(row, "table"))?;
                    tables.list.push(KernelTable::parse(part)?);
                    known.insert(at, tables.list.len() - 1);
                    tables.list.len() - 1
                }
            };
            tables.of_device.push(place);
        }
        tables.by_name = tables.list.iter().map(names).collect();
        Ok(tables)
    }

    /// The table that the trace's indices refer to: the first device's.
    pub fn first(&self) -> Option<&KernelTable> {
        self.list.first()
    }

    /// The known facts about a kernel on a device. Uses the trace's index if the device's table is the first, otherwise
    /// the name and bundle.
    pub fn kernel(&self, device: u32, kernel: &Kernel, module: Option<&Module>) -> Option<(&KernelInfo, &KernelPlace)> {
        if self.of_device.is_empty() {
            return self.list.first()?.kernel(kernel.entry);
        }
        let place = *self.of_device.get(device as usize)?;
        let table = self.list.get(place)?;
        if place == 0 {
            return table.kernel(kernel.entry);
        }
        let module = module?;
        let entries = self.by_name.get(place)?.get(&kernel.name)?;
        let found = entries.iter().filter_map(|&entry| table.kernel(entry));
        found.into_iter().find(|(_, at)| at.address == module.address && same_file(&at.path, &module.path))
    }
}

fn names(table: &KernelTable) -> HashMap<String, Vec<u32>> {
    let mut map: HashMap<String, Vec<u32>> = HashMap::new();
    for (place, kernel) in table.kernels.iter().enumerate() {
        map.entry(kernel.name.clone()).or_default().push(place as u32 + 1);
    }
    map
}

/// Compares paths like the stand-in does. The loader may name a file through a symlink, so only the last path component
/// counts.
fn same_file(known: &str, seen: &str) -> bool {
    known.rsplit('/').next() == seen.rsplit('/').next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Builder;

    fn table(vgprs: u32, stub: bool) -> Vec<u8> {
        let mut builder = Builder::default();
        builder.file("/lib/one.so");
        builder.bundle(0x1000, 0, true);
        builder.kernel(&KernelInfo { name: "_Za".into(), vgprs, stub, ..KernelInfo::default() });
        builder.finish()
    }

    fn kernel() -> (Kernel, Module) {
        let module = Module { id: 1, path: "/else/one.so".into(), address: 0x1000, hash: 0, size: 0 };
        (Kernel { id: 1, module: 1, entry: 1, name: "_Za".into() }, module)
    }

    #[test]
    fn each_device_is_judged_by_its_own_table() {
        let (first, second) = (table(96, false), table(40, true));
        let file = join(&[(&first, true), (&second, false), (&first, true)]).expect("few devices");
        let tables = Tables::parse(&file).expect("tables");
        let (kernel, module) = kernel();
        let seen = |device| tables.kernel(device, &kernel, Some(&module)).map(|(info, _)| (info.vgprs, info.stub));
        assert_eq!([seen(0), seen(1), seen(2)], [Some((96, false)), Some((40, true)), Some((96, false))]);
        assert_eq!(seen(3), None, "a device that nobody described");
        assert_eq!(tables.list.len(), 2, "equal tables stand there once");
    }

    #[test]
    fn one_table_serves_every_device() {
        let tables = Tables::parse(&table(96, false)).expect("a table");
        let (kernel, _) = kernel();
        assert!(tables.kernel(7, &kernel, None).is_some());
    }

    #[test]
    fn damage_is_an_error_never_a_panic() {
        let (first, second) = (table(96, false), table(40, true));
        let whole = join(&[(&first, true), (&second, false)]).expect("few devices");
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            let _ = Tables::parse(&bytes);
            let _ = Tables::parse(&whole[..at]);
        }
        assert!(join(&vec![(&first[..], true); MOST_TABLES + 1]).is_none());
    }
}
