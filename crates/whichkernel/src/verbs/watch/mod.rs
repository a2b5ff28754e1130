//! Launches of live processes, or recorded ones.

use crate::context::Context;
use say::{Context as _, ensure, say};
use server::Endpoint;
use std::cell::RefCell;
use std::process::ExitCode;
use std::rc::Rc;
use summary::Told;
use view::LiveView;
use watch::{Ended, Tally};

mod alarm;
mod args;
mod arm;
mod canary;
mod certify;
mod claims;
mod live;
mod read;
pub mod record;
mod start;
mod summary;
mod table;
mod target;
mod trace;
mod view;
mod view_facts;

pub use args::{Args, How};
use args::{ArmCommand, window};

pub fn run(args: &Args, context: &Context) -> say::Result<ExitCode> {
    match &args.step {
        Some(ArmCommand::Arm(step)) => return arm::arm(step, context),
        Some(ArmCommand::Disarm) => return arm::disarm(context),
        None => {}
    }
    context.begins("watch");
    if let Some(path) = &args.read {
        return read::run(path, args, context);
    }
    ensure!(!args.times || args.how == How::Layer, "command-times-layer");
    if args.certify {
        return certify::run(args, context);
    }
    let key = args.key.read(args.url.is_some())?;
    let server = args.url.as_deref().map(|url| Endpoint::parse(url, key)).transpose().about("--url")?;
    if matches!(args.how, How::Uprobe | How::Perf) {
        let mut writes = vec![context.ledger.clone(), runtime::Cache::from_env().dir().to_owned()];
        writes.extend(args.trace.clone());
        let kept = sys::rights::kept(args.how == How::Uprobe, !args.command.is_empty(), &writes);
        sys::rights::keep(kept, !args.command.is_empty()).context(say!("command-giving-up-rights"))?;
    }
    let writer = args.trace.as_deref().map(trace::Writer::create).transpose()?;
    let writer = writer.map(|writer| Rc::new(RefCell::new(writer)));
    let source = target::source(args, writer.as_ref(), context);
    let mut gatherer = claims::gatherer(args, server.clone())?;
    let mut source = match source {
        // The processes are there, but their launches cannot be seen.
        Err(why) if args.command.is_empty() && view::wanted(args) => {
            sys::interrupt::catch();
            if let Some(view) = LiveView::open(target::pids(args)?, context) {
                view.blind(&why, &mut gatherer)?;
            }
            return Err(why);
        }
        source => source?,
    };
    for line in target::told(args, context)? {
        crate::context::tell(format_args!("{line}"));
    }
    let mut tally = Tally::default();
    let blind = match &server {
        Some(server) => canary::in_target(server, !args.command.is_empty(), source.as_mut(), &mut tally, context)?,
        None => None,
    };
    let (account, ended) = match blind {
        Some(_) => (source.finish(&mut tally)?, None),
        None => live::run(source.as_mut(), &mut tally, &mut gatherer, args, context)?,
    };
    // If the disk is full, only the trace is lost, not the observations.
    let written = writer.map_or(Ok(()), |writer| writer.borrow_mut().finish(&tally, &account));
    let mut told = gatherer.finish();
    told.merge(source.claims());
    told.answered += u64::from(args.url.is_some());
    let judged = claims::Judged::new(told, &tally, &account);
    tally.pieces = judged.pieces;
    let told = Told { tally: &tally, account: &account, judged: &judged, ended };
    told.print(args.format, context)?;
    if args.record {
        record::keep(context, &tally, &account, &judged, &window(args))?;
    }
    // If no launch could have been observed, zero launches is not an answer.
    if let (None, Some(why)) = (&blind, target::nothing_in_view(args, &tally, &account)) {
        return Err(why.into());
    }
    written?;
    if let Some(blind) = blind {
        return Err(blind);
    }
    // The observations are valid, but not of the requested run.
    Ok(if ended.is_some_and(Ended::failed) { ExitCode::from(2) } else { ExitCode::SUCCESS })
}
