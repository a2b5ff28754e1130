//! Compares the declared path of a source with the dry run's selection, cell by cell, and lists disagreements.

use crate::cell::{Way, WayShape};
use crate::plan::{Card, Map};
use answer::Answer;
use evidence::{Basis, Conclusion, Rung, Unit};
use gguf::Path;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The results of both sides for one cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Said {
    pub declared: Option<Way>,
    pub selected: Option<Way>,
}

impl Said {
    /// The comparable parts of both sides: the path, and its columns or tile. A side that saw only experts has no path,
    /// because experts follow another rule than the requested one.
    fn compared(&self) -> Option<[(Path, u64); 2]> {
        let (a, b) = (self.declared.as_ref()?, self.selected.as_ref()?);
        Some([(a.path?, a.tile), (b.path?, b.tile)])
    }

    pub fn is_compared(&self) -> bool {
        self.compared().is_some()
    }

    /// Whether the two sides differ. Only the dry run gives block sizes and fix-ups, so these are not compared. If the
    /// source gives no tile for a path (MMF), any tile agrees.
    pub fn disagrees(&self) -> bool {
        self.compared().is_some_and(|[(a, tile_a), (b, tile_b)]| a != b || (tile_a > 0 && tile_a != tile_b))
    }

    /// Whether the two sides agree. None if only one side has an answer.
    pub fn agrees(&self) -> Option<bool> {
        self.is_compared().then(|| !self.disagrees())
    }

    pub fn text(&self) -> String {
        match (&self.declared, &self.selected) {
            (Some(a), Some(b)) if self.disagrees() => format!("{} ≠ {}", a.label, b.label),
            (_, Some(one)) | (Some(one), None) => one.label.clone(),
            (None, None) => String::new(),
        }
    }
}

/// The results by type and column count.
pub type Cells = BTreeMap<(String, u64), Said>;

/// One card: the dry run's selection for it, and the source's declaration for its target.
#[derive(Debug)]
pub struct Sheet<'m> {
    /// The name that the user gave the card.
    pub given: &'m str,
    pub target: String,
    /// The dry run's map. None if nothing was run.
    pub map: Option<&'m Map>,
    pub cells: Cells,
}

impl<'m> Sheet<'m> {
    /// A sheet with the dry run's selection; the caller adds the declared side.
    pub fn new(given: &'m str, target: String, map: Option<&'m Map>) -> Sheet<'m> {
        let mut cells = Cells::new();
        for cell in map.into_iter().flat_map(|map| &map.cells) {
            for kind in cell.kinds() {
                let way = cell.way_of(&kind, map.and_then(wave));
                cells.entry((kind, cell.columns)).or_default().selected = Some(way);
            }
        }
        Sheet { given, target, map, cells }
    }

    /// The card's name, or the given text if no such card is known.
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

    /// The rung of this card's cells.
    pub fn rung(&self) -> Rung {
        if self.map.is_some() { Rung::Selected } else { Rung::Declared }
    }
}

/// Whether source and dry run agree. Only cells with both sides count.
pub fn agreement(sheets: &[Sheet<'_>]) -> Conclusion {
    let said = || sheets.iter().flat_map(|sheet| sheet.cells.values());
    let compared = said().filter(|said| said.is_compared()).count() as u64;
    let different = said().filter(|said| said.disagrees()).count() as u64;
    let of = sheets.iter().map(|sheet| &sheet.target);
    let basis = Basis::listed("source", of, Rung::Selected, Unit::Cells, said().count() as u64, compared);
    basis.by(crate::verdict::NAME).equality(different)
}

/// The output of `map`: path and tile for each type and column count, on each card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DispatchMaps<'m> {
    pub maps: Vec<DispatchMap<'m>>,
    /// Whether source and dry run agree. None if only one of them was used.
    pub agreement: Option<&'m Conclusion>,
}

impl Answer for DispatchMaps<'_> {
    const SCHEMA: &'static str = "whichkernel.map/4";
}

/// The map of one card.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DispatchMap<'m> {
    pub card: String,
    pub title: String,
    pub target: &'m str,
    /// `selected` if a program was run, otherwise `declared`.
    pub rung: Rung,
    /// Whether every requested cell has an answer.
    pub reach: Option<Conclusion>,
    /// Whether the libraries have code that the target can use.
    pub ships: Option<bool>,
    /// The target whose metadata was used instead, if the libraries have no code for the card.
    pub metadata_of: Option<&'m str>,
    pub cells: Vec<DispatchCell<'m>>,
}

/// One type at one column count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DispatchCell<'m> {
    #[serde(rename = "type")]
    pub kind: &'m str,
    pub columns: u64,
    /// The path that the source declares; null if no source was given.
    pub declared: Option<WayTaken<'m>>,
    /// The path that the dry run selected; null if nothing was run.
    pub selected: Option<WayTaken<'m>>,
    /// None if only one side has an answer.
    pub agree: Option<bool>,
}

/// The path of one cell.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WayTaken<'m> {
    /// The path as `source` names it: `MMQ`. Null if it is undetermined, nothing was seen, or only experts were seen.
    pub path: Option<&'static str>,
    /// Columns of a tile or a block; 0 if the path has none.
    pub tile: u64,
    /// The label in the table: `mmq112/+sk`; "?" undetermined, "-" nothing seen, "!" the run failed. The part after
    /// `e:` is for experts.
    pub label: &'m str,
    /// How the product is launched; null for libraries, if the shape is unknown, and with --no-shape.
    pub shape: Option<&'m WayShape>,
}

/// The threads in a wave of the card.
fn wave(map: &Map) -> Option<u32> {
    u32::try_from(map.plan.card.profile.get("warpSize")).ok()
}

impl<'m> From<&'m Way> for WayTaken<'m> {
    fn from(way: &'m Way) -> WayTaken<'m> {
        WayTaken { path: way.path.map(Path::name), tile: way.tile, label: &way.label, shape: way.shape.as_ref() }
    }
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
            declared: said.declared.as_ref().map(WayTaken::from),
            selected: said.selected.as_ref().map(WayTaken::from),
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

    fn way(path: Option<Path>, tile: u64, label: &str) -> Option<Way> {
        Some(Way { path, tile, label: label.to_owned(), shape: None })
    }

    fn mmq(tile: u64) -> Option<Way> {
        way(Some(Path::Mmq), tile, &format!("mmq{tile}"))
    }

    fn said(declared: Option<Way>, selected: Option<Way>) -> Said {
        Said { declared, selected }
    }

    #[test]
    fn only_what_both_speak_of_can_disagree() {
        let (unseen, open) = (way(None, 0, "-"), way(None, 0, "?"));
        assert!(!said(mmq(16), way(Some(Path::Mmq), 16, "mmq16/+sk")).disagrees());
        assert!(!said(way(Some(Path::Mmf), 0, "mmf"), way(Some(Path::Mmf), 7, "mmf7")).disagrees());
        assert!(!said(mmq(16), unseen.clone()).disagrees(), "nothing seen is not a contradiction");
        assert!(!said(open, mmq(16)).disagrees(), "nothing declared neither");
        assert!(!said(mmq(16), way(None, 0, "e:mmq16")).is_compared(), "experts go by a rule of their own");
        assert!(said(mmq(112), mmq(128)).disagrees());
        assert!(said(way(Some(Path::Blas), 0, "BLAS"), mmq(16)).disagrees());
        assert_eq!(said(mmq(112), mmq(128)).text(), "mmq112 ≠ mmq128");
        assert_eq!(said(mmq(16), unseen).text(), "-");
    }

    /// A cell with an answer from only one side is not an agreement, neither in the cell nor in the total.
    #[test]
    fn one_side_alone_agrees_with_nobody() {
        assert_eq!(said(mmq(16), mmq(16)).agrees(), Some(true));
        assert_eq!(said(mmq(16), way(None, 0, "-")).agrees(), None);
        assert_eq!(said(mmq(16), None).agrees(), None);
        let mut sheet = Sheet::new("rx-9070-xt", "gfx1201".to_owned(), None);
        sheet.cells.insert(("Q4_K".to_owned(), 1), said(mmq(8), mmq(8)));
        sheet.cells.insert(("Q4_K".to_owned(), 9), said(mmq(16), way(None, 0, "-")));
        let sheets = [sheet];
        let concluded = agreement(&sheets);
        assert!(!concluded.is_whole() && concluded.unanswered() == 1, "{concluded:?}");
        let maps = DispatchMaps::new(&sheets, Some(&concluded));
        let declared = maps.maps[0].cells[1].declared.as_ref().expect("asked");
        assert_eq!((declared.path, declared.tile, declared.label), (Some("MMQ"), 16, "mmq16"));
        assert_eq!(maps.maps[0].cells.iter().map(|cell| cell.agree).collect::<Vec<_>>(), [Some(true), None]);
    }
}
