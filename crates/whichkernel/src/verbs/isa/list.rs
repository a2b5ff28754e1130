//! `--list KERNEL`: the code of a kernel, instruction by instruction.

use super::select;
use crate::context::{Context, Format};
use codeobject::{CodeObject, Kernel};
use findings::count::no_kernel;
use inventory::{File, Found, Look, Options, inspect};
use isa::census::{Function, section};
use isa::{DecodeStep, Decoder, Family, Proof, Target};
use launch::NameFilter;
use observe::answers::{self, Line, Listed};
use observe::census::Select;
use say::bail;
use std::process::ExitCode;

pub fn run(file: &File, kernel: &str, args: &super::Args, context: &Context) -> say::Result<ExitCode> {
    let listings = find(file, kernel, args)?;
    if listings.is_empty() {
        return Err(no_kernel(file, select(args)?.target.as_ref(), &NameFilter::new(kernel)?));
    }
    match args.format {
        Format::Text => {
            for listing in &listings {
                context.print(&listing.text(context))?;
            }
        }
        Format::Json => {
            context
                .print(&answer::json(&answers::Listing { kernels: listings.into_iter().map(|it| it.0).collect() })?)?;
        }
        Format::Csv => {
            context.print("target,bundle,kernel,address,encoding,mnemonic\n")?;
            for listing in &listings {
                context.print(&listing.csv())?;
            }
        }
        Format::Md => bail!("command-formats-listing"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The code of the matching kernels of a file.
pub fn find(file: &File, kernel: &str, args: &super::Args) -> say::Result<Vec<Listing>> {
    let look = Lister { select: Select { kernel: Some(NameFilter::new(kernel)?), ..select(args)? } };
    let mut listings = Vec::new();
    inspect(file, &Options::all(), false, &look, |_, found: Vec<Listing>| {
        listings.extend(found);
        say::Result::<_>::Ok(())
    })?;
    Ok(listings)
}

/// The code of one kernel.
pub struct Listing(Listed);

struct Lister {
    select: Select,
}

impl Look for Lister {
    type Out = Vec<Listing>;

    fn entry(&self, found: &Found<'_>, _: &mut Self::Out) -> bool {
        match (&self.select.target, found.target) {
            (None, _) => true,
            (Some(wanted), Some(target)) => target.answers(wanted),
            (Some(_), None) => false,
        }
    }

    fn kernel(&self, found: &Found<'_>, object: &CodeObject<'_>, kernel: &Kernel, out: &mut Self::Out) {
        let name = kernel.name();
        if !self.select.kernel.as_ref().is_some_and(|filter| filter.matches(kernel.mangled(), &name)) {
            return;
        }
        let (lines, proof) = read(object, kernel.mangled()).unwrap_or((Vec::new(), Proof::None));
        let target = found.target.or(object.target.as_ref()).map(ToString::to_string).unwrap_or_default();
        let stub = Some(proof).filter(|proof| proof.is_stub()).map(Proof::key);
        let kernel = kernel.mangled().to_owned();
        out.push(Listing(Listed { target, bundle: found.bundle, kernel, name, stub, code: lines }));
    }
}

/// The code of a kernel, and the proof from its instructions.
fn read(object: &CodeObject<'_>, mangled: &str) -> Option<(Vec<Line>, Proof)> {
    let decoder = Decoder::new(Target::find(object.processor())?)?;
    let functions = object.functions().ok()?;
    let (_, extent) = functions.iter().find(|(name, _)| name == mangled)?;
    let code = object.elf().source().bytes(extent.offset, extent.size, "kernel code").ok()?;
    let whole = Function { range: 0..code.len(), stated: extent.stated };
    let proof = section(&decoder, &code, &[whole]).functions.first().map_or(Proof::None, Proof::of_kernel);
    let mut lines = Vec::new();
    for (offset, length, step) in decoder.walk(&code) {
        let bytes = code.get(offset..offset + length)?;
        let words = bytes.chunks_exact(4).filter_map(|word| word.first_chunk()).map(|word| u32::from_le_bytes(*word));
        let (mnemonic, family) = match step {
            DecodeStep::Instruction(instruction) => (instruction.printed(), Family::of(instruction.mnemonic).key()),
            DecodeStep::Undecoded => (".long".to_owned(), ""),
            DecodeStep::Cut => (".cut".to_owned(), ""),
        };
        let encoding = words.map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(" ");
        lines.push(Line { address: extent.address + offset as u64, encoding, mnemonic, family });
    }
    Some((lines, proof))
}

impl Listing {
    fn text(&self, context: &Context) -> String {
        let bundle = self.0.bundle.map_or(String::new(), |bundle| format!(" [{bundle}]"));
        let mut out = format!("{}{bundle} {}\n", self.0.target, self.0.name);
        if let Some(kind) = self.0.stub {
            out += &format!("{}\n", context.lang.text_with("isa-list-stub", &[("kind", kind.into())]));
        }
        // Only as wide as this kernel's longest encoding, so that both halves of a dual instruction mostly fit in a
        // line.
        let encoding = self.0.code.iter().map(|line| line.encoding.len()).max().unwrap_or(0);
        let indent = 2 + 8 + 2 + encoding + 2;
        for line in &self.0.code {
            let mut mnemonic = line.mnemonic.clone();
            if context.width.is_some_and(|width| indent + mnemonic.len() > width) {
                mnemonic = mnemonic.replace(" :: ", &format!(" ::\n{:indent$}", ""));
            }
            out += &format!("  {:08x}  {:<encoding$}  {mnemonic}\n", line.address, line.encoding);
        }
        out.push('\n');
        out
    }

    fn csv(&self) -> String {
        let bundle = self.0.bundle.map_or(String::new(), |bundle| bundle.to_string());
        let row = |line: &Line| {
            format!(
                "{},{bundle},{},{:#x},{},{}\n",
                self.0.target, self.0.kernel, line.address, line.encoding, line.mnemonic
            )
        };
        self.0.code.iter().map(row).collect()
    }
}
