//! Pieces of a section, one behind the other, and whether each is where its first user needs it.

/// Where pieces begin, in the order in which somebody needs them first: that is how they are
/// written, so a piece that nobody needs, or that stands elsewhere, was written by something else.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    starts: Vec<u32>,
    needed: usize,
}

impl Pieces {
    /// Adds the piece that begins at `start`, behind those that are there.
    pub(super) fn push(&mut self, start: u32) {
        self.starts.push(start);
    }

    /// The number of pieces.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Where each begins.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// Takes note of somebody who needs the piece at `start`. Returns false if there is none, or
    /// another one should be needed before it.
    #[must_use]
    pub(super) fn need(&mut self, start: u32) -> bool {
        let found = self.starts.binary_search(&start).ok().filter(|&found| found <= self.needed);
        self.needed += usize::from(found == Some(self.needed));
        found.is_some()
    }

    /// Whether somebody needs each.
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
