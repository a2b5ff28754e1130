//! A cache directory of Triton: each compiled kernel with its configuration, memory, occupancy and matrix instructions.
//!
//! Triton passes shared memory at launch, so the code object says 0 and the JSON file beside it has the size.

use super::Args;
use crate::context::{CHECK_FAILED, COULD_NOT_RUN, Context};
use crate::emit::Show;
use answer::Answer;
use codeobject::CodeObject;
use findings::count::census;
use gpu::occupancy::{Resources, active_blocks};
use gpu::{Profile, cuda_occupancy};
use inventory::File;
use isa::Family;
use observe::census::{By, Select};
use report::{Column, Lang, Table};
use say::{Context as _, bail, say};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The kernels of a Triton cache.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TritonCache {
    pub path: String,
    /// The card of --fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub card: Option<String>,
    pub kernels: Vec<TritonKernel>,
    /// Files that could not be read, with the reason.
    pub unreadable: Vec<String>,
    /// The same files as errors that can be shown in other languages.
    #[serde(skip)]
    errors: Vec<say::Error>,
}

impl Answer for TritonCache {
    const SCHEMA: &'static str = "whichkernel.triton/1";
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct TritonKernel {
    pub name: String,
    /// The folder of this configuration below the cache.
    pub folder: String,
    pub target: String,
    /// M x N x K of the first matrix product in the Triton IR.
    pub tile: Option<String>,
    pub warps: u64,
    pub stages: Option<u64>,
    pub threads: u64,
    /// Bytes of shared memory (LDS), static and dynamic.
    pub shared: u64,
    /// VGPRs, or NVIDIA's registers.
    pub registers: Option<u32>,
    /// Spilled VGPRs; None if the format does not state them.
    pub spills: Option<u32>,
    /// Bytes of scratch memory per thread.
    pub scratch: Option<u32>,
    /// Blocks per multiprocessor of the card, or of the target's reference card.
    pub occupancy: Option<u32>,
    /// Matrix instructions; None if the code is not decoded.
    pub matrix: Option<u64>,
    /// yes, no or other-target; None without --fits
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<&'static str>,
    /// Why it does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The reason as a message that can be shown in other languages.
    #[serde(skip)]
    said: Option<say::Message>,
}

const LARGEST: u64 = 64 << 20;
const MOST: usize = 100_000;

/// Compiled kernels with Triton's JSON beside them: `cache/HASH/NAME.hsaco` and `NAME.json`. Looks one level deep.
fn entries(dir: &Path) -> Vec<(PathBuf, PathBuf)> {
    let list = |dir: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).take(MOST).collect()
    };
    let mut folders: Vec<PathBuf> = list(dir).into_iter().filter(|path| path.is_dir()).collect();
    folders.push(dir.to_owned());
    folders.sort();
    let mut out = Vec::new();
    for path in folders.iter().flat_map(|folder| list(folder)) {
        let code = path.extension().is_some_and(|end| end == "hsaco" || end == "cubin");
        let json = path.with_extension("json");
        if code && json.is_file() {
            out.push((path, json));
        }
    }
    out.sort();
    out
}

/// Whether the directory is a cache: at least one kernel whose JSON names a target, as only Triton writes it.
pub fn is_cache(dir: &Path) -> bool {
    entries(dir).iter().any(|(_, json)| read_json(json).is_ok_and(|config| config["target"]["backend"].is_string()))
}

fn read_json(path: &Path) -> say::Result<Value> {
    let text = sys::regular_file::text(path, LARGEST).about(path.display())?;
    serde_json::from_str(&text).map_err(|error| say::error!("about-why", what = path, why = error.to_string()))
}

pub fn run(dir: &Path, args: &Args, context: &Context) -> say::Result<ExitCode> {
    let card = args.fits.as_deref().map(|name| gpu::nvidia_profile(name).map_or_else(|| gpu::find(name), Ok));
    let card = card.transpose()?;
    let mut answer = TritonCache {
        path: dir.display().to_string(),
        card: card.as_ref().map(|card| card.name.clone()),
        kernels: Vec::new(),
        unreadable: Vec::new(),
        errors: Vec::new(),
    };
    let wanted = args.wanted()?.map(|arch| arch.in_order().first().map_or_else(String::new, |name| (*name).to_owned()));
    for (code, json) in entries(dir) {
        match kernel(dir, &code, &json, card.as_ref()) {
            Ok(kernel) if wanted.as_ref().is_some_and(|target| *target != kernel.target) => {}
            Ok(kernel) => answer.kernels.push(kernel),
            Err(error) => {
                answer.unreadable.push(error.to_string());
                answer.errors.push(error);
            }
        }
    }
    if answer.kernels.is_empty() && answer.unreadable.is_empty() {
        bail!("triton-none", path = dir);
    }
    context.emit(args.format, &answer)?;
    let refused = answer.kernels.iter().any(|kernel| kernel.fits.is_some_and(|fits| fits != "yes"));
    Ok(match (answer.unreadable.is_empty(), refused) {
        (false, _) => ExitCode::from(COULD_NOT_RUN),
        (true, true) => ExitCode::from(CHECK_FAILED),
        (true, false) => ExitCode::SUCCESS,
    })
}

fn kernel(dir: &Path, code: &Path, json: &Path, card: Option<&Profile>) -> say::Result<TritonKernel> {
    let config = read_json(json)?;
    let target = &config["target"];
    let nvidia = target["backend"] == "cuda";
    let field = |name: &'static str| {
        let missing = || say::error!("triton-field", path = json, name);
        config[name].as_u64().ok_or_else(missing)
    };
    let lanes = target["warp_size"].as_u64().filter(|lanes| matches!(lanes, 32 | 64));
    let lanes = lanes.ok_or_else(|| say::error!("triton-field", path = json, name = "warp_size"))?;
    let warps = field("num_warps")?;
    let arch = match &target["arch"] {
        Value::String(name) => name.clone(),
        Value::Number(number) => format!("sm_{number}"),
        _ => bail!("triton-field", path = json, name = "arch"),
    };
    let folder = code.parent().and_then(|folder| folder.strip_prefix(dir).ok()).unwrap_or(Path::new(""));
    let name = config["name"].as_str().map(str::to_owned);
    let mut out = TritonKernel {
        name: name.unwrap_or_else(|| code.file_stem().unwrap_or_default().to_string_lossy().into_owned()),
        folder: folder.display().to_string(),
        target: arch,
        tile: tile(code),
        warps,
        stages: config["num_stages"].as_u64(),
        threads: warps.saturating_mul(lanes),
        shared: field("shared")?,
        ..TritonKernel::default()
    };
    let reference = gpu::nvidia_profile(&out.target).map_or_else(|| gpu::find(&out.target).ok(), Some);
    let own = card.filter(|card| processor(card) == out.target);
    if nvidia {
        read_cubin(code, own.or(reference.as_ref()), &mut out)?;
    } else {
        read_hsaco(code, own.or(reference.as_ref()), &mut out)?;
    }
    if let Some(card) = card {
        judge(card, &mut out);
    }
    Ok(out)
}

fn processor(card: &Profile) -> &str {
    if card.is_nvidia() { &card.gcn_arch_name } else { card.processor() }
}

fn read_hsaco(code: &Path, card: Option<&Profile>, out: &mut TritonKernel) -> say::Result<()> {
    let data = sys::regular_file::whole(code, LARGEST).about(code.display())?;
    let object = CodeObject::parse(&data).about(code.display())?;
    let found = object.kernels().filter_map(Result::ok).find(|kernel| kernel.mangled() == out.name);
    let Some(kernel) = found else { bail!("triton-no-kernel", path = code, name = out.name) };
    let data = &kernel.metadata;
    out.registers = data.vgpr_count;
    out.spills = data.vgpr_spill_count;
    out.scratch = data.private_segment_fixed_size;
    let fixed = data.group_segment_fixed_size.unwrap_or(0);
    let dynamic = out.shared;
    out.shared = out.shared.saturating_add(u64::from(fixed));
    if let Some(card) = card
        && let Some(version) = card.target().ok().and_then(|target| target.version())
    {
        let get = |name: &str| u32::try_from(card.get(name)).unwrap_or(0);
        let needs = Resources {
            vgprs: data.vgpr_count.unwrap_or(0),
            sgprs: data.sgpr_count.unwrap_or(0),
            lds: fixed,
            wavefront: data.wavefront_size.unwrap_or(0),
            wgp_mode: data.workgroup_processor_mode.unwrap_or(true),
        };
        let threads = u32::try_from(out.threads).unwrap_or(u32::MAX);
        let (lds, most) = (get("sharedMemPerBlock"), get("maxThreadsPerBlock"));
        out.occupancy = Some(active_blocks(version, lds, most, &needs, threads, dynamic).unwrap_or(0));
    }
    let select = Select { target: None, kernel: None };
    let (groups, _) = census(&File::open(code)?, select, By::Kernel, (false, false), |_| Ok(()))?;
    if groups.is_complete() {
        let of = |family: &Family| groups.groups.values().map(|group| group.sum.tally().family(*family)).sum::<u64>();
        out.matrix = Some(isa::MATRIX.iter().map(of).sum());
    }
    Ok(())
}

fn read_cubin(code: &Path, card: Option<&Profile>, out: &mut TritonKernel) -> say::Result<()> {
    let data = sys::regular_file::whole(code, LARGEST).about(code.display())?;
    let cubin = codeobject::nvidia::cubin(&data);
    let found = cubin.and_then(|cubin| cubin.kernels.into_iter().find(|kernel| kernel.name == out.name));
    let Some(kernel) = found else { bail!("triton-no-kernel", path = code, name = out.name) };
    out.registers = kernel.reported_registers();
    out.scratch = kernel.stack_bytes();
    let dynamic = out.shared;
    out.shared = out.shared.saturating_add(kernel.shared);
    if let (Some(card), Some(registers)) = (card, out.registers) {
        let get = |name: &str| u32::try_from(card.get(name)).unwrap_or(0);
        let capability = (get("computeCapabilityMajor"), get("computeCapabilityMinor"));
        let shared = u32::try_from(kernel.shared).unwrap_or(u32::MAX);
        let needs = cuda_occupancy::CubinNeeds { registers, shared };
        let threads = u32::try_from(out.threads).unwrap_or(u32::MAX);
        out.occupancy = cuda_occupancy::active_blocks(capability, needs, threads, dynamic);
    }
    Ok(())
}

/// Whether a block of this configuration can run on the card at all.
fn judge(card: &Profile, out: &mut TritonKernel) {
    let get = |name: &str| u64::try_from(card.get(name)).unwrap_or(0);
    // NVIDIA kernels may opt in to more shared memory than the default limit.
    let limit = get("sharedMemPerBlockOptin").max(get("sharedMemPerBlock"));
    let threads = get("maxThreadsPerBlock");
    let why = if processor(card) != out.target {
        out.fits = Some("other-target");
        Some(say!("triton-other-target", target = out.target))
    } else if out.shared > limit {
        Some(say!("triton-shared", needed = out.shared, limit))
    } else if out.threads > threads {
        Some(say!("triton-threads", needed = out.threads, limit = threads))
    } else if out.occupancy == Some(0) {
        Some(say!("triton-registers", registers = out.registers.unwrap_or(0)))
    } else {
        None
    };
    let fits = if why.is_none() { "yes" } else { "no" };
    out.fits = out.fits.or(Some(fits));
    out.why = why.as_ref().map(ToString::to_string);
    out.said = why;
}

/// `tt.dot %a, %b, %c : tensor<128x64xf16> * tensor<64x128xf16> -> tensor<128x128xf32>` is 128x128x64.
fn tile(code: &Path) -> Option<String> {
    let text = sys::regular_file::text(&code.with_extension("ttir"), LARGEST).ok()?;
    let line = text.lines().find(|line| line.contains("tt.dot "))?;
    let mut sizes = line.split("tensor<").skip(1).map(|rest| {
        let mut parts = rest.split('x');
        Some((parts.next()?.parse::<u32>().ok()?, parts.next()?.parse::<u32>().ok()?))
    });
    let ((m, k), (_, n)) = (sizes.next()??, sizes.next()??);
    Some(format!("{m}x{n}x{k}"))
}

impl Show for TritonCache {
    fn table(&self, lang: &Lang) -> Option<Table> {
        let mut columns = vec![
            Column::left("name", lang.text("triton-column-kernel")),
            Column::left("target", lang.text("triton-column-target")),
            Column::left("tile", lang.text("triton-column-tile")),
            Column::right("warps", lang.text("triton-column-warps")),
            Column::right("stages", lang.text("triton-column-stages")),
            Column::right("shared", lang.text("triton-column-shared")),
            Column::right("registers", lang.text("triton-column-registers")),
            Column::right("spills", lang.text("triton-column-spills")),
            Column::right("scratch", lang.text("triton-column-scratch")),
            Column::right("occupancy", lang.text("triton-column-occupancy")),
            Column::right("matrix", lang.text("triton-column-matrix")),
        ];
        if self.card.is_some() {
            columns.push(Column::left("fits", lang.text("triton-column-fits")));
        }
        let mut table = Table::new(columns);
        let dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        for kernel in &self.kernels {
            let mut row = vec![
                kernel.name.clone(),
                kernel.target.clone(),
                dash(kernel.tile.clone()),
                kernel.warps.to_string(),
                dash(kernel.stages.map(|stages| stages.to_string())),
                kernel.shared.to_string(),
                dash(kernel.registers.map(|registers| registers.to_string())),
                dash(kernel.spills.map(|spills| spills.to_string())),
                dash(kernel.scratch.map(|scratch| scratch.to_string())),
                dash(kernel.occupancy.map(|blocks| blocks.to_string())),
                dash(kernel.matrix.map(|matrix| matrix.to_string())),
            ];
            if let Some(fits) = kernel.fits {
                let word = lang.text(if fits == "yes" { "triton-fits-yes" } else { "triton-fits-no" });
                row.push(kernel.said.as_ref().map_or(word.clone(), |why| lang.noted(&word, &lang.say(why))));
            }
            table.row(row);
        }
        Some(table)
    }

    fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = self.table(lang).map(|table| table.text(context.width)).unwrap_or_default();
        if let Some(card) = &self.card {
            let fits = self.kernels.iter().filter(|kernel| kernel.fits == Some("yes")).count();
            let count = self.kernels.len();
            out += &format!("\n{}\n", lang.say(&say!("triton-summary", fits, count, card)));
        }
        for error in &self.errors {
            let file = crate::context::said(error, lang);
            out += &format!("{}\n", lang.say(&say!("vllm-tables-unreadable", file)));
        }
        out
    }
}
