//! Lists of URLs in the formats that people have.

#[cfg(feature = "parquet")]
pub mod parquet;
