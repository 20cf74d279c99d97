//! Records that decide nothing, by field: sitemaps, crawl-delays, and what only their authors know.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::dialect::{Dialect, Field};
use crate::set::PolicySet;
use crate::set::file::Damage;
use crate::syntax::{Content, records};

use super::extremes::largest;
use super::origins::{ByPosition, OthersUse};

/// Lists of records that a thread reads before it looks for other work.
const LISTS_AT_ONCE: usize = 256;

/// Records that decide nothing, by field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordSurvey {
    /// Records of the files that were captured.
    pub records: u64,
    /// Different fields.
    pub fields: u64,
    /// The fields that most origins have.
    pub most_common: Vec<FieldCount>,
}

/// How common a field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCount {
    /// Its name in lower case; `sitemap` for all that the dialect takes for one.
    pub name: Vec<u8>,
    /// Records of the files that were captured.
    pub records: u64,
    /// Origins whose file has one.
    pub origins: u64,
}

/// Records and origins.
type Counts = HashMap<Vec<u8>, (u64, u64), foldhash::fast::RandomState>;

impl RecordSurvey {
    pub(super) fn of(
        set: &PolicySet,
        lists: &ByPosition<u32, OthersUse>,
        top: usize,
    ) -> Result<RecordSurvey, Damage> {
        let mut lists: Vec<(u32, OthersUse)> =
            lists.iter().map(|(&at, &used)| (at, used)).collect();
        // In the order of the file, which is that of its blocks and of its damages.
        lists.sort_unstable_by_key(|&(position, _)| position);
        let count = |lists: &[(u32, OthersUse)]| {
            let mut counts = Counts::default();
            lists.iter().try_for_each(|&(at, used)| add_list(set, at, used, &mut counts))?;
            Ok(counts)
        };
        let parts: Vec<Result<Counts, Damage>> =
            lists.par_chunks(LISTS_AT_ONCE).map(count).collect();
        let mut counts = Counts::default();
        for part in parts {
            for (name, (records, origins)) in part? {
                let count = counts.entry(name).or_default();
                count.0 += records;
                count.1 += origins;
            }
        }
        let fields = counts.len() as u64;
        let records = counts.values().map(|&(records, _)| records).sum();
        let counts = counts.into_iter().map(|(name, (records, origins))| FieldCount {
            name,
            records,
            origins,
        });
        // The name makes the order complete; a map has none.
        let most_common = largest(counts, top, |count| {
            (count.origins, count.records, std::cmp::Reverse(count.name.clone()))
        });
        Ok(RecordSurvey { records, fields, most_common })
    }
}

fn add_list(
    set: &PolicySet,
    position: u32,
    used: OthersUse,
    counts: &mut Counts,
) -> Result<(), Damage> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for record in set.other_records_at(position)? {
        let name = field_name(&record.text, set.dialect());
        let name = name.ok_or_else(|| set.malformed_host("a record of a file has no field"))?;
        names.push(name);
    }
    names.sort_unstable();
    for same in names.chunk_by(|one, other| one == other) {
        let count = counts.entry(same[0].clone()).or_default();
        count.0 += same.len() as u64 * used.captures;
        count.1 += used.origins;
    }
    Ok(())
}

/// The name of a record's field.
fn field_name(record: &[u8], dialect: &Dialect) -> Option<Vec<u8>> {
    // A line before it, because what looks like a byte order mark is none on the second line.
    let text = [b"\n", record].concat();
    let line = records(&text, dialect, None).nth(1)?;
    match line.content {
        Content::Record(record) if record.field == Some(Field::Sitemap) => {
            Some(b"sitemap".to_vec())
        }
        Content::Record(record) => Some(record.name.to_ascii_lowercase()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::RobotsTxt;

    #[test]
    fn every_record_that_parsing_gives_has_a_field() {
        let text = b"\xef\xbb\xbfSITEMAP : https://a.example/s.xml\n\xef\xbb\xbfSitemap: /x\n\
            site-map-index /y\nCrawl-Delay:3 # c\nfoo\xff:\0a\r\n: x\nHost a.example";
        for dialect in Dialect::ALL {
            let file = RobotsTxt::parse(text, dialect, None);
            for record in file.other_records() {
                let name = field_name(&text[record.span.range()], dialect).unwrap();
                match record.field {
                    Some(_) => assert_eq!(name, b"sitemap"),
                    None => assert_eq!(name, record.name.to_ascii_lowercase(), "{}", dialect.name),
                }
            }
        }
    }
}
