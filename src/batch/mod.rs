//! Bulk work: many records, many threads, one order.
//!
//! [`runner`] hands chunks of the input to threads and their outputs to a sink in input order.

pub mod runner;
