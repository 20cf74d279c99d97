//! A folder of robots.txt files named by host.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hashbrown::HashTable;
use rayon::prelude::*;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::bytes::seeded_hash;
use crate::dialect::RFC_9309;
use crate::target::{host_key, split};

use super::{LoadConfig, LoadError, LoadNote, LoadNoteKind, OriginTable, PolicySet, Scope};

/// What may follow the host in a file's name.
const ENDINGS: [&[u8]; 2] = [b".robots.txt", b".txt"];

/// A file of the folder.
struct HostFile {
    path: PathBuf,
    text: Vec<u8>,
    /// For the table of texts that are known.
    seeded_hash: u64,
    /// For the hash of the set.
    hash: u64,
}

pub(super) fn load(folder: &Path, config: &LoadConfig) -> Result<PolicySet, LoadError> {
    let mut notes = Vec::new();
    let paths = list(folder, &mut notes)?;
    let open = |path: &PathBuf| {
        let unreadable = |source| LoadError::Unreadable { path: path.clone(), source };
        let text = read(path, config.robots_octets_max).map_err(unreadable)?;
        let (seeded_hash, hash) = (seeded_hash(&text), xxh3_64(&text));
        Ok(HostFile { path: path.clone(), text, seeded_hash, hash })
    };
    let files: Vec<HostFile> = paths.par_iter().map(open).collect::<Result<_, LoadError>>()?;
    let mut set =
        PolicySet { config: *config, texts: Vec::new(), scope: Scope::Everything, hash: 0, notes };
    let origins = file_origins(files, &mut set);
    if origins.is_empty() {
        return Err(LoadError::NoPolicy { path: folder.to_owned() });
    }
    set.scope = Scope::Origins(origins);
    Ok(set)
}

/// The regular files of a folder, by name, so that nothing depends on the file system's order.
fn list(folder: &Path, notes: &mut Vec<LoadNote>) -> Result<Vec<PathBuf>, LoadError> {
    let unreadable = |source| LoadError::Unreadable { path: folder.to_owned(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let path = entry.path();
        let kind = entry.file_type().map_err(unreadable)?;
        if kind.is_file() || (kind.is_symlink() && path.is_file()) {
            paths.push(path);
        } else {
            notes.push(LoadNote { path, kind: LoadNoteKind::NotAFile });
        }
    }
    paths.sort_unstable();
    notes.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(paths)
}

/// Reads as much of a robots.txt file as counts, and a little more, so that the parser sees what was cut.
///
/// # Errors
///
/// What the system says.
pub fn read(path: &Path, octets_max: Option<usize>) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let Some(octets_max) = octets_max else {
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        return Ok(text);
    };
    /// A line end is two octets at most.
    const SEEN_PAST_MAX: usize = 2;
    let mut text = Vec::new();
    file.take(octets_max.saturating_add(SEEN_PAST_MAX) as u64).read_to_end(&mut text)?;
    Ok(text)
}

/// Files each text once and its host's origins in a table.
fn file_origins(files: Vec<HostFile>, set: &mut PolicySet) -> OriginTable {
    let mut origins = OriginTable::default();
    let mut known: HashTable<(u64, u32)> = HashTable::new();
    let mut hash = Xxh3::new();
    for file in files {
        let Some((http, https)) = host_keys(&file.path) else {
            set.notes.push(LoadNote { path: file.path, kind: LoadNoteKind::NotAHost });
            continue;
        };
        let same = |&(hash, index): &(u64, u32)| {
            hash == file.seeded_hash && *set.texts[index as usize] == *file.text
        };
        let known_policy = known.find(file.seeded_hash, same).map(|&(_, policy)| policy);
        let policy = known_policy.unwrap_or(set.texts.len() as u32);
        let new_http = origins.insert(b"http", &http, policy);
        let new_https = origins.insert(b"https", &https, policy);
        if !new_http && !new_https {
            set.notes.push(LoadNote { path: file.path, kind: LoadNoteKind::SameHost });
            continue;
        }
        hash.update(&https);
        hash.update(&file.hash.to_le_bytes());
        if known_policy.is_none() {
            known.insert_unique(file.seeded_hash, (file.seeded_hash, policy), |&(hash, _)| hash);
            set.texts.push(file.text.into());
        }
    }
    set.hash = hash.digest();
    origins
}

/// The keys of the host that a file is named by, for http and https; they differ if the name has
/// one scheme's default port.
fn host_keys(path: &Path) -> Option<(Vec<u8>, Vec<u8>)> {
    let name = path.file_name()?.as_encoded_bytes();
    let stripped = ENDINGS.iter().find_map(|ending| name.strip_suffix(*ending));
    let host = stripped.unwrap_or(name);
    let key = |scheme: &[u8]| {
        let url = [scheme, b"://", host, b"/"].concat();
        let parts = split(&url, RFC_9309.paths.path_start).ok()?;
        // The name has to be the host alone, without user information or a path.
        let whole = parts.path == b"/" && !host.contains(&b'@');
        whole.then(|| host_key(&parts, &mut Vec::new()).map(<[u8]>::to_vec).ok())?
    };
    Some((key(b"http")?, key(b"https")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_hosts() {
        let https = |name: &str| Some(String::from_utf8(host_keys(Path::new(name))?.1).unwrap());
        assert_eq!(https("Example.COM").as_deref(), Some("example.com"));
        assert_eq!(https("example.com.txt").as_deref(), Some("example.com"));
        assert_eq!(https("example.com.robots.txt").as_deref(), Some("example.com"));
        assert_eq!(https("exämple.com").as_deref(), Some("xn--exmple-cua.com"));
        assert_eq!(https("a.example:8443").as_deref(), Some("a.example:8443"));
        assert_eq!(https("a.example:443").as_deref(), Some("a.example"));
        assert_eq!(https("user@a.example"), None);
        assert_eq!(https("a b"), None);
    }
}
