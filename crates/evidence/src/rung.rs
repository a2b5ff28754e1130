//! The ladder of rungs: what an observer can have seen, from a rule in the source to a device that reports completion.
//!
//! Each rung is a value ([`Rung`], for data) and a type ([`RungKind`], for the rules). Code that is written for one
//! rung cannot confuse it with another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    /// The source, at this commit and with these defines, has a rule that chooses it.
    Declared,
    /// A code object for this target with this kernel is in this file.
    Shipped,
    /// The file or module is mapped into this process, or registered with it. Statements of a process or host about
    /// itself are also on this rung: they describe the setup, not dispatches.
    Loaded,
    /// Host code chose this kernel for this operation and shape.
    Selected,
    /// A live process launched it on a real device, and the launch was accepted.
    Launched,
    /// The device reported that it ran.
    Completed,
}

impl Rung {
    pub const ALL: [Rung; 6] =
        [Rung::Declared, Rung::Shipped, Rung::Loaded, Rung::Selected, Rung::Launched, Rung::Completed];

    pub fn name(self) -> &'static str {
        match self {
            Rung::Declared => "declared",
            Rung::Shipped => "shipped",
            Rung::Loaded => "loaded",
            Rung::Selected => "selected",
            Rung::Launched => "launched",
            Rung::Completed => "completed",
        }
    }

    /// Whether the rung needs a real device. Only a real device can launch or complete anything; on a stand-in, the
    /// same calls are a selection.
    pub fn needs_real_device(self) -> bool {
        self >= Rung::Launched
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A rung as a type. Sealed: there are six.
///
/// ```compile_fail
/// struct Hoped;
/// impl evidence::RungKind for Hoped {
///     const RUNG: evidence::Rung = evidence::Rung::Launched;
/// }
/// ```
pub trait RungKind: sealed::Sealed + fmt::Debug + Clone + Copy {
    const RUNG: Rung;
}

macro_rules! kinds {
    ($($name:ident),*) => {$(
        #[doc = concat!("The rung [`Rung::", stringify!($name), "`] as a type.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl sealed::Sealed for $name {}
        impl RungKind for $name {
            const RUNG: Rung = Rung::$name;
        }
    )*};
}

kinds!(Declared, Shipped, Loaded, Selected, Launched, Completed);
