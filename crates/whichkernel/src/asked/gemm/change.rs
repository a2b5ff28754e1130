//! The difference between two releases for the same product.

use super::Answered;
use schemars::JsonSchema;
use serde::Serialize;
use tensile::kernel_name;
use tensile::select::{Choice, Chosen};

/// The difference for one product.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Change {
    pub id: String,
    /// tile, kernel, other or not-computed
    pub change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_a: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_b: Option<i64>,
    /// M, N and K of the macro tile, as 128x128x32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile_a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile_b: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_a: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_b: Option<String>,
    /// The size ratio of the two macro tiles.
    pub factor: f64,
    /// The number of parameters with different values in the two kernel names.
    pub parameters: usize,
}

/// None if both are the same kernel, even under different names.
pub fn change(a: &Answered, b: &Answered) -> Option<Change> {
    let kind = match (&a.choice, &b.choice) {
        (Choice::NotComputed(_), _) | (_, Choice::NotComputed(_)) => "not-computed",
        (Choice::Determined(one), Choice::Determined(other)) => of_kernels(one, other)?,
        (Choice::OneOf(one), Choice::OneOf(other)) if same_set(one, other) => return None,
        (one, other) if one == other => return None,
        _ => "other",
    };
    let (one, other) = (determined(&a.choice), determined(&b.choice));
    let area = |chosen: &Chosen| (chosen.macro_tile[0] * chosen.macro_tile[1]).max(1) as f64;
    let factor = match (one, other) {
        (Some(one), Some(other)) => (area(one) / area(other)).max(area(other) / area(one)),
        _ => 1.0,
    };
    let tile = |chosen: &Chosen| format!("{}x{}x{}", chosen.macro_tile[0], chosen.macro_tile[1], chosen.depth_u);
    let parsed =
        one.zip(other).and_then(|(a, b)| Some((kernel_name::parse(&a.kernel)?, kernel_name::parse(&b.kernel)?)));
    Some(Change {
        id: a.product.id.clone(),
        change: kind,
        index_a: one.map(|chosen| chosen.index),
        index_b: other.map(|chosen| chosen.index),
        tile_a: one.map(tile),
        tile_b: other.map(tile),
        kernel_a: one.map(|chosen| chosen.kernel.clone()),
        kernel_b: other.map(|chosen| chosen.kernel.clone()),
        factor,
        parameters: parsed.map_or(0, |(a, b)| a.changed(&b).len()),
    })
}

fn determined(choice: &Choice) -> Option<&Chosen> {
    if let Choice::Determined(chosen) = choice { Some(chosen) } else { None }
}

/// None if both are the same kernel. Solution numbers and names change between releases, so the parameters in the names
/// are compared.
fn of_kernels(a: &Chosen, b: &Chosen) -> Option<&'static str> {
    if (a.macro_tile, a.depth_u) != (b.macro_tile, b.depth_u) {
        return Some("tile");
    }
    let same = match (kernel_name::parse(&a.name), kernel_name::parse(&b.name)) {
        (Some(one), Some(other)) => one.is_renamed(&other),
        _ => a.kernel == b.kernel,
    };
    (!same).then_some("kernel")
}

fn same_set(a: &[Chosen], b: &[Chosen]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| of_kernels(a, b).is_none())
}
