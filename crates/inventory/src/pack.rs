//! Archives and packages: files that contain other files. Their own bytes do not show the content.

use codeobject::ReadAt;

say::named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Pack: key {
        /// A static library.
        Ar = "ar",
        Deb = "deb",
        /// Wheels are zips too.
        Zip = "zip",
        Tar = "tar",
        /// A tar or anything else, compressed as a whole.
        Compressed = "compressed",
        Rpm = "rpm",
    }
}

impl Pack {
    /// Recognises the format by the first bytes; None if it is not an archive.
    pub fn of(source: &dyn ReadAt) -> Option<Self> {
        let head = source.bytes(0, source.len().min(512), "magic").ok()?;
        Some(match head.as_ref() {
            head if head.starts_with(b"!<arch>\ndebian-binary") => Pack::Deb,
            head if head.starts_with(b"!<arch>\n") || head.starts_with(b"!<thin>\n") => Pack::Ar,
            head if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") => Pack::Zip,
            head if head.get(257..262) == Some(b"ustar") => Pack::Tar,
            [0x1f, 0x8b, ..] => Pack::Compressed,
            head if head.starts_with(b"\xfd7zXZ\0") || head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) => Pack::Compressed,
            [0xed, 0xab, 0xee, 0xdb, ..] => Pack::Rpm,
            _ => return None,
        })
    }
}
