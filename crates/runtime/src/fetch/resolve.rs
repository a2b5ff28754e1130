//! From parts to packages: the closure of Depends and Pre-Depends, with the dependencies that were not followed and the
//! reasons.

use super::{
    control::{self, Paragraph},
    suites::{NOT_FOLLOWED, Suite},
};
use crate::{
    error::{Error, Result},
    index::LeftOut,
};
use std::collections::{BTreeMap, HashMap};

/// One package of the closure, as the suite's signed index describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub package: String,
    pub version: String,
    pub suite: String,
    /// The base name of the package's file, as `apt-get download` writes it.
    pub deb: String,
    pub size: u64,
    pub installed: u64,
    pub sha256: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closure {
    pub wanted: Vec<Wanted>,
    pub left_out: Vec<LeftOut>,
}

/// The Packages indices of a suite, searchable by name and by provided name.
#[derive(Debug, Default)]
pub struct Universe<'a> {
    by_name: HashMap<&'a str, (&'a str, &'a str)>,
    provided: HashMap<&'a str, &'a str>,
}

impl<'a> Universe<'a> {
    /// `indices`: suite name and text of its Packages file, the preferred suite first.
    pub fn new(indices: &'a [(String, String)]) -> Self {
        let mut universe = Universe::default();
        for (suite, text) in indices {
            for block in control::paragraphs(text) {
                let Some(name) = block.strip_prefix("Package: ").and_then(|rest| rest.lines().next()) else {
                    continue;
                };
                universe.by_name.entry(name).or_insert((suite.as_str(), block));
                for line in block.lines().filter_map(|line| line.strip_prefix("Provides: ")) {
                    for provided in line.split(',').filter_map(|item| item.split('(').next()) {
                        universe.provided.entry(provided.trim()).or_insert(name);
                    }
                }
            }
        }
        universe
    }

    fn find(&self, name: &str) -> Option<(&'a str, Paragraph<'a>)> {
        let real = self.by_name.get(name).or_else(|| self.by_name.get(*self.provided.get(name)?));
        real.map(|(suite, block)| (*suite, control::parse(block)))
    }
}

/// All packages that the parts need to run, except those that belong to other parts.
pub fn closure(suite: &Suite, parts: &[&str], universe: &Universe<'_>) -> Result<Closure> {
    let mut out = BTreeMap::new();
    let mut left_out = BTreeMap::new();
    let roots = suite.parts.iter().filter(|part| parts.contains(&part.name)).flat_map(|part| part.packages);
    let mut queue: Vec<(String, String)> = roots.map(|name| ((*name).to_owned(), "--parts".to_owned())).collect();
    while let Some((name, by)) = queue.pop() {
        let Some((from, paragraph)) = universe.find(&name) else {
            return Err(Error::NoPackage { suite: suite.suites.join(", "), package: name, by });
        };
        let package = paragraph.get("Package").unwrap_or(&name).to_owned();
        if out.contains_key(&package) {
            continue;
        }
        out.insert(package.clone(), wanted(&package, from, &paragraph));
        if suite.catalogs {
            continue;
        }
        let fields = ["Pre-Depends", "Depends"].iter().filter_map(|field| paragraph.get(field));
        for group in fields.flat_map(control::depends) {
            match choose(&group, suite, parts, universe, &package) {
                Ok(next) => queue.push((next, package.clone())),
                Err(reason) => {
                    let first = group.first().cloned().unwrap_or_default();
                    let entry = LeftOut { package: first.clone(), by: package.clone(), reason };
                    left_out.entry(first).or_insert(entry);
                }
            }
        }
    }
    Ok(Closure { wanted: out.into_values().collect(), left_out: left_out.into_values().collect() })
}

/// The alternative to follow, or why there is none.
fn choose(
    group: &[String],
    suite: &Suite,
    parts: &[&str],
    universe: &Universe<'_>,
    by: &str,
) -> std::result::Result<String, String> {
    for name in group {
        if let Some((_, why)) = NOT_FOLLOWED.iter().find(|(skipped, _)| skipped == name) {
            return Err((*why).to_owned());
        }
        if let Some(part) = suite.part_of(name).filter(|part| !parts.contains(part)) {
            return Err(format!("is the part {part}, which was not asked for"));
        }
        if universe.find(name).is_some() {
            return Ok(name.clone());
        }
    }
    // Return it anyway: the closure then reports which package is missing and which package needs it.
    group.first().cloned().ok_or_else(|| format!("{by} names nothing"))
}

fn wanted(package: &str, suite: &str, paragraph: &Paragraph<'_>) -> Wanted {
    let field = |name: &str| paragraph.get(name).unwrap_or_default().to_owned();
    let number = |name: &str| paragraph.get(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let (version, architecture) = (field("Version"), field("Architecture"));
    Wanted {
        package: package.to_owned(),
        deb: format!("{package}_{}_{architecture}.deb", version.replace(':', "%3a")),
        version,
        suite: suite.to_owned(),
        size: number("Size"),
        installed: number("Installed-Size").saturating_mul(1024),
        sha256: field("SHA256"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetch::suites::suite;

    const INDEX: &str = "\
Package: libggml0\nVersion: 1\nArchitecture: amd64\nSize: 10\nInstalled-Size: 2\nSHA256: aa\nDepends: libc6\n\n\
Package: libggml0-backend-hip\nVersion: 1:1\nArchitecture: amd64\nSize: 20\nSHA256: bb\nDepends: libggml0 (= 1), librocblas4, libamdhip64-6, virtual-thing, debconf | debconf-2.0\n\n\
Package: libc6\nVersion: 2\nArchitecture: amd64\nSize: 5\nSHA256: cc\nPre-Depends: libggml0\n\n\
Package: real-thing\nVersion: 3\nArchitecture: all\nProvides: virtual-thing (= 3), other\nSize: 1\nSHA256: dd\n";

    #[test]
    fn the_closure_ends_at_parts_that_were_not_asked_for() {
        let indices = [("sid".to_owned(), INDEX.to_owned())];
        let universe = Universe::new(&indices);
        let found = closure(suite("debian-sid").unwrap(), &["ggml"], &universe).unwrap();
        let names: Vec<_> = found.wanted.iter().map(|w| w.package.as_str()).collect();
        assert_eq!(names, ["libc6", "libggml0", "libggml0-backend-hip", "real-thing"]);
        assert_eq!(found.wanted[2].deb, "libggml0-backend-hip_1%3a1_amd64.deb");
        assert_eq!(found.wanted[1].installed, 2048);
        let left: Vec<_> = found.left_out.iter().map(|l| l.package.as_str()).collect();
        assert_eq!(left, ["debconf", "libamdhip64-6", "librocblas4"]);
    }

    #[test]
    fn a_package_that_is_gone_is_named() {
        let indices = [("sid".to_owned(), INDEX.to_owned())];
        let error = closure(suite("debian-sid").unwrap(), &["rocblas"], &Universe::new(&indices)).unwrap_err();
        assert!(error.to_string().contains("libhipblas2"), "{error}");
    }
}
