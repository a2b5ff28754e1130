//! What a source declares beside what the dry run selected, cell by cell, with disagreements.

use crate::{Map, plan::Card};
use answer::Answer;
use evidence::{Basis, Conclusion, Rung, Unit};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What one side says of one cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    /// `mmq112`; "?" where the source leaves it undetermined.
    pub declared: Option<String>,
    /// `mmq112/+sk`; "-" where nothing was seen, "!" where the run failed.
    pub selected: Option<String>,
}

impl Said {
    /// Both sides say something that can be held against the other: path and columns or tile. Experts go by a rule of their
    /// own, which is not the one that was asked for.
    pub fn is_compared(&self) -> bool {
        let declared = self.declared.as_deref().is_some_and(|label| label != "?");
        declared
            && self.selected.as_deref().is_some_and(|label| !matches!(label, "-" | "!") && !label.starts_with("e:"))
    }

    /// Block sizes and fix-ups are the dry run's alone.
    pub fn disagrees(&self) -> bool {
        let plain = |label: &str| label.split(['/', ',']).next().unwrap_or_default().to_ascii_lowercase();
        match (&self.declared, &self.selected) {
            (Some(a), Some(b)) if self.is_compared() => {
                let (a, b) = (plain(a), plain(b));
                // A path without a number (MMF in source) agrees with any number of that path.
                !(a == b || b.trim_end_matches(|c: char| c.is_ascii_digit()) == a)
            }
            _ => false,
        }
    }

    /// None where only one of them speaks: then nobody can say.
    pub fn agrees(&self) -> Option<bool> {
        self.is_compared().then(|| !self.disagrees())
    }

    pub fn text(&self) -> String {
        match (&self.declared, &self.selected) {
            (Some(a), Some(b)) if self.disagrees() => format!("{a} ≠ {b}"),
            (_, Some(b)) => b.clone(),
            (Some(a), None) => a.clone(),
            (None, None) => String::new(),
        }
    }
}

/// By type and column count.
pub type Cells = BTreeMap<(String, u64), Said>;

/// One card: what the dry run selected for it, and what the source declares for its target.
#[derive(Debug)]
pub struct Sheet<'m> {
    /// As it was named.
    pub given: &'m str,
    pub target: String,
    /// None where nothing was run.
    pub map: Option<&'m Map>,
    pub cells: Cells,
}

impl<'m> Sheet<'m> {
    /// With what the dry run selected; the declared side is the caller's to add.
    pub fn new(given: &'m str, target: String, map: Option<&'m Map>) -> Sheet<'m> {
        let mut cells = Cells::new();
        for cell in map.into_iter().flat_map(|map| &map.cells) {
            for kind in cell.kinds() {
                let label = cell.label_of(&kind);
                cells.entry((kind, cell.columns)).or_default().selected = Some(label);
            }
        }
        Sheet { given, target, map, cells }
    }

    /// The card's name, or what was given where no such card is known.
    pub fn card(&self) -> String {
        match self.map {
            Some(map) => map.plan.card.profile.name.clone(),
            None => gpu::find(self.given).map_or_else(|_| self.given.to_owned(), |profile| profile.name.clone()),
        }
    }

    pub fn title(&self) -> String {
        let name = |card: &Card| card.profile.title.clone();
        format!("{} ({})", self.map.map_or_else(|| self.given.to_owned(), |map| name(&map.plan.card)), self.target)
    }

    /// What its cells stand on.
    pub fn rung(&self) -> Rung {
        if self.map.is_some() { Rung::Selected } else { Rung::Declared }
    }
}

/// Do source and dry run agree? Only cells of which both speak are answers.
pub fn agreement(sheets: &[Sheet<'_>]) -> Conclusion {
    let said = || sheets.iter().flat_map(|sheet| sheet.cells.values());
    let compared = said().filter(|said| said.is_compared()).count() as u64;
    let different = said().filter(|said| said.disagrees()).count() as u64;
    let of = sheets.iter().map(|sheet| &sheet.target);
    let basis = Basis::new("source", of, Rung::Selected, Unit::Cells, said().count() as u64, compared);
    basis.by(crate::sightings::NAME).equality(different)
}

/// What `map` answers: type and columns to path and tile, for each card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DispatchMaps<'m> {
    pub maps: Vec<DispatchMap<'m>>,
    /// Do source and dry run agree? None where only one of them was asked.
    pub agreement: Option<&'m Conclusion>,
}

impl Answer for DispatchMaps<'_> {
    const SCHEMA: &'static str = "whichkernel.map/3";
}

/// The map of one card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DispatchMap<'m> {
    pub card: String,
    pub title: String,
    pub target: &'m str,
    /// `selected` where something was run, else `declared`.
    pub rung: Rung,
    /// Whether every cell that was asked for is answered.
    pub reach: Option<Conclusion>,
    /// The libraries have code that the target takes.
    pub ships: Option<bool>,
    /// Whose metadata stood in where they have not.
    pub metadata_of: Option<&'m str>,
    pub cells: Vec<DispatchCell<'m>>,
}

/// One type at one column count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DispatchCell<'m> {
    #[serde(rename = "type")]
    pub kind: &'m str,
    pub columns: u64,
    /// What the source declares: `mmq112`; "?" where it leaves it undetermined.
    pub declared: Option<&'m str>,
    /// What the dry run selected: `mmq112/+sk`; "-" where nothing was seen, "!" where the run failed.
    pub selected: Option<&'m str>,
    /// None where only one of them speaks.
    pub agree: Option<bool>,
}

impl<'m> DispatchMaps<'m> {
    pub fn new(sheets: &'m [Sheet<'m>], agreement: Option<&'m Conclusion>) -> DispatchMaps<'m> {
        DispatchMaps { maps: sheets.iter().map(DispatchMap::from).collect(), agreement }
    }
}

impl<'m> From<&'m Sheet<'m>> for DispatchMap<'m> {
    fn from(sheet: &'m Sheet<'m>) -> DispatchMap<'m> {
        let cell = |((kind, columns), said): (&'m (String, u64), &'m Said)| DispatchCell {
            kind,
            columns: *columns,
            declared: said.declared.as_deref(),
            selected: said.selected.as_deref(),
            agree: said.agrees(),
        };
        DispatchMap {
            card: sheet.card(),
            title: sheet.title(),
            target: &sheet.target,
            rung: sheet.rung(),
            reach: sheet.map.map(Map::reach),
            ships: sheet.map.map(|map| map.plan.described.ships),
            metadata_of: sheet.map.and_then(|map| map.plan.described.near.as_deref()),
            cells: sheet.cells.iter().map(cell).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(declared: &str, selected: &str) -> Said {
        Said { declared: Some(declared.into()), selected: Some(selected.into()) }
    }

    #[test]
    fn only_what_both_speak_of_can_disagree() {
        assert!(!said("mmq16", "mmq16/+sk").disagrees());
        assert!(!said("mmvf1", "mmvf1/256").disagrees());
        assert!(!said("mmf", "mmf7").disagrees());
        assert!(!said("mmq16", "-").disagrees(), "nothing seen is not a contradiction");
        assert!(!said("?", "mmq16").disagrees(), "nothing declared neither");
        assert!(said("mmq112", "mmq128").disagrees());
        assert!(said("BLAS", "mmq16").disagrees());
        assert_eq!(said("mmq112", "mmq128").text(), "mmq112 ≠ mmq128");
    }

    /// A cell of which only one of them speaks is no agreement: not in the cell, and not in the sum.
    #[test]
    fn one_side_alone_agrees_with_nobody() {
        assert_eq!(said("mmq16", "mmq16").agrees(), Some(true));
        assert_eq!(said("mmq16", "-").agrees(), None);
        assert_eq!(Said { declared: Some("mmq16".into()), selected: None }.agrees(), None);
        let mut sheet = Sheet::new("rx-9070-xt", "gfx1201".to_owned(), None);
        sheet.cells.insert(("Q4_K".to_owned(), 1), said("mmvq1", "mmvq1"));
        sheet.cells.insert(("Q4_K".to_owned(), 9), said("mmq16", "-"));
        let sheets = [sheet];
        let concluded = agreement(&sheets);
        assert!(!concluded.is_whole() && concluded.unanswered() == 1, "{concluded:?}");
        let maps = DispatchMaps::new(&sheets, Some(&concluded));
        assert_eq!(maps.maps[0].cells.iter().map(|cell| cell.agree).collect::<Vec<_>>(), [Some(true), None]);
    }
}
