//! The outputs for lists: one for all lists, or one for each.
//!
//! All files of a run appear together, or none does. With one output for each list, only one is
//! open at a time.

use std::fs;

use portcullis_files::compression::Coding;

use super::output::{CompleteOutput, Output, OutputFailed, OutputFile};

/// The destinations of a run: one for all lists, or one for each.
#[derive(Clone, Debug)]
pub struct Destinations {
    paths: Vec<OutputFile>,
    is_joined: bool,
}

impl Destinations {
    /// Returns one destination for all lists.
    pub fn joined(path: OutputFile) -> Destinations {
        Destinations { paths: vec![path], is_joined: true }
    }

    /// Returns one destination for each list.
    pub fn each(paths: Vec<OutputFile>) -> Destinations {
        Destinations { paths, is_joined: false }
    }

    /// Returns the destinations if there is one for each list.
    pub fn of_lists(&self) -> Option<&[OutputFile]> {
        (!self.is_joined).then_some(&self.paths)
    }

    fn of_list(&self, number: usize) -> &OutputFile {
        &self.paths[if self.is_joined { 0 } else { number }]
    }

    /// Returns how the output for a list is compressed.
    pub fn coding(&self, number: usize) -> Option<Coding> {
        self.of_list(number).coding()
    }

    /// Whether an output is compressed.
    pub fn are_compressed(&self) -> bool {
        self.paths.iter().any(|path| path.coding().is_some())
    }
}

/// The outputs of a run.
pub struct Outputs {
    pub destinations: Destinations,
    current: Option<Output>,
    complete: Vec<CompleteOutput>,
}

impl Outputs {
    /// Opens the output for all lists. Those for each are opened when their lists begin.
    pub fn open(destinations: Destinations) -> Result<Outputs, OutputFailed> {
        let all = destinations.paths.first().filter(|_| destinations.is_joined);
        let current = all.map(Output::create).transpose()?;
        Ok(Outputs { destinations, current, complete: Vec::new() })
    }

    /// Whether there is one output for all lists.
    pub fn is_joined(&self) -> bool {
        self.destinations.is_joined
    }

    /// Begins list `number`. Returns whether its output is still empty.
    pub fn begin(&mut self, number: usize) -> Result<bool, OutputFailed> {
        if self.is_joined() {
            return Ok(number == 0);
        }
        self.end()?;
        let path = self.destinations.of_list(number);
        if let Some(folder) = path.parent() {
            let name = folder.display().to_string();
            fs::create_dir_all(folder).map_err(|error| OutputFailed::new(&name, error))?;
        }
        self.current = Some(Output::create(path)?);
        Ok(true)
    }

    /// Takes the output of the current list, for what writes to it and [completes](Outputs::add) it.
    pub fn take(&mut self) -> Option<Output> {
        self.current.take()
    }

    /// Adds a complete output that was taken.
    pub fn add(&mut self, complete: CompleteOutput) {
        self.complete.push(complete);
    }

    /// Writes to the output of the current list. The reader of a pipe sees it at once.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), OutputFailed> {
        match &mut self.current {
            Some(output) => output.write(bytes).and_then(|()| output.flush()),
            None => Ok(()),
        }
    }

    /// Like [`Outputs::write`], for bytes that are [compressed](Destinations::coding).
    pub fn write_compressed(&mut self, bytes: &[u8]) -> Result<(), OutputFailed> {
        match &mut self.current {
            Some(output) => output.write_compressed(bytes).and_then(|()| output.flush()),
            None => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), OutputFailed> {
        self.complete.extend(self.current.take().map(Output::complete).transpose()?);
        Ok(())
    }

    /// Completes all outputs. None has its name yet.
    pub fn complete(mut self) -> Result<Vec<CompleteOutput>, OutputFailed> {
        self.end()?;
        Ok(self.complete)
    }
}
