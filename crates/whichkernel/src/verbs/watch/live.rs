//! The watch loop: polls, shows, and stops.

use super::{Args, alarm, table};
use crate::context::{Context, Format, dumb};
use server::claims::Gatherer;
use std::io::{IsTerminal, stdout};
use std::time::{Duration, Instant};
use sys::{interrupt, terminal};
use watch::{Ended, ObserverReport, Source, State, Tally};

/// The time without launches after which a watch with `--until idle` ends.
const IDLE: Duration = Duration::from_secs(2);
/// Switches to the terminal's alternate screen (xterm's private mode 1049), and back.
const ASIDE: &str = "\x1b[?1049h";
const BACK: &str = "\x1b[?1049l";
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
    let mut screen = Screen::new(args, context);
    let (started, mut busy) = (Instant::now(), Instant::now());
    loop {
        match source.poll(tally, STEP)? {
            State::Busy => busy = Instant::now(),
            State::Quiet => {}
            State::Ended(how) => {
                // Ctrl-C also reaches the program, and is not its failure.
                ended = (!interrupt::asked()).then_some(how);
                break;
            }
        }
        for line in source.news() {
            context.progress(&context.lang.say(&line));
        }
        for (sign, heard) in tally.fallback.news(started.elapsed()) {
            crate::context::tell(format_args!("{}", alarm::line(&sign, &heard, context)));
        }
        if screen.show(tally, started.elapsed())? {
            gatherer.look();
        }
        let idle = args.until.is_some() && tally.launches() > 0 && busy.elapsed() > IDLE;
        let over = args.duration.is_some_and(|most| started.elapsed() >= most);
        let enough = args.tokens.is_some_and(|most| tally.tokens() >= most);
        if idle || over || enough || interrupt::asked() {
            break;
        }
    }
    screen.clear()?;
    Ok((source.finish(tally)?, ended))
}

/// Like `top` on a terminal; an occasional line in a pipe; nothing for machine-readable output.
struct Screen<'c> {
    context: &'c Context,
    live: bool,
    lines: bool,
    next: Instant,
    said: u64,
    /// Whether the alternate screen is active.
    aside: bool,
}

impl<'c> Screen<'c> {
    fn new(args: &Args, context: &'c Context) -> Self {
        let text = args.format == Format::Text;
        let terminal = stdout().is_terminal() && !dumb();
        // A program that is started here also writes to this terminal, and its output must stay visible.
        let alone = args.command.is_empty();
        let (live, lines) = (text && terminal && alone, text && !terminal);
        Screen { context, live, lines, next: Instant::now(), said: 0, aside: false }
    }

    /// Updates once a second; returns whether it did.
    fn show(&mut self, tally: &Tally, elapsed: Duration) -> say::Result<bool> {
        if Instant::now() < self.next {
            return Ok(false);
        }
        self.next = Instant::now() + Duration::from_secs(1);
        let figures = [
            ("seconds", format!("{:.0}", elapsed.as_secs_f64())),
            ("seen", tally.launches().to_string()),
            ("tokens", tally.tokens().to_string()),
            ("each", tally.per_token().map_or_else(|| "-".to_owned(), |(all, _)| format!("{all:.1}"))),
        ];
        let figures = figures.map(|(name, value)| (name, value.into()));
        let line = self.context.lang.text_with("watch-line", &figures);
        self.context.tell_pages(&line);
        if self.live {
            let table = table::of(tally, self.context, Some(rows())).text(self.context.width);
            let aside = if self.aside { "" } else { ASIDE };
            self.aside = true;
            self.context.print(&format!("{aside}\x1b[H\x1b[2J{line}\n{table}"))?;
        } else if !self.lines {
            self.context.progress(&line);
        } else if self.lines && tally.launches() > self.said {
            self.context.print(&format!("{line}\n"))?;
        }
        self.said = tally.launches();
        Ok(true)
    }

    fn clear(&mut self) -> say::Result<()> {
        if std::mem::take(&mut self.aside) { self.context.print(BACK) } else { Ok(()) }
    }
}

/// Restores the main screen however a watch ends.
impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let _ = self.clear();
    }
}

/// The number of rows that fit below the two header lines, so that nothing scrolls.
fn rows() -> usize {
    const USUAL: usize = 30;
    terminal::size(terminal::Stream::Output).map_or(USUAL, |(_, rows)| rows.saturating_sub(3).max(5))
}
