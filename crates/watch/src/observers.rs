//! The observers of launches for investigations. Their fields of view determine which claims they can decide.

use crate::observer_kind::{ObserverKind, VULKAN, launches_in_view};
use evidence::{DeviceKind, FieldOfView, Rung};
use observe::Observer;
use say::{Key, Say as _, key, say};

/// An observer of launches, by its kind. `reach`: the launches it sees, in words; `blind`: the events that it can never
/// see.
#[derive(Debug)]
pub struct LaunchObserver {
    pub kind: ObserverKind,
    pub reach: Key,
    pub blind: &'static [Key],
}

impl LaunchObserver {
    pub const PRELOAD: LaunchObserver =
        LaunchObserver { kind: ObserverKind::Preload, reach: key!("view-preload"), blind: crate::preload::BLIND };
    pub const LAYER: LaunchObserver =
        LaunchObserver { kind: ObserverKind::Layer, reach: key!("view-layer"), blind: crate::layer::BLIND };
    pub const LOGS: LaunchObserver =
        LaunchObserver { kind: ObserverKind::Logs, reach: key!("view-logs"), blind: crate::logs::BLIND };
    pub const IMPORTS: LaunchObserver =
        LaunchObserver { kind: ObserverKind::Import, reach: key!("view-import"), blind: crate::imports::BLIND };
}

impl Observer for LaunchObserver {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// The fields of view for a real device, an unknown device and our stand-in.
    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let whole = |view: FieldOfView| {
            self.blind.iter().fold(view.reach(self.reach.message()), |view, spot| view.blind(*spot))
        };
        let view = whole(launches_in_view(self.kind));
        let rungs = [DeviceKind::Real, DeviceKind::StandIn].map(|device| self.kind.rung(device));
        // Fences show the end of work submitted through Vulkan.
        let ends = match self.kind {
            ObserverKind::Layer => Some((Rung::Completed, view.clone())),
            ObserverKind::Uprobe => Some((Rung::Completed, whole(FieldOfView::topic(VULKAN)))),
            _ => None,
        };
        ends.into_iter().chain(rungs.map(|rung| (rung, view.clone()))).collect()
    }

    fn verb(&self) -> Option<&'static str> {
        Some("watch")
    }
}

/// A server's statements about itself.
#[derive(Debug)]
pub struct ServerClaims;

impl Observer for ServerClaims {
    fn name(&self) -> &'static str {
        "claims"
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        let reach = say!("view-claims");
        vec![(Rung::Loaded, FieldOfView::topic("server.claim").reach(reach).blind(key!("view-claims-blind")))]
    }

    fn verb(&self) -> Option<&'static str> {
        Some("watch")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_completes_and_everybody_else_launches() {
        let rungs =
            |observer: &LaunchObserver| observer.field_of_view().into_iter().map(|(rung, _)| rung).collect::<Vec<_>>();
        assert_eq!(rungs(&LaunchObserver::IMPORTS), [Rung::Completed, Rung::Selected]);
        assert_eq!(rungs(&LaunchObserver::PRELOAD), [Rung::Launched, Rung::Selected]);
        assert_eq!(rungs(&LaunchObserver::LAYER), [Rung::Completed, Rung::Launched, Rung::Selected]);
        let blocked =
            LaunchObserver::LOGS.observe(&observe::ObserveContext::default(), &mut |_| {}).expect_err("no log");
        assert_eq!(blocked.fix, "whichkernel watch --record");
    }
}
