//! Name lookup by unit and namespace. Units are compiled separately: a `static`, a constant or an enum of one unit is
//! never visible in another, even with the same name.

use super::Program;
use crate::syntax::ast::{Enum, INTERNAL, Segment, View};
use crate::syntax::files::Span;
use crate::syntax::sym::{self, Sym};

/// The position of a declaration, and whether it is visible only in its unit.
#[derive(Debug, Clone, Copy)]
struct Home {
    unit: u32,
    space: u32,
    internal: bool,
}

impl Program {
    /// The overloads that a name may refer to, before their parameters are considered.
    pub fn visible_functions(&self, name: Sym, path: &[Segment], view: View) -> Vec<u32> {
        // With `using a::name`, the namespace is not tracked. All candidates are returned, and several count as none.
        if path.is_empty() && self.brought.contains(&(view.unit, name)) {
            return self.overloads(name).to_vec();
        }
        self.visible_among(self.overloads(name), path, view)
    }

    /// Like [`Self::visible_functions`], for a given list of overloads, such as those declared so far.
    pub fn visible_among(&self, list: &[u32], path: &[Segment], view: View) -> Vec<u32> {
        let home = |index: u32| {
            let function = self.function(index)?;
            Some(Home { unit: function.unit, space: function.space, internal: function.attrs & INTERNAL != 0 })
        };
        self.visible(list, path, view, home)
    }

    /// The variable that a name refers to at its use. If the name's own unit does not define it, variables of other
    /// units are considered.
    pub fn visible_global(&self, name: Sym, path: &[Segment], view: View, at: Span) -> Option<u32> {
        let all = self.globals_named(name);
        if let [only] = all {
            return Some(*only);
        }
        // A variable declared further down in the same file is not visible here. A variable in a namespace that a
        // function opens may be.
        let of = |index: &u32| self.globals.get(*index as usize);
        let later = |index: &u32| of(index).is_some_and(|it| it.span.file == at.file && it.span.start > at.start);
        let opened = |index: &u32| {
            of(index)
                .is_some_and(|it| self.space(it.space).last().is_some_and(|last| self.spelled.opened.contains(last)))
        };
        if path.is_empty() && all.iter().any(opened) {
            return None;
        }
        let before: Vec<u32> = all.iter().copied().filter(|index| !later(index)).collect();
        let list = if before.is_empty() { all } else { &before };
        let home = |index: u32| {
            let global = self.globals.get(index as usize)?;
            Some(Home { unit: global.unit, space: global.space, internal: global.internal })
        };
        let seen = self.visible(list, path, view, home);
        let external = |index: &&u32| self.globals.get(**index as usize).is_some_and(|global| global.external);
        // If this unit only declares the variable, another unit defines it.
        let own = seen.iter().find(|index| !external(index));
        let elsewhere = || {
            let others = list.iter().filter(|index| !external(index));
            others.into_iter().find(|&&index| home(index).is_some_and(|home| !home.internal))
        };
        own.or_else(elsewhere).or(seen.first()).copied()
    }

    /// The enum that an enumerator belongs to, and its position in it.
    pub fn visible_enumerator(&self, name: Sym, path: &[Segment], view: View) -> Option<(u32, u32)> {
        let list = self.enumerators_named(name);
        let of = |(index, _): &(u32, u32)| self.enums.get(*index as usize);
        // The enum named before the enumerator. It is required for a scoped enum.
        let enum_name = path.last().map(|segment| segment.sym).filter(|name| self.is_enum(*name));
        let belongs = |found: &Enum| match enum_name {
            Some(_) => found.name == enum_name,
            None => !found.scoped,
        };
        let (list, path) = match list.iter().all(|item| of(item).is_none_or(belongs)) {
            true => (list.to_vec(), path),
            false => (list.iter().copied().filter(|item| of(item).is_none_or(belongs)).collect(), path),
        };
        let path = path.get(..path.len().saturating_sub(usize::from(enum_name.is_some()))).unwrap_or_default();
        if let [only] = list.as_slice() {
            return Some(*only);
        }
        // Most enums are outside any namespace, and each unit has its own copy.
        let found = |index: u32| self.enums.get(index as usize);
        if list.iter().all(|(index, _)| found(*index).is_some_and(|found| found.space == 0)) {
            let own = |(index, _): &&(u32, u32)| found(*index).is_some_and(|found| found.unit == view.unit);
            return list.iter().find(own).or(list.first()).copied();
        }
        let home = |index: u32| {
            let found = found(index)?;
            Some(Home { unit: found.unit, space: found.space, internal: false })
        };
        let indices: Vec<u32> = list.iter().map(|(index, _)| *index).collect();
        let seen = self.visible(&indices, path, view, home);
        list.iter().find(|(index, _)| Some(index) == seen.first()).copied()
    }

    /// Candidates from the same unit, then from other units, filtered by namespace or qualification.
    fn visible(&self, list: &[u32], path: &[Segment], view: View, home: impl Fn(u32) -> Option<Home>) -> Vec<u32> {
        if list.len() < 2 {
            return list.to_vec();
        }
        let homes: Vec<(u32, Home)> = list.iter().filter_map(|&index| Some((index, home(index)?))).collect();
        let near = |wanted: &dyn Fn(&Home) -> bool| -> Vec<(u32, Home)> {
            homes.iter().filter(|(_, home)| wanted(home)).copied().collect()
        };
        let mut seen = near(&|home| home.unit == view.unit);
        // Definitions in other units are kept: a function declared here may be defined there.
        seen.extend(near(&|home| home.unit != view.unit && (!home.internal || view == View::ANYWHERE)));
        if seen.is_empty() {
            seen = homes.clone();
        }
        let spaces = |seen: &[(u32, Home)], fits: &dyn Fn(&[Sym]) -> bool| -> Vec<u32> {
            seen.iter().filter(|(_, home)| fits(self.space(home.space))).map(|(index, _)| *index).collect()
        };
        if seen.iter().all(|(_, home)| home.space == 0) {
            return seen.into_iter().map(|(index, _)| index).collect();
        }
        let qualified: Vec<Sym> = path.iter().map(|segment| segment.sym).filter(|sym| *sym != sym::STD).collect();
        let mut found = Vec::new();
        // Namespace aliases are not followed. All candidates are returned, and several count as none.
        if qualified.iter().any(|name| self.spelled.aliases.contains(name)) {
            return seen.into_iter().map(|(index, _)| index).collect();
        }
        if qualified.is_empty() {
            // Search from the innermost namespace outwards.
            let here = self.space(view.space);
            for depth in (0..=here.len()).rev() {
                let around = here.get(..depth).unwrap_or_default();
                found = spaces(&seen, &|space| space == around);
                if !found.is_empty() {
                    break;
                }
            }
            let opened = |space: &[Sym]| space.last().is_some_and(|last| self.opens(view.unit, *last));
            found.extend(spaces(&seen, &opened));
        } else {
            found = spaces(&seen, &|space| space.ends_with(&qualified));
        }
        if found.is_empty() { seen.into_iter().map(|(index, _)| index).collect() } else { found }
    }
}
