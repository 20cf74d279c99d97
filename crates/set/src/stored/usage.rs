//! The usage records of a policy: what its file states about usage preferences.

use portcullis_dialect::LineNumber;
use portcullis_robots::syntax::RobotsTxt;

use super::super::file::Damage;
use super::super::layout::record::In;
use super::{RecordList, StoredPolicy, UsageKind};
use crate::lists::ListWriter;

impl<'s> StoredPolicy<'s> {
    /// Returns whether the file has a usage record.
    pub fn has_usage(&self) -> Result<bool, Damage> {
        self.head().has_usage()
    }

    /// Returns the list of usage records; empty if the file has none.
    pub(super) fn usage_list(&self) -> Result<RecordList<'s>, Damage> {
        self.set.record_list(In::Usage, self.head().usage_records())
    }

    /// Calls `with` with the user-agent lines of its file, in their groups, and its usage records. No rule
    /// is read.
    pub fn with_usage<T>(&self, with: impl FnOnce(&RobotsTxt<'_>) -> T) -> Result<T, Damage> {
        let mut list = ListWriter::default();
        self.append_user_agents(&mut list)?;
        self.usage_list()?.append_to(&mut list, |_| true)?;
        Ok(with(&self.read(&list.finish())?))
    }

    /// Returns the kind, the line and the value of a usage record.
    pub(crate) fn usage_record(
        &self,
        record: u32,
    ) -> Result<(UsageKind, LineNumber, Vec<u8>), Damage> {
        let list = self.usage_list()?;
        let mut text = Vec::new();
        let value_start = list.read(record, &mut text)?;
        text.drain(..value_start);
        let malformed = || self.malformed("a policy has no such usage record");
        let kind = UsageKind::ALL.get(list.kind(record)? as usize).ok_or_else(malformed)?;
        Ok((*kind, list.line(record)?, text))
    }
}
