//! The names of robots: each once, in lower case, found by search.

use super::super::super::file::Damage;
use super::super::PolicySet;
use super::super::tokens::Names;

/// The names, which fill their section.
pub(super) fn verified(set: &PolicySet) -> Result<Names<'_>, Damage> {
    let names = set.names()?;
    let malformed = |what| set.malformed(set.sections.tokens, 0, what);
    let mut start = 0;
    for (number, end) in (0..).zip(names.ends) {
        let name = names.get(number).ok_or_else(|| set.missing_name(number))?;
        if name.is_empty() || name.iter().any(u8::is_ascii_uppercase) {
            return Err(malformed("a name of a robot is empty, or not in lower case"));
        }
        start = end.get() as usize;
    }
    if start != names.bytes.len() {
        return Err(malformed("something stands behind the names"));
    }
    let sorted = names.sorted.iter().map(|number| names.get(number.get()));
    if !sorted.is_sorted_by(|one, other| one.is_some() && one < other) {
        return Err(malformed("the names are not in order"));
    }
    if names.sorted.iter().any(|number| names.get(number.get()).is_none()) {
        return Err(malformed("a name is missing in their order"));
    }
    Ok(names)
}
