//! Why crawlers fetch pages: the classes of the lists.

/// What a crawler fetches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Training,
    Search,
    Assistant,
    /// The token controls how pages are used, and sends no requests.
    Use,
}
