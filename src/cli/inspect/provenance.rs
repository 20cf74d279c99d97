//! Where a set comes from, as `compile` wrote it into the set.

use anyhow::Context;
use portcullis::set::{InputReport, StoredSet};
use serde_json::Value;

/// The provenance of a set.
pub struct Provenance {
    /// All of it.
    pub object: Value,
    /// Its inputs; none where it does not tell of them as this version does.
    pub inputs: Vec<InputReport>,
}

impl Provenance {
    /// Reads that of `set`.
    ///
    /// # Errors
    ///
    /// If it is damaged, or no JSON.
    pub fn of(set: &StoredSet) -> anyhow::Result<Provenance> {
        let text = set.provenance()?;
        let object = serde_json::from_slice(text).with_context(|| {
            format!(
                "{}: where it comes from cannot be read; run `portcullis compile` again",
                set.name()
            )
        })?;
        let known = portcullis::set::Provenance::read(text);
        Ok(Provenance { object, inputs: known.iter().flat_map(|it| it.inputs()).collect() })
    }

    /// The name of the input at a position.
    pub fn input_name(&self, position: u32) -> Option<&str> {
        self.inputs.get(position as usize).map(|input| input.name.as_str())
    }
}
