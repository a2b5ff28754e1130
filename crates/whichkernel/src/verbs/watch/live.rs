//! The watch loop: polls, shows, and stops.

use super::view::{self, LiveView};
use super::{Args, alarm, target};
use crate::context::{Context, Format, dumb};
use server::claims::Gatherer;
use std::io::{IsTerminal, stdout};
use std::time::{Duration, Instant};
use sys::interrupt;
use watch::{Ended, ObserverReport, Source, State, Tally};

/// The time without launches after which a watch with `--until idle` ends.
const IDLE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(100);

pub fn run(
    source: &mut dyn Source,
    tally: &mut Tally,
    gatherer: &mut Gatherer,
    args: &Args,
    context: &Context,
) -> say::Result<(ObserverReport, Option<Ended>)> {
    interrupt::catch();
    let mut ended = None;
    let roots = if args.command.is_empty() { target::pids(args).unwrap_or_default() } else { Vec::new() };
    let mut view = if view::wanted(args) { LiveView::open(roots, context) } else { None };
    let mut lines = Lines::new(args, context);
    let (started, mut busy) = (Instant::now(), Instant::now());
    loop {
        match source.poll(tally, STEP)? {
            State::Busy => busy = Instant::now(),
            State::Quiet => {}
            State::Ended(how) => {
                // Ctrl-C also reaches the program, and is not its failure.
                ended = (!interrupt::asked()).then_some(how);
                if let (Some(view), Some(how)) = (&mut view, ended) {
                    view.ended(how, tally, source, started.elapsed())?;
                }
                break;
            }
        }
        let news = source.news();
        let alarms = tally.fallback.news(started.elapsed());
        if let Some(view) = &mut view {
            // The view shows news and alarms; the summary repeats the fallbacks.
            if view.update(source, tally, gatherer, started.elapsed())? {
                lines.tell_pages(tally, started.elapsed());
                gatherer.look();
            }
            if view.keys()? {
                break;
            }
        } else {
            news.iter().for_each(|line| context.progress(&context.lang.say(line)));
            for (sign, heard) in alarms {
                crate::context::tell(format_args!("{}", alarm::line(&sign, &heard, context)));
            }
            if lines.show(tally, started.elapsed())? {
                gatherer.look();
            }
        }
        let idle = args.until.is_some() && tally.launches() > 0 && busy.elapsed() > IDLE;
        let over = args.duration.is_some_and(|most| started.elapsed() >= most);
        let enough = args.tokens.is_some_and(|most| tally.tokens() >= most);
        if idle || over || enough || interrupt::asked() {
            break;
        }
    }
    // The terminal is restored before the summary.
    drop(view);
    Ok((source.finish(tally)?, ended))
}

/// Without the live view: an occasional line in a pipe; progress on a terminal; nothing for machine-readable output.
struct Lines<'c> {
    context: &'c Context,
    lines: bool,
    next: Instant,
    said: u64,
}

impl<'c> Lines<'c> {
    fn new(args: &Args, context: &'c Context) -> Self {
        let lines = args.format == Format::Text && (dumb() || !stdout().is_terminal());
        Lines { context, lines, next: Instant::now(), said: 0 }
    }

    fn tell_pages(&self, tally: &Tally, elapsed: Duration) -> String {
        let figures = [
            ("seconds", format!("{:.0}", elapsed.as_secs_f64())),
            ("seen", tally.launches().to_string()),
            ("tokens", tally.tokens().to_string()),
            ("each", tally.per_token().map_or_else(|| "-".to_owned(), |(all, _)| format!("{all:.1}"))),
        ];
        let figures = figures.map(|(name, value)| (name, value.into()));
        let line = self.context.lang.text_with("watch-line", &figures);
        self.context.tell_pages(&line);
        line
    }

    /// Updates once a second; returns whether it did.
    fn show(&mut self, tally: &Tally, elapsed: Duration) -> say::Result<bool> {
        if Instant::now() < self.next {
            return Ok(false);
        }
        self.next = Instant::now() + Duration::from_secs(1);
        let line = self.tell_pages(tally, elapsed);
        if !self.lines {
            self.context.progress(&line);
        } else if tally.launches() > self.said {
            self.context.print(&format!("{line}\n"))?;
        }
        self.said = tally.launches();
        Ok(true)
    }
}
