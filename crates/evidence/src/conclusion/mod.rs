//! What a verb concludes: a value with its reach, made only from what was asked, answered, lost and left out.
//!
//! "None", "same", "all", "complete", "lost 0", "MMQ" are statements that users rely on. Each is made by one of the functions of
//! [`Basis`], and nowhere else: a [`Conclusion`] has no public constructor and does not deserialise. A finding is certain however
//! little was examined. "Nothing found" and "no difference" reach exactly as far as the examination did; without any answer they
//! are unknown.
//!
//! No observer knows what it never looked at. A conclusion about all there is ([`Reach::Whole`]) needs a second account
//! ([`Account`], or a question that lists its own units: [`Basis::listed`]); without one it reaches as far as the observer
//! can see ([`Reach::Alone`]).

mod account;
mod basis;
mod statement;

pub use account::{Account, Blind, BlindSpot, Witness};
pub use basis::{Basis, LeftOut, Unit, Why as LeftOutWhy};
pub use statement::{Conclusion, Reach, Says, Word};
