//! Where a set comes from, as `compile` wrote it into the set.

use anyhow::Context;
use portcullis::access::UnixSeconds;
use portcullis::set::{InputReport, PolicySet};
use serde_json::Value;

/// The provenance of a set.
pub struct Provenance {
    /// All of it.
    pub object: Value,
    /// Its inputs; none where it does not tell of them as this version does.
    pub inputs: Vec<InputReport>,
    /// When outages were judged, as far as it tells.
    pub as_of: Option<UnixSeconds>,
}

impl Provenance {
    /// Reads that of `set`.
    ///
    /// # Errors
    ///
    /// If it is damaged, or no JSON.
    pub fn of(set: &PolicySet) -> anyhow::Result<Provenance> {
        let text = set.provenance()?;
        let object = serde_json::from_slice(text).with_context(|| {
            format!(
                "{}: where it comes from cannot be read; run `portcullis compile` again",
                set.name()
            )
        })?;
        let known = portcullis::set::Provenance::read(text);
        let inputs: Vec<InputReport> = known.iter().flat_map(|it| it.inputs()).collect();
        let as_of = known.and_then(|it| it.outages().time());
        Ok(Provenance { object, inputs, as_of })
    }

    /// The name of the input at a position.
    pub fn input_name(&self, position: u32) -> Option<&str> {
        self.inputs.get(position as usize).map(|input| input.name.as_str())
    }
}
