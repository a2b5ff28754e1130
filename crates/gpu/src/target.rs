//! Target ids: a processor and the features that are fixed on or off (`gfx90a:sramecc+:xnack-`).
//!
//! Syntax and compatibility rules: LLVM AMDGPUUsage, "Target ID".

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId {
    pub processor: String,
    /// Name and whether it is on. A feature that is not listed is "any".
    pub features: Vec<(String, bool)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a GPU target. Targets look like gfx1201 or gfx90a:sramecc+:xnack-; cards like rx-9070-xt: `whichkernel dryrun --list-gpus`"
)]
pub struct TargetError(pub String);

impl TargetId {
    pub fn parse(text: &str) -> Result<TargetId, TargetError> {
        let bad = || TargetError(text.to_owned());
        let mut parts = text.split(':');
        let processor = parts.next().filter(|name| is_processor(name)).ok_or_else(bad)?;
        let mut features = Vec::new();
        for part in parts {
            let (name, on) = match (part.strip_suffix('+'), part.strip_suffix('-')) {
                (Some(name), _) => (name, true),
                (_, Some(name)) => (name, false),
                _ => return Err(bad()),
            };
            if !matches!(name, "xnack" | "sramecc") {
                return Err(bad());
            }
            features.push((name.to_owned(), on));
        }
        Ok(TargetId { processor: processor.to_owned(), features })
    }

    /// The same with its features in alphabetic order, as files write them.
    #[must_use]
    pub fn canonical(mut self) -> TargetId {
        self.features.sort();
        self
    }

    /// Major, minor and stepping: the last two hexadecimal digits are minor and stepping. None for a generic target.
    pub fn version(&self) -> Option<(u32, u32, u32)> {
        version(&self.processor)
    }

    /// Whether code built for `code` may be loaded on a device of this target: same processor, and every feature that
    /// the code fixes has that value here.
    pub fn runs(&self, code: &TargetId) -> bool {
        self.processor == code.processor
            && code.features.iter().all(|(name, on)| {
                self.features.iter().find(|(feature, _)| feature == name).is_none_or(|(_, value)| value == on)
            })
    }

    /// What `HSA_OVERRIDE_GFX_VERSION` makes of this device: `10.3.0` is gfx1030. The steppings above 9 are written in
    /// decimal there and in hexadecimal in the name (9.0.10 is gfx90a).
    pub fn overridden(value: &str) -> Option<TargetId> {
        let mut parts = value.trim().split('.').map(|part| part.parse::<u32>().ok());
        let (major, minor, stepping) = (parts.next()??, parts.next()??, parts.next()??);
        if parts.next().is_some() || minor > 15 || stepping > 15 {
            return None;
        }
        TargetId::parse(&format!("gfx{major}{minor:x}{stepping:x}")).ok()
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, on) in &self.features {
            write!(f, ":{name}{}", if *on { '+' } else { '-' })?;
        }
        Ok(())
    }
}

fn is_processor(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("gfx") else { return false };
    version(name).is_some() || (rest.starts_with(|c: char| c.is_ascii_digit()) && rest.ends_with("-generic"))
}

fn version(name: &str) -> Option<(u32, u32, u32)> {
    let digits = name.strip_prefix("gfx")?;
    let split = digits.len().checked_sub(2).filter(|&at| (1..=2).contains(&at) && digits.is_ascii())?;
    let (major, rest) = digits.split_at(split);
    let mut low = rest.chars().map(|c| c.to_digit(16));
    if !major.bytes().all(|b| b.is_ascii_digit()) || rest.chars().any(|c| c.is_ascii_uppercase()) {
        return None;
    }
    Some((major.parse().ok()?, low.next()??, low.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_as_the_runtime_reads_them() {
        let version = |text: &str| TargetId::parse(text).ok().and_then(|target| target.version());
        assert_eq!(version("gfx90a:sramecc+:xnack-"), Some((9, 0, 10)));
        assert_eq!(version("gfx1201"), Some((12, 0, 1)));
        assert_eq!(version("gfx803"), Some((8, 0, 3)));
        assert_eq!(version("gfx12-generic"), None);
    }

    #[test]
    fn what_is_no_target_is_refused() {
        for text in [
            "",
            "gfx",
            "gfx9",
            "rx-9070-xt",
            "gfx1201:",
            "gfx1201:xnack",
            "gfx1201:fast+",
            "gfxé00",
            "GFX900",
            "gfx123456",
        ] {
            assert!(TargetId::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn features_decide_what_runs() {
        let parse = |text: &str| TargetId::parse(text).expect("a target");
        let mi210 = parse("gfx90a:sramecc+:xnack-");
        assert!(mi210.runs(&parse("gfx90a")));
        assert!(mi210.runs(&parse("gfx90a:xnack-")));
        assert!(!mi210.runs(&parse("gfx90a:xnack+")));
        assert!(!mi210.runs(&parse("gfx908")));
    }

    #[test]
    fn the_override_variable_names_a_target() {
        let target = |value: &str| TargetId::overridden(value).map(|target| target.to_string());
        assert_eq!(target("10.3.0").as_deref(), Some("gfx1030"));
        assert_eq!(target("9.0.10").as_deref(), Some("gfx90a"));
        assert_eq!(target("10.3"), None);
        assert_eq!(target("ten.three.zero"), None);
    }
}
