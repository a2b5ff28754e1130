//! Device code outside the device sections: every format that can be read, and every one that is at least named.

use inventory::{File, FileReport, Nothing, Options, Part, inspect};
use made_files as make;
use std::convert::Infallible;
use std::io::Write;

fn report(bytes: &[u8]) -> FileReport {
    let mut place = tempfile::NamedTempFile::new().unwrap();
    place.write_all(bytes).unwrap();
    let file = File::open(place.path()).unwrap();
    let report = inspect(&file, &Options::all(), true, &Nothing, |_, ()| Ok::<(), Infallible>(())).unwrap();
    // Without hashing, the file is read in other pieces; the result has to be the same.
    let again = inspect(&file, &Options::all(), false, &Nothing, |_, ()| Ok::<(), Infallible>(())).unwrap();
    assert_eq!((kernels(&report), &report.opaque), (kernels(&again), &again.opaque));
    assert_eq!(report.map.totals().values().sum::<u64>(), bytes.len() as u64, "every byte belongs to one part");
    report
}

fn kernels(report: &FileReport) -> u64 {
    report.targets().values().map(|target| target.kernels).sum()
}

/// A host library with these bytes in `.rodata`.
fn host(payload: &[u8]) -> Vec<u8> {
    let rodata = make::Section { flags: 2, ..make::Section::new(".rodata", 1, payload.to_vec()) };
    make::elf(62, 0, 0, 0, &[rodata])
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// One zip entry with only a local header.
fn zip(method: u16, contents: &[u8]) -> Vec<u8> {
    let raw = match method {
        8 => zlib(contents).get(2..).unwrap().to_vec(),
        _ => contents.to_vec(),
    };
    let mut out = b"PK\x03\x04\x14\0\0\0".to_vec();
    out.extend_from_slice(&method.to_le_bytes());
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&(raw.len() as u32).to_le_bytes());
    out.extend_from_slice(&(contents.len() as u32).to_le_bytes());
    out.extend_from_slice(&[4, 0, 0, 0]);
    out.extend_from_slice(b"code");
    out.extend_from_slice(&raw);
    out
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

const PTX: &[u8] = b".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{ret;}\n";

#[test]
fn what_can_be_read_is_counted() {
    let object = make::two_kernels();
    let frame = zstd::bulk::compress(&object, 3).unwrap();
    let cases: &[(&str, Vec<u8>, u64)] = &[
        ("as it is", object.clone(), 2),
        ("twice", [object.clone(), object.clone()].concat(), 4),
        ("cubin", make::cubin(&["a", "b", "c"]), 3),
        ("ptx", PTX.to_vec(), 1),
        ("two ptx", [PTX, PTX].concat(), 2),
        ("fatbin", make::nvidia_container(&[(1, 90, 0x11, PTX, 0)]), 1),
        ("bundle", make::usual_bundle(), 2),
        ("ccob", make::ccob(3, 1, &make::usual_bundle()), 2),
        ("gzip", gzip(&object), 2),
        ("zlib", zlib(&object), 2),
        ("zstd", frame, 2),
        ("gzip in zlib", zlib(&gzip(&object)), 2),
        ("zip", zip(8, &object), 2),
        ("zip, stored", zip(0, &object), 2),
        ("zip in gzip, with a cubin", gzip(&[zip(8, &object), make::cubin(&["a"])].concat()), 3),
    ];
    for (name, payload, want) in cases {
        for file in
            [host(payload), host(&[b"abc", payload.as_slice()].concat()), [host(b"x"), payload.clone()].concat()]
        {
            let report = report(&file);
            assert_eq!(kernels(&report), *want, "{name}: {:?}", report.opaque);
            assert!(report.is_complete(), "{name}: {:?}", report.all_problems().collect::<Vec<_>>());
        }
    }
}

#[test]
fn what_cannot_be_read_is_named_and_nothing_is_said_to_be_absent() {
    let mut squashfs = b"hsqs".to_vec();
    for word in [2u32, 0, 1 << 17, 0, 17 << 16 | 1, 1 << 16, 4, 0, 0, 200, 0] {
        squashfs.extend_from_slice(&word.to_le_bytes());
    }
    squashfs.resize(200, 1);
    let cut = gzip(&noise(200_000)).get(..100_000).unwrap().to_vec();
    let cases: &[(&str, Vec<u8>)] = &[
        ("squashfs", squashfs),
        ("bzip2", b"BZh91AY&SY\x12\x34".to_vec()),
        ("zip", zip(93, &make::two_kernels())),
        ("high-entropy", noise(100_000)),
        ("gzip (damaged)", cut),
        ("zlib > bzip2", zlib(b"BZh91AY&SY\x12\x34")),
        ("LLVM bitcode", [&[b'B', b'C', 0xc0, 0xde, 0x35, 0x14, 0, 0, 1, 0, 0, 0], &b"amdg"[..]].concat()),
        ("base64 of a device ELF", b"f0VMRgIBAUADAAAA".to_vec()),
        ("device ELF", [&b"\x7fELF\x01\x01\x01\x40"[..], &[0; 10], &[224, 0], &[0; 40]].concat()),
    ];
    for (name, payload) in cases {
        let report = report(&host(payload));
        assert_eq!(report.opaque.first().map(|opaque| opaque.what.key()), Some(*name), "{:?}", report.opaque);
        assert!(!report.is_complete(), "{name}");
        assert!(report.map.totals().contains_key(&Part::Opaque), "{name}: {:?}", report.map);
    }
}

#[test]
fn texts_and_tables_of_a_host_are_nothing_of_that_kind() {
    let cases: &[&[u8]] = &[
        b"\t.version %d.%d\n\t.target sm_\0.version 8.0\0.target sm_90\0",
        b"__CLANG_OFFLOAD_BUNDLE__\0CCOB\0\0\0\0hsqs\0\0\0\0BZh\0PK\x03\x04\0\0\0\0",
        b"\x28\xb5\x2f\xfd\x04\x22\x4d\x18\x1f\x8b\x08\x00\x10\xff\x10\xad\x50\xed\x55\xba\xfd7zXZ\0",
        &[0x78, 0x9c, 0x78, 0xda, 0x78, 1, 0, 0, 0, 0, 0],
    ];
    for payload in cases {
        let report = report(&host(payload));
        assert!(report.is_complete(), "{payload:?}: {:?}", report.opaque);
        assert_eq!(kernels(&report), 0);
    }
    // Doubles look less like noise than compressed data do.
    let doubles: Vec<u8> = (1..40_000u32).flat_map(|i| f64::from(i).sqrt().to_le_bytes()).collect();
    assert!(report(&host(&doubles)).is_complete());
}

#[test]
fn code_behind_the_end_of_a_code_object_is_seen() {
    let two = report(&[make::two_kernels(), make::two_kernels()].concat());
    assert_eq!((kernels(&two), two.is_complete()), (4, true));
    let cubins = report(&[make::cubin(&["a"]), make::cubin(&["b", "c"])].concat());
    assert_eq!((kernels(&cubins), cubins.is_complete()), (3, true), "{:?}", cubins.opaque);
    let text = report(&[b"// made\n", PTX].concat());
    assert_eq!((text.kind, kernels(&text), text.is_complete()), ("NVIDIA image", 1, true));
    assert_eq!(text.targets().keys().next().map(String::as_str), Some("compute_90a"));
    // A host object in a bundle may contain code that no entry lists.
    let inner = make::host(&make::usual_bundle(), &[0]);
    let entries: [(&str, &[u8]); 1] = [("host-x86_64-unknown-linux-gnu-", &inner)];
    assert!(!report(&make::bundle(&entries, 4096)).is_complete());
}

#[test]
fn noise_that_somebody_can_explain_is_none() {
    let table = make::Section::new(".gnu.hash", 0x6fff_fff6, noise(100_000));
    assert!(report(&make::elf(62, 0, 0, 0, &[table])).is_complete());
    assert!(report(&host(&gzip(&noise(30_000)))).is_complete());
    assert!(!report(&host(&gzip(&noise(100_000)))).is_complete(), "noise in a stream is still noise");
}

/// Every generated file with bytes changed, cut and repeated: nothing panics, and the map still covers the file.
#[test]
fn damaged_files_are_read_without_a_panic() {
    let object = make::two_kernels();
    let inner = [zip(8, &object), make::cubin(&["a"]), PTX.to_vec(), make::usual_bundle()].concat();
    let seeds = [
        host(&[gzip(&inner), zlib(&object), zstd::bulk::compress(&inner, 3).unwrap()].concat()),
        host(&[make::ccob(3, 1, &make::usual_bundle()), make::nvidia_container(&[(1, 90, 0x11, PTX, 0)])].concat()),
        [object.clone(), object, make::spirv(1)].concat(),
    ];
    let mut random = noise(60_000).into_iter().map(usize::from);
    let mut next = |below: usize| {
        let (a, b, c) = (random.next(), random.next(), random.next());
        (a.unwrap_or(0) << 16 | b.unwrap_or(0) << 8 | c.unwrap_or(0)) % below.max(1)
    };
    for seed in &seeds {
        for _ in 0..120 {
            let mut bytes = seed.clone();
            for _ in 0..1 + next(6) {
                let at = next(bytes.len());
                bytes[at] = next(256) as u8;
            }
            if next(3) == 0 {
                bytes.truncate(next(bytes.len()));
            }
            report(&bytes);
        }
    }
}
