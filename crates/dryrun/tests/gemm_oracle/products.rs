//! Random products from a seed: sizes from models, powers of two and their neighbours, and arbitrary sizes.

use tensile::select::{Batches, Beta, Call, Compute, DataType, Epilogue, Library, Scales};

/// xorshift64*, which gives the same products on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, count: u64) -> u64 {
        (self.next() >> 16) % count
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
}

const WEIGHTS: [(u64, u64); 14] = [
    (4096, 4096),
    (14336, 4096),
    (4096, 14336),
    (11008, 4096),
    (1024, 4096),
    (32000, 4096),
    (128_256, 4096),
    (5120, 5120),
    (28672, 8192),
    (2048, 2048),
    (3072, 768),
    (1536, 8960),
    (896, 4864),
    (2560, 9728),
];

use DataType::{BFloat8, BFloat8Fnuz, BFloat16, Double, Float, Float8, Float8Fnuz, Half, Int8, Int32};

const LT: [([DataType; 4], Compute); 30] = [
    ([Half; 4], Compute::F32),
    ([Half; 4], Compute::F32),
    ([BFloat16; 4], Compute::F32),
    ([BFloat16; 4], Compute::F32),
    ([Float; 4], Compute::F32),
    ([Half, Half, Float, Float], Compute::F32),
    ([BFloat16, BFloat16, Float, Float], Compute::F32),
    ([Double; 4], Compute::F64),
    ([Int8, Int8, Int32, Int32], Compute::I32),
    ([Int8; 4], Compute::I32),
    ([Float; 4], Compute::Xf32),
    ([Float8, Float8, Half, Half], Compute::F32),
    ([Float8, Float8, BFloat16, BFloat16], Compute::F32),
    ([Float8, Float8, Float, Float], Compute::F32),
    ([BFloat8, Float8, Half, Half], Compute::F32),
    ([Float8, BFloat8, BFloat16, BFloat16], Compute::F32),
    ([BFloat8, BFloat8, Float, Float], Compute::F32),
    ([Float8; 4], Compute::F32),
    ([Float8Fnuz, Float8Fnuz, Half, Half], Compute::F32),
    ([Half; 4], Compute::F16),
    ([Half; 4], Compute::F32FastBf16),
    ([Float8, Half, Half, Half], Compute::F32FastF16),
    ([Half, Float8, Half, Half], Compute::F32FastF16),
    ([Float8Fnuz, BFloat8Fnuz, BFloat16, BFloat16], Compute::F32),
    ([BFloat8Fnuz, Float8Fnuz, Float, Float], Compute::F32),
    ([BFloat8Fnuz; 4], Compute::F32),
    ([Float; 4], Compute::F32FastBf16),
    ([Float; 4], Compute::F32FastF16),
    ([Half, Half, BFloat16, BFloat16], Compute::F32),
    ([Float8, Float8, Half, Float8], Compute::F32),
];

const ROC: [([DataType; 4], Compute); 8] = [
    ([Half; 4], Compute::F32),
    ([Half; 4], Compute::F16),
    ([Half, Half, Float, Float], Compute::F32),
    ([BFloat16; 4], Compute::F32),
    ([BFloat16, BFloat16, Float, Float], Compute::F32),
    ([Float; 4], Compute::F32),
    ([Double; 4], Compute::F64),
    ([Int8, Int8, Int32, Int32], Compute::I32),
];

fn size(random: &mut Random) -> u64 {
    match random.below(24) {
        20 | 21 => random.of(&[1, 1, 2, 3]),
        22 => 1 + random.below(1 << 20),
        23 => random.of(&[65535, 65536, 131_072, 262_143, 1 << 20, 2_000_003]),
        0..5 => 1 << random.below(14),
        5..9 => ((2i64 << random.below(13)) + random.of(&[-1, 1, 2, -2, 3, 8])).max(1) as u64,
        9..15 => {
            let bits = 1 + random.below(13);
            1 + random.below(1 << bits)
        }
        15..18 => 16 * (1 + random.below(600)),
        _ => 1 + random.below(20000),
    }
}

/// Rare attributes of a call, each on its own or with others.
fn attributes(random: &mut Random, lt: bool, call: &mut Call) {
    if call.batch > 1 && random.one_in(3) {
        let mut strides = call.packed_strides();
        for stride in &mut strides {
            *stride += random.of(&[0, 0, 1, 8, 4096, 123_457]);
        }
        // One A or B for all products of the batch.
        if random.one_in(4) {
            strides[usize::from(random.one_in(2))] = 0;
        }
        call.strides = Some(strides);
    }
    if lt {
        call.scales = random.of(&[Scales::None, Scales::None, Scales::None, Scales::Scalar, Scales::Vector]);
        call.scales_output = random.one_in(10);
        return;
    }
    call.beta = random.of(&[Beta::Zero, Beta::Zero, Beta::Zero, Beta::One, Beta::MinusOne, Beta::Other]);
    if call.compute == Compute::I32 && call.beta == Beta::Other {
        call.beta = Beta::One;
    }
    call.deterministic = random.of(&[None, None, None, Some(true), Some(false)]);
    if random.one_in(12) {
        call.batches = Batches::Pointers;
        call.strides = None;
    }
}

pub fn product(random: &mut Random, library: Library) -> Call {
    let (m, n, k) = if random.one_in(3) {
        let (rows, columns) = random.of(&WEIGHTS);
        let tokens = [1, 2, 3, 4, 7, 8, 16, 17, 32, 64, 100, 128, 256, 290, 511, 512, 1024, 2048, 4096];
        let tokens = if random.one_in(8) { 1 + random.below(4096) } else { random.of(&tokens) };
        if random.one_in(5) { (tokens, rows, columns) } else { (rows, tokens, columns) }
    } else {
        (size(random), size(random), size(random))
    };
    let lt = library == Library::HipBlasLt;
    let (types, compute) = if lt { random.of(&LT) } else { random.of(&ROC) };
    let mut call = Call::plain(m, n, k, types[0]);
    call.types = types;
    call.compute = compute;
    call.scale = compute.usual_scale();
    (call.trans_a, call.trans_b) = random.of(&[(false, false), (false, true), (true, false), (true, true)]);
    if random.one_in(5) {
        let any = 2 + random.below(198);
        call.batch = random.of(&[2, 3, 4, 8, 16, 32, 64, any]);
    }
    if random.one_in(20) {
        call.batch = 1;
    }
    if m.saturating_mul(n).saturating_mul(call.batch) > 1 << 33 {
        call.batch = 1;
    }
    call.ld = call.packed();
    for ld in &mut call.ld {
        if random.one_in(7) {
            let any = 1 + random.below(5000);
            *ld += random.of(&[1, 8, 64, any, 1 << 20]);
        }
    }
    if lt {
        if random.one_in(3) {
            let names: Vec<&str> = Epilogue::names().collect();
            call.epilogue = Epilogue::from_user(random.of(&names)).expect("an epilogue");
        }
        if random.one_in(2) {
            call.bias_type = Some(random.of(&[Half, BFloat16, Float, Double]));
        }
        let usual = 32 << 20;
        call.workspace = Some(random.of(&[usual, usual, usual, usual, 0, 1 << 20, 8 << 20, 64 << 20, 128 << 20]));
        call.requested = random.of(&[1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 8, 10, 16, 50]);
    }
    attributes(random, lt, &mut call);
    call
}

/// The line that the oracle reads.
pub fn line(id: usize, call: &Call, library: Library) -> String {
    let lt = library == Library::HipBlasLt;
    let kind = |kind: DataType| -> i32 {
        match (kind, lt) {
            (Half, true) => 2,
            (BFloat16, true) => 14,
            (Float, true) => 0,
            (Double, true) => 1,
            (Int8, true) => 3,
            (Int32, true) => 10,
            (Float8, _) => 28,
            (BFloat8, _) => 29,
            (Float8Fnuz, _) => 1000,
            (Half, false) => 150,
            (Float, false) => 151,
            (Double, false) => 152,
            (Int8, false) => 160,
            (Int32, false) => 162,
            (BFloat16, false) => 168,
            (BFloat8Fnuz, _) => 1001,
            _ => panic!("{kind:?} is no type of a matrix"),
        }
    };
    let compute = match (call.compute, lt) {
        (Compute::F16, true) => 0,
        (Compute::F32, true) => 2,
        (Compute::F32FastF16, true) => 4,
        (Compute::F32FastBf16, true) => 5,
        (Compute::Xf32, true) => 6,
        (Compute::F64, true) => 7,
        (Compute::I32, true) => 9,
        (Compute::F16, false) => 150,
        (Compute::F64, false) => 152,
        (Compute::I32, false) => 162,
        (_, false) => 151,
    };
    let numbers: Vec<String> = [id as u64, call.m, call.n, call.k, call.batch].iter().map(u64::to_string).collect();
    let ops = format!("{} {}", u8::from(call.trans_a), u8::from(call.trans_b));
    let kinds: Vec<String> = call.types.iter().map(|of| kind(*of).to_string()).collect();
    let scale = if lt { kind(call.scale) } else { compute };
    let bias = call.bias_type.map_or(-1, kind);
    let lds: Vec<String> = call.ld.iter().map(u64::to_string).collect();
    let strides: Vec<String> =
        call.strides.unwrap_or_else(|| call.packed_strides()).iter().map(u64::to_string).collect();
    let beta = match call.beta {
        Beta::Zero => 0,
        Beta::One => 1,
        Beta::MinusOne => -1,
        Beta::Other => 2,
    };
    let scales = match call.scales {
        Scales::None => 0,
        Scales::Scalar => 1,
        Scales::Vector => 2,
    };
    let last = format!(
        "{beta} {} {} {scales} {} {}",
        u8::from(call.batches == Batches::Pointers),
        strides.join(" "),
        u8::from(call.scales_output),
        call.deterministic.map_or(-1, i32::from)
    );
    format!(
        "{} {ops} {} {compute} {scale} {} {bias} {} {} {} {last}\n",
        numbers.join(" "),
        kinds.join(" "),
        call.epilogue.number(),
        lds.join(" "),
        call.workspace.unwrap_or(0),
        call.requested
    )
}
