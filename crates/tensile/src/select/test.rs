//! Predicates of trees and solutions, compiled once and evaluated to true, false or unknown.

use super::{
    call::{Beta, Scales},
    candidate::SizeMapping,
    data_type::DataType,
    problem::{BATCH, Hardware, K, M, N, Problem},
    value::Value,
    workspace,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    Yes,
    No,
    /// The result depends on a predicate that is not implemented here.
    Unknown,
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Truth::Yes } else { Truth::No }
    }
}

/// A predicate with its value. Features that calls here cannot request (sparsity, swizzled matrices, grouped products)
/// count as not requested.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Always,
    /// A predicate that no call here satisfies: its name.
    Never(String),
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    Types(Vec<Option<DataType>>),
    HighPrecision(bool),
    Operation(String),
    Activation {
        all: bool,
        hipblaslt: bool,
    },
    ActivationCompute(Option<DataType>),
    ActivationOneOf(Vec<String>),
    BiasTypes(Vec<Option<DataType>>),
    BiasSources(Vec<i64>),
    UsesBias(bool),
    UsesAux(bool),
    AuxType(Option<DataType>),
    Gradient(bool),
    XdlMath(Option<DataType>),
    Deterministic(bool),
    InPlace,
    BetaIs(Option<Beta>),
    /// The scales of A and B that the kernel applies; it serves products without scales, too.
    Scales(Scales),
    ScalesOutput(bool),
    Strided(bool),
    Multiple {
        size: usize,
        of: u64,
    },
    Equal {
        size: usize,
        to: u64,
    },
    Greater {
        size: usize,
        than: u64,
    },
    Less {
        size: usize,
        than: u64,
    },
    AtLeast {
        size: usize,
        value: u64,
    },
    InRange {
        size: usize,
        min: u64,
        max: u64,
    },
    StrideEqual {
        matrix: usize,
        dimension: usize,
        value: u64,
    },
    LoadOffset {
        tile: [u64; 2],
        shift: [u64; 2],
    },
    BetaOffset(u64),
    StoreOffset(u64),
    MinK {
        depth: u64,
        split: i64,
    },
    WorkGroups {
        tile: [i64; 2],
        split: i64,
    },
    XccMapping {
        xcc: i64,
        group: i64,
    },
    Processor(String),
    ComputeUnits(u64),
    Apu(bool),
    Workspace,
    /// A predicate that is not implemented, with its name.
    Unknown(String),
}

/// The inputs of a test. The rows of a tree have no solution.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub problem: &'a Problem,
    pub hardware: &'a Hardware,
    pub solution: Option<&'a SizeMapping>,
}

impl Test {
    /// Compiles `{type, value, index}` from the catalog.
    pub fn compile(value: &Value) -> Test {
        let kind = value.get("type").and_then(Value::text).unwrap_or_default();
        let argument = value.get("value").unwrap_or(&Value::Nil);
        let index = value.get("index").and_then(Value::int).unwrap_or(0);
        compiled(kind, argument, index).unwrap_or_else(|| Test::Unknown(kind.to_owned()))
    }

    pub fn holds(&self, context: Context<'_>) -> Truth {
        let Context { problem, hardware, .. } = context;
        let size = |index: usize| problem.size(index);
        match self {
            Test::Always => Truth::Yes,
            Test::Never(_) => Truth::No,
            Test::All(tests) => all(tests, context),
            Test::Any(tests) => any(tests, context),
            Test::Not(test) => match test.holds(context) {
                Truth::Yes => Truth::No,
                Truth::No => Truth::Yes,
                Truth::Unknown => Truth::Unknown,
            },
            Test::Types(types) => types_equal(types, problem).into(),
            Test::HighPrecision(value) => (problem.high_precision == *value).into(),
            Test::Operation(name) => (problem.operation() == name).into(),
            Test::Activation { all, hipblaslt } => (*all || problem.activation.is_none() || *hipblaslt).into(),
            Test::ActivationCompute(kind) => (problem.activation.is_none() || *kind == Some(problem.compute)).into(),
            Test::ActivationOneOf(names) => problem
                .activation
                .is_none_or(|wanted| names.iter().any(|name| name.eq_ignore_ascii_case(wanted)))
                .into(),
            Test::BiasTypes(kinds) => problem.bias.is_none_or(|bias| kinds.contains(&Some(bias))).into(),
            Test::BiasSources(sources) => (problem.bias.is_none() || sources.contains(&problem.bias_source)).into(),
            Test::UsesBias(value) => (problem.bias.is_none() || *value).into(),
            Test::UsesAux(value) => (problem.aux.is_some() == *value).into(),
            Test::AuxType(kind) => problem.aux.is_none_or(|aux| *kind == Some(aux)).into(),
            Test::Gradient(value) => (problem.gradient == *value).into(),
            Test::XdlMath(kind) => (*kind == Some(problem.xdl_math)).into(),
            Test::Deterministic(value) => (problem.deterministic == *value).into(),
            Test::InPlace => problem.in_place.into(),
            Test::BetaIs(beta) => beta.is_none_or(|beta| beta == problem.beta).into(),
            Test::Scales(own) => (problem.scales == Scales::None || problem.scales == *own).into(),
            Test::ScalesOutput(own) => (!problem.scales_output || *own).into(),
            Test::Strided(own) => (problem.strided == *own).into(),
            Test::Multiple { size: index, of } => {
                size(*index).checked_rem(*of).map_or(Truth::Unknown, |rest| (rest == 0).into())
            }
            Test::Equal { size: index, to } => (size(*index) == *to).into(),
            Test::Greater { size: index, than } => (size(*index) > *than).into(),
            Test::Less { size: index, than } => (size(*index) < *than).into(),
            Test::AtLeast { size: index, value } => (size(*index) >= *value).into(),
            Test::InRange { size: index, min, max } => (*min..*max).contains(&size(*index)).into(),
            Test::StrideEqual { matrix, dimension, value } => (problem.strides[*matrix][*dimension] == *value).into(),
            Test::LoadOffset { tile, shift } => load_offset(problem, tile, shift).into(),
            Test::BetaOffset(rows) => (problem.beta == Beta::Zero || fits(problem, 2, *rows)).into(),
            Test::StoreOffset(rows) => fits(problem, 3, *rows).into(),
            Test::MinK { depth, split } => min_k(size(K), *depth, *split).into(),
            Test::WorkGroups { tile, split } => work_groups(problem, *tile, *split).into(),
            Test::XccMapping { xcc, group } => xcc_mapping(*xcc, *group, hardware.compute_units),
            Test::Processor(name) => (hardware.processor == *name).into(),
            Test::ComputeUnits(count) => (hardware.compute_units == *count).into(),
            Test::Apu(value) => (hardware.is_apu == *value).into(),
            Test::Workspace => match context.solution {
                Some(solution) => match workspace::required(problem, hardware, solution) {
                    Some(bytes) => (bytes <= problem.workspace).into(),
                    None => Truth::Unknown,
                },
                None => Truth::Unknown,
            },
            Test::Unknown(_) => Truth::Unknown,
        }
    }

    /// The first part with this truth value, for display: the predicate that rejected, or that is not implemented.
    pub fn culprit(&self, context: Context<'_>, truth: Truth) -> Option<&Test> {
        match self {
            Test::All(tests) | Test::Any(tests) => tests.iter().find_map(|test| test.culprit(context, truth)),
            _ => (self.holds(context) == truth).then_some(self),
        }
    }

    /// Describes every part.
    pub fn describe_all(&self) -> String {
        match self {
            Test::All(tests) | Test::Any(tests) => tests.iter().map(Test::describe_all).collect::<Vec<_>>().join(", "),
            test => test.describe(),
        }
    }

    /// The name of the predicate in the catalog's own words, with its value where a reader needs it.
    pub fn describe(&self) -> String {
        match self {
            Test::Unknown(name) | Test::Never(name) => name.clone(),
            Test::Workspace => "WorkspaceCheck".to_owned(),
            Test::Multiple { size, of } => format!("{} % {of} == 0", axis(*size)),
            Test::Equal { size, to } => format!("{} == {to}", axis(*size)),
            Test::Greater { size, than } => format!("{} > {than}", axis(*size)),
            Test::Less { size, than } => format!("{} < {than}", axis(*size)),
            Test::AtLeast { size, value } => format!("{} >= {value}", axis(*size)),
            Test::InRange { size, min, max } => format!("{min} <= {} < {max}", axis(*size)),
            Test::MinK { depth, split } => format!("GlobalSplitUCheckMinK {depth}x{split}"),
            Test::WorkGroups { .. } => "WorkgroupNumberCheck".to_owned(),
            Test::XccMapping { xcc, .. } => format!("WorkgroupMappingXCC {xcc}"),
            Test::LoadOffset { .. } => "BufferLoadOffsetLimitCheck".to_owned(),
            Test::BetaOffset(_) => "BufferLoadOffsetLimitCheck_Beta".to_owned(),
            Test::StoreOffset(_) => "BufferStoreOffsetLimitCheck".to_owned(),
            Test::BiasTypes(_) => "BiasDataTypeWhiteList".to_owned(),
            Test::BiasSources(_) => "BiasSrcWhiteList".to_owned(),
            Test::ActivationOneOf(_) => "ActivationEnumWhiteList".to_owned(),
            Test::Deterministic(_) => "DeterministicMode".to_owned(),
            Test::Strided(_) => "StridedBatched".to_owned(),
            Test::Scales(_) => "UseScaleAB".to_owned(),
            Test::ScalesOutput(_) => "UseScaleCD".to_owned(),
            Test::ComputeUnits(count) => format!("CUCount == {count}"),
            Test::Processor(name) => format!("Processor == {name}"),
            other => format!("{other:?}").chars().take_while(|c| c.is_alphanumeric()).collect(),
        }
    }
}

fn axis(size: usize) -> &'static str {
    match size {
        M => "M",
        N => "N",
        BATCH => "batch",
        _ => "K",
    }
}

fn all(tests: &[Test], context: Context<'_>) -> Truth {
    let mut out = Truth::Yes;
    for test in tests {
        match test.holds(context) {
            Truth::No => return Truth::No,
            Truth::Unknown => out = Truth::Unknown,
            Truth::Yes => {}
        }
    }
    out
}

fn any(tests: &[Test], context: Context<'_>) -> Truth {
    let mut out = Truth::No;
    for test in tests {
        match test.holds(context) {
            Truth::Yes => return Truth::Yes,
            Truth::Unknown => out = Truth::Unknown,
            Truth::No => {}
        }
    }
    out
}

/// hipBLASLt also compares the inputs of the matrix instructions.
fn types_equal(types: &[Option<DataType>], problem: &Problem) -> bool {
    let wanted = problem.types.iter().chain([&problem.compute_input]);
    types.len() >= 4 && types.iter().zip(wanted).all(|(kind, wanted)| *kind == Some(*wanted))
}

const LIMIT: u64 = 1 << 32;

fn load_offset(problem: &Problem, tile: &[u64; 2], shift: &[u64; 2]) -> bool {
    (0..2).all(|matrix| {
        let elements = problem.strides[matrix][1].wrapping_mul(tile[matrix]).wrapping_add(shift[matrix]);
        elements.wrapping_mul(problem.types[matrix].bytes()) < LIMIT
    })
}

fn fits(problem: &Problem, matrix: usize, rows: u64) -> bool {
    problem.strides[matrix][1].wrapping_mul(problem.types[matrix].bytes()).wrapping_mul(rows) < LIMIT
}

fn min_k(k: u64, depth: u64, split: i64) -> bool {
    match split {
        -1 => true,
        0 | 1 => true,
        split => k >= (split as u64).wrapping_mul(depth),
    }
}

/// The number of work groups in single precision, as the library computes it.
fn work_groups(problem: &Problem, tile: [i64; 2], split: i64) -> bool {
    const MOST: f32 = 16_777_216.0;
    if split == -1 {
        return true;
    }
    let groups = |size: u64, tile: i64| (size as f32 / tile as f32).ceil();
    let split = split.max(1) as f32;
    groups(problem.size(M), tile[0]) * groups(problem.size(N), tile[1]) * split * problem.size(BATCH) as f32 <= MOST
}

fn xcc_mapping(xcc: i64, group: i64, compute_units: u64) -> Truth {
    let group = if group == -1 { compute_units } else { group as u64 };
    match u64::try_from(xcc).ok().filter(|xcc| *xcc > 0) {
        Some(xcc) => (xcc.is_power_of_two() && group % xcc == 0).into(),
        None => Truth::Unknown,
    }
}

/// None if the predicate is not implemented.
fn compiled(kind: &str, value: &Value, index: i64) -> Option<Test> {
    let flag = || value.flag();
    let number = || value.int().and_then(|number| u64::try_from(number).ok());
    let kind_of = || value.text().map(DataType::in_catalog);
    let kinds = || Some(value.list()?.iter().map(|item| item.text().and_then(DataType::in_catalog)).collect());
    let ints = || value.list()?.iter().map(Value::int).collect::<Option<Vec<i64>>>();
    let inner = || Some(value.list()?.iter().map(Test::compile).collect::<Vec<_>>());
    let size = usize::try_from(index).ok().filter(|index| *index < 4);
    // Features that calls here never request: the predicate holds if it requires their absence.
    let never = || Test::Never(kind.to_owned());
    let never_asked = |value: bool| if value { never() } else { Test::Always };
    Some(match kind {
        "TruePred" | "EqualityMatching" | "SupportDeviceUserArguments" | "PersistentKernelCheck" => Test::Always,
        // The problem itself has no restriction.
        "KernelLanguageCompatible" | "ArithmeticUnitCompatible" => Test::Always,
        "And" => Test::All(inner()?),
        "Or" => Test::Any(inner()?),
        "Not" | "AMDGPU" => {
            let inner = Test::compile(value);
            if kind == "Not" { Test::Not(Box::new(inner)) } else { inner }
        }
        "FalsePred" | "CUEfficiency" | "ExperimentalDTree" | "ExperimentalGrid" | "ExperimentalStreamK" => never(),
        "Fp16AltImpl" | "Fp16AltImplRound" => never(),
        "CEqualsD" => Test::InPlace,
        "TypesEqual" => Test::Types(kinds()?),
        "HighPrecisionAccumulate" => Test::HighPrecision(flag()?),
        "OperationIdentifierEqual" => Test::Operation(value.text()?.to_owned()),
        "Activation" => Test::Activation { all: value.text()? == "All", hipblaslt: value.text()? == "Hipblaslt_all" },
        "ActivationComputeType" => Test::ActivationCompute(kind_of()?),
        "ActivationEnumWhiteList" => Test::ActivationOneOf(
            value.list()?.iter().map(|item| item.text().map(str::to_owned)).collect::<Option<_>>()?,
        ),
        "ActivationNoGuard" | "AmaxDCheck" | "GroupedGemm" | "SwizzleTensorA" | "SwizzleTensorB" => {
            never_asked(flag()?)
        }
        "StochasticRounding" => never_asked(flag()?),
        "Sparse" => never_asked(value.int()? != 0),
        "StridedBatched" => Test::Strided(flag()?),
        "BiasDataTypeWhiteList" => Test::BiasTypes(kinds()?),
        "BiasSrcWhiteList" => Test::BiasSources(ints()?),
        "UseBias" => Test::UsesBias(value.int()? != 0),
        "UseE" => Test::UsesAux(flag()?),
        "DataTypeE" => Test::AuxType(kind_of()?),
        "UseGradient" => Test::Gradient(flag()?),
        "UseScaleAB" => Test::Scales(match value.text()? {
            "" => Scales::None,
            "Scalar" => Scales::Scalar,
            "Vector" => Scales::Vector,
            _ => return None,
        }),
        "UseScaleCD" => Test::ScalesOutput(flag()?),
        // The call has no vector of alphas, and a kernel that supports one can be chosen without it.
        "UseScaleAlphaVec" => Test::Always,
        "F32XdlMathOp" => Test::XdlMath(kind_of()?),
        "DeterministicMode" => Test::Deterministic(flag()?),
        "BetaValue" => match value.text()? {
            "Any" => Test::BetaIs(None),
            "1" => Test::BetaIs(Some(Beta::One)),
            "-1" => Test::BetaIs(Some(Beta::MinusOne)),
            _ => return None,
        },
        "Free0SizeMultiple" if index == 0 => Test::Multiple { size: M, of: number()? },
        "Free1SizeMultiple" if index == 0 => Test::Multiple { size: N, of: number()? },
        "BoundSizeMultiple" if matches!(index, 0 | -1) => Test::Multiple { size: K, of: number()? },
        "SizeMultiple" => Test::Multiple { size: size?, of: number()? },
        "SizeEqual" => Test::Equal { size: size?, to: number()? },
        "SizeGreaterThan" => Test::Greater { size: size?, than: number()? },
        "SizeLessThan" => Test::Less { size: size?, than: number()? },
        "SizeInRange" => {
            let bound = |key: &str| value.get(key).and_then(Value::unsigned);
            Test::InRange { size: size?, min: bound("min").unwrap_or(0), max: bound("max").unwrap_or(u64::MAX) }
        }
        "LeadingFree0SizesGreaterOrEqual" => Test::AtLeast { size: M, value: number()? },
        "LeadingFree1SizesGreaterOrEqual" => Test::AtLeast { size: N, value: number()? },
        "StrideAEqual" | "StrideBEqual" | "StrideCEqual" | "StrideDEqual" => {
            let matrix = usize::from(kind.as_bytes()[6] - b'A');
            Test::StrideEqual { matrix, dimension: size.filter(|at| *at < 3)?, value: number()? }
        }
        "BufferLoadOffsetLimitCheck" => {
            let field = |key: &str| value.get(key).and_then(Value::unsigned);
            Test::LoadOffset {
                tile: [field("DUorMT0")?, field("DUorMT1")?],
                shift: [field("ShiftPtrElemA")?, field("ShiftPtrElemB")?],
            }
        }
        "BufferLoadOffsetLimitCheck_Beta" => Test::BetaOffset(number()?),
        "BufferStoreOffsetLimitCheck" => Test::StoreOffset(number()?),
        "GlobalSplitUCheckMinK" => match (value.int(), ints().as_deref()) {
            (Some(least), _) => Test::AtLeast { size: K, value: u64::try_from(least).ok()? },
            (None, Some([depth, split])) => Test::MinK { depth: u64::try_from(*depth).ok()?, split: *split },
            _ => return None,
        },
        "WorkgroupNumberCheck" => match ints()?.as_slice() {
            [m, n, split] if *m > 0 && *n > 0 => Test::WorkGroups { tile: [*m, *n], split: *split },
            _ => return None,
        },
        "WorkgroupMappingXCCCheck" => match ints()?.as_slice() {
            [xcc, group] => Test::XccMapping { xcc: *xcc, group: *group },
            _ => return None,
        },
        "Processor" => Test::Processor(value.text()?.to_owned()),
        "CUCount" => Test::ComputeUnits(number()?),
        "IsAPU" => Test::Apu(value.int()? != 0),
        "WorkspaceCheck" => Test::Workspace,
        _ => return None,
    })
}
