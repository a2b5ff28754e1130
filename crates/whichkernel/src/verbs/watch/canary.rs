//! `--url`: a one-token request must cause launches in the target; otherwise the watch is blind and reports that.

use super::summary;
use crate::context::Context;
use say::{Context as _, bail, error, say};
use server::{Endpoint, request};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use watch::{Source, State, Tally};

/// How long launches may still arrive after the answer.
const AFTER: Duration = Duration::from_secs(2);
/// How long a server may take until it answers.
const STARTING: Duration = Duration::from_secs(120);

/// None if the canary was observed; otherwise the final message. The server's claims are still useful then. `started`:
/// we have just started the server; otherwise no answer means a wrong address.
pub fn in_target(
    at: &Endpoint,
    started: bool,
    source: &mut dyn Source,
    tally: &mut Tally,
    context: &Context,
) -> say::Result<Option<say::Error>> {
    let (tell, told) = channel();
    let (go, gone) = channel::<()>();
    let (address, url) = (at.clone(), at.to.url());
    std::thread::spawn(move || {
        // A server that was just started answers later.
        let patience = Instant::now() + STARTING;
        let ready = loop {
            match request::ready(&address) {
                Ok(true) => break Ok(()),
                Err(error) if !started => break Err(error),
                Ok(false) if Instant::now() > patience => {
                    break Err(std::io::Error::other(say!("server-loading")));
                }
                Err(error) if Instant::now() > patience => break Err(error),
                _ => std::thread::sleep(Duration::from_millis(50)),
            }
        };
        let _ = tell.send(match ready {
            Ok(()) => None,
            Err(error) => Some(Err(error)),
        });
        if gone.recv().is_ok() {
            let _ = tell.send(Some(request::one_token(&address)));
        }
    });
    let (mut answer, mut until, mut before) = (None, None, None);
    while until.is_none_or(|until| Instant::now() < until) {
        if let State::Ended(how) = source.poll(tally, Duration::from_millis(50))? {
            if answer.is_some() {
                break;
            }
            let how = summary::ended(how, context);
            bail!("command-canary-silent", how, url);
        }
        match told.try_recv() {
            // Launches for its warm-up were not caused by our request.
            Ok(None) => {
                before = Some(tally.launches());
                let _ = go.send(());
            }
            Ok(Some(told)) => {
                let server = told.with_context(|| say!("command-canary-no-token", url));
                answer = Some(server?);
                until = Some(Instant::now() + AFTER);
            }
            Err(_) => {}
        }
        if answer.is_some() && tally.launches() > before.unwrap_or(0) {
            break;
        }
    }
    let server = answer.unwrap_or("the server");
    let count = tally.launches() - before.unwrap_or(0);
    if count == 0 {
        return Ok(Some(error!("command-canary-unseen", url, server)));
    }
    source.canary_in_target(say!("canary-request", server, count));
    let args = [("server", server.into()), ("count", count.into())];
    crate::context::tell(format_args!("{}", context.lang.text_with("watch-canary-asked", &args)));
    Ok(None)
}
