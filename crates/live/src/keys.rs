//! The user's selections: pane, row, order, filter, frozen screen. No key changes the target.

use crate::snapshot::{Kernel, Process, Snapshot, State};
use crate::{KeyCode, KeyEvent, KeyModifiers};
use launch::Phase;
use std::cmp::Ordering;
use std::time::Duration;
use watch::Name;

/// Rows keep their place this long, unless a key changes the order.
const SETTLED: Duration = Duration::from_secs(3);
const PAGE: usize = 10;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    Processes,
    #[default]
    Kernels,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sort {
    #[default]
    PerSecond,
    PerToken,
    Share,
    Columns,
    Phase,
    Name,
}

impl Sort {
    const ALL: [Sort; 6] = [Sort::PerSecond, Sort::PerToken, Sort::Share, Sort::Columns, Sort::Phase, Sort::Name];

    fn next(self) -> Sort {
        let at = Sort::ALL.iter().position(|sort| *sort == self).unwrap_or(0);
        Sort::ALL.get(at + 1).copied().unwrap_or_default()
    }

    /// Sorts numbers in descending and words in ascending order.
    fn compare(self, a: &Kernel, b: &Kernel) -> Ordering {
        let by = match self {
            Sort::PerSecond => b.per_second.unwrap_or(-1.0).total_cmp(&a.per_second.unwrap_or(-1.0)),
            Sort::PerToken => b.per_token.unwrap_or(-1.0).total_cmp(&a.per_token.unwrap_or(-1.0)),
            Sort::Share => b.row.share.total_cmp(&a.row.share),
            Sort::Columns => b.row.ne11.cmp(&a.row.ne11),
            Sort::Phase => a.row.phase.cmp(&b.row.phase),
            Sort::Name => a.row.kernel.cmp(&b.row.kernel),
        };
        by.then(b.row.launches.cmp(&a.row.launches)).then(a.row.name.cmp(&b.row.name))
    }
}

/// The screen that covers the panes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Over {
    #[default]
    Nothing,
    Help,
    Claims,
    Kernel,
}

/// The action that the caller must take after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    Draw,
    Quit,
    Save,
    Suspend,
}

/// The identity of a kernel's row.
pub type RowId = (Phase, Name, Option<u64>, [u32; 3], String);

pub(crate) fn id(kernel: &Kernel) -> RowId {
    let row = &kernel.row;
    (row.phase, row.name.clone(), row.ne11, row.block, row.file.clone())
}

#[derive(Debug, Clone, Default)]
pub struct View {
    pub(crate) pane: Pane,
    pub(crate) sort: Sort,
    pub(crate) reverse: bool,
    pub(crate) filter: String,
    /// Whether the filter is being typed.
    pub(crate) typing: bool,
    pub(crate) over: Over,
    pub(crate) frozen: Option<Box<Snapshot>>,
    process: Option<u32>,
    kernel: Option<RowId>,
    order: Vec<RowId>,
    /// When and for which process the order was made; None after a key changed it.
    ordered: Option<(Duration, Option<u32>)>,
    /// A remark in place of the newest gap, until the next key.
    pub remark: Option<String>,
}

impl View {
    /// The snapshot that the panes show; lines 1 and 2 always show the newest one.
    pub(crate) fn shown<'s>(&'s self, now: &'s Snapshot) -> &'s Snapshot {
        self.frozen.as_deref().unwrap_or(now)
    }

    pub(crate) fn process<'s>(&self, of: &'s Snapshot) -> Option<&'s Process> {
        let chosen = of.processes.iter().find(|process| Some(process.pid) == self.process);
        chosen.or_else(|| of.processes.first())
    }

    /// The kernels of the chosen process that match the filter, in the order of the screen.
    pub(crate) fn kernels<'s>(&self, of: &'s Snapshot) -> Vec<&'s Kernel> {
        let all = self.process(of).map_or(&[][..], |process| &process.kernels);
        let find = |wanted: &RowId| all.iter().find(|kernel| id(kernel) == *wanted);
        self.order.iter().filter_map(find).filter(|kernel| self.matches(kernel)).collect()
    }

    fn matches(&self, kernel: &Kernel) -> bool {
        let wanted = self.filter.to_lowercase();
        let row = &kernel.row;
        let path = row.path.map(|path| path.to_string()).unwrap_or_default();
        let texts = [&row.kernel, &row.name.text(), &path, row.weights.as_ref().unwrap_or(&path)];
        texts.iter().any(|text| text.to_lowercase().contains(&wanted))
    }

    /// The index of the chosen kernel among these.
    pub(crate) fn at(&self, kernels: &[&Kernel]) -> usize {
        kernels.iter().position(|kernel| Some(id(kernel)) == self.kernel).unwrap_or(0)
    }

    /// The kernel whose detail is shown, or would be.
    pub fn chosen<'s>(&self, now: &'s Snapshot) -> Option<&'s Kernel> {
        // A frozen kernel is looked up in the newest snapshot, which has every row that it had.
        let kernels = self.kernels(now);
        kernels.get(self.at(&kernels)).copied()
    }

    /// The chosen process.
    pub fn pid(&self, now: &Snapshot) -> Option<u32> {
        self.process(now).map(|process| process.pid)
    }

    /// Whether the screen shows a kernel's detail.
    pub fn is_open(&self) -> bool {
        self.over == Over::Kernel
    }

    /// Adds a new snapshot. New rows are appended until the order is computed again.
    pub fn refresh(&mut self, now: &Snapshot) {
        let frozen = self.frozen.take();
        let shown = frozen.as_deref().unwrap_or(now);
        let pid = self.process(shown).map(|process| process.pid);
        let all = self.process(shown).map_or(&[][..], |process| &process.kernels);
        let settled = |(at, of)| of == pid && (frozen.is_some() || now.elapsed < at + SETTLED);
        if self.ordered.is_some_and(settled) {
            let new = all.iter().map(id).filter(|id| !self.order.contains(id)).collect::<Vec<_>>();
            self.order.extend(new);
        } else {
            let mut sorted: Vec<&Kernel> = all.iter().collect();
            sorted.sort_by(|a, b| self.sort.compare(a, b));
            if self.reverse {
                sorted.reverse();
            }
            self.order = sorted.into_iter().map(id).collect();
            self.ordered = Some((now.elapsed, pid));
        }
        self.frozen = frozen;
    }

    pub fn key(&mut self, key: KeyEvent, now: &Snapshot) -> Act {
        self.remark = None;
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if control => return Act::Quit,
            KeyCode::Char('z') if control => return Act::Suspend,
            _ if control => return Act::Draw,
            _ if self.typing => self.type_filter(key.code),
            KeyCode::Char('q') => return Act::Quit,
            KeyCode::Enter if matches!(now.state, State::Ended(_)) && self.over == Over::Nothing => return Act::Quit,
            KeyCode::Char('w') => return Act::Save,
            KeyCode::Char(' ') => {
                self.frozen = match self.frozen.take() {
                    Some(_) => None,
                    None => Some(Box::new(now.clone())),
                };
            }
            KeyCode::Char('?') => self.toggle(Over::Help),
            KeyCode::Char('c') => self.toggle(Over::Claims),
            KeyCode::Enter => {
                self.over = if self.pane == Pane::Processes { Over::Claims } else { Over::Kernel };
            }
            KeyCode::Esc if self.over != Over::Nothing => self.over = Over::Nothing,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Tab | KeyCode::BackTab => {
                self.pane = if self.pane == Pane::Kernels { Pane::Processes } else { Pane::Kernels };
            }
            KeyCode::Char('s') => (self.sort, self.ordered) = (self.sort.next(), None),
            KeyCode::Char('r') => (self.reverse, self.ordered) = (!self.reverse, None),
            KeyCode::Char('/') if self.over == Over::Nothing => self.typing = true,
            KeyCode::Down | KeyCode::Char('j') => self.step(now, 1, false),
            KeyCode::Up | KeyCode::Char('k') => self.step(now, 1, true),
            KeyCode::PageDown => self.step(now, PAGE, false),
            KeyCode::PageUp => self.step(now, PAGE, true),
            _ => {}
        }
        self.refresh(now);
        Act::Draw
    }

    fn type_filter(&mut self, code: KeyCode) {
        /// No kernel needs a longer filter to be found by name.
        const MOST: usize = 64;
        match code {
            KeyCode::Enter => self.typing = false,
            KeyCode::Esc => (self.typing, self.filter) = (false, String::new()),
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(c) if self.filter.chars().count() < MOST => self.filter.push(c),
            _ => {}
        }
    }

    fn toggle(&mut self, over: Over) {
        self.over = if self.over == over { Over::Nothing } else { over };
    }

    fn step(&mut self, now: &Snapshot, by: usize, up: bool) {
        let moved = |at: usize, count: usize| match up {
            true => at.saturating_sub(by),
            false => (at + by).min(count.saturating_sub(1)),
        };
        let shown = self.shown(now);
        if self.pane == Pane::Processes {
            let pid = self.process(shown).map(|process| process.pid);
            let at = shown.processes.iter().position(|process| Some(process.pid) == pid).unwrap_or(0);
            self.process = shown.processes.get(moved(at, shown.processes.len())).map(|process| process.pid);
        } else {
            let kernels = self.kernels(shown);
            self.kernel = kernels.get(moved(self.at(&kernels), kernels.len())).map(|kernel| id(kernel));
        }
    }
}
