//! Observers that must be set up before the program starts.

use super::{Args, trace::Writer};
use crate::context::Context;
use dryrun::{RunRoot, describe};
use say::{Context as _, ensure, say};
use std::cell::RefCell;
use std::rc::Rc;
use sys::on_path;
use watch::Source;
use watch::layer;
use watch::logs::{LogSource, Variable, explain, wanted};
use watch::preload::{Known, PreloadSource, Session, Tree, layouts};

/// The logs that are enabled by default.
const USUAL: [&str; 3] = ["AMD_LOG_LEVEL", "ROCBLAS_LAYER", "TENSILE_DB"];
/// Argument offsets are the same for every target, so any target of a library will do.
const ANY_TARGET: &str = "gfx1100";

pub fn preload(args: &Args, trace: Option<&Rc<RefCell<Writer>>>) -> say::Result<Box<dyn Source>> {
    let program = args.command.first().context(say!("command-preload-command"))?;
    let path = on_path(program).with_context(|| say!("command-no-such-program", program))?;
    watch::preload::check(&path)?;
    // Libraries that cannot be examined in advance are watched without argument bytes, which is reported.
    let libraries = RunRoot::Host.libraries(true, Some(&path)).unwrap_or_default();
    let target = gpu::TargetId::named(ANY_TARGET)?;
    let described = describe(&libraries, &target, true, runtime::Cache::from_env().dir()).ok();
    let table = described.and_then(|found| launch::table::KernelTable::parse(&found.table).ok()).unwrap_or_default();
    let session = Session::new(Some(&layouts(&table, &libraries)))?;
    let mut start = sys::program::given(program);
    start.args(args.command.iter().skip(1)).envs(session.environment());
    start.stdout(sys::host::standard_error()?);
    let tree = Tree::open().ok();
    let child = start.spawn().about(program.to_string_lossy())?;
    let pid = child.id();
    let mut source = PreloadSource::new(session, Known::new(table), Box::new(child)).with_tree(tree, pid);
    if let Some(trace) = trace.cloned() {
        source.on_each(move |seen| trace.borrow_mut().add(seen));
    }
    Ok(Box::new(source))
}

pub fn layer(args: &Args, trace: Option<&Rc<RefCell<Writer>>>) -> say::Result<Box<dyn Source>> {
    let program = args.command.first().context(say!("command-layer-command"))?;
    let session = layer::Session::new()?;
    let session = if args.times { session.with_times() } else { session };
    let mut start = sys::program::given(program);
    start.args(args.command.iter().skip(1)).envs(session.environment());
    start.stdout(sys::host::standard_error()?);
    let child = start.spawn().about(program.to_string_lossy())?;
    let mut source = layer::LayerSource::new(session, Box::new(child));
    if let Some(trace) = trace.cloned() {
        source.on_each(move |seen| trace.borrow_mut().add(seen));
    }
    Ok(Box::new(source))
}

pub fn logs(args: &Args, context: &Context) -> say::Result<Box<dyn Source>> {
    ensure!(!args.command.is_empty(), "command-logs-command");
    Ok(Box::new(LogSource::start(&args.command, &variables(args, context)?)?))
}

/// The requested logs, each explained as it is enabled.
pub fn variables(args: &Args, context: &Context) -> say::Result<Vec<(Variable, String)>> {
    let asked: Vec<&str> =
        if args.log.is_empty() { USUAL.to_vec() } else { args.log.iter().map(String::as_str).collect() };
    let mut variables = Vec::new();
    for text in asked {
        let unknown = || say!("command-no-such-log", text);
        let (variable, value) = wanted(text).with_context(unknown)?;
        crate::context::tell(format_args!("{}", context.lang.say(&explain(&variable, &value))));
        variables.push((variable, value));
    }
    Ok(variables)
}
