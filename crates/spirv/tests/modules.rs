//! Handmade modules: found among other bytes, read, and identical with and without float controls.

use proptest::prelude::*;
use spirv_modules::{Constant, Module, find, identity};

const HEADER: [u32; 5] = [0x0723_0203, 0x0001_0500, 0x000d_000b, 100, 0];

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn op(code: u32, operands: &[u32]) -> Vec<u32> {
    let length = u32::try_from(operands.len() + 1).expect("short");
    [&[length << 16 | code], operands].concat()
}

fn text(text: &str) -> Vec<u32> {
    let mut padded = text.as_bytes().to_vec();
    padded.resize(text.len() / 4 * 4 + 4, 0);
    padded.chunks(4).map(|four| u32::from_le_bytes(four.try_into().expect("four"))).collect()
}

/// A kernel of two functions with a constant that a pipeline may set; `controls` as ggml adds them at run time.
fn module(controls: bool) -> Vec<u8> {
    let mut words = HEADER.to_vec();
    let mut add = |instruction: Vec<u32>| words.extend(instruction);
    add(op(17, &[1]));
    add(op(17, &[6022]));
    if controls {
        add(op(17, &[4467]));
        add(op(10, &text("SPV_KHR_float_controls")));
    }
    add(op(10, &text("SPV_KHR_cooperative_matrix")));
    add(op(14, &[0, 1]));
    add(op(15, &[&[5, 4], text("main").as_slice()].concat()));
    add(op(16, &[4, 17, 64, 2, 1]));
    if controls {
        add(op(16, &[4, 4462, 16]));
    }
    add(op(71, &[9, 1, 3]));
    add(op(21, &[6, 32, 0]));
    add(op(50, &[6, 9, 32]));
    for function in [4, 20] {
        add(op(54, &[2, function, 0, 3]));
        add(op(248, &[function + 1]));
        add(op(253, &[]));
        add(op(56, &[]));
    }
    bytes(&words)
}

#[test]
fn modules_lie_among_other_bytes() {
    let (one, two) = (module(false), module(true));
    let file = [b"\x7fELF junk".as_slice(), &one, &[0; 7], &two, &[0xff; 9]].concat();
    let found: Vec<(usize, Option<usize>)> = find(&file).iter().map(|found| (found.offset, found.length)).collect();
    assert_eq!(found, [(9, Some(one.len())), (9 + one.len() + 7, Some(two.len()))]);
}

#[test]
fn modules_may_touch() {
    let one = module(false);
    let found = find(&[one.clone(), one.clone()].concat());
    assert_eq!(found.iter().map(|found| found.length).collect::<Vec<_>>(), [Some(one.len()); 2]);
}

#[test]
fn a_module_that_is_cut_off_is_there_and_not_read() {
    let whole = module(false);
    let cut = &whole[..whole.len() - 40];
    assert_eq!(find(cut).iter().map(|found| (found.offset, found.length)).collect::<Vec<_>>(), [(0, None)]);
    assert!(find(&bytes(&[0x0723_0203, 0x0009_0500, 0, 5, 0])).is_empty(), "no version of SPIR-V");
}

#[test]
fn operations_that_nobody_has_a_name_for_belong_to_the_module() {
    let mut words = HEADER.to_vec();
    words.extend(op(17, &[1]));
    words.extend(op(54, &[2, 4, 0, 3]));
    words.extend([op(248, &[5]), op(9_999, &[1, 2]), op(253, &[]), op(56, &[])].concat());
    let module = bytes(&words);
    // Data after the last function does not belong to the module.
    let file = [module.clone(), bytes(&op(9_999, &[1]))].concat();
    assert_eq!(find(&file).iter().map(|found| found.length).collect::<Vec<_>>(), [Some(module.len())]);
    assert_eq!(Module::read(&module).operations.get("Op9999"), Some(&1));
}

#[test]
fn what_a_module_says_of_itself() {
    let read = Module::read(&module(false));
    assert_eq!(read.version, (1, 5));
    assert_eq!(read.capabilities, ["Shader", "CooperativeMatrixKHR"]);
    assert_eq!(read.features(), ["matrix"]);
    assert_eq!(read.extensions, ["SPV_KHR_cooperative_matrix"]);
    let [entry] = read.entry_points.as_slice() else { panic!("{read:?}") };
    assert_eq!((entry.name.as_str(), entry.model.as_str(), entry.local_size), ("main", "GLCompute", Some([64, 2, 1])));
    assert_eq!(read.constants.into_iter().collect::<Vec<_>>(), [(3, Constant { default: 32 })]);
    assert_eq!(read.operations.get("OpFunctionEnd"), Some(&2));
}

#[test]
fn float_controls_change_nothing() {
    assert_eq!(identity(&module(false)), identity(&module(true)));
    let mut other = module(false);
    let last = other.len() - 8;
    other[last] ^= 2;
    assert_ne!(identity(&module(false)), identity(&other));
}

proptest! {
    #[test]
    fn no_bytes_panic(cut in 0usize..400, at in 0usize..400, value: u8, noise in proptest::collection::vec(any::<u8>(), 0..64)) {
        let mut file = module(true);
        let length = file.len();
        file[at % length] = value;
        file.truncate(cut);
        file.extend(noise);
        for found in find(&file) {
            prop_assert!(found.offset + 4 <= file.len(), "a module has at least its magic number");
            let module = &file[found.offset..];
            let _ = (Module::read(module), identity(module));
        }
    }
}
