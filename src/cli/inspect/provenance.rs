//! Where a set comes from, as `compile` wrote it into the set.

use anyhow::Context;
use portcullis::set::StoredSet;
use serde::Deserialize;
use serde_json::Value;

/// The provenance of a set.
pub struct Provenance {
    /// All of it.
    pub object: Value,
    /// What this program knows of it.
    pub inputs: Vec<Input>,
}

/// An input of a compilation. Another program's set may say less of it.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
pub struct Input {
    pub name: Option<String>,
    pub format: Option<String>,
    pub captures: Option<u64>,
    pub broken: Option<u64>,
}

#[derive(Deserialize)]
struct Known {
    #[serde(default)]
    inputs: Vec<Input>,
}

impl Provenance {
    /// Reads that of `set`.
    ///
    /// # Errors
    ///
    /// If it is damaged, or no JSON.
    pub fn of(set: &StoredSet) -> anyhow::Result<Provenance> {
        let text = set.provenance()?;
        let unreadable = || {
            format!(
                "{}: where it comes from cannot be read; run `portcullis compile` again",
                set.name()
            )
        };
        let object: Value = serde_json::from_slice(text).with_context(unreadable)?;
        let known: Known = serde_json::from_slice(text).with_context(unreadable)?;
        Ok(Provenance { object, inputs: known.inputs })
    }

    /// The name of the input at a position.
    pub fn input_name(&self, position: u32) -> Option<&str> {
        self.inputs.get(position as usize)?.name.as_deref()
    }
}
