//! GPUs as data: one profile per card with the origin of every number, target ids, occupancy.
#![forbid(unsafe_code)]
