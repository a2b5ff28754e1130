//! A few subjects, topics and values for the tests, so that observations often coincide.
#![allow(dead_code, reason = "each test binary uses a part")]

use evidence::*;

pub const FILE: &str = "libggml-hip.so";

pub fn own() -> Subject {
    Subject::file(FILE, "a".repeat(64)).runtime("ollama").target("gfx1201").device(DeviceKind::Real).model("qwen2-7b")
}

pub fn about(columns: &str) -> About {
    About::new([("type", "Q4_K"), ("columns", columns)])
}

pub fn claim(rung: Rung, columns: &str, expected: Expected) -> Claim {
    Claim {
        id: "claim".to_owned(),
        rung,
        topic: "matmul.path".to_owned(),
        about: about(columns),
        expected,
        scope: Scope {
            runtime: Some("ollama".to_owned()),
            file: Some(FILE.to_owned()),
            target: Some("gfx1201".to_owned()),
            ..Scope::default()
        },
        transfer: Vec::new(),
    }
}

pub fn mmq(rung: Rung) -> Claim {
    claim(rung, "11", Expected::Equals("MMQ".into()))
}

/// An observation that a test modifies before it is recorded.
pub struct Draft {
    pub observer: &'static str,
    pub rung: Rung,
    pub subject: Subject,
    pub finding: Finding,
    pub view: FieldOfView,
    pub coverage: Coverage,
    pub contamination: Contamination,
    pub canary: Canary,
    pub time: &'static str,
}

pub fn saw(rung: Rung, columns: &str, value: impl Into<Value>) -> Draft {
    Draft {
        observer: "dryrun",
        rung,
        subject: own(),
        finding: Finding::Saw(Fact::new("matmul.path", about(columns), value)),
        view: FieldOfView::topic("matmul.*"),
        coverage: Coverage::complete("events", 9).account(Witness::ProcessTree),
        contamination: Contamination::Untouched,
        canary: Canary::in_target("a one-token request"),
        time: "2026-01-01T00:00:00.000Z",
    }
}

pub fn swept(rung: Rung) -> Draft {
    Draft { finding: Finding::Swept, ..saw(rung, "11", true) }
}

impl Draft {
    pub fn by(self, observer: &'static str) -> Self {
        Draft { observer, ..self }
    }

    pub fn of(self, subject: Subject) -> Self {
        Draft { subject, ..self }
    }

    pub fn partial(self) -> Self {
        Draft {
            coverage: Coverage::complete("events", 9).missing("grids", say::Message::verbatim("no metadata")),
            ..self
        }
    }

    pub fn alone(self) -> Self {
        Draft { coverage: Coverage::complete("events", 9), ..self }
    }

    pub fn lost(self) -> Self {
        Draft { coverage: Coverage::complete("events", 9).lost(2), ..self }
    }

    pub fn contaminated(self) -> Self {
        let differences = vec!["offloaded 0/29 layers".to_owned()];
        Draft { contamination: Contamination::Contaminated { differences }, ..self }
    }

    pub fn unchecked(self) -> Self {
        Draft { contamination: Contamination::Unchecked, ..self }
    }

    pub fn canary(self, canary: Canary) -> Self {
        Draft { canary, ..self }
    }

    pub fn view(self, view: FieldOfView) -> Self {
        Draft { view, ..self }
    }

    pub fn at(self, time: &'static str) -> Self {
        Draft { time, ..self }
    }

    pub fn done(self) -> Recorded {
        let id = ObserverId::new(self.observer, "1");
        let (subject, finding, coverage, time) = (self.subject, self.finding, self.coverage, self.time);
        let observation = match self.rung {
            Rung::Declared => Observation::on::<Declared>(id, subject, finding, coverage, time),
            Rung::Shipped => Observation::on::<Shipped>(id, subject, finding, coverage, time),
            Rung::Loaded => Observation::on::<Loaded>(id, subject, finding, coverage, time),
            Rung::Selected => Observation::on::<Selected>(id, subject, finding, coverage, time),
            Rung::Launched => Observation::on::<Launched>(id, subject, finding, coverage, time),
            Rung::Completed => Observation::on::<Completed>(id, subject, finding, coverage, time),
        };
        let observation = observation.expect("a sound draft");
        Recorded::new(observation.view(self.view).contamination(self.contamination).canary(self.canary))
    }
}
