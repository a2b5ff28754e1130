//! What may be said: rungs, subjects, coverage, grades, claims and investigation files.
//!
//! Pure: no I/O, no clock. Grades are computed from observations, never typed in.
#![forbid(unsafe_code)]
