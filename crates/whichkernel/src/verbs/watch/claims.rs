//! Claims compared with observations: the table, and the same for programs.

use super::{Args, target};
use crate::context::Context;
use report::{Column, Lang, Table};
use say::Message;
use server::Endpoint;
use server::claims::{Claims, Gatherer};
use watch::claims::{Held, Shown, hold, pieces};
use watch::{ObserverReport, Tally};

/// Reads the command lines, logs and address of the watched processes.
pub fn gatherer(args: &Args, at: Option<Endpoint>) -> say::Result<Gatherer> {
    let roots = if args.command.is_empty() { target::pids(args)? } else { Vec::new() };
    let gatherer = Gatherer::new(roots, at, &args.said);
    gatherer.map_err(|(path, error)| {
        say::Error::from(error).context(Message::verbatim(format!("--said {}", path.display())))
    })
}

/// Claims with their verdicts.
pub struct Judged {
    pub claims: Claims,
    pub shown: Shown,
    pub held: Vec<Held>,
    /// The number of pieces of each evaluation, 0 if unknown.
    pub pieces: u64,
}

impl Judged {
    pub fn new(claims: Claims, tally: &Tally, account: &ObserverReport) -> Judged {
        let shown = Shown::of(tally);
        let held = hold(&claims, &shown, account);
        let pieces = pieces(&claims, &shown).unwrap_or(0);
        Judged { claims, shown, held, pieces }
    }

    pub fn text(&self, context: &Context) -> String {
        let lang = &context.lang;
        let mut out = String::new();
        if !self.held.is_empty() {
            let title = |key: &str| lang.text(&format!("watch-claim-{key}"));
            let keys = ["what", "said", "seen", "verdict", "where"];
            let mut table = Table::new(keys.map(|key| Column::left(key, title(key))).to_vec());
            for one in &self.held {
                let what = title(&format!("field-{}", one.claim.meaning.key()));
                let verdict = title(&format!("verdict-{}", one.verdict.key()));
                let verdict = match one.weak {
                    Some(weak) => lang.noted(&verdict, &title(&format!("weak-{}", weak.key()))),
                    None => verdict,
                };
                table.row([what, one.claim.said.clone(), why(one, lang), verdict, one.claim.origin.to_string()]);
            }
            out.push_str(&format!("\n{}\n{}", title("title"), table.text(context.width)));
        }
        for (what, why) in &self.claims.unread {
            let args = [("what", what.clone().into()), ("why", lang.say(why).into())];
            out.push_str(&format!("{}\n", lang.text_with("watch-claim-unread", &args)));
        }
        out
    }
}

/// The reason for a verdict on a claim.
pub fn why(one: &Held, lang: &Lang) -> String {
    let figures = one.reason.figures.iter().map(|(name, value)| (*name, value.clone().into()));
    lang.text_with(&format!("watch-claim-seen-{}", one.reason.key), &figures.collect::<Vec<_>>())
}
