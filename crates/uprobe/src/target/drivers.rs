//! The driver behind a Vulkan handle: the loader's handles begin with a table of functions, which are in the driver's
//! file.

use crate::target::memory::Memory;
use crate::target::processes::Mapping;
use std::collections::BTreeSet;

/// The part of the table that is read; the functions of Vulkan 1.0 fill it.
const TABLE: usize = 8 * 128;

/// The file of the driver behind a queue or command buffer; None if layers hide it or nothing can be read.
pub fn of_handle(pid: u32, handle: u64, mapped: &[Mapping]) -> Option<String> {
    let memory = Memory::open(pid).ok()?;
    let table = memory.bytes(memory.word(handle)?, TABLE);
    let words = table.chunks_exact(8).filter_map(|word| word.first_chunk().map(|word| u64::from_le_bytes(*word)));
    let files: BTreeSet<&str> = words
        .filter_map(|word| mapped.iter().find(|mapping| (mapping.start..mapping.end).contains(&word)))
        .map(Mapping::name)
        .filter(|name| !is_between(name))
        .collect();
    let mut files = files.into_iter();
    files.next().filter(|_| files.next().is_none()).map(str::to_owned)
}

/// Whether the file is Mesa's driver that computes on the CPU.
pub fn is_processor(file: &str) -> bool {
    file.starts_with("libvulkan_lvp")
}

/// Mesa's drivers, by their files; others have no common name.
pub fn of_mesa(mapped: &[Mapping]) -> BTreeSet<&str> {
    mapped.iter().map(Mapping::name).filter(|name| name.starts_with("libvulkan_")).collect()
}

/// Whether the file is the loader itself or a layer.
fn is_between(name: &str) -> bool {
    name.starts_with("libvulkan.so") || name.contains("VkLayer")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, path: &str) -> Mapping {
        Mapping { start, end: start + 0x1000, offset: 0, device: (0, 0), inode: 1, path: path.to_owned() }
    }

    #[test]
    fn the_driver_is_where_the_table_leads_and_two_of_them_are_none() {
        let mapped = [
            mapping(0x10_0000, "/usr/lib/libvulkan.so.1.4.3"),
            mapping(0x20_0000, "/usr/lib/libvulkan_lvp.so"),
            mapping(0x30_0000, "/tmp/libVkLayer_whichkernel.so"),
            mapping(0x40_0000, "/usr/lib/libvulkan_radeon.so"),
        ];
        let read = |table: &[u64; 128]| {
            let handle = [std::ptr::from_ref(table) as u64];
            of_handle(std::process::id(), handle.as_ptr() as u64, &mapped)
        };
        let mut table = [0_u64; 128];
        table[1..5].copy_from_slice(&[0x10_0010, 0x20_0010, 0x20_0020, 0x30_0010]);
        assert_eq!(read(&table).as_deref(), Some("libvulkan_lvp.so"));
        table[7] = 0x40_0010;
        assert_eq!(read(&table), None);
        assert_eq!(of_handle(std::process::id(), 8, &mapped), None);
        assert_eq!(of_mesa(&mapped).len(), 2);
    }
}
