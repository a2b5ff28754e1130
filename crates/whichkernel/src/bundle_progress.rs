//! Progress while the bundles of a file are read.

use crate::context::Context;
use report::thousands;
use std::time::{Duration, Instant};

/// Prints a line per second, starting after the first second.
pub struct Progress<'a> {
    context: &'a Context,
    /// The message key; the message has the arguments `index` and `offset`.
    key: &'static str,
    last: Instant,
}

impl<'a> Progress<'a> {
    pub fn new(context: &'a Context, key: &'static str) -> Self {
        Progress { context, key, last: Instant::now() }
    }

    pub fn step(&mut self, bundle: Option<&codeobject::Bundle>) -> say::Result<()> {
        if let Some(bundle) = bundle
            && self.last.elapsed() > Duration::from_secs(1)
        {
            self.last = Instant::now();
            let args = [("index", bundle.index.into()), ("offset", thousands(bundle.offset).into())];
            self.context.progress(&self.context.lang.text_with(self.key, &args));
        }
        Ok(())
    }
}
