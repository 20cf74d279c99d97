//! Files of the project and what they should hold, bytes of compressed files, damaged copies, and Parquet files
//! with given columns.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

/// Returns a path in this project, as `corpora/sample`.
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the bytes of a file that tests compare. With `WRITE=1`, the one way to regenerate such files, they
/// are first made and written.
///
/// # Panics
///
/// If the file cannot be read or written.
pub fn stored(path: &Path, made: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    let writes = std::env::var_os("WRITE").is_some_and(|it| it == "1");
    let made = writes.then(made);
    // A file that is right is left alone: another test may be reading it.
    let is_other = |made: &Vec<u8>| std::fs::read(path).ok().as_ref() != Some(made);
    let written = made.filter(is_other).map_or(Ok(()), |made| std::fs::write(path, made));
    let read = written.and_then(|()| std::fs::read(path));
    read.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Asserts that a file of the project holds a text; `WRITE=1` makes it so.
///
/// # Panics
///
/// If they differ, with the first line that does.
#[track_caller]
pub fn assert_stored(path: &Path, found: &str) {
    let stored = stored(path, || found.into());
    if stored == found.as_bytes() {
        return;
    }
    let stored = String::from_utf8_lossy(&stored);
    let lines = stored.split('\n').zip(found.split('\n'));
    let same = lines.take_while(|(stored, found)| stored == found).count();
    let line =
        |text: &str| text.split('\n').nth(same).map_or("(its end)".into(), |it| format!("{it:?}"));
    panic!(
        "{}:{}: {} is stored, and this was found (WRITE=1 writes it): {}",
        path.display(),
        same + 1,
        line(&stored),
        line(found)
    );
}

/// Returns a gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a zstd frame.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}

/// Returns copies of a file with one flipped bit each, which messages name: each `stride`th of three
/// bits per byte. A stride that three does not divide takes all three in turn.
pub fn flipped(whole: &[u8], stride: usize) -> impl Iterator<Item = (String, Vec<u8>)> {
    let bits = (0..whole.len()).flat_map(|at| [(at, 0), (at, 4), (at, 7)]).step_by(stride);
    bits.map(|(at, bit)| {
        let mut bytes = whole.to_vec();
        bytes[at] ^= 1 << bit;
        (format!("byte {at}, bit {bit}"), bytes)
    })
}

/// The columns of a file, with their names.
pub type Columns = Vec<(&'static str, ArrayRef)>;

/// Writes a Parquet file with these columns, which are all nullable.
pub fn parquet(columns: Columns, properties: WriterProperties) -> (TempDir, PathBuf) {
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    (folder, path)
}

/// Writes other bytes into a file that is made anew: some file systems write to the disk at once, which
/// takes milliseconds, if the content of a file is replaced.
pub fn overwrite(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Returns an array as a column.
pub fn column(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}
