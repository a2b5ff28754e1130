//! Questions about GEMM kernels: the catalog, the products, and the answers. Shared by `explain gemm`, `diff --gemm`,
//! `map --library`, `source`, `dryrun` and `watch`.

mod answer;
mod catalog;
mod change;
mod in_source;
mod launched;
mod model;
mod product;
mod reading;
mod recorded;
mod table_file;
mod words;

pub use answer::{Choices, why};
pub use catalog::{Blas, Catalog};
pub use change::{Change, change};
pub use in_source::in_source;
pub use launched::{Launched, launched_section};
pub use model::products_of;
pub use product::{Ask, Product};
pub use reading::{Reading, read as read_code};
pub use recorded::{Explained, Recorded, section};
pub use table_file::read as read_products;
pub use words::{described, headline, ops, reason, short, tile};

use crate::asked::gemm::product::Unclear;
use tensile::select::{Choice, NotComputed, Selector, Uncovered};

/// A product and the library's choice for it.
#[derive(Debug)]
pub struct Answered {
    pub product: Product,
    pub choice: Choice,
    /// A word of the product that was not understood.
    pub unclear: Option<Unclear>,
}

/// Computes the answer for each product; a product with an unknown word gets none.
pub fn answered(selector: &Selector<'_>, products: Vec<Product>) -> Vec<Answered> {
    let ask = |product: Product| {
        let choice = match &product.unclear {
            None => selector.choose(&product.call),
            Some(_) => Choice::NotComputed(NotComputed::Call(Uncovered::Unclear)),
        };
        let unclear = product.unclear.clone();
        Answered { product, choice, unclear }
    };
    products.into_iter().map(ask).collect()
}
