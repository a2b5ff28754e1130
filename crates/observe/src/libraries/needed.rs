//! NEEDED edges and chains, read from the files themselves.

use crate::libraries::id;
use crate::{Raw, Sighting};
use evidence::{About, Coverage, Fact, Finding, Observation, Refused, Shipped, Subject, Value};
use inventory::Sha256;
use runtime::{
    library_names,
    linkage::{Chain, Object, Search},
};
use std::{collections::BTreeSet, fmt::Write};

/// Edges from and to libraries of the GPU stack, and the chain of each starting file. A file that cannot be read has no
/// hash and is left out.
pub fn needed(search: &Search, chains: &[Chain], runtime: Option<&str>, time: &str) -> Result<Vec<Sighting>, Refused> {
    let mut out = Vec::new();
    let mut told = BTreeSet::new();
    for chain in chains {
        for (index, object) in chain.objects.iter().enumerate() {
            let gpu = library_names::part(&name(object)).is_some();
            if !gpu || !told.insert(object.real.clone()) {
                continue;
            }
            let Some(subject) = subject(search, object, runtime) else { continue };
            let reached = reached(chain, index);
            let coverage = Coverage::complete("NEEDED entries", object.dynamic.needed.len() as u64);
            let see = |fact: Fact| {
                Observation::on::<Shipped>(id(), subject.clone(), Finding::Saw(fact), coverage.clone(), time)
                    .map(Sighting::from)
            };
            let from = name(object);
            for to in &object.dynamic.needed {
                let about = About::new([("from", from.as_str()), ("to", to.as_str())]);
                out.push(see(Fact::new("library.needs", about, true))?);
            }
            let list: Vec<Value> =
                reached.iter().map(|&i| Value::Text(chain.objects.get(i).map(name).unwrap_or_default())).collect();
            let chained = see(Fact::new("library.chain", About::new([("name", from.as_str())]), Value::List(list)))?;
            out.push(chained.with(Raw::text(tree(chain))));
        }
    }
    Ok(out)
}

/// The SONAME, else the file name.
fn name(object: &Object) -> String {
    let base = || object.real.file_name().map(|name| name.to_string_lossy().into_owned());
    object.dynamic.soname.clone().or_else(base).unwrap_or_else(|| object.name.clone())
}

fn subject(search: &Search, object: &Object, runtime: Option<&str>) -> Option<Subject> {
    let file = inventory::File::opened(&object.path, search.inside.open(&object.path).ok()?).ok()?;
    let sha256 = Sha256::of_file(&file).ok()?;
    let base = object.real.file_name()?.to_string_lossy().into_owned();
    let subject = Subject::file(base, sha256.to_string());
    Some(match runtime {
        Some(runtime) => subject.runtime(runtime),
        None => subject,
    })
}

/// All objects that are loaded with an object, nearest first.
fn reached(chain: &Chain, start: usize) -> Vec<usize> {
    let mut out: Vec<usize> = Vec::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(index) = queue.pop_front() {
        for edge in chain.edges.iter().filter(|edge| edge.from == index) {
            if edge.to != start && !out.contains(&edge.to) {
                out.push(edge.to);
                queue.push_back(edge.to);
            }
        }
    }
    out
}

fn tree(chain: &Chain) -> String {
    let mut out = String::new();
    for edge in &chain.edges {
        if let (Some(from), Some(to)) = (chain.objects.get(edge.from), chain.objects.get(edge.to)) {
            let _ = writeln!(out, "{} -> {} {} [{}]", name(from), to.name, to.path.display(), to.how.name());
        }
    }
    out
}
