//! Writes Windows libraries and static libraries.

/// A Windows library with one section of device code.
pub fn windows(fatbin: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 0x80];
    out[..2].copy_from_slice(b"MZ");
    out[60] = 0x80;
    out.extend_from_slice(b"PE\0\0\x64\x86\x01\0");
    out.extend_from_slice(&[0; 12]);
    // The size of the optional header, and that this is a library.
    out.extend_from_slice(&[112, 0, 0, 0x20]);
    let mut optional = [0; 112];
    optional[..2].copy_from_slice(&[0x0b, 0x02]);
    optional[24..32].copy_from_slice(&0x1_8000_0000u64.to_le_bytes());
    out.extend_from_slice(&optional);
    let start = (out.len() as u32 + 40).next_multiple_of(512);
    out.extend_from_slice(b".hip_fat");
    let size = fatbin.len() as u32;
    for number in [size, 0x1000, size.next_multiple_of(512), start] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.resize(start as usize, 0);
    out.extend_from_slice(fatbin);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}

/// A static library of these members.
pub fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let name = format!("{name}/");
        out.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 100_644, content.len()).bytes());
        out.extend_from_slice(content);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}
