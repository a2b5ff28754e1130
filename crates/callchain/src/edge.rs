//! One step from a function to another.

/// The kind of step from one function to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A server hands a path's requests to this function.
    Route,
    /// The code names the called function.
    Call,
    /// A call through an interface, a virtual method or a slot in a table of functions. The target is decided at run
    /// time.
    Virtual,
    /// A call through a function value, which is passed as an argument here, or stored and called elsewhere.
    Callback,
    /// A call from Go into C.
    Cgo,
    /// A goroutine started here.
    Goroutine,
    /// One side wakes and the other waits: a condition variable or a channel.
    HandOff,
    /// A request over HTTP to a function that serves this path.
    Http,
    /// A kernel launch.
    Launch,
    /// The HIP vendor header renames this function.
    Vendor,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Route => "route",
            Kind::Call => "call",
            Kind::Virtual => "virtual",
            Kind::Callback => "callback",
            Kind::Cgo => "cgo",
            Kind::Goroutine => "goroutine",
            Kind::HandOff => "hand-off",
            Kind::Http => "http",
            Kind::Launch => "launch",
            Kind::Vendor => "vendor",
        }
    }

    pub(super) fn cost(self) -> u32 {
        match self {
            Kind::Call | Kind::Cgo => 2,
            Kind::Virtual | Kind::Goroutine => 3,
            Kind::Http | Kind::HandOff => 5,
            _ => 6,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Edge {
    pub to: usize,
    pub kind: Kind,
    /// The line of the step, in the file of the function where it starts.
    pub line: u32,
    /// Other functions that the same expression may refer to.
    pub others: Vec<usize>,
}
