//! Tests how the variables that show and hide devices are read, with the cases of AMD's source and of NVIDIA's driver.

use launch::visible_devices::{Visible, cuda, hip, unique_id};

fn numbers(shown: &Visible) -> Vec<u8> {
    shown.numbers().to_vec()
}

/// Three cards in the slots 3, 4 and 0x1a.
fn amd(rocr: Option<&str>, own: Option<&str>, cuda: Option<&str>) -> Vec<u8> {
    let ids = [3, 4, 0x1a].map(unique_id);
    let bytes = |text: Option<&'static str>| text.map(str::as_bytes);
    let leak = |text: Option<&str>| text.map(|text| &*Box::leak(text.to_owned().into_boxed_str()));
    numbers(&hip(&ids, bytes(leak(rocr)), bytes(leak(own)), bytes(leak(cuda))))
}

#[test]
fn hips_own_variable_chooses_orders_and_ends_at_the_first_invalid_entry() {
    let cases: [(&str, &[u8]); 17] = [
        ("0", &[0]),
        ("2,0", &[2, 0]),
        ("1,1,0", &[1, 0]),
        ("0,7,1", &[0]),
        ("7,0", &[]),
        ("-1", &[]),
        ("none", &[]),
        ("1,", &[1]),
        ("1,,0", &[1]),
        (",1", &[]),
        (" 1", &[]),
        ("01", &[]),
        ("+1", &[]),
        ("", &[0, 1, 2]),
        ("GPU-0000000000000004,0", &[1, 0]),
        ("GPU-000000000000001A", &[]),
        ("GPU-", &[0]),
    ];
    for (list, expected) in cases {
        assert_eq!(amd(None, Some(list), None), expected, "{list:?}");
    }
    assert_eq!(amd(None, None, Some("2")), [2], "the name that CUDA programs use works too");
    assert_eq!(amd(None, Some("1"), Some("2")), [1], "HIP's own name comes first");
    assert_eq!(amd(None, Some(""), Some("2")), [2], "an empty list is none");
    assert_eq!(amd(None, None, None), [0, 1, 2]);
}

#[test]
fn rocrs_variable_comes_first_and_hips_counts_what_is_left() {
    let cases: [(&str, &[u8]); 14] = [
        ("", &[]),
        ("1", &[1]),
        ("2,1", &[2, 1]),
        ("1,1,0", &[1]),
        ("0x2, 1", &[2, 1]),
        ("1x", &[]),
        ("3", &[]),
        ("-1", &[]),
        ("0,,1", &[0]),
        ("gpu-000000000000001a", &[2]),
        ("GPU-0000000000000004,0", &[1, 0]),
        ("GPU-0", &[]),
        ("GPU-", &[]),
        ("GPU-00000000000000040", &[]),
    ];
    for (list, expected) in cases {
        assert_eq!(amd(Some(list), None, None), expected, "{list:?}");
    }
    assert_eq!(amd(Some("2,1"), Some("1"), None), [1], "the second of those that ROCr shows");
    assert_eq!(amd(Some("2"), Some("1"), None), [] as [u8; 0]);
    assert_eq!(amd(Some("2,1"), Some("GPU-000000000000001a"), None), [2]);
}

/// Each line is an answer of the driver on a machine with one H200: the number of devices, or the error of cuInit.
#[test]
fn cudas_variable_is_read_as_the_driver_of_an_h200_reads_it() {
    const UUID: &[u8; 32] = b"770f119677179f80ebed29835fa1d4f0";
    let cases: [(&str, usize); 28] = [
        ("", 0),
        ("0", 1),
        ("0,5", 1),
        ("5,0", 0),
        ("-1", 0),
        ("junk", 0),
        ("0,junk", 1),
        ("junk,0", 0),
        (" 0", 1),
        ("0 ", 1),
        ("00", 1),
        ("+0", 1),
        ("0x0", 1),
        ("0junk", 1),
        (",0", 0),
        ("0,", 1),
        ("0,,0", 1),
        ("GPU-770f1196-7717-9f80-ebed-29835fa1d4f0", 1),
        ("GPU-770f", 1),
        ("GPU-", 0),
        ("GPU-7", 1),
        ("gpu-770f1196-7717-9f80-ebed-29835fa1d4f0", 0),
        ("GPU-770F1196-7717-9F80-EBED-29835FA1D4F0", 1),
        ("770f1196-7717-9f80-ebed-29835fa1d4f0", 0),
        ("0,GPU-770f1196-7717-9f80-ebed-29835fa1d4f0", 1),
        ("GPU-ffff,0", 0),
        ("MIG-x", 0),
        ("1", 0),
    ];
    for (list, expected) in cases {
        let shown = cuda(&[*UUID], Some(list.as_bytes()));
        assert_eq!((shown.numbers().len(), shown.repeated), (expected, false), "{list:?}");
    }
    for list in ["0,0", "0, 0"] {
        let shown = cuda(&[*UUID], Some(list.as_bytes()));
        assert!(shown.repeated && shown.numbers().is_empty(), "{list:?}");
    }
    assert_eq!(numbers(&cuda(&[*UUID; 2], None)), [0, 1]);
}
