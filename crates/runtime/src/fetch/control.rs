//! Debian's control paragraphs (deb-control(5)): the Packages index, deb822 sources, and dependency fields.

/// One paragraph: field names (as written) and their values, continuation lines joined by newlines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paragraph<'a> {
    fields: Vec<(&'a str, String)>,
}

impl<'a> Paragraph<'a> {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn parse(text: &'a str) -> Self {
        let mut fields: Vec<(&'a str, String)> = Vec::new();
        for line in text.lines() {
            if line.starts_with('#') {
                continue;
            }
            if line.starts_with([' ', '\t']) {
                if let Some((_, value)) = fields.last_mut() {
                    value.push('\n');
                    value.push_str(line.trim());
                }
            } else if let Some((name, value)) = line.split_once(':') {
                fields.push((name.trim(), value.trim().to_owned()));
            }
        }
        Paragraph { fields }
    }
}

/// The text of each paragraph. An index of 70,000 packages is walked without parsing the paragraphs that are not
/// needed.
pub fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(|block| block.trim_matches('\n')).filter(|block| !block.is_empty())
}

pub fn parse(block: &str) -> Paragraph<'_> {
    Paragraph::parse(block)
}

/// A Depends field: groups of alternatives, names only. Versions are ignored: within one suite the archive keeps them
/// satisfiable.
pub fn depends(field: &str) -> Vec<Vec<String>> {
    let name = |alternative: &str| {
        let bare = alternative.split(['(', '[', '<']).next().unwrap_or_default().trim();
        bare.split(':').next().unwrap_or_default().to_owned()
    };
    field
        .split(',')
        .map(|group| group.split('|').map(name).filter(|name| !name.is_empty()).collect::<Vec<_>>())
        .filter(|group| !group.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_fields_and_continuations() {
        let text = "Package: a\nVersion: 1:2-3\nDescription: x\n more\n .\n\n\nPackage: b\n# remark\nSize: 7\n";
        let all: Vec<_> = paragraphs(text).map(parse).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].get("version"), Some("1:2-3"));
        assert_eq!(all[0].get("Description"), Some("x\nmore\n."));
        assert_eq!(all[1].get("Size"), Some("7"));
        assert_eq!(all[1].get("Version"), None);
    }

    #[test]
    fn dependency_groups() {
        assert_eq!(
            depends("libc6 (>= 2.43), wget | curl, python3:any (>= 3.9), , debconf (>= 0.5) | debconf-2.0"),
            [vec!["libc6"], vec!["wget", "curl"], vec!["python3"], vec!["debconf", "debconf-2.0"]]
        );
    }
}
