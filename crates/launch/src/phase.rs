//! The phase of inference that an evaluation belongs to.

say::named! {
    /// Determined by the widths of an evaluation's products: one column is a decoded token. A prompt with several
    /// columns needs only the output of its last one, so some product is narrower.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Phase: key {
        Prefill = "prefill",
        /// Several columns throughout: several sequences decoded at once, or a part of a prompt. It is unknown which.
        Batch = "batch",
        Decode = "decode",
        /// An evaluation without a multiplication.
        Other = "other",
    }
}
