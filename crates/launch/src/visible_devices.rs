//! Which devices the environment shows to a program, as AMD's and NVIDIA's runtimes read their variables.
//!
//! Only `core` is used, because the shims include this file by path.

/// The maximum number of devices.
pub const MOST: usize = 64;

/// Where a device's unique id stands in the text `GPU-0000000000000003`.
const MARK: &[u8] = b"GPU-";

/// Devices by their numbers in the machine, in the order in which the program sees them.
#[derive(Debug, Clone, Copy)]
pub struct Visible {
    numbers: [u8; MOST],
    count: usize,
    /// A device was named twice, which CUDA answers with an error of its own.
    pub repeated: bool,
}

impl Visible {
    pub fn all(count: usize) -> Visible {
        let mut all = Visible { numbers: [0; MOST], count: count.min(MOST), repeated: false };
        for (number, slot) in all.numbers.iter_mut().enumerate() {
            *slot = number as u8;
        }
        all
    }

    pub const fn none() -> Visible {
        Visible { numbers: [0; MOST], count: 0, repeated: false }
    }

    pub fn numbers(&self) -> &[u8] {
        self.numbers.get(..self.count).unwrap_or(&[])
    }

    fn add(&mut self, number: u8) {
        if let Some(slot) = self.numbers.get_mut(self.count) {
            *slot = number;
            self.count += 1;
        }
    }
}

/// The unique id of a device as text, as the driver shows it below /sys and as HIP returns it as a UUID.
pub fn unique_id(pci_bus: u32) -> [u8; 16] {
    let mut id = [b'0'; 16];
    let mut rest = pci_bus;
    for digit in id.iter_mut().rev() {
        *digit = b"0123456789abcdef".get((rest & 15) as usize).copied().unwrap_or(b'0');
        rest >>= 4;
    }
    id
}

/// The made-up UUID of a CUDA device, and its digits.
pub fn cuda_uuid(pci_bus: u32) -> ([u8; 16], [u8; 32]) {
    let mut uuid = *b"whichkernel\0\0\0\0\0";
    if let Some(last) = uuid.last_mut() {
        *last = pci_bus as u8;
    }
    let mut digits = [b'0'; 32];
    let hex = |value: u8| b"0123456789abcdef".get(usize::from(value & 15)).copied().unwrap_or(b'0');
    for (pair, byte) in digits.chunks_exact_mut(2).zip(uuid) {
        pair.copy_from_slice(&[hex(byte >> 4), hex(byte)]);
    }
    (uuid, digits)
}

/// HIP's rules. `ids` are the unique ids of the devices in the machine. A variable that is not set is None.
///
/// ROCr applies ROCR_VISIBLE_DEVICES first (core/runtime/amd_filter_device.cpp), then HIP applies its own variable, or else
/// CUDA_VISIBLE_DEVICES, to the devices that are left (clr, rocclr/device/rocm/rocdevice.cpp, Device::init).
pub fn hip(ids: &[[u8; 16]], rocr: Option<&[u8]>, own: Option<&[u8]>, cuda: Option<&[u8]>) -> Visible {
    let below = rocr.map_or_else(|| Visible::all(ids.len()), |list| by_rocr(ids, list));
    match own.filter(|list| !list.is_empty()).or(cuda.filter(|list| !list.is_empty())) {
        Some(list) => by_hip(ids, &below, list),
        None => below,
    }
}

fn by_rocr(ids: &[[u8; 16]], list: &[u8]) -> Visible {
    let mut shown = Visible::none();
    // It reads no more entries than there are devices, and an entry that it can't use ends the list.
    for entry in list.split(|byte| *byte == b',').take(ids.len()) {
        let entry = entry.trim_ascii();
        let number = match entry.first() {
            Some(b'g' | b'G') if (5..=20).contains(&entry.len()) => only(ids, entry),
            Some(b'g' | b'G') | None => None,
            Some(_) => whole(entry).filter(|number| *number < ids.len()),
        };
        match number.and_then(|number| u8::try_from(number).ok()) {
            Some(number) if !shown.numbers().contains(&number) => shown.add(number),
            _ => break,
        }
    }
    shown
}

/// The only device whose id starts with the entry, whatever the case of its letters.
fn only(ids: &[[u8; 16]], entry: &[u8]) -> Option<usize> {
    let (mark, digits) = entry.split_at_checked(MARK.len())?;
    let starts = |id: &[u8; 16]| id.get(..digits.len()).is_some_and(|start| start.eq_ignore_ascii_case(digits));
    let mut found = ids.iter().enumerate().filter(|(_, id)| starts(id));
    let first = found.next().filter(|_| mark.eq_ignore_ascii_case(MARK))?;
    found.next().is_none().then_some(first.0)
}

fn by_hip(ids: &[[u8; 16]], below: &Visible, list: &[u8]) -> Visible {
    let mut shown = Visible::none();
    // A comma at the end is not an entry.
    for entry in list.strip_suffix(b",").unwrap_or(list).split(|byte| *byte == b',') {
        let named = |number: &&u8| {
            let id = ids.get(usize::from(**number)).map_or(&[][..], |id| id);
            entry.strip_prefix(MARK).is_some_and(|digits| id.starts_with(digits))
        };
        let number = match entry.starts_with(MARK) {
            true => below.numbers().iter().find(named),
            false => plain(entry).and_then(|place| below.numbers().get(place)),
        };
        let Some(&number) = number else { break };
        if !shown.numbers().contains(&number) {
            shown.add(number);
        }
    }
    shown
}

/// NVIDIA's rules, as its driver showed them on an H200 (2026-11-17). `uuids` are hexadecimal digits without dashes.
pub fn cuda(uuids: &[[u8; 32]], list: Option<&[u8]>) -> Visible {
    let Some(list) = list else { return Visible::all(uuids.len()) };
    let mut shown = Visible::none();
    let by_id = list.starts_with(MARK);
    for entry in list.split(|byte| *byte == b',') {
        let number = match by_id {
            true => entry.strip_prefix(MARK).and_then(|digits| by_uuid(uuids, digits)),
            false => leading(entry.trim_ascii_start()).filter(|number| *number < uuids.len()),
        };
        let Some(number) = number.and_then(|number| u8::try_from(number).ok()) else { break };
        if shown.numbers().contains(&number) {
            return Visible { repeated: true, ..Visible::none() };
        }
        shown.add(number);
    }
    shown
}

/// The only device whose UUID starts with the digits. Dashes stand where they stand in a UUID.
fn by_uuid(uuids: &[[u8; 32]], digits: &[u8]) -> Option<usize> {
    let starts = |uuid: &[u8; 32]| {
        let mut at = 0;
        digits.iter().enumerate().all(|(place, byte)| match place {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => {
                at += 1;
                uuid.get(at - 1).is_some_and(|digit| digit.eq_ignore_ascii_case(byte))
            }
        })
    };
    let mut found = uuids.iter().enumerate().filter(|(_, uuid)| !digits.is_empty() && starts(uuid));
    let first = found.next()?;
    found.next().is_none().then_some(first.0)
}

/// A number as `std::to_string` writes it: no sign, no space, no zero before another digit.
fn plain(text: &[u8]) -> Option<usize> {
    let (number, rest) = digits(text, 10)?;
    (rest.is_empty() && (text.len() == 1 || text.first() != Some(&b'0'))).then_some(number)
}

/// A number as C's `strtol` reads it with base 0, with nothing after it.
fn whole(text: &[u8]) -> Option<usize> {
    signed(text).filter(|(_, rest)| rest.is_empty()).map(|(number, _)| number)
}

/// The same, whatever comes after it.
fn leading(text: &[u8]) -> Option<usize> {
    signed(text).map(|(number, _)| number)
}

fn signed(text: &[u8]) -> Option<(usize, &[u8])> {
    let text = text.strip_prefix(b"+").unwrap_or(text);
    match text {
        [b'0', b'x' | b'X', rest @ ..] if digits(rest, 16).is_some() => digits(rest, 16),
        [b'0', rest @ ..] => digits(rest, 8).or(Some((0, rest))),
        _ => digits(text, 10),
    }
}

/// The number at the start of the text, and the rest.
fn digits(text: &[u8], base: u32) -> Option<(usize, &[u8])> {
    let count = text.iter().take_while(|byte| char::from(**byte).is_digit(base)).count();
    let (number, rest) = text.split_at_checked(count).filter(|_| count > 0)?;
    let value = number.iter().fold(0_usize, |value, byte| {
        let digit = char::from(*byte).to_digit(base).unwrap_or(0) as usize;
        value.saturating_mul(base as usize).saturating_add(digit)
    });
    Some((value, rest))
}
