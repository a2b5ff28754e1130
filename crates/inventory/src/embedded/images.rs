//! NVIDIA images outside fatbin sections: cubins, PTX texts and containers that a program loads from memory.

use codeobject::nvidia::{self, Inventory, Region, Row, Section, Walked};
use codeobject::{Range, ReadAt};

/// The maximum length of a PTX text, far above real ones.
const LONGEST_TEXT: u64 = 64 << 20;
const LIMIT: usize = 1 << 30;

#[derive(Debug, Default)]
pub(crate) struct Images {
    rows: Vec<Row>,
    /// The offset of each image in the file.
    offsets: Vec<u64>,
    errors: Vec<nvidia::FatbinError>,
    bytes: u64,
}

impl Images {
    fn add(&mut self, rows: Vec<Row>, offset: u64, size: u64) {
        let container = self.offsets.len();
        self.rows.extend(rows.into_iter().map(|row| Row { region: Region::Embedded, container, ..row }));
        self.offsets.push(offset);
        self.bytes += size;
    }

    /// None if the image is not a readable cubin.
    pub fn cubin(&mut self, source: &dyn ReadAt, range: Range, offset: u64) -> Option<Range> {
        let bytes = source.bytes(range.start, range.len(), "cubin").ok()?;
        let row = Row::of_cubin(nvidia::cubin(&bytes)?, range.len());
        self.add(vec![row], offset, range.len());
        Some(range)
    }

    /// A text from `.version` up to the first byte that is not text. None if it does not have a version followed by a
    /// target.
    pub fn ptx(&mut self, source: &dyn ReadAt, range: Range, offset: u64) -> Option<Range> {
        let is_text = |bytes: &[u8]| bytes.iter().position(|byte| *byte < 9 || *byte == 127).unwrap_or(bytes.len());
        // Most candidates are not PTX, which shows at once.
        let head = source.bytes(range.start, range.len().min(64 << 10), "PTX").ok()?;
        nvidia::ptx_number(nvidia::ptx(head.get(..is_text(&head))?).target.as_str())?;
        let bytes = source.bytes(range.start, range.len().min(LONGEST_TEXT), "PTX").ok()?;
        let text = bytes.get(..is_text(&bytes))?;
        let found = nvidia::ptx(text);
        let version = found.version.split_once('.')?;
        version.0.parse::<u16>().ok().zip(version.1.parse::<u16>().ok())?;
        let size = text.len() as u64;
        self.add(vec![Row::of_ptx(found, size)?], offset, size);
        Some(Range { start: range.start, end: range.start + size })
    }

    /// None if no container begins there.
    pub fn container(&mut self, source: &dyn ReadAt, rest: Range, offset: u64) -> Option<Range> {
        let (rows, errors, size) = Inventory::container(source, rest.start, rest.len(), LIMIT)?;
        self.errors.extend(errors);
        self.add(rows, offset, size);
        Some(Range { start: rest.start, end: rest.start.saturating_add(size) })
    }

    /// Adds these images to those of the device sections.
    pub fn add_to(self, inventory: &mut Option<Inventory>) {
        if self.offsets.is_empty() {
            return;
        }
        let found = inventory.get_or_insert_with(Inventory::default);
        let section = Section { region: Region::Embedded, offset: 0, address: 0, size: self.bytes };
        found.sections.push(Walked {
            section,
            containers: self.offsets,
            padding: 0,
            unknown: Vec::new(),
            errors: self.errors,
        });
        found.rows.extend(self.rows);
    }
}
