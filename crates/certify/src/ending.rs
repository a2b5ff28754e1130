//! How a run ended, and whether that was intended.

use say::{Message, say};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

/// How a server ended after it was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Ended(Exit),
    /// The server did not stop when told to, and was killed.
    Unwilling,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ending {
    /// A program ran to its end.
    Ended(Exit),
    /// A server ended before it answered.
    Early(Exit),
    /// A server that never answered.
    #[default]
    Silent,
    /// A server that answered every request.
    Answered(Stopped),
    /// A server gave a wrong answer or none, for this reason.
    Unanswered(Message, Stopped),
}

impl Ending {
    /// Whether the run ended as intended: a server answered, or a program returned 0.
    pub fn well(&self) -> bool {
        matches!(self, Ending::Ended(Exit::Code(0)) | Ending::Answered(_))
    }

    pub fn message(&self) -> Message {
        let exit = |exit: &Exit| match *exit {
            Exit::Code(code) => ("code", code),
            Exit::Signal(signal) => ("signal", signal),
        };
        match self {
            Ending::Ended(ended) => {
                let (how, number) = exit(ended);
                say!("watch-certify-ended", how, number)
            }
            Ending::Early(ended) => {
                let (how, number) = exit(ended);
                say!("watch-certify-ended-early", how, number)
            }
            Ending::Silent => say!("watch-certify-ended-silent"),
            Ending::Answered(Stopped::Ended(ended)) => {
                let (how, number) = exit(ended);
                say!("watch-certify-ended-answered", how, number)
            }
            Ending::Answered(Stopped::Unwilling) => say!("watch-certify-ended-answered-unwilling"),
            Ending::Unanswered(why, Stopped::Ended(ended)) => {
                let (how, number) = exit(ended);
                say!("watch-certify-ended-unanswered", how, number, why)
            }
            Ending::Unanswered(why, Stopped::Unwilling) => {
                say!("watch-certify-ended-unanswered-unwilling", why)
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
        let odd = Ending::Unanswered(Message::verbatim("answered with status 500"), stopped);
        for bad in
            [odd, Ending::Early(Exit::Code(0)), Ending::Silent, Ending::Ended(Exit::Signal(11)), Ending::default()]
        {
            assert!(!bad.well(), "{bad:?}");
        }
    }
}
