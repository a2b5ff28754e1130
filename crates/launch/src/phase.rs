//! Which phase of inference an evaluation belongs to.

say::named! {
    /// By the widths of an evaluation's products: one column is a decoded token. Of several, a prompt needs the output of its last
    /// one only, so that some product is narrower.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Phase: key {
        Prefill = "prefill",
        /// Several columns, all through: several sequences decoded at once, or a part of a prompt. Which is unknown.
        Batch = "batch",
        Decode = "decode",
        /// No multiplication in it.
        Other = "other",
    }
}
