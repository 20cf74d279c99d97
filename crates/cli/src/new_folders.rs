//! Folders that are created for outputs, and removed if they stay empty.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, io};

/// Folders that were created for outputs. Dropping it removes those that stayed empty.
#[derive(Default)]
pub struct NewFolders(Mutex<Vec<PathBuf>>);

impl NewFolders {
    /// Creates a folder, and those above it.
    pub fn create(&self, folder: &Path) -> io::Result<()> {
        let missing =
            folder.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.exists());
        let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        fs::create_dir_all(folder)?;
        let mut created = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        created.extend(missing.into_iter().rev());
        Ok(())
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        let created = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        for folder in created.iter().rev() {
            // Most have outputs.
            let _ = fs::remove_dir(folder);
        }
    }
}
