//! An observation on a rung, as a type: the only input that can give a grade on that rung.

use crate::{Recorded, RungKind};
use std::marker::PhantomData;

/// An observation on the rung `R`. The only constructor checks the observation.
///
/// ```
/// use evidence::{Launched, Seen};
/// fn dispatched(_: Seen<'_, Launched>) {}
/// fn report(launch: Seen<'_, Launched>) {
///     dispatched(launch)
/// }
/// ```
///
/// Loading a kernel does not dispatch it, so this does not compile:
///
/// ```compile_fail,E0308
/// use evidence::{Launched, Loaded, Seen};
/// fn dispatched(_: Seen<'_, Launched>) {}
/// fn promote(loaded: Seen<'_, Loaded>) {
///     dispatched(loaded)
/// }
/// ```
///
/// Other code cannot construct one either:
///
/// ```compile_fail,E0451
/// use evidence::{Launched, Recorded, Seen};
/// fn hope(recorded: &Recorded) -> Seen<'_, Launched> {
///     Seen { recorded, rung: std::marker::PhantomData }
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a, R: RungKind> {
    recorded: &'a Recorded,
    rung: PhantomData<R>,
}

impl<'a, R: RungKind> Seen<'a, R> {
    pub fn of(recorded: &'a Recorded) -> Option<Self> {
        (recorded.rung() == R::RUNG).then_some(Seen { recorded, rung: PhantomData })
    }

    pub fn recorded(self) -> &'a Recorded {
        self.recorded
    }
}
