//! An investigation run: every observer there is, what they saw, and every claim graded from it.
//!
//! It owns the registry. Nothing here looks at a machine itself, and nothing is printed.

mod registry;

