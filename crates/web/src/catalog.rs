//! A file of a rocBLAS or hipBLASLt catalog on the second page.

use crate::file::card;
use crate::said::{Said, message};
use codeobject::ReadAt;
use findings::answers::{CatalogAnswer, CatalogFound, catalog, is_catalog};
use gpu::Arch;
use report::thousands;
use say::say;
use say::shell::CommandLine;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct About {
    kind: &'static str,
    /// The output of `whichkernel inspect --kernels --format json`, with `--gpu` if a GPU was asked about.
    json: String,
    command: String,
    /// yes, no or not-known; null without a GPU.
    word: Option<&'static str>,
    verdict: Said,
    detail: Said,
    advice: Vec<Said>,
    card: Option<String>,
}

/// None if the file is not a catalog.
pub fn read(name: &str, source: &dyn ReadAt, gpu: Option<&str>) -> say::Result<Option<About>> {
    if !is_catalog(source) {
        return Ok(None);
    }
    let wanted = gpu.map(Arch::parse).transpose()?;
    let catalog = catalog(source)?;
    let mut answer = CatalogAnswer::new(name.to_owned(), source.len(), &catalog, wanted.as_ref());
    let target = wanted.as_ref().map(ToString::to_string);
    let for_card = |own: Option<&str>| target.as_deref().is_none_or(|target| own.is_none_or(|own| own == target));
    answer.list(&catalog, |solution| for_card(solution.processor.as_deref()));
    let command = match gpu {
        Some(gpu) => CommandLine::new("whichkernel inspect {} --kernels --gpu {}", [name, gpu]),
        None => CommandLine::new("whichkernel inspect {} --kernels", [name]),
    };
    let card = gpu.map(card);
    let (word, verdict, detail) = match (&answer.asked, &card) {
        (Some(asked), Some(card)) => {
            let target = asked.target.clone();
            let (own, any) = (thousands(asked.own as u64), thousands(asked.any as u64));
            let leaves = thousands(asked.leaves as u64);
            let (word, verdict, detail) = match asked.found {
                CatalogFound::Own => {
                    ("yes", say!("web-catalog-yes", card), say!("web-catalog-yes-why", target, own, any))
                }
                CatalogFound::Any => {
                    ("not-known", say!("web-catalog-any", card), say!("web-catalog-any-why", target, any))
                }
                CatalogFound::Leaves => {
                    ("not-known", say!("web-catalog-leaves", card), say!("web-catalog-leaves-why", target, leaves))
                }
                CatalogFound::Nothing => {
                    let size = thousands(answer.size);
                    ("no", say!("web-catalog-no", card), say!("web-catalog-no-why", target, size))
                }
            };
            (Some(word), verdict, detail)
        }
        _ => {
            let (solutions, kernels) = (thousands(answer.solutions as u64), thousands(answer.kernels as u64));
            (None, say!("web-catalog", solutions, kernels), say!("web-catalog-why"))
        }
    };
    let advice = target.filter(|_| word == Some("not-known")).map(|target| say!("web-catalog-check", target));
    Ok(Some(About {
        kind: "catalog",
        json: answer::json(&answer)?,
        command: command.to_string(),
        word,
        verdict: message(&verdict),
        detail: message(&detail),
        advice: advice.iter().map(message).collect(),
        card,
    }))
}
