//! The products that the headers of all other requests name: requests that are decided for `*`, and requests
//! of crawlers that a file names and nobody asked about.
//!
//! Browsers are one, because their headers name no product. Memory:
//! [`AUDIT_PRODUCTS_MAX`](crate::limits::AUDIT_PRODUCTS_MAX) names of at most
//! [`AUDIT_PRODUCT_BYTES_MAX`](crate::limits::AUDIT_PRODUCT_BYTES_MAX) bytes, and the names of the chunks
//! that are being read.

use std::cmp::Reverse;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use portcullis_dialect::decision::Verdict;
use portcullis_report::{Figures, add_counts};
use portcullis_robots::policy::product;
use portcullis_rows::list::Block;
use portcullis_set::batch::{AgentKind, Answers};
use portcullis_text::figures::largest;
use serde::Serialize;

use crate::limits::AUDIT_PRODUCT_BYTES_MAX;
use crate::list::List;
use crate::text::Text;

type VerdictCounts = [u64; Verdict::ALL.len()];

/// The records that are decided for `*`, or for no agent, by the product that each names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Products {
    browsers: VerdictCounts,
    nameless: VerdictCounts,
    uncounted: VerdictCounts,
    /// In the order of their first records.
    named: IndexMap<Vec<u8>, VerdictCounts, RandomState>,
}

/// The requests that no known crawler sent, by verdict and product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OtherFigures {
    /// The records of browsers.
    pub browsers: Figures,
    /// The records whose agent is empty or unreadable.
    pub nameless: Figures,
    /// The records of products after the first ones, which were counted together.
    pub uncounted: Figures,
    /// The products, the most disallowed records first.
    pub products: List<ProductRow>,
}

/// The records of a product.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProductRow {
    pub product: Text,
    pub verdicts: Figures,
}

/// The sender of a record, by what it says.
enum Sender {
    Browser,
    Nameless,
    Product(String),
}

impl Sender {
    fn of(text: &[u8], kind: AgentKind) -> Sender {
        let text = String::from_utf8_lossy(text);
        let name = text.trim();
        if matches!(name, "" | "-") || !name.contains(char::is_alphabetic) {
            return Sender::Nameless;
        }
        match kind {
            AgentKind::Token => Sender::Product(name.to_owned()),
            AgentKind::Header => match product(name) {
                Some(name) => Sender::Product(name.to_owned()),
                None => Sender::Browser,
            },
        }
    }
}

impl Products {
    pub fn clear(&mut self) {
        let mut named = std::mem::take(&mut self.named);
        named.clear();
        *self = Products { named, ..Products::default() };
    }

    /// Adds the records of a block that are not of a known crawler.
    pub fn add_block(&mut self, block: &Block<'_>, answers: &Answers<'_>) {
        let classifier = answers.session().classifier();
        let Some(kind) = classifier.agent_kind() else { return };
        for (record, decision) in answers.decisions().iter().enumerate() {
            let agent = answers.agent(record).map(|agent| &classifier.agents()[agent]);
            if agent.is_none_or(|agent| agent.tokens().next().is_none()) {
                let counts = match Sender::of(block.agent(record), kind) {
                    Sender::Browser => &mut self.browsers,
                    Sender::Nameless => &mut self.nameless,
                    Sender::Product(name) => {
                        let name = name.as_bytes();
                        let name = &name[..name.len().min(AUDIT_PRODUCT_BYTES_MAX)];
                        self.named.entry(name.to_vec()).or_default()
                    }
                };
                counts[decision.verdict() as usize] += 1;
            }
        }
    }

    /// Adds the records of the next chunk in the order of the input, which has none afterwards. Counts at most
    /// `products_max` products one by one, the first that occur.
    pub fn add(&mut self, chunk: &mut Products, products_max: usize) {
        add_counts(&mut self.browsers, &chunk.browsers);
        add_counts(&mut self.nameless, &chunk.nameless);
        for (name, counts) in chunk.named.drain(..) {
            let is_full = self.named.len() >= products_max && !self.named.contains_key(&name);
            let sums = match is_full {
                true => &mut self.uncounted,
                false => self.named.entry(name).or_default(),
            };
            add_counts(sums, &counts);
        }
    }

    /// Returns the figures, with this number of products.
    pub fn figures(&self, top: usize) -> OtherFigures {
        let figures = |counts: &VerdictCounts| {
            Figures::of(Verdict::ALL, Verdict::as_str, |it| counts[it as usize])
        };
        let order = |(name, counts): &(&Vec<u8>, &VerdictCounts)| {
            let all: u64 = counts.iter().sum();
            (counts[Verdict::Disallow as usize], all, Reverse(name.to_vec()))
        };
        let rows = largest(self.named.iter(), top, order).into_iter().map(|(name, counts)| {
            ProductRow { product: Text(name.clone()), verdicts: figures(counts) }
        });
        OtherFigures {
            browsers: figures(&self.browsers),
            nameless: figures(&self.nameless),
            uncounted: figures(&self.uncounted),
            products: List { total: self.named.len() as u64, rows: rows.collect() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_after_the_first_ones_are_counted_together() {
        let names = ["b", "a", "b", "c", "a", "d", "c"];
        for chunk in 1..8 {
            let mut sum = Products::default();
            for some in names.chunks(chunk) {
                let mut part = Products::default();
                for name in some {
                    part.named.entry(name.as_bytes().to_vec()).or_default()[0] += 1;
                }
                sum.add(&mut part, 2);
            }
            let figures = sum.figures(9);
            let rows: Vec<_> =
                figures.products.rows.iter().map(|it| it.product.to_string()).collect();
            assert_eq!((rows, figures.uncounted.sum()), (vec!["a".into(), "b".into()], 3));
            assert_eq!(figures.products.total, 2);
        }
    }

    #[test]
    fn senders_name_themselves() {
        let sender = |text: &str, kind| match Sender::of(text.as_bytes(), kind) {
            Sender::Browser => "(browser)".to_owned(),
            Sender::Nameless => "(nameless)".to_owned(),
            Sender::Product(name) => name,
        };
        for (text, header, token) in [
            ("curl/8.5.0", "curl", "curl/8.5.0"),
            ("Mozilla/5.0 (X11) Firefox/140.0", "(browser)", "Mozilla/5.0 (X11) Firefox/140.0"),
            ("-", "(nameless)", "(nameless)"),
            (" ", "(nameless)", "(nameless)"),
            ("123", "(nameless)", "(nameless)"),
        ] {
            assert_eq!(sender(text, AgentKind::Header), header);
            assert_eq!(sender(text, AgentKind::Token), token);
        }
    }
}
