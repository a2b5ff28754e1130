//! The append-only store of observations, hash-chained, and the proof that nothing was altered or lost.
