//! The census as tables: one row per group for users, one row per count for programs.

use crate::context::Context;
use isa::Family;
use isa::census::Tally;
use observe::census::{By, Group, Groups, Key};
use report::thousands;
use report::{Column, Table};

/// Columns of the overview, each the sum of related families.
const COLUMNS: [(&str, &[Family]); 14] = [
    ("fma", &[Family::Fma]),
    ("dot", &[Family::Dot]),
    ("mfma", &[Family::Mfma]),
    ("smfmac", &[Family::Smfmac]),
    ("wmma", &[Family::Wmma]),
    ("swmmac", &[Family::Swmmac]),
    (
        "vector",
        &[
            Family::Vector,
            Family::IntegerMad,
            Family::Compare,
            Family::Transcendental,
            Family::Lane,
            Family::Accumulator,
        ],
    ),
    ("convert", &[Family::Convert]),
    ("load", &[Family::GlobalLoad, Family::FlatLoad, Family::BufferLoad]),
    ("store", &[Family::GlobalStore, Family::FlatStore, Family::BufferStore]),
    ("lds", &[Family::LdsLoad, Family::LdsStore, Family::LdsAtomic, Family::LdsPermute]),
    ("scalar-load", &[Family::ScalarLoad]),
    ("branch", &[Family::Branch, Family::Call]),
    ("wait", &[Family::Wait, Family::Barrier]),
];

/// One row per group. With mnemonics, or if there is only one group, one row per count instead.
pub fn of(groups: &Groups, mnemonics: bool, context: &Context) -> Table {
    if mnemonics || (groups.groups.len() == 1 && groups.by != By::Kernel) {
        return counts(groups, mnemonics, context);
    }
    let title = |key: &str| context.lang.text(key);
    let mut columns = keys(groups.by, context);
    if groups.by == By::Kernel {
        for (key, name) in
            [("vgpr", "isa-vgpr"), ("sgpr", "isa-sgpr"), ("lds_bytes", "isa-lds"), ("wavefront", "isa-wavefront")]
        {
            columns.push(Column::right(key, title(name)));
        }
        columns.push(Column::left("stub", title("isa-stub")));
    } else {
        columns.push(Column::right("kernels", title("isa-kernels")));
        columns.push(Column::right("stubs", title("isa-stubs")));
    }
    columns.push(Column::right("instructions", title("isa-instructions")));
    columns.extend(COLUMNS.iter().map(|(name, _)| Column::right(name, *name)));
    columns.push(Column::right("undecoded", title("isa-undecoded")));
    let mut table = Table::new(columns);
    for (key, group) in &groups.groups {
        let tally = group.sum.tally();
        let mut row = key_cells(groups.by, key, group);
        if let (By::Kernel, Some(facts)) = (groups.by, &group.facts) {
            let number = |value: Option<u32>| value.map_or("-".to_owned(), |value| value.to_string());
            row.extend([facts.vgpr, facts.sgpr, facts.lds, facts.wavefront].map(number));
            let proved = || group.proof.map_or("", isa::Proof::key).to_owned();
            row.push(group.stub.map_or_else(proved, |stub| stub.to_string()));
        } else {
            row.extend([thousands(group.kernels), thousands(group.stubs)]);
        }
        // A group that could not be counted is shown as a dash, not as zero.
        let number = |count: u64| if group.is_uncounted() { "-".to_owned() } else { thousands(count) };
        row.push(number(tally.instructions));
        row.extend(COLUMNS.iter().map(|(_, families)| number(families.iter().map(|f| tally.family(*f)).sum())));
        row.push(number(group.sum.undecoded()));
        table.row(row);
    }
    table
}

fn counts(groups: &Groups, mnemonics: bool, context: &Context) -> Table {
    let title = |key: &str| context.lang.text(key);
    let mut columns = if groups.groups.len() == 1 { Vec::new() } else { keys(groups.by, context) };
    let single = columns.is_empty();
    if mnemonics {
        columns.push(Column::left("mnemonic", title("isa-mnemonic")));
    }
    columns.extend([Column::left("family", title("isa-family")), Column::right("count", title("isa-count"))]);
    let mut table = Table::new(columns);
    for (key, group) in &groups.groups {
        for (mnemonic, family, count) in lines(&group.sum.tally(), mnemonics) {
            let mut row = if single { Vec::new() } else { key_cells(groups.by, key, group) };
            row.extend(mnemonic.map(str::to_owned));
            row.extend([family.key().to_owned(), thousands(count)]);
            table.row(row);
        }
    }
    table
}

/// Most frequent first.
fn lines(tally: &Tally, mnemonics: bool) -> Vec<(Option<&'static str>, Family, u64)> {
    let mut lines: Vec<(Option<&'static str>, Family, u64)> = if mnemonics {
        tally.mnemonics.iter().map(|(m, count)| (Some(m.name()), Family::of(*m), *count)).collect()
    } else {
        tally.families().into_iter().map(|(family, count)| (None, family, count)).collect()
    };
    lines.sort_by_key(|(name, family, count)| (u64::MAX - count, *name, *family));
    lines
}

fn keys(by: By, context: &Context) -> Vec<Column> {
    let title = |key: &str| context.lang.text(key);
    let mut columns = vec![Column::left("target", title("isa-target"))];
    if by != By::Target {
        columns.push(Column::right("bundle", title("isa-bundle")));
    }
    if by == By::Kernel {
        columns.push(Column::left("kernel", title("isa-kernel")));
    }
    columns
}

fn key_cells(by: By, key: &Key, group: &Group) -> Vec<String> {
    let mut cells = vec![key.target.clone()];
    if by != By::Target {
        cells.push(key.bundle.map_or("-".to_owned(), |bundle| bundle.to_string()));
    }
    if by == By::Kernel {
        cells.push(group.facts.as_ref().map_or_else(String::new, |facts| facts.name.clone()));
    }
    cells
}

/// The table for programs: one row per group and family, or mnemonic.
pub fn long(groups: &Groups, mnemonics: bool) -> Table {
    let mut columns: Vec<Column> = ["target", "bundle", "kernel"].map(|key| Column::left(key, key)).into();
    if mnemonics {
        columns.push(Column::left("mnemonic", "mnemonic"));
    }
    columns.extend([Column::left("family", "family"), Column::right("count", "count")]);
    let mut table = Table::new(columns);
    for (key, group) in &groups.groups {
        for (mnemonic, family, count) in lines(&group.sum.tally(), mnemonics) {
            let bundle = key.bundle.map_or(String::new(), |bundle| bundle.to_string());
            let mut row = vec![key.target.clone(), bundle, key.kernel.clone().unwrap_or_default()];
            row.extend(mnemonic.map(str::to_owned));
            row.extend([family.key().to_owned(), count.to_string()]);
            table.row(row);
        }
    }
    table
}
