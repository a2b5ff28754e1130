//! Dry runs on Vulkan: the runtime, unsupported flags, the survey, and the lines around a map.

use super::{Ask, DEFAULT_RUNTIME, Lane, check_columns, kinds, progress, reach_line};
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use ::source::VulkanProfile;
use dryrun::{RunRoot, VulkanCard, VulkanCardMap, VulkanMap, VulkanSurvey};
use report::Lang;
use say::{Context as _, ensure};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use sys::interrupt;

/// vulkaninfo's output for one of the user's cards.
pub fn reported(path: &Path) -> say::Result<VulkanProfile> {
    const LARGEST: u64 = 16 << 20;
    let file = sys::regular_file::open(path).about(path.display())?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).about(path.display())?;
    VulkanProfile::reported(&bytes).about(path.display())
}

/// The stand-in's card that the file describes. A card that differs from it cannot be simulated.
pub fn played(path: &Path) -> say::Result<String> {
    Ok(reported(path)?.played().about(path.display())?.card)
}

/// The requested cards.
pub fn cards(ask: &Ask) -> say::Result<Vec<String>> {
    ask.vulkan_device.as_deref().map_or_else(|| Ok(ask.gpu.clone()), |path| Ok(vec![played(path)?]))
}

pub fn place(ask: &Ask) -> say::Result<RunRoot> {
    Ok(RunRoot::find(ask.runtime.as_deref().unwrap_or(DEFAULT_RUNTIME))?)
}

/// Refuses flags that would otherwise be ignored.
pub fn heed(ask: &Ask, more: &[(&str, bool)]) -> say::Result<()> {
    let own = [("--strict", ask.strict), ("--set", !ask.set.is_empty()), ("--blas", ask.blas != Lane::Recorded)];
    let given = own.iter().chain(more).filter_map(|(flag, given)| given.then_some(*flag));
    let unheeded: Vec<&str> = given.collect();
    ensure!(unheeded.is_empty(), "dryrun-vulkan-unheeded", flags = unheeded);
    Ok(())
}

pub fn ended(maps: &[(String, VulkanMap)]) -> ExitCode {
    if interrupt::signal().is_some() {
        return ExitCode::from(COULD_NOT_RUN);
    }
    if maps.iter().all(|(_, map)| map.is_answered()) { ExitCode::SUCCESS } else { ExitCode::from(CHECK_FAILED) }
}

pub fn survey(ask: &Ask, place: &RunRoot, context: &Context) -> say::Result<Vec<(String, VulkanMap)>> {
    let kinds = kinds(ask)?;
    check_columns(ask)?;
    interrupt::catch();
    let mut maps = Vec::new();
    for given in &cards(ask)? {
        let shape = gguf::known(&ask.arch_of)?;
        let survey = VulkanSurvey { place, card: VulkanCard::find(given)?, layers: ask.layers_of(&shape), shape };
        let map = match &ask.model {
            Some(model) => survey.model(model, &ask.columns)?,
            None => survey.run(&kinds, &ask.columns, &progress(context))?,
        };
        maps.push((given.clone(), map));
    }
    Ok(maps)
}

pub fn head(map: &VulkanCardMap, runtime: &str, out: &mut String, lang: &Lang) {
    let line = match (&map.device, &map.driver) {
        (Some(device), Some(driver)) => {
            let args =
                [("device", device.as_str().into()), ("driver", driver.as_str().into()), ("runtime", runtime.into())];
            lang.text_with("dryrun-vulkan-head", &args)
        }
        _ => format!("{} ({}): {}", map.card, map.target, lang.text("dryrun-vulkan-none")),
    };
    let _ = writeln!(out, "{line}");
}

pub fn tail(map: &VulkanCardMap, out: &mut String, lang: &Lang) {
    let mut told = Vec::new();
    for cell in &map.cells {
        let Some(problem) = &cell.problem else { continue };
        let line = format!("! {}: {}", cell.kind, lang.say(problem));
        if !told.contains(&line) {
            let _ = writeln!(out, "{line}");
            told.push(line);
        }
    }
    let _ = writeln!(out, "{}\n", reach_line(&map.reach, lang));
}
