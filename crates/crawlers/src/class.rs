//! Why crawlers fetch pages: the classes of the lists.

/// The purpose that a crawler fetches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Training,
    Search,
    Assistant,
    /// The token controls how pages are used, and sends no requests.
    Use,
}
