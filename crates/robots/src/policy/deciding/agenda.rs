//! Which answers of a block need a step, noted without a branch.

/// An answer that needs a step more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Item {
    pub(super) question: u32,
    /// The place of the answer.
    pub(super) answer: u32,
}

/// The answers of a block that need a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Agenda {
    items: Vec<Item>,
    length: usize,
}

impl Agenda {
    /// Empties it and makes room for so many.
    pub(super) fn clear(&mut self, capacity: usize) {
        self.length = 0;
        if self.items.len() < capacity {
            self.items.resize(capacity, Item::default());
        }
    }

    /// Adds an item, or does not: without a branch, which would be guessed wrong too often.
    #[inline]
    pub(super) fn push_if(&mut self, is_needed: bool, item: Item) {
        self.items[self.length] = item;
        self.length += usize::from(is_needed);
    }

    /// Adds those of eight neighbours whose bits are set, of questions that have one answer each. There has to
    /// be room for all.
    #[inline(always)]
    pub(super) fn push_of_eight(&mut self, are_needed: u8, first: usize) {
        let room = &mut self.items[self.length..][..8];
        let mut length = 0;
        for place in 0..8 {
            let number = (first + place) as u32;
            room[length & 7] = Item { question: number, answer: number };
            length += usize::from(are_needed >> place & 1);
        }
        self.length += length;
    }

    #[inline]
    pub(super) fn items(&self) -> &[Item] {
        &self.items[..self.length]
    }
}
