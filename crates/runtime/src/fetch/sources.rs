//! The Debian mirror that this system itself uses: one-line and deb822 sources, sources.list(5).

use super::control;
use std::{
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    pub uri: String,
    /// The keyring in the stanza, if it is a file.
    pub keyring: Option<PathBuf>,
}

/// The first Debian archive among the system's sources (`etc` is `/etc/apt`).
pub fn system_mirror(etc: &Path) -> Option<Mirror> {
    let mut files = vec![etc.join("sources.list")];
    if let Ok(entries) = fs::read_dir(etc.join("sources.list.d")) {
        let mut more: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        more.sort();
        files.extend(more);
    }
    files.iter().find_map(|path| {
        let text = sys::regular_file::text(path, 1 << 20).ok()?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("sources") => deb822(&text),
            Some("list") => one_line(&text),
            _ => None,
        }
    })
}

fn deb822(text: &str) -> Option<Mirror> {
    control::paragraphs(text).map(control::parse).find_map(|stanza| {
        let enabled = stanza.get("Enabled").is_none_or(|value| value != "no");
        let suites = stanza.get("Suites")?;
        let uri = stanza.get("URIs")?.split_whitespace().next()?.to_owned();
        let keyring = stanza.get("Signed-By").filter(|value| value.starts_with('/') && !value.contains('\n'));
        (enabled && is_debian(&uri, suites)).then(|| Mirror { uri, keyring: keyring.map(PathBuf::from) })
    })
}

fn one_line(text: &str) -> Option<Mirror> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("deb ")?.trim_start();
        let (options, rest) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => ("", rest),
        };
        let mut words = rest.split_whitespace();
        let uri = words.next()?.to_owned();
        let suite = words.next()?;
        let keyring =
            options.split_whitespace().find_map(|option| option.strip_prefix("signed-by=")).map(PathBuf::from);
        is_debian(&uri, suite).then_some(Mirror { uri, keyring })
    })
}

/// Whether this is Debian's own archive: a path that ends in `debian` and a suite that is a Debian release. Derivatives
/// and vendors use other names; the security archive has no sid.
fn is_debian(uri: &str, suites: &str) -> bool {
    const RELEASES: [&str; 11] = [
        "bullseye",
        "bookworm",
        "trixie",
        "forky",
        "duke",
        "sid",
        "oldstable",
        "stable",
        "testing",
        "unstable",
        "experimental",
    ];
    uri.trim_end_matches('/').ends_with("/debian") && suites.split_whitespace().any(|suite| RELEASES.contains(&suite))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_debian_stanza_is_found_among_others() {
        let text = "Types: deb\n# note\nURIs: https://vendor.example/debian-vendor\nSuites: bookworm\n\n\
            Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\nSigned-By: /k.gpg\n";
        let mirror = Mirror { uri: "http://mirror.example/debian".into(), keyring: Some("/k.gpg".into()) };
        assert_eq!(deb822(text), Some(mirror));
        assert_eq!(deb822("Types: deb\nURIs: http://m.example/ubuntu\nSuites: noble\n"), None);
    }

    #[test]
    fn one_line_sources_with_and_without_options() {
        let plain = "# x\ndeb-src http://a/debian sid main\ndeb http://a.example/debian/ stable main\n";
        assert_eq!(one_line(plain).unwrap().uri, "http://a.example/debian/");
        let signed = "deb [arch=amd64 signed-by=/k.gpg] http://b.example/debian trixie main";
        assert_eq!(one_line(signed).unwrap().keyring, Some(PathBuf::from("/k.gpg")));
        assert_eq!(one_line("deb http://a.example/debian-security bookworm-security main"), None);
    }
}
