//! Scratch space: byte sequences that grow in memory and go on in temporary files.
//!
//! Owns what compiling needs besides its result: [`Scratch`] says where temporary files may be, and
//! how much memory may be used instead; a [`Spool`] is one sequence of bytes that is appended to and
//! read back. Temporary files have no name, so nothing is left of them after any exit.
//!
//! Each file has a checksum of what was written to it, and reading it to its end compares that. So a
//! failing disk, or another program that writes to the file, is an error and no other set.
//!
//! Cost: one copy into memory. What does not fit there is written and read once more. Memory: a quarter of that
//! of the [`Scratch`] for all spools, and [`SPOOL_BUFFER`] at most for each. Everything that touches a
//! file can fail with [`WriteError`].

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, BufReader, ErrorKind, Read, Seek as _, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use twox_hash::XxHash3_64;
use zerocopy::{Immutable, IntoBytes};

use crate::atomic_file::folder_of;
use crate::budget::{Budget, Drawn, SPOOL_BUFFER};
use crate::error::WriteError;
use crate::limits::COMPILE_MEMORY_MIN;
use crate::read_at::ReadAt;

/// The size of a reader's buffer, in bytes, unless all that it reads is less: what is small is read often.
const READ_BYTES: usize = 64 * 1024;

/// The most bytes that are passed on at once.
const PIECE_BYTES: u64 = 256 * 1024;

/// Where and when temporary files are written. Clones count what they write together.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// `None` if everything stays in memory.
    files: Option<Files>,
    budget: Budget,
    spilled: Arc<AtomicU64>,
    stop: Option<Arc<AtomicBool>>,
}

/// Where temporary files are.
#[derive(Clone, Debug)]
struct Files {
    folder: Arc<Path>,
    /// The name of a temporary file in errors.
    name: Arc<str>,
}

impl Scratch {
    /// Keeps everything in memory.
    pub fn in_memory() -> Scratch {
        Scratch::default()
    }

    /// Uses at most about `memory` bytes, by default [`Scratch::default_memory`], and for the rest
    /// temporary files next to an output, or else where the system has them. [`usize::MAX`] bytes keep
    /// everything in memory; less than [`COMPILE_MEMORY_MIN`] counts as that.
    pub fn new(output: Option<&Path>, memory: Option<usize>) -> Scratch {
        let memory = memory.unwrap_or_else(Scratch::default_memory).max(COMPILE_MEMORY_MIN);
        match output {
            _ if memory == usize::MAX => Scratch::in_memory(),
            Some(output) => {
                let name = format!("a temporary file next to {}", output.display());
                Scratch::of(folder_of(output), &name, memory)
            }
            None => Scratch::with_little_memory(&std::env::temp_dir(), memory),
        }
    }

    /// Uses files in a folder, with buffers and runs as small as `memory` makes them.
    #[doc(hidden)]
    pub fn with_little_memory(folder: &Path, memory: usize) -> Scratch {
        Scratch::of(folder, &format!("a temporary file in {}", folder.display()), memory)
    }

    fn of(folder: &Path, name: &str, memory: usize) -> Scratch {
        let files = Some(Files { folder: folder.into(), name: name.into() });
        Scratch { files, budget: Budget::new(Some(memory)), ..Scratch::default() }
    }

    /// Ends the work that uses this scratch when `stop` becomes true: soon afterwards, and before it
    /// writes a set, it fails with [`WriteError`].
    #[must_use]
    pub fn until(self, stop: Arc<AtomicBool>) -> Scratch {
        Scratch { stop: Some(stop), ..self }
    }

    /// Fails if the work is to end.
    #[inline]
    pub fn go_on(&self) -> Result<(), WriteError> {
        match &self.stop {
            Some(stop) if stop.load(Ordering::Relaxed) => {
                Err(self.failed(ErrorKind::Interrupted.into()))
            }
            _ => Ok(()),
        }
    }

    /// Returns a quarter of this machine's memory, or of what the control groups of this process allow,
    /// in bytes. 1 GiB where that is not known.
    pub fn default_memory() -> usize {
        let machine = number(Path::new("/proc/meminfo"), "MemTotal:");
        let machine = machine.map(|kibibytes| kibibytes * 1024);
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let group = memory_of_groups(&groups, Path::new("/sys/fs/cgroup"));
        let all = [machine, group].into_iter().flatten().min().unwrap_or(4 << 30);
        usize::try_from(all / 4).unwrap_or(usize::MAX)
    }

    /// Returns about the memory that is used.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns the bytes that were written to temporary files.
    pub fn spilled_bytes(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }

    /// Begins a table that stays in memory.
    pub fn table(&self) -> Table {
        Table { scratch: self.clone(), drawn: self.budget.for_table() }
    }

    /// Returns the error that bytes are not what was written.
    pub fn changed(&self) -> WriteError {
        self.failed(ErrorKind::InvalidData.into())
    }

    fn failed(&self, source: io::Error) -> WriteError {
        let name = self.files.as_ref().map_or("memory", |files| &*files.name);
        WriteError::new(Path::new(name), source)
    }
}

/// The bytes of a table that stays in memory. All tables of a scratch and its clones may take half of its
/// memory together.
#[derive(Debug, Default)]
pub struct Table {
    scratch: Scratch,
    drawn: Drawn,
}

impl Table {
    /// Sets the size of the table, in bytes.
    ///
    /// # Errors
    ///
    /// If the tables of the scratch are too large together.
    pub fn resize(&mut self, bytes: usize) -> Result<(), WriteError> {
        let Table { scratch, drawn } = self;
        let Err(all) = drawn.resize(bytes) else { return Ok(()) };
        let max = drawn.max.unwrap_or(usize::MAX);
        let needs = format!(
            "they take {all} bytes so far, and may take {max}, half of it; try twice as much memory"
        );
        Err(scratch.failed(io::Error::new(ErrorKind::OutOfMemory, needs)))
    }
}

/// Returns the number at the beginning of a file, or after `name` in one of its lines.
fn number(path: &Path, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let words = text.lines().find_map(|line| line.strip_prefix(name))?;
    words.split_whitespace().next()?.parse().ok()
}

/// Returns the memory that control groups allow, in bytes: the least of each group and of those that it
/// is nested in. `groups` has a line `NUMBER:CONTROLLERS:PATH` for each hierarchy, as
/// `/proc/self/cgroup` has; in version 2 there is one, without controllers. The groups are folders
/// below `root`.
fn memory_of_groups(groups: &str, root: &Path) -> Option<u64> {
    let allowed = groups.lines().filter_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|it| it == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let nested = Path::new(path.trim_start_matches('/')).ancestors();
        nested.filter_map(|group| number(&root.join(group).join(file), "")).min()
    });
    allowed.min()
}

/// A hash of bytes so far.
#[derive(Default)]
struct Hash(XxHash3_64);

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0.finish())
    }
}

/// Bytes that are appended, and then read in order or by position.
#[derive(Debug, Default)]
pub struct Spool {
    scratch: Scratch,
    file: Option<File>,
    /// The bytes in the file.
    filed: u64,
    /// The hash of the bytes in the file.
    hash: Hash,
    /// The bytes after those in the file.
    tail: Vec<u8>,
    /// The bytes that are kept in memory next to the buffer.
    kept: Drawn,
}

impl Spool {
    /// Creates an empty spool.
    pub fn new(scratch: &Scratch) -> Spool {
        Spool { scratch: scratch.clone(), kept: scratch.budget.for_spool(), ..Spool::default() }
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.scratch.go_on()?;
        let free = self.tail.capacity() - self.tail.len();
        if bytes.len() > free && !self.has_room(self.tail.len() + bytes.len()) {
            self.spill().map_err(|error| self.scratch.failed(error))?;
        }
        self.tail.extend_from_slice(bytes);
        Ok(())
    }

    /// Makes room for so many bytes in memory. Returns whether there is any.
    fn has_room(&mut self, bytes: usize) -> bool {
        if bytes <= self.scratch.budget.before_files(SPOOL_BUFFER) {
            return true;
        }
        // What comes after a file is only collected for it.
        let bytes = bytes.max(2 * self.tail.capacity());
        let has_room = self.file.is_none() && self.kept.resize(bytes).is_ok();
        if has_room {
            self.tail.reserve_exact(bytes - self.tail.len());
        }
        has_room
    }

    fn spill(&mut self) -> io::Result<()> {
        let Some(files) = &self.scratch.files else { return Ok(()) };
        if self.tail.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(&files.folder)?),
        };
        // Windows moves the cursor when it reads at a position.
        file.seek(SeekFrom::Start(self.filed))?;
        file.write_all(&self.tail)?;
        self.hash.0.write(&self.tail);
        self.filed += self.tail.len() as u64;
        self.scratch.spilled.fetch_add(self.tail.len() as u64, Ordering::Relaxed);
        self.tail.clear();
        if self.kept.bytes > 0 {
            self.tail = Vec::new();
            self.kept = self.scratch.budget.for_spool();
        }
        Ok(())
    }

    /// Appends a record for [`SpoolReader::read_record`].
    pub fn write_record(&mut self, record: &[u8]) -> Result<(), WriteError> {
        self.write(&record_head(record))?;
        self.write(record)
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> u64 {
        self.filed + self.tail.len() as u64
    }

    /// Returns whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether everything is in memory.
    pub fn is_in_memory(&self) -> bool {
        self.file.is_none()
    }

    /// Returns the bytes at a position. The caller checks that they are what was written.
    pub fn at(&self, start: u64, bytes: usize) -> Result<Cow<'_, [u8]>, WriteError> {
        if let Some(start) = start.checked_sub(self.filed) {
            return Ok(Cow::Borrowed(&self.tail[start as usize..][..bytes]));
        }
        let mut found = vec![0; bytes];
        let in_file = bytes.min((self.filed - start) as usize);
        let (of_file, of_tail) = found.split_at_mut(in_file);
        let file = self.file.as_ref().expect("bytes are in it");
        let mut read = ReadAt::new(file, start);
        read.read_exact(of_file).map_err(|error| self.scratch.failed(error))?;
        of_tail.copy_from_slice(&self.tail[..of_tail.len()]);
        Ok(Cow::Owned(found))
    }

    /// Returns the error that bytes are not what was written.
    pub fn changed(&self) -> WriteError {
        self.scratch.changed()
    }

    /// Returns the most bytes that are read at once.
    fn piece_bytes(&self) -> usize {
        self.len().min(READ_BYTES as u64) as usize
    }

    /// Reads everything from the beginning.
    pub fn reader(&self) -> SpoolReader<'_> {
        let source = SpoolBytes { spool: self, position: 0, hash: Hash::default() };
        SpoolReader { source: BufReader::with_capacity(self.piece_bytes(), source) }
    }
}

/// Reads a [`Spool`].
#[derive(Debug)]
pub struct SpoolReader<'s> {
    source: BufReader<SpoolBytes<'s>>,
}

impl<'s> SpoolReader<'s> {
    /// Returns the spool that is read.
    pub fn spool(&self) -> &'s Spool {
        self.source.get_ref().spool
    }

    /// Fills `bytes`.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<(), WriteError> {
        let scratch = &self.spool().scratch;
        scratch.go_on()?;
        self.source.read_exact(bytes).map_err(|error| scratch.failed(error))
    }

    /// Reads a record, whose checksum has to fit.
    pub fn read_record(&mut self, record: &mut Vec<u8>) -> Result<(), WriteError> {
        let mut head = [0; RECORD_HEAD_BYTES];
        self.read(&mut head)?;
        let bytes = record_bytes(&head);
        self.expect(bytes)?;
        record.resize(bytes, 0);
        self.read(record)?;
        if record_head(record) == head { Ok(()) } else { Err(self.spool().changed()) }
    }

    /// Returns the position of the next byte.
    pub fn position(&self) -> u64 {
        self.source.get_ref().position - self.source.buffer().len() as u64
    }

    /// Returns whether all was read.
    pub fn is_at_end(&self) -> bool {
        self.rest() == 0
    }

    /// Returns the number of bytes that were not read.
    fn rest(&self) -> u64 {
        self.spool().len() - self.position()
    }

    /// Checks that this many bytes follow.
    pub fn expect(&self, bytes: usize) -> Result<(), WriteError> {
        if bytes as u64 <= self.rest() { Ok(()) } else { Err(self.spool().changed()) }
    }

    /// Reads the next bytes into `piece`: a multiple of 64, but for the last; none at the end.
    pub fn read_piece(&mut self, piece: &mut Vec<u8>) -> Result<(), WriteError> {
        piece.resize(self.rest().min(PIECE_BYTES) as usize, 0);
        self.read(piece)
    }

    /// Passes all bytes to `take`, in pieces whose size is a multiple of 64 but for the last.
    pub fn each_piece<E: From<WriteError>>(
        mut self,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.spool().is_in_memory() {
            let rest = &self.spool().tail[self.position() as usize..];
            return rest.chunks(PIECE_BYTES as usize).try_for_each(take);
        }
        let mut piece = Vec::new();
        while !self.is_at_end() {
            self.read_piece(&mut piece)?;
            take(&piece)?;
        }
        Ok(())
    }
}

/// The bytes before a record: the number of its bytes, and the low half of their hash.
const RECORD_HEAD_BYTES: usize = 8;

fn record_head(record: &[u8]) -> [u8; RECORD_HEAD_BYTES] {
    let hash = XxHash3_64::oneshot(record) << 32;
    (hash | u64::from(record.len() as u32)).to_le_bytes()
}

fn record_bytes(head: &[u8; RECORD_HEAD_BYTES]) -> usize {
    u64::from_le_bytes(*head) as u32 as usize
}

/// Appends a record to a block of records, for [`take_record`] and [`SpoolReader::read_record`].
pub fn push_record(block: &mut Vec<u8>, record: &[u8]) {
    block.extend_from_slice(&record_head(record));
    block.extend_from_slice(record);
}

/// Takes the next record off a block of records. `None` if it is not what was written.
pub fn take_record<'b>(block: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (head, rest) = block.split_first_chunk()?;
    let (record, rest) = rest.split_at_checked(record_bytes(head))?;
    *block = rest;
    (record_head(record) == *head).then_some(record)
}

#[derive(Debug)]
struct SpoolBytes<'s> {
    spool: &'s Spool,
    position: u64,
    hash: Hash,
}

impl Read for SpoolBytes<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Spool { file, filed, hash, tail, .. } = self.spool;
        let Some(in_tail) = self.position.checked_sub(*filed) else {
            let count = out.len().min((filed - self.position) as usize);
            let file = file.as_ref().expect("bytes are in it");
            ReadAt::new(file, self.position).read_exact(&mut out[..count])?;
            self.hash.0.write(&out[..count]);
            self.position += count as u64;
            if self.position == *filed && self.hash.0.finish() != hash.0.finish() {
                return Err(ErrorKind::InvalidData.into());
            }
            return Ok(count);
        };
        let mut rest = &tail[in_tail as usize..];
        let count = rest.read(out)?;
        self.position += count as u64;
        Ok(count)
    }
}

/// A spool of items of one size.
#[derive(Debug)]
pub struct Items<T> {
    spool: Spool,
    items: PhantomData<T>,
}

impl<T: IntoBytes + Immutable> Items<T> {
    /// Creates an empty sequence.
    pub fn new(scratch: &Scratch) -> Items<T> {
        Items { spool: Spool::new(scratch), items: PhantomData }
    }

    /// Appends items.
    pub fn push(&mut self, items: &[T]) -> Result<(), WriteError> {
        self.spool.write(items.as_bytes())
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of items.
    pub fn len(&self) -> u64 {
        self.spool.len() / size_of::<T>() as u64
    }

    /// Returns the bytes of all items.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPOOL_BUFFER_BYTES: usize = SPOOL_BUFFER.bytes_max;

    /// Returns a scratch whose spools are in files as soon as they exceed their buffer.
    fn on_disk() -> (tempfile::TempDir, Scratch) {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::with_little_memory(folder.path(), SPOOL_BUFFER_BYTES);
        (folder, scratch)
    }

    fn written(scratch: &Scratch, bytes: &[u8]) -> Spool {
        let mut spool = Spool::new(scratch);
        bytes.chunks(1_000).for_each(|piece| spool.write(piece).unwrap());
        spool
    }

    fn all(spool: &Spool) -> Result<Vec<u8>, WriteError> {
        let mut all = Vec::new();
        spool.reader().each_piece(|piece| {
            all.extend_from_slice(piece);
            Ok::<_, WriteError>(())
        })?;
        Ok(all)
    }

    #[test]
    fn what_is_written_is_read_in_order_and_by_position() {
        let (folder, disk) = on_disk();
        for bytes in [0, 1, 999, SPOOL_BUFFER_BYTES, 3 * SPOOL_BUFFER_BYTES + 77] {
            let bytes: Vec<u8> = (0..bytes as u32).map(|at| ((at / 7) ^ at) as u8).collect();
            for scratch in [&disk, &Scratch::in_memory()] {
                let spool = written(scratch, &bytes);
                assert_eq!(all(&spool).unwrap(), bytes);
                for (start, count) in [(0, 1), (500, 1_000), (SPOOL_BUFFER_BYTES - 9, 18)] {
                    let expected = bytes.get(start..start + count);
                    let Some(expected) = expected else { continue };
                    assert_eq!(&*spool.at(start as u64, count).unwrap(), expected);
                }
            }
        }
        assert!(disk.spilled_bytes() > SPOOL_BUFFER_BYTES as u64);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_fits_stays_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Scratch::new(Some(&folder.path().join("a.set")), Some(64 * SPOOL_BUFFER_BYTES));
        let kept = || disk.budget.for_spool().all.load(Ordering::Relaxed);
        let max = disk.budget.for_spool().max.unwrap();
        let bytes = vec![7; 6 * SPOOL_BUFFER_BYTES];
        let one = written(&disk, &bytes);
        assert!(one.is_in_memory() && (bytes.len()..=max).contains(&kept()));
        let (two, three) = (written(&disk, &bytes), written(&disk, &bytes));
        assert!(!three.is_in_memory() && kept() <= max);
        assert_eq!((all(&one).unwrap(), all(&two).unwrap()), (bytes.clone(), all(&three).unwrap()));
        drop((one, two, three));
        assert_eq!(kept(), 0);
        assert!(written(&disk, &bytes).is_in_memory());
    }

    #[cfg(unix)]
    #[test]
    fn a_changed_file_is_an_error() {
        use std::os::unix::fs::FileExt;
        let (_folder, disk) = on_disk();
        let spool = written(&disk, &vec![7; 2 * SPOOL_BUFFER_BYTES]);
        spool.file.as_ref().unwrap().write_all_at(b"\x06", 12_345).unwrap();
        let error = all(&spool).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(error.to_string().contains("temporary file"), "{error}");
        spool.file.as_ref().unwrap().set_len(12_000).unwrap();
        assert_eq!(all(&spool).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn tables_that_need_more_memory_are_an_error() {
        let (_folder, disk) = on_disk();
        let (mut one, mut other) = (disk.table(), disk.clone().table());
        assert!(one.resize(COMPILE_MEMORY_MIN / 2 - 1).is_ok());
        assert!(other.resize(1).is_ok());
        let needs = other.resize(2).unwrap_err().to_string();
        assert!(
            needs.starts_with("too little memory") && needs.ends_with("try twice as much memory"),
            "{needs}"
        );
        assert!(needs.contains(&(COMPILE_MEMORY_MIN / 2 + 1).to_string()), "{needs}");
        drop(one);
        assert!(other.resize(COMPILE_MEMORY_MIN / 2).is_ok());
        assert!(Scratch::in_memory().table().resize(usize::MAX).is_ok());
    }

    #[test]
    fn the_least_memory_is_used_instead_of_less() {
        let disk = Scratch::new(None, Some(COMPILE_MEMORY_MIN));
        for memory in [0, 1, COMPILE_MEMORY_MIN] {
            let little = Scratch::new(Some(Path::new("a.set")), Some(memory));
            assert_eq!(little.budget.bytes(), Some(COMPILE_MEMORY_MIN));
            assert_eq!(little.budget.of(SPOOL_BUFFER), disk.budget.of(SPOOL_BUFFER));
        }
    }

    #[test]
    fn the_memory_of_nested_groups_is_that_of_the_smallest() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("memory.max", "9000000\n");
        write("a.slice/memory.max", "max\n");
        write("a.slice/b.scope/memory.max", "7000000\n");
        write("a.slice/b.scope/c/memory.max", "8000000\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/a/memory.limit_in_bytes", "5000000\n");
        let rows = [
            ("0::/a.slice/b.scope/c\n", Some(7_000_000)),
            ("0::/a.slice\n", Some(9_000_000)),
            ("0::/\n", Some(9_000_000)),
            // Inside of a container, the path may be that on the host.
            ("0::/elsewhere/d\n", Some(9_000_000)),
            ("12:cpu,cpuacct:/a\n7:memory:/a/b\n0::/a.slice\n", Some(5_000_000)),
            ("7:hugetlb,memory:/\n", Some(9_223_372_036_854_771_712)),
            ("12:cpu,cpuacct:/a\n", None),
            ("", None),
        ];
        for (groups, memory) in rows {
            assert_eq!(memory_of_groups(groups, root.path()), memory, "{groups}");
        }
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error() {
        let (folder, _) = on_disk();
        let scratch = Scratch::with_little_memory(&folder.path().join("none"), SPOOL_BUFFER_BYTES);
        let mut spool = Spool::new(&scratch);
        spool.write(&[0; SPOOL_BUFFER_BYTES]).unwrap();
        assert_eq!(spool.write(&[0]).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
