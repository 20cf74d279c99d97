//! Panics of somebody else's code, caught and kept off the terminal: they are counted and reported.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether the panic hook is to keep quiet.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs what may panic; a panic is a refusal.
///
/// What was borrowed mutably may be left half changed; it is asked again, and a wrong answer would be found.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_GUARDED.get() {
                usual(panic);
            }
        }));
    });
    IS_GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(run));
    IS_GUARDED.set(false);
    result.map_err(|_| "panics".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_refusal() {
        assert_eq!(guarded(|| 1), Ok(1));
        assert_eq!(guarded(|| -> u8 { panic!("as peers do") }), Err("panics".to_owned()));
    }
}
