//! Limits the unpacked size of an archive. The size stated in it is not trusted; unpacked bytes are counted.

use std::cell::Cell;
use std::io::{self, Read};

/// The maximum unpacked size of one archive. Skipped entries count too, since unpacking them takes as long.
#[derive(Debug, Clone)]
pub struct Bound {
    packed: u64,
    most: u64,
    left: Cell<u64>,
    entries: Cell<u64>,
}

/// The limit for an archive: rocBLAS with all its catalogs is 4 GiB.
const MOST: u64 = 64 << 30;
/// The limit for one of its files: the largest shipped library is below 2 GiB.
const MOST_ENTRY: u64 = 16 << 30;
const MOST_ENTRIES: u64 = 1_000_000;
/// The maximum compression ratio. Packages of kernels have 5 to 40.
const RATIO: u64 = 200;
/// Small archives may exceed the ratio: a package of links and empty catalogs.
const SMALL: u64 = 256 << 20;

/// Why an archive was abandoned.
#[derive(Debug)]
pub enum Swollen {
    Whole { most: u64, packed: u64 },
    Entry,
    Entries,
}

say::worded! { Swollen {
    Whole { most, packed } => "runtime-swollen-whole",
    Entry => "runtime-swollen-entry" (most = MOST_ENTRY),
    Entries => "runtime-swollen-entries" (most = MOST_ENTRIES),
}}

impl Swollen {
    /// The limit error inside a failed read, however it is wrapped.
    pub fn behind(error: &io::Error) -> Option<&Swollen> {
        let mut inner: Option<&(dyn std::error::Error + 'static)> = error.get_ref().map(|inner| inner as _);
        while let Some(error) = inner {
            if let Some(swollen) = error.downcast_ref::<Swollen>() {
                return Some(swollen);
            }
            inner = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
                Some(wrapped) => Some(wrapped as _),
                None => error.source(),
            };
        }
        None
    }
}

impl Bound {
    /// The limit for an untrusted archive of this size.
    pub fn of_stranger(packed: u64) -> Bound {
        Bound::new(packed, packed.saturating_mul(RATIO).clamp(SMALL, MOST))
    }

    /// The limit for an archive whose hash was signed by its maker.
    pub fn of_known(packed: u64) -> Bound {
        Bound::new(packed, MOST)
    }

    fn new(packed: u64, most: u64) -> Bound {
        Bound { packed, most, left: Cell::new(most), entries: Cell::new(0) }
    }

    /// Counts one more entry.
    pub(super) fn entry(&self) -> io::Result<()> {
        self.entries.set(self.entries.get() + 1);
        if self.entries.get() > MOST_ENTRIES { Err(io::Error::other(Swollen::Entries)) } else { Ok(()) }
    }

    /// Checks the size of a file so far.
    pub(super) fn file(&self, size: u64) -> io::Result<()> {
        if size > MOST_ENTRY { Err(io::Error::other(Swollen::Entry)) } else { Ok(()) }
    }

    /// The stream of an archive or of one entry, with its bytes counted.
    pub(super) fn counted<R: Read>(&self, inner: R) -> Counted<'_, R> {
        Counted { inner, bound: self }
    }
}

#[derive(Debug)]
pub(super) struct Counted<'b, R> {
    inner: R,
    bound: &'b Bound,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        let Bound { packed, most, left, .. } = self.bound;
        match left.get().checked_sub(read as u64) {
            Some(rest) => left.set(rest),
            None => return Err(io::Error::other(Swollen::Whole { most: *most, packed: *packed })),
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Unpacked, Unpacker, unpack_zip};
    use super::*;
    use std::io::Write;

    fn with(most: u64, unpack: impl FnOnce(&Unpacker<'_>) -> io::Result<Unpacked>) -> io::Result<Unpacked> {
        let dir = tempfile::tempdir()?;
        let bound = Bound::new(10, most);
        let unpacker = Unpacker {
            root: dir.path(),
            merged_usr: false,
            keep: &|path| path.ends_with("kept"),
            bound: &bound,
            progress: &|_| (),
        };
        unpack(&unpacker)
    }

    #[test]
    fn what_comes_out_is_counted_kept_or_not() {
        for name in ["kept", "passed over"] {
            let mut zip = ::zip::ZipWriter::new(io::Cursor::new(Vec::new()));
            zip.start_file(name, ::zip::write::SimpleFileOptions::default()).expect("an entry");
            zip.write_all(&[0; 4000]).expect("zeros");
            let zip = zip.finish().expect("an archive").into_inner();
            assert!(zip.len() < 400, "{} bytes", zip.len());
            let unpack = |most: u64| with(most, |unpacker| unpack_zip(unpacker, &mut io::Cursor::new(&zip)));
            assert!(unpack(4000).is_ok());
            let error = unpack(3999).expect_err("more than that");
            assert!(
                matches!(Swollen::behind(&error), Some(Swollen::Whole { most: 3999, packed: 10 })),
                "{name}: {error}"
            );
        }
    }

    /// The name of a tar entry may have any length.
    #[test]
    fn names_count_too() {
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        tar.append_data(&mut header, "n/".repeat(4000), &b"x"[..]).expect("an entry");
        let tar = tar.into_inner().expect("an archive");
        let error = with(2000, |unpacker| unpacker.unpack_tar(&mut tar.as_slice())).expect_err("more than that");
        assert!(matches!(Swollen::behind(&error), Some(Swollen::Whole { .. })), "{error}");
    }

    #[test]
    fn small_archives_may_swell_and_none_without_end() {
        let most = |packed: u64| Bound::of_stranger(packed).most;
        assert_eq!((most(1), most(3 << 20), most(1 << 30)), (256 << 20, 600 << 20, 64 << 30));
        assert_eq!(Bound::of_known(1).most, 64 << 30);
        let bound = Bound::of_stranger(1);
        assert!(bound.file(MOST_ENTRY).is_ok() && bound.file(MOST_ENTRY + 1).is_err());
        bound.entries.set(MOST_ENTRIES - 1);
        assert!(bound.entry().is_ok() && bound.entry().is_err());
    }
}
