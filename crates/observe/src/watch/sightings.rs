//! What a watched window says on the ladder. The device decides the rung; what was missed is part of it.

use super::{Name, Row, Tally};
use crate::{Raw, Sighting};
use evidence::{
    About, Canary, Completed, Contamination, Coverage, DeviceKind, Fact, FieldOfView, Finding, Launched, Observation,
    ObserverId, Refused, Selected, Subject, View,
};
use std::fmt::Write;

/// How well an observer saw: filled by each source when it ends.
#[derive(Debug, Clone)]
pub struct Account {
    /// `uprobe`, `perf`, `preload`, `logs`.
    pub observer: &'static str,
    pub device: DeviceKind,
    /// The library whose kernels were launched: file name and SHA-256.
    pub library: Option<(String, String)>,
    pub canary: Canary,
    pub contamination: Contamination,
    /// Which calls of which processes, in words.
    pub reach: String,
    pub blind: Vec<String>,
    /// What was not seen: what, why.
    pub gaps: Vec<(String, String)>,
    /// Seconds from the first to the last moment in view.
    pub seconds: f64,
    /// Added time per launch that was measured, in nanoseconds.
    pub cost_ns: Option<f64>,
}

impl Account {
    /// Whether every launch is claimed to have been seen, or is in the count of those that were lost: by what the gaps are about.
    pub fn whole(&self) -> bool {
        const LAUNCHES: [&str; 6] =
            ["the first moments", "launches through", "some processes", "records", "processes", "threads"];
        !self.gaps.iter().any(|(what, _)| LAUNCHES.iter().any(|start| what.starts_with(start)))
    }
}

#[derive(Debug)]
pub struct Scene<'a> {
    pub account: &'a Account,
    /// The command or process, as the window's name.
    pub window: &'a str,
    pub model: Option<&'a str>,
    pub time: &'a str,
}

impl Scene<'_> {
    pub(crate) fn subject(&self) -> Subject {
        let account = self.account;
        let subject = match &account.library {
            Some((name, hash)) => Subject::file(name.clone(), hash.clone()),
            None => Subject::host("this host"),
        };
        let subject = subject.device(account.device).window(self.window);
        match self.model {
            Some(model) => subject.model(model),
            None => subject,
        }
    }

    fn coverage(&self, tally: &Tally) -> Coverage {
        let mut coverage = Coverage::partial("launches", tally.launches(), None, Vec::new()).lost(tally.lost);
        if tally.unnamed() > 0 {
            let why = format!("{} launches of functions that were obtained before the attach", tally.unnamed());
            coverage = coverage.missing("names", why);
        }
        if tally.unknown_replays > 0 {
            let why = format!("{} replays of graphs of which not everything is known", tally.unknown_replays);
            coverage = coverage.missing("graph launches", why);
        }
        for (what, why) in &self.account.gaps {
            coverage = coverage.missing(what.clone(), why.clone());
        }
        coverage
    }

    /// One observation per fact, and the sweep that lets absence be judged.
    pub fn sightings(&self, tally: &Tally) -> Result<Vec<Sighting>, Refused> {
        let rows = tally.rows();
        let raw = raw(&rows, tally);
        let mut list = Vec::new();
        for fact in rows.iter().flat_map(facts) {
            list.push(self.one(Finding::Saw(fact), tally)?.with(Raw::text(raw.clone())));
        }
        let swept = self.one(Finding::Swept, tally)?;
        list.push(swept.with(Raw::text(raw)));
        Ok(list)
    }

    pub(crate) fn one(&self, finding: Finding, tally: &Tally) -> Result<Sighting, Refused> {
        let account = self.account;
        let id = ObserverId::new(account.observer, env!("CARGO_PKG_VERSION"));
        let (subject, coverage) = (self.subject(), self.coverage(tally));
        let seen = match account.device {
            // Imported profiles have the device's own times.
            DeviceKind::Real if account.observer == "import" => {
                Observation::on::<Completed>(id, subject, finding, coverage, self.time)?
            }
            DeviceKind::Real => Observation::on::<Launched>(id, subject, finding, coverage, self.time)?,
            _ => Observation::on::<Selected>(id, subject, finding, coverage, self.time)?,
        };
        let mut view = FieldOfView::new(
            ["kernel", "matmul.*", "blas.call", "flash-attn.*", "server.claim.seen"].map(View::new).to_vec(),
        )
        .reach(account.reach.clone());
        for spot in &account.blind {
            view = view.blind(spot.clone());
        }
        Ok(seen.view(view).canary(account.canary.clone()).contamination(account.contamination.clone()).into())
    }
}

fn facts(row: &Row) -> Vec<Fact> {
    let count = i64::try_from(row.launches).unwrap_or(i64::MAX);
    let phase = row.phase.key();
    match &row.name {
        Name::Call(_) => return vec![Fact::new("blas.call", About::new([("phase", phase)]), count)],
        Name::Unnamed(_) => return Vec::new(),
        Name::Kernel(_) => {}
    }
    // Tensile's names are their own key; the readable form would hide that it is a `Cijk_*`.
    let name = match &row.name {
        Name::Kernel(name) if name.starts_with("Cijk_") => name.clone(),
        _ => row.kernel.clone(),
    };
    let mut out = vec![Fact::new("kernel", About::new([("name", name.clone()), ("phase", phase.to_owned())]), count)];
    if let (Some(weights), Some(path), Some(ne11)) = (&row.weights, row.path, row.ne11) {
        let about = [("type", weights.clone()), ("columns", ne11.to_string()), ("phase", phase.to_owned())];
        out.push(Fact::new("matmul.path", About::new(about.clone()), path.to_string()));
        out.push(Fact::new("matmul.kernel", About::new(about), name));
    }
    out
}

fn raw(rows: &[Row], tally: &Tally) -> String {
    let mut out = String::from("phase\tkernel\tname\tcolumns\tgrids\tlaunches\n");
    for row in rows {
        let columns = row.ne11.map(|n| n.to_string()).unwrap_or_default();
        let grids: Vec<String> = row.grids.iter().map(|[x, y, z]| format!("{x}x{y}x{z}")).collect();
        let (phase, kernel, name) = (row.phase.key(), &row.kernel, row.name.text());
        let _ = writeln!(out, "{phase}\t{kernel}\t{name}\t{columns}\t{}\t{}", grids.join(" "), row.launches);
    }
    let _ = writeln!(out, "lost\t{}\nunnamed\t{}\nrejected\t{}", tally.lost, tally.unnamed(), tally.rejections());
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Flow, Kind};
    use super::*;

    fn account(device: DeviceKind) -> Account {
        Account {
            observer: "uprobe",
            device,
            library: Some(("libggml-hip.so".into(), "ab".into())),
            canary: Canary::None,
            contamination: Contamination::Unchecked,
            reach: String::new(),
            blind: Vec::new(),
            gaps: Vec::new(),
            seconds: 1.0,
            cost_ns: None,
        }
    }

    #[test]
    fn the_device_decides_the_rung() {
        let mut tally = Tally::default();
        let kind = tally.kind(&Kind::kernel(Name::Kernel("k".into()), "hipLaunchKernel"));
        let mut flow = Flow::default();
        flow.launch(&mut tally, kind, 0, 0);
        flow.launch(&mut tally, kind, 0, 100);
        flow.finish(&mut tally);
        for (device, rung) in
            [(DeviceKind::StandIn, evidence::Rung::Selected), (DeviceKind::Real, evidence::Rung::Launched)]
        {
            let account = account(device);
            let scene = Scene { account: &account, window: "test", model: None, time: "2026-01-01T00:00:00Z" };
            let list = scene.sightings(&tally).expect("observations");
            assert_eq!(list.len(), 2, "one kernel and the sweep; the rejected launch is none");
            assert!(list.iter().all(|seen| seen.observation.rung() == rung));
        }
    }
}
