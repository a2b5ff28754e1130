//! The kernels of one target, as facts.

use codeobject::{CodeObject, Kernel, TargetId};
use inventory::{File, Found, Look, Options, inspect};
use launch::kernel_list::Listed;
use std::collections::BTreeSet;

/// The facts about one shipped kernel that a claim can ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelFact {
    /// The readable form of the kernel-name grammar: `mul_mat_q<Q4_K,112,false>`.
    pub name: String,
    pub mangled: String,
    pub bundle: Option<usize>,
    pub sgpr: Option<u32>,
    pub vgpr: Option<u32>,
    pub lds: Option<u32>,
    pub scratch: Option<u32>,
    pub wavefront: Option<u32>,
    /// None if the code is not decoded (NVIDIA).
    pub stub: Option<bool>,
}

/// Gathers the kernels of the wanted target as facts (none if no target is wanted), and a list of all.
#[derive(Debug, Clone, Copy)]
pub struct Gather<'a> {
    pub target: Option<&'a TargetId>,
    /// Whether to build the list, which is needed only if it will be stored.
    pub list: bool,
}

/// The kernels gathered from a file.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    /// The kernels of the wanted target.
    pub facts: Vec<KernelFact>,
    /// The kernels of every target.
    pub list: Vec<Listed>,
}

impl Gathered {
    pub fn extend(&mut self, other: Gathered) {
        self.facts.extend(other.facts);
        self.list.extend(other.list);
    }
}

impl Gather<'_> {
    fn wanted(&self, found: &Found<'_>) -> bool {
        // If the names of an object contradict each other, the target of its kernels is unknown.
        !found.contradicted
            && matches!((self.target, found.target), (Some(wanted), Some(target)) if target.answers(wanted))
    }
}

impl Look for Gather<'_> {
    type Out = Gathered;

    fn entry(&self, found: &Found<'_>, _: &mut Gathered) -> bool {
        self.list || self.wanted(found)
    }

    fn kernel(&self, found: &Found<'_>, _: &CodeObject<'_>, kernel: &Kernel, out: &mut Gathered) {
        let m = &kernel.metadata;
        let name = launch::grammar::read(&m.name).readable;
        if self.list {
            out.list.push(Listed {
                target: found.target.map_or_else(|| "?".to_owned(), ToString::to_string),
                bundle: found.bundle.and_then(|bundle| u32::try_from(bundle).ok()),
                name: name.clone(),
                sgpr: m.sgpr_count,
                vgpr: m.vgpr_count,
                lds: m.group_segment_fixed_size,
                scratch: m.private_segment_fixed_size,
                wavefront: m.wavefront_size,
                stub: kernel.stub.is_stub(),
            });
        }
        if !self.wanted(found) {
            return;
        }
        out.facts.push(KernelFact {
            name,
            mangled: m.name.clone(),
            bundle: found.bundle,
            sgpr: m.sgpr_count,
            vgpr: m.vgpr_count,
            lds: m.group_segment_fixed_size,
            scratch: m.private_segment_fixed_size,
            wavefront: m.wavefront_size,
            stub: Some(kernel.stub.is_stub()),
        });
    }
}

/// The mangled names of all kernels of a file (for one target), each once, and whether the whole file could be read.
pub fn kernel_names(file: &File, target: Option<&TargetId>) -> (BTreeSet<String>, bool) {
    let mut names = BTreeSet::new();
    let take = |_: Option<&codeobject::Bundle>, found: Vec<String>| {
        names.extend(found);
        Ok::<(), std::convert::Infallible>(())
    };
    let options = Options { nvidia: true, ..Options::default() };
    let Ok(report) = inspect(file, &options, false, &Names(target), take);
    let images = report.nvidia.iter().filter(|_| target.is_none()).flat_map(|found| &found.rows);
    names.extend(images.flat_map(|row| row.kernels().map(str::to_owned)));
    (names, report.all_problems().next().is_none())
}

struct Names<'a>(Option<&'a TargetId>);

impl Look for Names<'_> {
    type Out = Vec<String>;

    fn entry(&self, found: &Found<'_>, _: &mut Vec<String>) -> bool {
        self.0.is_none_or(|wanted| found.target.is_some_and(|target| target.answers(wanted)))
    }

    fn kernel(&self, _: &Found<'_>, _: &CodeObject<'_>, kernel: &Kernel, out: &mut Vec<String>) {
        out.push(kernel.mangled().to_owned());
    }
}
