//! Lists of URLs and archives of captures, read.

pub mod capture;
pub mod input;
