//! One step from a function to another.

/// What kind of step leads from one function to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A server hands a path's requests to this function.
    Route,
    /// The words name the function.
    Call,
    /// Through an interface, a virtual method or a slot in a table of functions: which one is settled when it runs.
    Virtual,
    /// Through a function value: given away here, or stored and called elsewhere.
    Callback,
    /// From Go into C.
    Cgo,
    /// A goroutine started here.
    Goroutine,
    /// One side wakes, the other waits: a condition variable or a channel.
    HandOff,
    /// A request over HTTP to a function that serves this path.
    Http,
    /// A kernel launch.
    Launch,
    /// A name that the vendor header turns into another.
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
