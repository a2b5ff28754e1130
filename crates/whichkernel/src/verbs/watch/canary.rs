//! `--url`: a one-token request must give launches in the target, or the watch is blind and says so.

use crate::context::Context;
use observe::watch::{Source, Tally, request};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long launches may still arrive after the answer.
const AFTER: Duration = Duration::from_secs(2);

/// None where it was seen; else what to say in the end. What the server claims is worth a look all the same.
pub fn in_target(
    url: &str,
    source: &mut dyn Source,
    tally: &mut Tally,
    context: &Context,
) -> anyhow::Result<Option<anyhow::Error>> {
    let (tell, told) = channel();
    let address = url.to_owned();
    std::thread::spawn(move || tell.send(request::one_token(&address)));
    let mut answer = None;
    let mut until = None;
    while until.is_none_or(|until| Instant::now() < until) {
        source.poll(tally, Duration::from_millis(50))?;
        if answer.is_none()
            && let Ok(told) = told.try_recv()
        {
            answer = Some(told?);
            until = Some(Instant::now() + AFTER);
        }
        if answer.is_some() && tally.launches() > 0 {
            break;
        }
    }
    let server = answer.unwrap_or("the server");
    if tally.launches() == 0 {
        return Ok(Some(anyhow::anyhow!(
            "a one-token request to {url} ({server}) was answered, and no launch was seen in the target: this watch would \
             be blind. Is it the right process, and does it run on a GPU?"
        )));
    }
    let count = tally.launches().to_string();
    source.canary_in_target(format!("a one-token request to {server} gave {count} launches"));
    let args = [("server", server.into()), ("count", count.into())];
    eprintln!("{}", context.lang.text_with("watch-canary-asked", &args));
    Ok(None)
}
