//! Selects the metadata to use if a file has no code for a target: that of the nearest shipped relative.

/// The shipped processor nearest to `target`. A processor with the same major number comes first, then the nearest one
/// with the same wavefront width. If two are equally near, the lower one is used. None if nothing comparable is
/// shipped.
pub fn near<'a>(target: &str, shipped: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let of = |name: &str| gpu::TargetId::named(name).ok().and_then(|id| id.version());
    let (major, minor, stepping) = of(target)?;
    let wide = |major: u32| major < 10;
    shipped
        .filter_map(|name| of(name).map(|version| (name, version)))
        .filter(|(_, version)| wide(version.0) == wide(major))
        .min_by_key(|(_, version)| {
            let far = |a: u32, b: u32| (a.abs_diff(b), a > b);
            // Up to gfx9 the numbers grow with the features (gfx90a is next to gfx942); later numbers identify the
            // chip.
            let number = |minor: u32, stepping: u32| if wide(major) { minor * 16 + stepping } else { minor };
            let nearest = far(number(version.1, version.2), number(minor, stepping));
            (far(version.0, major), nearest, far(version.2, stepping))
        })
        .map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::near;

    const DEBIAN: [&str; 10] =
        ["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx1010", "gfx1030", "gfx1100", "gfx1101", "gfx1102"];

    #[test]
    fn relatives_are_chosen_by_generation() {
        for (target, relative) in [
            ("gfx1201", Some("gfx1101")),
            ("gfx1200", Some("gfx1100")),
            ("gfx942", Some("gfx90a")),
            ("gfx1031", Some("gfx1030")),
            ("gfx1151", Some("gfx1101")),
            ("gfx906", Some("gfx906")),
            ("spam", None),
        ] {
            assert_eq!(near(target, DEBIAN.into_iter()), relative, "{target}");
        }
        assert_eq!(near("gfx1201", ["gfx906"].into_iter()), None);
    }
}
