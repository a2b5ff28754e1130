//! The target of a watch: process ids, a name, or a program to start.

use super::{Args, How, start};
use crate::context::Context;
use evidence::{Canary, DeviceKind};
use say::ensure;
use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use uprobe::{Options, Started, Watcher};
use watch::{NothingInView, ObserverReport, Source, Tally};

use super::trace::Writer;

/// Sets up the requested observer.
pub fn source(args: &Args, trace: Option<&Rc<RefCell<Writer>>>, context: &Context) -> say::Result<Box<dyn Source>> {
    match args.how {
        How::Uprobe | How::Perf => uprobe(args, trace),
        How::Preload => start::preload(args, trace),
        How::Layer => start::layer(args, trace),
        How::Logs => start::logs(args, context),
    }
}

fn uprobe(args: &Args, trace: Option<&Rc<RefCell<Writer>>>) -> say::Result<Box<dyn Source>> {
    let how = match args.how {
        How::Perf => perf(),
        _ => uprobe::How::Bpf,
    };
    let canary = how != uprobe::How::Armed;
    let options = Options { arguments: trace.is_some(), hash: args.record, how, canary, ..Options::default() };
    let tell = |watcher: &mut Watcher| {
        if let Some(trace) = trace.cloned() {
            watcher.on_each(move |seen| trace.borrow_mut().add(seen));
        }
    };
    if !args.command.is_empty() {
        let mut started = Started::new(&args.command, options)?;
        tell(&mut started.watcher);
        return Ok(Box::new(started));
    }
    let mut watcher = Watcher::attach(&pids(args)?, options)?;
    tell(&mut watcher);
    Ok(Box::new(watcher))
}

/// Our own probes if allowed; else those created by `arm`.
pub fn perf() -> uprobe::How {
    if sys::host::is_root() { uprobe::How::Perf } else { uprobe::How::Armed }
}

/// The requested processes. A missing one is an error.
pub fn pids(args: &Args) -> say::Result<Vec<u32>> {
    let mut pids = args.pid.clone();
    for pid in &pids {
        ensure!(uprobe::alive(*pid), "command-no-process", pid);
    }
    if let Some(name) = &args.name {
        let named = by_name(name);
        ensure!(!named.is_empty(), "command-no-process-named", name);
        pids.extend(named);
    }
    ensure!(!pids.is_empty(), "command-nothing-to-watch");
    Ok(pids)
}

/// The watched processes in words, and a note if nothing can be seen yet.
pub fn told(args: &Args, context: &Context) -> say::Result<Vec<String>> {
    let lang = &context.lang;
    if !args.command.is_empty() {
        return Ok(vec![lang.text("watch-armed")]);
    }
    let pids = pids(args)?;
    let name = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned();
    let list: Vec<String> = pids.iter().map(|pid| format!("{} ({pid})", name(pid))).collect();
    let mut lines = vec![lang.text_with("watch-armed-on", &[("list", lang.list(&list).into())])];
    let open = |pid: &u32| !uprobe::runtimes_of(*pid).is_empty();
    if !server::claims::tree(pids).iter().any(open) {
        lines.push(lang.text("watch-no-runtime"));
    }
    Ok(lines)
}

/// Why no launch could have been seen, if so: zero launches is then not an answer.
pub fn nothing_in_view(args: &Args, tally: &Tally, account: &ObserverReport) -> Option<NothingInView> {
    let seen = tally.launches() + tally.rejections() + tally.calls();
    if args.how == How::Layer && seen == 0 {
        return Some(match account.canary {
            Canary::None => NothingInView::Layer,
            _ => NothingInView::NoDispatch,
        });
    }
    if seen > 0 || account.canary != Canary::None || account.device != DeviceKind::None {
        return None;
    }
    match args.how {
        How::Uprobe | How::Perf => Some(NothingInView::Probes),
        How::Preload => Some(NothingInView::Preload),
        // An empty log is reported as a gap.
        How::Logs | How::Layer => None,
    }
}

/// Processes by program or thread name, except this one.
fn by_name(name: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").map(|entries| entries.flatten().collect::<Vec<_>>()).unwrap_or_default();
    let pids = entries.iter().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let comm = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        let program = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        *pid != std::process::id() && (comm.trim() == name || program == name)
    })
    .collect()
}
