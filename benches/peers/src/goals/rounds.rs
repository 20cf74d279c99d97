//! Rounds of work that is no matcher: in each, everything has its turn before the next round begins.
//!
//! A turn is one pass that does not count, then passes until a set time has gone by; their mean is the
//! round's value. Work that fails once, or answers wrongly once, has no values.

use std::time::Duration;

use super::row::Fault;

/// A pass of some work, and its time.
pub type Pass<'w> = Box<dyn FnMut() -> Result<Duration, Fault> + 'w>;

/// Seconds of each round, or why there are none.
pub type Seconds = Result<Vec<f64>, Fault>;

/// Runs all `work` in so many rounds of turns of `fill`.
pub fn run(rounds: usize, fill: Duration, work: Vec<Pass<'_>>) -> Vec<Seconds> {
    let mut work: Vec<(Pass<'_>, Seconds)> =
        work.into_iter().map(|pass| (pass, Ok(Vec::with_capacity(rounds)))).collect();
    for _ in 0..rounds {
        for (pass, seconds) in &mut work {
            let Ok(values) = seconds else { continue };
            match turn(fill, pass) {
                Ok(value) => values.push(value),
                Err(fault) => *seconds = Err(fault),
            }
        }
    }
    work.into_iter().map(|(_, seconds)| seconds).collect()
}

fn turn(fill: Duration, pass: &mut Pass<'_>) -> Result<f64, Fault> {
    pass()?;
    let (mut total, mut passes) = (Duration::ZERO, 0);
    while passes == 0 || total < fill {
        total += pass()?.max(Duration::from_nanos(1));
        passes += 1;
    }
    Ok(total.as_secs_f64() / f64::from(passes))
}

/// The median of values, of which there is one at least; of an even number the higher in the middle.
pub fn median(values: &[f64]) -> f64 {
    portcullis::bench::Spread::of(values).map_or(f64::NAN, |spread| spread.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answers_wrongly_once_has_no_values_and_takes_none_from_others() {
        let mut passes = 0;
        let right: Pass<'_> = Box::new(|| Ok(Duration::from_secs(2)));
        let lying: Pass<'_> = Box::new(|| {
            passes += 1;
            match passes {
                3 => Err(Fault::Wrong("no".to_owned())),
                _ => Ok(Duration::ZERO),
            }
        });
        let seconds = run(2, Duration::ZERO, vec![right, lying]);
        assert_eq!(seconds[0], Ok(vec![2.0, 2.0]));
        assert_eq!(seconds[1], Err(Fault::Wrong("no".to_owned())));
        assert_eq!(passes, 3);
    }
}
