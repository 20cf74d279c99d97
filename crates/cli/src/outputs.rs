//! The outputs for lists: one for all lists, or one for each.
//!
//! All files of a run appear together, or none does. With one output for each list, only one is
//! open at a time.

use std::fs;

use portcullis_files::compression::Coding;

use super::output::{CompleteOutput, Destination, Output, OutputFailed, OutputFile};

/// The destinations of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// One destination for all lists.
    Joined(Destination),
    /// One destination for each list.
    Each(Vec<OutputFile>),
}

impl Destinations {
    /// Whether an output is compressed.
    pub fn are_compressed(&self) -> bool {
        let is_compressed = |path: &OutputFile| Coding::from_file_name(path).is_some();
        match self {
            Destinations::Joined(Destination::File(path)) => is_compressed(path),
            Destinations::Joined(Destination::StandardOutput) => false,
            Destinations::Each(paths) => paths.iter().any(is_compressed),
        }
    }
}

/// The compression of the output for each list, by number; or of the one for all lists.
#[derive(Clone, Debug)]
pub struct Compressions(Vec<Option<Coding>>);

impl Compressions {
    /// Returns that nothing is compressed.
    pub fn none() -> Compressions {
        Compressions(vec![None])
    }

    /// Returns the compression of the output for a list.
    pub fn of_list(&self, number: usize) -> Option<Coding> {
        self.0[number.min(self.0.len() - 1)]
    }
}

/// The outputs of a run.
pub struct Outputs {
    destinations: Destinations,
    current: Option<Output>,
    complete: Vec<CompleteOutput>,
}

impl Outputs {
    /// Opens the output for all lists, or the first one.
    pub fn open(destinations: Destinations) -> Result<Outputs, OutputFailed> {
        let current = match &destinations {
            Destinations::Joined(destination) => Some(Output::open(destination)?),
            Destinations::Each(_) => None,
        };
        Ok(Outputs { destinations, current, complete: Vec::new() })
    }

    /// Wraps an open output for all lists.
    pub fn of(output: Output) -> Outputs {
        let destinations = Destinations::Joined(Destination::StandardOutput);
        Outputs { destinations, current: Some(output), complete: Vec::new() }
    }

    /// Returns how the outputs are compressed.
    pub fn compressions(&self) -> Compressions {
        Compressions(match (&self.destinations, &self.current) {
            (Destinations::Each(paths), _) if !paths.is_empty() => {
                paths.iter().map(|path| Coding::from_file_name(path)).collect()
            }
            (_, Some(output)) => vec![output.compression()],
            _ => vec![None],
        })
    }

    /// Whether there is one output for all lists.
    pub fn is_joined(&self) -> bool {
        matches!(self.destinations, Destinations::Joined(_))
    }

    /// Begins list `number`. Returns whether its output is still empty.
    pub fn begin(&mut self, number: usize) -> Result<bool, OutputFailed> {
        let Destinations::Each(paths) = &self.destinations else { return Ok(number == 0) };
        self.complete.extend(self.current.take().map(Output::complete).transpose()?);
        let path = &paths[number];
        if let Some(folder) = path.parent() {
            let name = folder.display().to_string();
            fs::create_dir_all(folder).map_err(|error| OutputFailed::new(&name, error))?;
        }
        self.current = Some(Output::create(path)?);
        Ok(true)
    }

    /// Writes to the output of the current list. The reader of a pipe sees it at once.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), OutputFailed> {
        match &mut self.current {
            Some(output) => output.write(bytes).and_then(|()| output.flush()),
            None => Ok(()),
        }
    }

    /// Like [`Outputs::write`], for bytes that are [compressed](Outputs::compressions).
    pub fn write_compressed(&mut self, bytes: &[u8]) -> Result<(), OutputFailed> {
        match &mut self.current {
            Some(output) => output.write_compressed(bytes).and_then(|()| output.flush()),
            None => Ok(()),
        }
    }

    /// Completes all outputs. None has its name yet.
    pub fn complete(mut self) -> Result<Vec<CompleteOutput>, OutputFailed> {
        self.complete.extend(self.current.take().map(Output::complete).transpose()?);
        Ok(self.complete)
    }
}
