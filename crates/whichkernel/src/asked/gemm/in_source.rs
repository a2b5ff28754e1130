//! BLAS calls in a tree's own code, continued to the kernel that rocBLAS chooses for them.

use super::recorded::{Explained, call_of, section};
use super::{Catalog, described, ops};
use crate::context::Context;
use launch::blas::{compute_type, data_type};
use launch::record::{Blas, NO_DEVICE, blas};
use say::shell::CommandLine;
use source::{CallValue, Device, Launched, Survey};
use std::fmt::Write;
use tensile::select::{Beta, Call, Choice, Library, Selector};

/// Products that are looked up; more would bury the answer of the rules.
const MOST: usize = 12;

/// The positions of the arguments that describe a product, by the public interface of the function.
struct Positions {
    call: u32,
    /// Leading dimensions of A, B and C.
    ld: [usize; 3],
    beta: usize,
    /// Types of A, B and C, and the compute type; None in functions for single precision.
    types: Option<([usize; 3], usize)>,
    /// Number of matrices; None for a single product.
    batch: Option<usize>,
    strides: Option<[usize; 3]>,
}

fn positions(function: &str) -> Option<Positions> {
    let name = ["hipblas", "cublas"].iter().find_map(|prefix| function.strip_prefix(prefix))?;
    let name = name.strip_suffix("_v2").unwrap_or(name);
    let of = |call, ld, beta, types, batch, strides| Some(Positions { call, ld, beta, types, batch, strides });
    match name {
        "Sgemm" => of(blas::SGEMM, [8, 10, 13], 11, None, None, None),
        "GemmEx" => of(blas::GEMM_EX, [9, 12, 16], 13, Some(([8, 11, 15], 17)), None, None),
        "GemmBatchedEx" => of(blas::GEMM_BATCHED_EX, [9, 12, 16], 13, Some(([8, 11, 15], 18)), Some(17), None),
        "GemmStridedBatchedEx" => {
            let types = Some(([8, 12, 17], 21));
            of(blas::GEMM_STRIDED_BATCHED_EX, [9, 13, 18], 15, types, Some(20), Some([10, 14, 19]))
        }
        _ => None,
    }
}

/// A call as the tree's code makes it at a column count. `beta` is None if the tree's value could not be followed.
struct InSource {
    call: Blas,
    beta: Option<f64>,
}

impl InSource {
    /// None if the function is unknown, or an argument that describes the product could not be followed.
    fn of(launch: &Launched, columns: i64) -> Option<InSource> {
        let at = positions(&launch.kernel)?;
        let numbers = |position: usize| match launch.given.get(position)? {
            CallValue::Numbers(all) => all.iter().map(|extent| extent.at(columns)).collect::<Option<Vec<i64>>>(),
            _ => None,
        };
        let number = |position: usize| match numbers(position)?.as_slice() {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => Some(*first),
            _ => None,
        };
        // Versions of HIP number a type differently; what counts is the type.
        let word = |position: usize, name: fn(u32) -> &'static str| {
            let all: Option<Vec<u32>> = numbers(position)?.iter().map(|number| u32::try_from(*number).ok()).collect();
            let all = all?;
            let first = *all.first()?;
            all.iter().all(|other| name(*other) == name(first)).then_some(first)
        };
        let three = |[a, b, c]: [usize; 3]| Some([number(a)?, number(b)?, number(c)?]);
        let ([type_a, type_b, type_c], compute) = match at.types {
            Some(([a, b, c], compute)) => {
                ([word(a, data_type)?, word(b, data_type)?, word(c, data_type)?], word(compute, compute_type)?)
            }
            // Single precision: HIP_R_32F, HIPBLAS_COMPUTE_32F.
            None => ([0; 3], 2),
        };
        let [lda, ldb, ldc] = three(at.ld)?;
        let [stride_a, stride_b, stride_c] = at.strides.map_or(Some([0; 3]), three)?;
        let beta = match launch.given.get(at.beta)? {
            CallValue::Float(bits) => Some(f64::from_bits(*bits)),
            CallValue::Numbers(_) => number(at.beta).map(|number| number as f64),
            CallValue::Unknown => None,
        };
        let call = Blas {
            time_ns: 0,
            stream: 0,
            graph: 0,
            call: at.call,
            trans_a: u32::try_from(number(1)?).ok()?,
            trans_b: u32::try_from(number(2)?).ok()?,
            m: number(3)?,
            n: number(4)?,
            k: number(5)?,
            lda,
            ldb,
            ldc,
            stride_a,
            stride_b,
            stride_c,
            batch: at.batch.map_or(Some(1), number)?,
            type_a,
            type_b,
            type_c,
            compute,
            alpha: 1f64.to_bits(),
            beta: beta.unwrap_or(0.0).to_bits(),
            bracket: 0,
            status: 0,
            lane: 0,
            solution: -1,
            device: NO_DEVICE,
            reserved: 0,
        };
        Some(InSource { call, beta })
    }

    /// The library's choice. None if beta is unknown and the choice depends on it.
    fn choose(&self, selector: &Selector<'_>, call: &Call) -> Option<Choice> {
        let choice = selector.choose(call);
        if self.beta.is_some() {
            return Some(choice);
        }
        let other = selector.choose(&Call { beta: Beta::of(1.0), ..call.clone() });
        match (&choice, &other) {
            (Choice::Determined(a), Choice::Determined(b)) if a.kernel == b.kernel => Some(choice),
            (Choice::None, Choice::None) | (Choice::NotComputed(_), Choice::NotComputed(_)) => Some(choice),
            _ => None,
        }
    }

    /// The command that asks the same question with another library, runtime or card.
    fn command(&self, call: &Call, gpu: &str) -> String {
        let short = |name: &'static str| name.strip_suffix("_r").unwrap_or(name);
        let [m, n, k] = [call.m, call.n, call.k].map(|size| size.to_string());
        let words = [
            &m,
            &n,
            &k,
            &ops(call),
            short(data_type(self.call.type_a)),
            short(data_type(self.call.type_c)),
            short(compute_type(self.call.compute)),
            gpu,
        ];
        let text = "whichkernel explain gemm {} {} {} --trans {} --type {} --output-type {} --compute {} --library rocblas --gpu {}";
        CommandLine::new(text, words).to_string()
    }
}

/// The BLAS rows of an answer about one AMD card, each with the kernel that rocBLAS chooses for its product. Without a
/// catalog in the cache: the command that computes it. Empty if no row is BLAS.
pub fn in_source(survey: &Survey<'_>, gpu: &str, context: &Context) -> String {
    let [device] = survey.question.devices.as_slice() else { return String::new() };
    let launches = launches(survey, device);
    if launches.is_empty() {
        return String::new();
    }
    let lang = &context.lang;
    let catalog = Catalog::open(None, Library::RocBlas, gpu);
    let selector = catalog.as_ref().ok().map(Catalog::selector);
    let (mut explained, mut out): (Vec<Explained>, String) = Default::default();
    let mut commands = Vec::new();
    let mut open = 0;
    for (launch, columns) in launches {
        let found = InSource::of(launch, columns)
            .and_then(|found| call_of(&found.call, Library::RocBlas).map(|call| (found, call)));
        let Some((found, call)) = found else {
            open += 1;
            continue;
        };
        let product = described(&call);
        match (&catalog, &selector) {
            (Ok(catalog), Some(selector)) if !explained.iter().any(|one| one.product == product) => {
                let Some(choice) = found.choose(selector, &call) else {
                    open += 1;
                    continue;
                };
                let version = catalog.version_text();
                let library = Library::RocBlas;
                explained.push(Explained { library, version, product, choice, runner_up: None, launched: None });
            }
            (Err(_), _) => commands.push(found.command(&call, gpu)),
            _ => {}
        }
    }
    commands.dedup();
    out += &section(&explained.iter().collect::<Vec<_>>(), lang);
    if let (Err(why), Some(command)) = (&catalog, commands.first()) {
        let says = [("why", why.in_words(lang).into()), ("command", command.clone().into())];
        let _ = write!(out, "\n{}\n", lang.text_with("gemm-source-no-catalog", &says));
    }
    if open > 0 {
        let _ = write!(out, "\n{}\n", lang.text_with("gemm-source-open", &[("count", open.into())]));
    }
    out
}

/// The library calls among the answers, with their column counts. AMD only: no catalog of cuBLAS is public.
fn launches<'s>(survey: &'s Survey<'_>, device: &Device) -> Vec<(&'s Launched, i64)> {
    if !device.target.starts_with("gfx") {
        return Vec::new();
    }
    let types = 0..survey.question.types.len();
    let cells = types.flat_map(|ty| survey.question.columns.iter().map(move |&columns| (ty, columns)));
    let settled = cells.filter_map(|(ty, columns)| {
        let answer = survey.answer(0, ty, columns).filter(|answer| answer.outcome.why().is_none())?;
        answer.launch.as_ref().filter(|launch| positions(&launch.kernel).is_some()).map(|launch| (launch, columns))
    });
    settled.take(MOST).collect()
}
