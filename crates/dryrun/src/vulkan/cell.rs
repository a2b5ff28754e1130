//! One cell of a map on Vulkan: a tensor type at a column count, the selected pipelines, and their label.

use super::VulkanRow;
use say::Message;
use schemars::JsonSchema;
use serde::Serialize;

/// One type at one column count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VulkanCell {
    /// Empty for a model whose tensors have several types.
    #[serde(rename = "type")]
    pub kind: String,
    pub columns: u64,
    /// A short label for a table: `mm-f16_f16acc_aligned_2+matrix`.
    pub label: String,
    /// Why there is no answer.
    #[serde(serialize_with = "say::in_english")]
    #[schemars(with = "Option<String>")]
    pub problem: Option<Message>,
    pub lost: u64,
    pub selected: Vec<VulkanRow>,
}

impl VulkanCell {
    pub(crate) fn new(kind: &str, columns: u64, selected: Vec<VulkanRow>, lost: u64) -> VulkanCell {
        let mut cell =
            VulkanCell { selected, lost, problem: None, ..VulkanCell::failed(kind, columns, &Message::verbatim("")) };
        cell.label = cell.label_of(kind);
        cell
    }

    pub(crate) fn failed(kind: &str, columns: u64, problem: &Message) -> VulkanCell {
        VulkanCell {
            kind: kind.to_owned(),
            columns,
            label: "!".to_owned(),
            problem: Some(problem.clone()),
            lost: 0,
            selected: Vec::new(),
        }
    }

    /// The products at the full width, most frequent first, without those for the last column alone.
    pub fn products(&self) -> impl Iterator<Item = &VulkanRow> {
        let own = |row: &VulkanRow| self.kind.is_empty() || row.kind.as_deref() == Some(&self.kind);
        let full = |row: &VulkanRow| row.columns.map(u64::from) == Some(self.columns);
        self.selected.iter().filter(move |row| row.path.is_some() && own(row) && full(row))
    }

    /// Whether the program reached this cell and dispatched a product of this width through Vulkan.
    pub fn is_answered(&self) -> bool {
        self.problem.is_none() && self.products().next().is_some()
    }

    /// The types of the cell's products, without duplicates.
    pub fn kinds(&self) -> Vec<String> {
        if !self.kind.is_empty() {
            return vec![self.kind.clone()];
        }
        let mut kinds: Vec<String> = self.products().filter_map(|row| row.kind.clone()).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// The label for one of its types; the part after `e:` is for experts.
    pub fn label_of(&self, kind: &str) -> String {
        let mut words: Vec<String> = Vec::new();
        for row in self.products().filter(|row| kind.is_empty() || row.kind.as_deref() == Some(kind)) {
            let word = word(row);
            if !words.contains(&word) {
                words.push(word);
            }
        }
        match (words.is_empty(), &self.problem) {
            (true, Some(_)) => "!".to_owned(),
            (true, None) => "-".to_owned(),
            (false, _) => words.join(","),
        }
    }
}

/// The kernel's name without the type, and whether its module multiplies matrices or bytes, because modules of both
/// kinds have the same name.
fn word(row: &VulkanRow) -> String {
    let name = row.kernel.as_str();
    let (start, rest) = match (name.strip_prefix("mul_mat_vec_"), name.strip_prefix("matmul_")) {
        (Some(rest), _) => ("vec", rest),
        (None, Some(rest)) => ("mm", rest),
        (None, None) => return name.to_owned(),
    };
    let rest = rest.strip_prefix("id_subgroup_").or_else(|| rest.strip_prefix("id_")).unwrap_or(rest);
    let kind = row.kind.as_deref().map(str::to_ascii_lowercase).unwrap_or_default();
    let rest = rest.strip_prefix("quant_").or_else(|| rest.strip_prefix(&format!("{kind}_"))).unwrap_or(rest);
    let feature = ["matrix", "dot"].iter().find(|name| row.features.iter().any(|feature| feature == *name));
    let experts = if row.by_id { "e:" } else { "" };
    format!("{experts}{start}-{rest}{}", feature.map(|name| format!("+{name}")).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &str, kind: &str, columns: u32, feature: &str) -> VulkanRow {
        let path = if kernel.starts_with("matmul") { "matmul" } else { "mul_mat_vec" };
        VulkanRow {
            kernel: kernel.into(),
            path: Some(path.into()),
            kind: Some(kind.into()),
            columns: Some(columns),
            by_id: kernel.contains("_id_"),
            features: vec!["subgroup".into(), feature.into()],
            launches: 1,
            ..VulkanRow::default()
        }
    }

    #[test]
    fn a_label_tells_the_same_name_apart_by_what_it_does() {
        let label = |row: VulkanRow| VulkanCell::new("Q4_K", 290, vec![row], 0).label;
        assert_eq!(label(row("matmul_q4_k_q8_1_1", "Q4_K", 290, "matrix")), "mm-q8_1_1+matrix");
        assert_eq!(label(row("matmul_q4_k_q8_1_1", "Q4_K", 290, "dot")), "mm-q8_1_1+dot");
        assert_eq!(label(row("matmul_quant_f32_f16acc_2", "Q4_K", 290, "f16")), "mm-f32_f16acc_2");
        assert_eq!(label(row("mul_mat_vec_id_q4_k_f32", "Q4_K", 290, "f16")), "e:vec-f32");
    }

    /// The single column of the last block occurs at every length, so it is not the answer for a length.
    #[test]
    fn another_width_or_type_is_no_answer() {
        for other in [row("mul_mat_vec_q4_k_f32_f32", "Q4_K", 1, ""), row("matmul_f32_f32_0", "F32", 290, "")] {
            let cell = VulkanCell::new("Q4_K", 290, vec![other], 0);
            assert!(!cell.is_answered());
            assert_eq!(cell.label, "-");
        }
        assert_eq!(VulkanCell::failed("Q4_K", 1, &Message::verbatim("killed")).label, "!");
    }
}
