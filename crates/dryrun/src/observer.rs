//! The dry run as an observer for `investigate`. It runs automatically if a runtime is available.

use crate::sightings::{RecordContext, field_of_view, library};
use crate::verdict::NAME;
use crate::{Blas, RunRoot, Survey, describe};
use evidence::{FieldOfView, Rung};
use gguf::TensorType;
use observe::{Blocked, ObserveContext, Observer, Sighting};
use say::{Message, Say, say};

/// The lengths that the open questions need: both sides of every threshold, the range from 11 to 12 tokens, and 290.
const COLUMNS: [u64; 10] = [1, 8, 9, 11, 12, 64, 256, 257, 290, 512];
const KINDS: [&str; 3] = ["Q4_K", "Q6_K", "F16"];
const SHAPE: &str = "qwen2-7b";
const RUNTIME: &str = "debian-sid";

#[derive(Debug, Clone, Copy, Default)]
pub struct DryrunObserver;

impl Observer for DryrunObserver {
    fn name(&self) -> &'static str {
        NAME
    }

    fn field_of_view(&self) -> Vec<(Rung, FieldOfView)> {
        vec![(Rung::Selected, field_of_view())]
    }

    fn observe(&self, around: &ObserveContext, progress: &mut dyn FnMut(&str)) -> Result<Vec<Sighting>, Blocked> {
        let fix = format!("whichkernel runtime fetch {RUNTIME}");
        let blocked = |why: Message| Blocked { why, fix: fix.clone() };
        let place = RunRoot::find(RUNTIME).map_err(|error| blocked(error.message()))?;
        let library =
            library(&place, None).ok_or_else(|| blocked(say!("dryrun-no-device-library", runtime = RUNTIME)))?;
        let wanted = around.scope.gpu.as_deref().or(around.scope.target.as_deref()).unwrap_or("rx-9070-xt");
        // Use the subject's card, and cards that the runtime ships code for, to compare with a choice that has full
        // metadata.
        let mut cards = vec![wanted, "gfx1100", "gfx900"];
        cards.dedup();
        let mut seen = Vec::new();
        for card in cards {
            let Ok(profile) = gpu::find(card) else { continue };
            progress(&format!("dry run: {} on {RUNTIME}", profile.title));
            seen.extend(self.card(&place, &profile, &library, around).map_err(blocked)?);
        }
        Ok(seen)
    }
}

impl DryrunObserver {
    fn card(
        &self,
        place: &RunRoot,
        profile: &gpu::Profile,
        library: &(String, String),
        around: &ObserveContext,
    ) -> Result<Vec<Sighting>, Message> {
        let blas = if around.deep { Blas::Real } else { Blas::Recorded };
        let libraries = place.libraries(around.deep, None).map_err(|error| error.message())?;
        let target = profile.target().map_err(|error| error.message())?;
        let cache = runtime::Cache::from_env();
        let described = describe(&libraries, &target, true, cache.dir()).map_err(|error| error.message())?;
        let survey = Survey {
            place,
            profile,
            described: &described,
            strict: described.ships,
            shape: gguf::known(SHAPE).map_err(|error| error.message())?,
            layers: 2,
            blas,
            variables: &[],
        };
        let kinds: Vec<TensorType> = KINDS.iter().filter_map(|kind| TensorType::parse(kind).ok()).collect();
        let cells = survey.run(&kinds, &COLUMNS, &|_| {}).map_err(|error| error.message())?;
        let scene = RecordContext {
            place,
            profile,
            described: &described,
            model: SHAPE,
            time: &around.time,
            library: library.clone(),
        };
        scene.survey(&cells).map_err(|error| error.message())
    }
}
