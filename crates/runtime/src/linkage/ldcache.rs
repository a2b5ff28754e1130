//! `/etc/ld.so.cache`, the table that ldconfig(8) writes: glibc's `sysdeps/generic/dl-cache.h`.
//!
//! Either the new format alone, or the old one followed by the new one. Bytes in, names and paths out; entries that
//! point outside the file are skipped.

const OLD_MAGIC: &[u8] = b"ld.so-1.7.0";
const NEW_MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
const OLD_HEADER: usize = 16;
const OLD_ENTRY: usize = 12;
const NEW_HEADER: usize = 48;
const NEW_ENTRY: usize = 24;
/// `FLAG_ELF_LIBC6 | FLAG_X8664_LIB64`; the low byte is the kind of library, the next one the architecture.
const X86_64: u32 = 0x0303;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub soname: String,
    pub path: String,
    /// Nonzero for libraries in a `glibc-hwcaps` directory.
    pub hwcap: u64,
}

/// The 64-bit x86 libraries, in file order (best first for one name); None if this is not such a cache.
pub fn parse(data: &[u8]) -> Option<Vec<Entry>> {
    let start = new_format(data)?;
    let table = data.get(start..)?;
    let count = u32_at(table, 20)? as usize;
    let entries = table.get(NEW_HEADER..)?.chunks_exact(NEW_ENTRY).take(count);
    let string = |offset: u32| {
        let rest = table.get(offset as usize..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(rest.get(..end)?).ok().map(str::to_owned)
    };
    let entry = |raw: &[u8]| {
        if u32_at(raw, 0)? & 0xffff != X86_64 {
            return None;
        }
        let hwcap = u64::from(u32_at(raw, 16)?) | u64::from(u32_at(raw, 20)?) << 32;
        Some(Entry { soname: string(u32_at(raw, 4)?)?, path: string(u32_at(raw, 8)?)?, hwcap })
    };
    Some(entries.filter_map(entry).collect())
}

/// The offset at which the new format starts: 0, or after the old table, aligned to 8.
fn new_format(data: &[u8]) -> Option<usize> {
    if data.starts_with(NEW_MAGIC) {
        return Some(0);
    }
    if !data.starts_with(OLD_MAGIC) {
        return None;
    }
    let count = u32_at(data, 12)? as usize;
    let end = count.checked_mul(OLD_ENTRY)?.checked_add(OLD_HEADER)?.checked_next_multiple_of(8)?;
    data.get(end..)?.starts_with(NEW_MAGIC).then_some(end)
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*data.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(entries: &[(u32, &str, &str)]) -> Vec<u8> {
        let mut strings = Vec::new();
        let base = NEW_HEADER + entries.len() * NEW_ENTRY;
        let mut table = Vec::new();
        for (flags, soname, path) in entries {
            let mut place = |text: &str| {
                let at = (base + strings.len()) as u32;
                strings.extend_from_slice(text.as_bytes());
                strings.push(0);
                at
            };
            let (key, value) = (place(soname), place(path));
            for number in [*flags, key, value, 0, 0, 0] {
                table.extend_from_slice(&number.to_le_bytes());
            }
        }
        let mut out = NEW_MAGIC.to_vec();
        out.extend_from_slice(&(entries.len() as u32).to_le_bytes());
        out.resize(NEW_HEADER, 0);
        [out, table, strings].concat()
    }

    #[test]
    fn both_layouts_are_read_and_other_architectures_left_out() {
        let new = cache(&[(X86_64, "libx.so.1", "/lib/libx.so.1"), (0x0003, "libx.so.1", "/lib32/libx.so.1")]);
        let want = [Entry { soname: "libx.so.1".into(), path: "/lib/libx.so.1".into(), hwcap: 0 }];
        assert_eq!(parse(&new).unwrap(), want);
        let mut old = OLD_MAGIC.to_vec();
        old.resize(12, 0);
        old.extend_from_slice(&1_u32.to_le_bytes());
        old.resize(32, 0);
        old.extend_from_slice(&new);
        assert_eq!(parse(&old).unwrap(), want);
    }

    #[test]
    fn cuts_and_wild_offsets_are_harmless() {
        let good = cache(&[(X86_64, "a", "b"), (X86_64, "c", "d")]);
        for end in 0..good.len() {
            let _ = parse(&good[..end]);
        }
        let mut wild = good.clone();
        wild[NEW_HEADER + 4..NEW_HEADER + 8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(parse(&wild).unwrap().len(), 1);
        wild[20..24].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(parse(&wild).is_some());
        assert_eq!(parse(b"nonsense"), None);
    }

    #[test]
    fn this_machines_cache_agrees_with_ldconfig() {
        let Ok(data) = std::fs::read("/etc/ld.so.cache") else { return };
        let entries = parse(&data).expect("a readable cache");
        let Ok(output) = std::process::Command::new("/sbin/ldconfig").arg("-p").output() else { return };
        let text = String::from_utf8_lossy(&output.stdout);
        let theirs: Vec<(String, String)> = text
            .lines()
            .filter(|line| line.contains("x86-64") && line.contains("=>"))
            .filter_map(|line| {
                let (name, path) = line.split_once(" => ")?;
                Some((name.split_whitespace().next()?.to_owned(), path.trim().to_owned()))
            })
            .collect();
        let ours: Vec<_> = entries.into_iter().map(|entry| (entry.soname, entry.path)).collect();
        assert_eq!(ours, theirs);
    }
}
