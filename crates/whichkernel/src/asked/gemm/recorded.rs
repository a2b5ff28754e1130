//! Recorded BLAS calls, explained from the catalog that served them.

use super::{Catalog, described, headline, reason, short, tile};
use dryrun::answers::BlasChoice;
use dryrun::{RunRoot, Selected};
use gpu::Profile;
use launch::blas::{compute_type, data_type};
use launch::record::{Blas, blas, lane};
use report::Lang;
use say::say;
use std::fmt::Write;
use tensile::select::{Batches, Beta, Call, Choice, Compute, DataType, Library};

/// A BLAS call of a run, with the kernel that it launched where the library itself served it.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub call: Blas,
    pub kernel: Option<String>,
}

/// The solution that the catalog gives for one product.
#[derive(Debug)]
pub struct Explained {
    pub library: Library,
    pub version: String,
    pub product: String,
    pub choice: Choice,
    pub runner_up: Option<Choice>,
    /// The kernel that was launched; None where the call was only recorded.
    pub launched: Option<String>,
}

impl Recorded {
    /// The BLAS calls among the rows of a dry run, with the kernels that served them.
    pub fn of<'r>(rows: impl Iterator<Item = &'r Selected>) -> Vec<Recorded> {
        let mut out = Vec::new();
        for row in rows.filter(|row| row.is_multiplication()) {
            let kernel = row.mangled.starts_with("Cijk_").then(|| row.mangled.clone());
            out.extend(row.calls.iter().map(|call| Recorded { call: *call, kernel: kernel.clone() }));
        }
        out
    }
}

/// Products that the text explains; JSON has all.
const SHOWN: usize = 12;

impl Explained {
    /// Every distinct product of a run. A call that was only recorded would have gone to rocBLAS, through hipBLAS.
    pub fn all(place: &RunRoot, profile: &Profile, recorded: &[Recorded]) -> Vec<Explained> {
        let mut out: Vec<Explained> = Vec::new();
        for library in [Library::RocBlas, Library::HipBlasLt] {
            let Ok(Some(catalog)) = Catalog::of(place, library, profile.clone()) else { continue };
            let selector = catalog.selector();
            // Without a catalog for the card, every product has the same answer.
            let most = if selector.serves() { usize::MAX } else { 1 };
            for one in recorded.iter().filter(|one| library_of(&one.call) == library).take(most) {
                let Some(call) = call_of(&one.call, library) else { continue };
                let (product, launched) = (described(&call), one.kernel.clone());
                let known = |known: &Explained| {
                    (known.library, &known.product, &known.launched) == (library, &product, &launched)
                };
                if out.iter().any(known) {
                    continue;
                }
                let choice = selector.choose(&call);
                let runner_up = match &choice {
                    Choice::Determined(chosen) => Some(selector.choose_without(&call, &[chosen.index])),
                    _ => None,
                };
                let version = catalog.version_text();
                out.push(Explained { library, version, product, choice, runner_up, launched });
            }
        }
        out
    }

    /// The explanation as an answer for programs, in English.
    pub fn answer(&self) -> BlasChoice {
        let english = Lang::new("en");
        let (verdict, chosen) = match &self.choice {
            Choice::Determined(chosen) => ("determined", Some(chosen)),
            Choice::OneOf(_) => ("set", None),
            Choice::None | Choice::Gemv => ("none", None),
            Choice::NotComputed(_) => ("not-computed", None),
        };
        let runner_up = match &self.runner_up {
            Some(Choice::Determined(second)) => Some(second.index),
            _ => None,
        };
        BlasChoice {
            library: format!("{} {}", self.library.name(), self.version),
            product: self.product.clone(),
            verdict,
            index: chosen.map(|chosen| chosen.index),
            kernel: chosen.map(|chosen| chosen.kernel.clone()),
            why: chosen.map_or_else(|| headline(&self.choice, &english), |chosen| reason(chosen, &english)),
            runner_up,
            launched: self.launched.clone(),
            agrees: self.agrees(),
        }
    }

    /// Whether the library launched the computed kernel; None if there is nothing to compare.
    pub fn agrees(&self) -> Option<bool> {
        let launched = self.launched.as_ref()?;
        match &self.choice {
            Choice::Determined(chosen) => Some(chosen.kernel == *launched || chosen.name == *launched),
            Choice::OneOf(all) => Some(all.iter().any(|chosen| chosen.kernel == *launched)),
            Choice::None | Choice::Gemv => Some(false),
            Choice::NotComputed(_) => None,
        }
    }

    /// Formats two lines: the product with its answer, and the reason.
    fn text(&self, lang: &Lang) -> String {
        let library = say!("gemm-library", library = self.library.name(), version = self.version);
        let answer = match &self.choice {
            Choice::Determined(chosen) => format!("{} ({})", headline(&self.choice, lang), tile(chosen)),
            _ => headline(&self.choice, lang),
        };
        let mut out = format!("  {}, {}: {answer}\n", self.product, lang.say(&library));
        if let Choice::Determined(chosen) = &self.choice {
            let _ = writeln!(out, "    {}", reason(chosen, lang));
        }
        if let Some(second) = &self.runner_up {
            let _ = writeln!(out, "    {} {}", lang.text("gemm-runner-up"), short(second, lang));
        }
        if let (Some(false), Some(launched)) = (self.agrees(), &self.launched) {
            let _ = writeln!(out, "    {}", lang.say(&say!("gemm-launched-other", kernel = launched)));
        }
        out
    }
}

/// A section for the terminal; empty where no product was explained.
pub fn section(all: &[&Explained], lang: &Lang) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", lang.text("gemm-section"));
    all.iter().take(SHOWN).for_each(|one| out += &one.text(lang));
    if all.len() > SHOWN {
        let _ = writeln!(out, "  {}", lang.say(&say!("gemm-rejected-more", count = all.len() - SHOWN)));
    }
    out
}

fn library_of(call: &Blas) -> Library {
    if call.lane == lane::HIPBLASLT || call.call == blas::LT_MATMUL { Library::HipBlasLt } else { Library::RocBlas }
}

/// The product of a recorded call; None if the catalogs do not cover calls of this kind.
pub(super) fn call_of(call: &Blas, library: Library) -> Option<Call> {
    if call.call == blas::STRSM_BATCHED {
        return None;
    }
    let size = |value: i64| u64::try_from(value).ok();
    let kind = |value: u32| DataType::from_user(data_type(value).strip_suffix("_r")?);
    let (a, b, c) = (kind(call.type_a)?, kind(call.type_b)?, kind(call.type_c)?);
    let mut out = Call::plain(size(call.m)?, size(call.n)?, size(call.k)?, a);
    out.types = [a, b, c, c];
    out.batch = size(call.batch.max(1))?;
    (out.trans_a, out.trans_b) = (call.trans_a != 111, call.trans_b != 111);
    out.ld = [size(call.lda)?, size(call.ldb)?, size(call.ldc)?, size(call.ldc)?];
    match call.call {
        blas::GEMM_BATCHED_EX | blas::SGEMM_BATCHED | blas::ROCBLAS_GEMM_BATCHED_EX => out.batches = Batches::Pointers,
        _ if out.batch > 1 => {
            let c = size(call.stride_c)?;
            out.strides = Some([size(call.stride_a)?, size(call.stride_b)?, c, c]);
        }
        _ => {}
    }
    out.beta = Beta::of(f64::from_bits(call.beta));
    // The stand-in always asks hipBLASLt for single precision, whatever precision the program uses.
    let compute = if library == Library::HipBlasLt { "f32_r" } else { compute_type(call.compute) };
    out.compute = Compute::from_user(compute.strip_suffix("_r")?)?;
    out.scale = out.compute.usual_scale();
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Blas {
        Blas {
            time_ns: 0,
            stream: 0,
            graph: 0,
            call: blas::GEMM_EX,
            trans_a: 112,
            trans_b: 111,
            m: 3584,
            n: 290,
            k: 18944,
            lda: 18944,
            ldb: 18944,
            ldc: 3584,
            stride_a: 0,
            stride_b: 0,
            stride_c: 0,
            batch: 1,
            type_a: 2,
            type_b: 2,
            type_c: 2,
            compute: 0,
            alpha: 1f64.to_bits(),
            beta: 0f64.to_bits(),
            bracket: 0,
            status: 0,
            lane: 0,
            solution: -1,
            device: 0,
            reserved: 0,
        }
    }

    #[test]
    fn a_recorded_call_is_the_product_that_was_asked_for() {
        let call = call_of(&recorded(), Library::RocBlas).unwrap();
        assert_eq!(described(&call), "3584 x 290 x 18944 f16 TN");
        assert_eq!((call.compute, call.beta, call.batches), (Compute::F16, Beta::Zero, Batches::Strided));
        assert_eq!(call_of(&recorded(), Library::HipBlasLt).unwrap().compute, Compute::F32);
        let batch = Blas { call: blas::GEMM_BATCHED_EX, batch: 32, beta: 1f64.to_bits(), ..recorded() };
        let call = call_of(&batch, Library::RocBlas).unwrap();
        assert_eq!((call.batches, call.batch, call.beta), (Batches::Pointers, 32, Beta::One));
        for odd in [Blas { type_a: 77, ..recorded() }, Blas { m: -1, ..recorded() }, Blas { compute: 99, ..recorded() }]
        {
            assert_eq!(call_of(&odd, Library::RocBlas), None);
        }
        assert_eq!(library_of(&Blas { lane: lane::HIPBLASLT, ..recorded() }), Library::HipBlasLt);
    }
}
