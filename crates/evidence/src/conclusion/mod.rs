//! The conclusions of verbs: each is a statement with its reach, computed only from what was asked, answered, lost and
//! left out.
//!
//! "None", "same", "all", "complete", "lost 0", "MMQ" are statements that users rely on. Only the functions of
//! [`Basis`] make them: a [`Conclusion`] has no public constructor and does not deserialise. A positive finding is
//! certain, however little was examined. "Nothing found" and "no difference" are valid only for what was examined.
//! Without any answer, they are unknown.
//!
//! An observer cannot report on parts that it never examined. A conclusion about everything ([`Reach::Whole`]) needs a
//! second account ([`Account`], or a question that lists its own units: [`Basis::listed`]). Without one, the conclusion
//! covers only what the observer can see ([`Reach::Alone`]).

mod account;
mod basis;
mod statement;

pub use account::{Account, Blind, BlindSpot, Witness};
pub use basis::{Basis, LeftOut, Unit, Why as LeftOutWhy};
pub use statement::{Conclusion, Reach, Says, Word};
