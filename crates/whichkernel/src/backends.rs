//! Compares HIP with Vulkan on one card: runs both dry runs and shows them side by side, for `diff rocm vulkan` and
//! `explain --backend both`.

use crate::asked::dry::{progress, reach_line};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context, Format};
use crate::emit::Show;
use dryrun::{Backends, Blas, Card, Map, Plan, Product, RunRoot, Survey, Taken, VulkanCard, VulkanSurvey};
use evidence::Word;
use gguf::{Shape, TensorType};
use report::{Column, Lang, Table};
use say::ensure;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use sys::interrupt;

/// The two sides: `rocm` or `hip`, and `vulkan`, each with an optional runtime after `=`.
pub struct Sides {
    hip: Option<String>,
    vulkan: Option<String>,
}

impl Sides {
    /// None unless one word names HIP and the other Vulkan.
    pub fn parse(a: &str, b: &str) -> Option<Sides> {
        let split = |word: &str| match word.split_once('=') {
            Some((name, runtime)) => (name.to_ascii_lowercase(), Some(runtime.to_owned())),
            None => (word.to_ascii_lowercase(), None),
        };
        let hip = |name: &str| matches!(name, "rocm" | "hip");
        match (split(a), split(b)) {
            ((first, hip_at), (second, vulkan)) if hip(&first) && second == "vulkan" => {
                Some(Sides { hip: hip_at, vulkan })
            }
            ((first, vulkan), (second, hip_at)) if first == "vulkan" && hip(&second) => {
                Some(Sides { hip: hip_at, vulkan })
            }
            _ => None,
        }
    }

    /// Compares both backends of one runtime.
    pub fn both(runtime: Option<String>) -> Sides {
        Sides { hip: runtime.clone(), vulkan: runtime }
    }
}

/// The question for both sides.
pub struct Question<'a> {
    pub gpu: &'a str,
    pub kinds: Vec<TensorType>,
    pub columns: Vec<u64>,
    pub shape: Shape,
    pub layers: u32,
    pub model: Option<PathBuf>,
    /// The runtime to use if a side does not name its own.
    pub runtime: &'a str,
}

pub fn run(sides: &Sides, question: &Question<'_>, format: Format, context: &Context) -> say::Result<ExitCode> {
    ensure!(!context.only_looks(), "command-not-run-here");
    let answer = ask(sides, question, context)?;
    context.emit(format, &answer)?;
    Ok(match answer.reach.word() {
        _ if interrupt::signal().is_some() => ExitCode::from(COULD_NOT_RUN),
        Word::NotKnown => ExitCode::from(COULD_NOT_RUN),
        _ if answer.is_answered() && answer.reach.lost() == 0 => ExitCode::SUCCESS,
        _ => ExitCode::from(CHECK_FAILED),
    })
}

fn ask(sides: &Sides, question: &Question<'_>, context: &Context) -> say::Result<Backends> {
    let find = |side: &Option<String>| RunRoot::find(side.as_deref().unwrap_or(question.runtime));
    let (hip_place, vulkan_place) = (find(&sides.hip)?, find(&sides.vulkan)?);
    let vulkan_card = VulkanCard::find(question.gpu)?;
    // HIP does not know the stand-in's own card names, so the card's target is tried next.
    let profile = gpu::find(question.gpu).or_else(|_| gpu::find(vulkan_card.target))?;
    let card = Card { given: question.gpu.to_owned(), profile, overridden: None };
    let plan = Plan::new(&hip_place, card, false, false, None)?;
    interrupt::catch();
    let progress = progress(context);
    let survey = Survey {
        place: &hip_place,
        profile: &plan.card.profile,
        described: &plan.described,
        strict: plan.strict,
        shape: question.shape,
        layers: question.layers,
        blas: Blas::Recorded,
        variables: &[],
    };
    let cells = match &question.model {
        Some(model) => survey.model(model, &question.columns)?,
        None => survey.run(&question.kinds, &question.columns, &progress)?,
    };
    let hip = Map { plan, cells, absent: Vec::new() };
    let (shape, layers) = (question.shape, question.layers);
    let survey = VulkanSurvey { place: &vulkan_place, card: vulkan_card, shape, layers };
    let vulkan = match &question.model {
        Some(model) => survey.model(model, &question.columns)?,
        None => survey.run(&question.kinds, &question.columns, &progress)?,
    };
    Ok(Backends::of((&hip_place, &hip), (vulkan_place.name(), &vulkan)))
}

const NONE: &str = "-";

/// The kernels of one side, one row each.
fn rows(product: &Product) -> Vec<(Option<&Taken>, Option<&Taken>)> {
    let count = product.hip.len().max(product.vulkan.len()).max(1);
    (0..count).map(|place| (product.hip.get(place), product.vulkan.get(place))).collect()
}

fn instructions(taken: &Taken) -> String {
    let counted = |of: &BTreeMap<String, u64>| of.iter().map(|(name, n)| format!("{n} {name}")).collect::<Vec<_>>();
    match (taken.instructions, [counted(&taken.matrix), counted(&taken.dot)].concat()) {
        (None, _) => NONE.to_owned(),
        (Some(all), list) if list.is_empty() => format!("0 / {all}"),
        (Some(all), list) => format!("{} / {all}", list.join(" + ")),
    }
}

fn registers(taken: &Taken) -> String {
    let number = |value: Option<u64>| value.map_or(NONE.to_owned(), |value| value.to_string());
    match taken.vgprs {
        None => NONE.to_owned(),
        Some(vgprs) => format!("{vgprs} VGPR {} LDS {} waves", number(taken.lds), number(taken.waves)),
    }
}

impl Show for Backends {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut table = Table::new(vec![
            Column::left("type", lang.text("dryrun-type")),
            Column::right("columns", lang.text("map-columns")),
            Column::left("backend", lang.text("backends-backend")),
            Column::left("kernel", lang.text("dryrun-kernel")),
            Column::left("needs", lang.text("dryrun-needs")),
            Column::left("instructions", lang.text("backends-instructions")),
            Column::right("launches", lang.text("dryrun-count")),
        ]);
        for product in &self.products {
            for (hip, vulkan) in rows(product) {
                for (name, side, problem) in
                    [("HIP", hip, &product.hip_problem), ("Vulkan", vulkan, &product.vulkan_problem)]
                {
                    let Some(taken) = side else {
                        if let Some(problem) = problem {
                            let said = format!("! {}", lang.say(problem));
                            let row = [&product.kind, &product.columns.to_string(), name, &said, "", "", ""];
                            table.row(row.map(str::to_owned));
                        }
                        continue;
                    };
                    table.row([
                        product.kind.clone(),
                        product.columns.to_string(),
                        name.to_owned(),
                        taken.kernel.clone(),
                        registers(taken),
                        instructions(taken),
                        taken.launches.to_string(),
                    ]);
                }
            }
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        let mut say = |key: &str, args: &[(&'static str, String)]| {
            let args: Vec<_> = args.iter().map(|(name, value)| (*name, value.as_str().into())).collect();
            let _ = writeln!(out, "{}", lang.text_with(key, &args));
        };
        let of = |value: &Option<String>| value.clone().unwrap_or_else(|| NONE.to_owned());
        say("backends-head", &[("gpu", self.card.clone()), ("target", self.target.clone())]);
        let (runtime, card) = (self.hip.runtime.clone(), self.card.clone());
        match self.hip.ships {
            true => say("backends-hip", &[("runtime", runtime), ("card", card)]),
            false => say(
                "backends-hip-foreign",
                &[
                    ("runtime", runtime),
                    ("card", card),
                    ("target", self.target.clone()),
                    ("near", of(&self.hip.metadata_of)),
                ],
            ),
        }
        let args = [
            ("runtime", self.vulkan.runtime.clone()),
            ("device", of(&self.vulkan.device)),
            ("driver", of(&self.vulkan.driver)),
        ];
        say("backends-vulkan", &args);
        if let Some(table) = self.table(lang) {
            out.push_str(&table.text(context.width));
        }
        let _ = writeln!(out, "{}", reach_line(&self.reach, lang));
        let _ = writeln!(out, "{}", lang.text("backends-legend"));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::Sides;

    #[test]
    fn the_sides_are_one_of_each_in_any_order() {
        let sides = Sides::parse("rocm", "vulkan=/tree").expect("both");
        assert_eq!((sides.hip, sides.vulkan.as_deref()), (None, Some("/tree")));
        let sides = Sides::parse("Vulkan", "hip=sid").expect("both");
        assert_eq!((sides.hip.as_deref(), sides.vulkan), (Some("sid"), None));
        for (a, b) in [("rocm", "hip"), ("vulkan", "vulkan"), ("vulkan", "debian-sid"), ("rocm.tar.gz", "vulkan")] {
            assert!(Sides::parse(a, b).is_none(), "{a} {b}");
        }
    }
}
