//! The pieces of a section in file order, and whether each is where its first reference needs it.

/// The starts of pieces in the order of their first reference. The writer uses this order, so an
/// unreferenced piece, or a piece elsewhere, comes from another writer.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    starts: Vec<u32>,
    needed: usize,
}

impl Pieces {
    /// Adds the piece that begins at `start`, after the existing ones.
    pub(super) fn push(&mut self, start: u32) {
        self.starts.push(start);
    }

    /// Returns the number of pieces.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the start of each piece.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Marks the piece at `start` as referenced. Returns false if there is no such piece, or if an
    /// earlier piece is not referenced yet.
    #[must_use]
    pub(super) fn need(&mut self, start: u32) -> bool {
        let found = self.starts.binary_search(&start).ok().filter(|&found| found <= self.needed);
        self.needed += usize::from(found == Some(self.needed));
        found.is_some()
    }

    /// Returns whether every piece is referenced.
    pub(super) fn all_needed(&self) -> bool {
        self.needed == self.starts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_needed_in_their_order() {
        let mut pieces = Pieces::default();
        [0, 7, 9].into_iter().for_each(|start| pieces.push(start));
        assert!(pieces.need(0) && pieces.need(0));
        assert!(!pieces.need(9) && !pieces.need(8));
        assert!(pieces.need(7) && !pieces.all_needed());
        assert!(pieces.need(9) && pieces.need(0) && pieces.all_needed());
        assert!(!pieces.need(10));
    }
}
