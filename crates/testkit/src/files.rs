//! Paths of the project, bytes of compressed files, damaged copies, and Parquet files with given columns.

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
