//! The parent's information about the kernels in a trace: their arguments and their bundle.

use launch::table::KernelTable;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub struct Known {
    table: KernelTable,
    /// Index in the table by library, bundle address and name.
    index: HashMap<(String, u64), HashMap<String, usize>>,
}

impl Known {
    pub fn new(table: KernelTable) -> Known {
        let mut index: HashMap<(String, u64), HashMap<String, usize>> = HashMap::new();
        for (at, (kernel, place)) in table.kernels.iter().zip(&table.of).enumerate() {
            if let Some(place) = table.places.get(*place as usize) {
                index.entry((place.path.clone(), place.address)).or_default().insert(kernel.name.clone(), at);
            }
        }
        Known { table, index }
    }

    /// Offset and size of each argument, and the bundle's number.
    pub fn kernel(&self, path: &str, address: u64, name: &str) -> Option<(&[(u32, u32)], u32)> {
        let at = *self.index.get(&(path.to_owned(), address))?.get(name)?;
        let kernel = self.table.kernels.get(at)?;
        let place = self.table.places.get(*self.table.of.get(at)? as usize)?;
        Some((&kernel.args, place.bundle))
    }
}
