//! The census for users: the table, then how much of the code it covers.

use super::table;
use crate::context::Context;
use inventory::File;
use observe::census::{Groups, completeness};
use report::thousands;

/// Longer lists are cut; JSON has them all.
const SHOWN: usize = 20;

pub fn census(file: &File, groups: &Groups, mnemonics: bool, context: &Context) -> String {
    let lang = &context.lang;
    let mut out = format!("{}\n\n", file.path().display());
    if let (1, Some((key, group))) = (groups.groups.len(), groups.groups.iter().next()) {
        let words = [
            ("target", key.target.clone().into()),
            ("kernels", thousands(group.kernels).into()),
            ("functions", thousands(group.functions).into()),
            ("stubs", thousands(group.stubs).into()),
            ("instructions", thousands(group.sum.tally().instructions).into()),
        ];
        out += &format!("{}\n\n", lang.text_with("isa-one", &words));
    }
    out += &table::of(groups, mnemonics, context).text(context.width);
    out.push('\n');
    out + &account(groups, context)
}

/// Instructions, padding, undecoded words: every byte is accounted for.
pub fn account(groups: &Groups, context: &Context) -> String {
    let lang = &context.lang;
    let tallies: Vec<_> = groups.groups.values().map(|group| group.sum.tally()).collect();
    let total = |get: fn(&isa::census::Tally) -> u64| thousands(tallies.iter().map(get).sum());
    let words = [
        ("objects", thousands(groups.objects).into()),
        ("instructions", total(|tally| tally.instructions).into()),
        ("bytes", total(|tally| tally.bytes).into()),
        ("padding", total(|tally| tally.padding).into()),
        ("outside", thousands(groups.groups.values().map(|group| group.outside).sum()).into()),
    ];
    let mut out = lang.text_with("isa-account", &words) + "\n";
    for (places, key) in [(&groups.undecoded, "isa-undecoded-words"), (&groups.cut, "isa-cut")] {
        if places.is_empty() {
            continue;
        }
        out += &(lang.text_with(key, &[("count", thousands(places.len() as u64).into())]) + "\n");
        for place in places.iter().take(SHOWN) {
            let bundle = place.bundle.map_or(String::new(), |bundle| format!("[{bundle}] "));
            out += &format!("  {bundle}{} {:#x}\n", place.target, place.address);
        }
        out += &more(places.len(), context);
    }
    for unread in groups.unread.iter().take(SHOWN) {
        let words = [("what", unread.what.in_words(lang).into()), ("why", lang.written(&unread.why).into())];
        out += &(lang.text_with("isa-unread", &words) + "\n");
    }
    out += &more(groups.unread.len(), context);
    let verdict = if completeness(groups).is_whole() { "isa-complete" } else { "isa-incomplete" };
    out + &lang.text(verdict) + "\n"
}

fn more(len: usize, context: &Context) -> String {
    match len.checked_sub(SHOWN) {
        None | Some(0) => String::new(),
        Some(rest) => context.lang.text_with("isa-more", &[("count", thousands(rest as u64).into())]) + "\n",
    }
}
