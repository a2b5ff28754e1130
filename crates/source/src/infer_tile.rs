//! Infers tiles that neither a kernel parameter nor a variable of its launcher gives: in May 2024 they were fields of a
//! configuration. The number of blocks over the columns gives the width of a tile.

use crate::op::Op;
use crate::session::{Ended, Need, Session};
use cxx::eval::Handoff;
use cxx::sym::Sym;

/// The largest column count for which a tile is inferred.
const MOST: i64 = 1 << 16;

impl Session<'_> {
    /// The width of a tile over the columns, from the counts at which the number of blocks grows. None if it does not
    /// grow by equal steps, or if the grid is unknown.
    pub fn infer_tile(&mut self, op: &dyn Fn(i64) -> Op, launch: &Handoff, at: i64) -> Result<Option<i64>, Need> {
        let key = (launch.name, op(at).sources.first().cloned().flatten().map(|weights| weights.ty));
        let Some(grid) = grid_of(launch, at) else { return Ok(None) };
        let fits = |tile: i64| grid.iter().any(|blocks| at.saturating_add(tile - 1) / tile == *blocks);
        if let Some((_, tile)) = self.tiles.iter().find(|(known, tile)| *known == key && fits(*tile)) {
            return Ok(Some(*tile));
        }
        let trace = self.machine.trace.take();
        let traced = std::mem::take(&mut self.machine.traced);
        let tile = self.measure(op, launch.name, at, grid);
        (self.machine.trace, self.machine.traced) = (trace, traced);
        let tile = tile?.filter(|tile| fits(*tile));
        if let Some(tile) = tile {
            self.tiles.push((key, tile));
        }
        Ok(tile)
    }

    fn measure(&mut self, op: &dyn Fn(i64) -> Op, kernel: Sym, at: i64, grid: [i64; 3]) -> Result<Option<i64>, Need> {
        let (mut low, mut high) = ((at, grid), (at, grid));
        while low.0 > 1
            && let Some(found) = self.grid(op, kernel, low.0 / 2)?
        {
            low = (low.0 / 2, found);
        }
        while high.0 < MOST
            && let Some(found) = self.grid(op, kernel, high.0 * 2)?
        {
            high = (high.0 * 2, found);
        }
        let Some(axis) = (0..3).find(|&axis| low.1.get(axis) != high.1.get(axis)) else { return Ok(None) };
        let blocks = |grid: [i64; 3]| grid.get(axis).copied().unwrap_or(0);
        let first = blocks(low.1).saturating_add(1);
        if blocks(high.1) <= first {
            return Ok(None);
        }
        let mut edges = [0; 2];
        for (edge, wanted) in edges.iter_mut().zip([first, first + 1]) {
            let (mut below, mut above) = (low.0, high.0);
            while above - below > 1 {
                let middle = below + (above - below) / 2;
                match self.grid(op, kernel, middle)? {
                    Some(grid) if blocks(grid) >= wanted => above = middle,
                    Some(_) => below = middle,
                    None => return Ok(None),
                }
            }
            *edge = above;
        }
        Ok(Some(edges[1] - edges[0]).filter(|tile| *tile > 0))
    }

    /// The grid at one column count, if the same kernel is launched.
    fn grid(&mut self, op: &dyn Fn(i64) -> Op, kernel: Sym, at: i64) -> Result<Option<[i64; 3]>, Need> {
        self.machine.reset(at, at);
        self.machine.script.clear();
        Ok(match self.run(&op(at))? {
            Ended::Launched(launch) if launch.name == kernel => grid_of(&launch, at),
            _ => None,
        })
    }
}

fn grid_of(launch: &Handoff, at: i64) -> Option<[i64; 3]> {
    let Ok([x, y, z]) = launch.config.as_ref()?.first()? else { return None };
    Some([x.at(at)?, y.at(at)?, z.at(at)?])
}
