//! The phase of inference that an evaluation belongs to.

say::named! {
    /// The phase follows from the widths of an evaluation's products. One column is a decoded token. A prompt with
    /// several columns needs only the output of its last column, so some product is narrower.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Phase: key {
        Prefill = "prefill",
        /// All products have several columns: several sequences are decoded at once, or it is a part of a prompt. It is
        /// unknown which.
        Batch = "batch",
        Decode = "decode",
        /// An evaluation without a multiplication.
        Other = "other",
    }
}
