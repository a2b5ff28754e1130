//! How a run ended: what it was meant to do, and whether it did.

use answer::Message;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

/// How a server ended that was asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Ended(Exit),
    /// It did not end when it was asked to, and was made to.
    Unwilling,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ending {
    /// A program that runs to its end came to it.
    Ended(Exit),
    /// A server that was over before it answered.
    Early(Exit),
    /// A server that never answered.
    #[default]
    Silent,
    /// A server that answered every question.
    Answered(Stopped),
    /// A server that was asked and did not answer as it should; why.
    Unanswered(String, Stopped),
}

impl Ending {
    /// Whether it came to the end that was meant: a server answered, a program returned 0.
    pub fn well(&self) -> bool {
        matches!(self, Ending::Ended(Exit::Code(0)) | Ending::Answered(_))
    }

    pub fn message(&self) -> Message {
        let with = |key, exit: &Exit| match exit {
            Exit::Code(code) => Message::new(key).with("how", "code").with("number", code),
            Exit::Signal(signal) => Message::new(key).with("how", "signal").with("number", signal),
        };
        match self {
            Ending::Ended(exit) => with("watch-certify-ended", exit),
            Ending::Early(exit) => with("watch-certify-ended-early", exit),
            Ending::Silent => Message::new("watch-certify-ended-silent"),
            Ending::Answered(Stopped::Ended(exit)) => with("watch-certify-ended-answered", exit),
            Ending::Answered(Stopped::Unwilling) => Message::new("watch-certify-ended-answered-unwilling"),
            Ending::Unanswered(why, Stopped::Ended(exit)) => {
                with("watch-certify-ended-unanswered", exit).with("why", why)
            }
            Ending::Unanswered(why, Stopped::Unwilling) => {
                Message::new("watch-certify-ended-unanswered-unwilling").with("why", why)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_does_not_make_it_end_well() {
        let stopped = Stopped::Ended(Exit::Code(0));
        assert!(Ending::Answered(stopped).well() && Ending::Ended(Exit::Code(0)).well());
        let odd = Ending::Unanswered("answered with status 500".into(), stopped);
        for bad in
            [odd, Ending::Early(Exit::Code(0)), Ending::Silent, Ending::Ended(Exit::Signal(11)), Ending::default()]
        {
            assert!(!bad.well(), "{bad:?}");
        }
    }
}
