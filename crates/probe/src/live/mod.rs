//! A live server: identity, prompts of exact lengths, the ladder, and the results.

mod client;
mod ladder;
mod prompts;
mod session;

pub use client::{Client, Ended, Question};
pub use ladder::{LADDER, Order, Plan};
pub use session::{Journal, Live, ObservedLaunches, Run, Session, model_file};

/// Sends the prompts. An error only if no server could be reached at all.
pub fn run(
    live: &Live,
    plan: &mut Plan,
    whole_ladder: bool,
    progress: &mut dyn FnMut(&say::Message),
) -> Result<Run, Ended> {
    let session = Session::open(live.clone(), None)?;
    Ok(climbed(session, plan, whole_ladder, progress))
}

/// Like [`run`], in a session that is already open.
pub fn climbed(
    mut session: Session,
    plan: &mut Plan,
    whole_ladder: bool,
    progress: &mut dyn FnMut(&say::Message),
) -> Run {
    let ended = session.prepare().and_then(|()| {
        if whole_ladder {
            plan.tokens.extend(session.thresholds());
            plan.tokens.extend(session.counted_as_in_the_notes());
            plan.tokens.sort_unstable();
            plan.tokens.dedup();
        }
        ladder::climb(&mut session, plan, progress)
    });
    session.finish(ended.err())
}
