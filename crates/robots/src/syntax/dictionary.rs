//! RFC 9651 dictionaries: the value of a Content-Usage record.
//!
//! The crate [`sfv`] decides whether a value is a dictionary. Of its members, keys and plain tokens are kept,
//! because the vocabulary gives no other type a meaning. [`statement`](super::statement) reads them.
//!
//! Cost: one pass and no recursion, so a line of any length takes time linear in its bytes; inner
//! lists do not nest (RFC 9651, section 3.1.1). Nothing fails: a value that is not a dictionary gives
//! `None`.

use std::convert::Infallible;

use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor};
use sfv::{BareItemFromInput, KeyRef, Parser};

/// A member of a dictionary: its key, and its value if that is a token.
pub type UsageMember<'t> = (&'t [u8], Option<&'t [u8]>);

/// Returns the members of a Content-Usage dictionary in order, or `None` if `text` is not a
/// dictionary. Of equal keys the last counts (RFC 9651, section 3.2).
pub fn usage_members(text: &[u8]) -> Option<Vec<UsageMember<'_>>> {
    Parser::new(text).parse_dictionary_with_visitor(Members(Vec::new())).ok()
}

struct Members<'t>(Vec<UsageMember<'t>>);

impl<'t> DictionaryVisitor<'t> for Members<'t> {
    type Out = Vec<UsageMember<'t>>;
    type Error = Infallible;

    fn entry(&mut self, key: &'t KeyRef) -> Result<impl EntryVisitor<'t>, Infallible> {
        Ok(Member(&mut self.0, key))
    }

    fn finish(self) -> Result<Vec<UsageMember<'t>>, Infallible> {
        Ok(self.0)
    }
}

struct Member<'m, 't>(&'m mut Vec<UsageMember<'t>>, &'t KeyRef);

impl<'t> EntryVisitor<'t> for Member<'_, 't> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'t>, Infallible> {
        Ok(move |item: BareItemFromInput<'t>| {
            let token = match item {
                BareItemFromInput::Token(token) => Some(token.as_str().as_bytes()),
                _ => None,
            };
            self.0.push((self.1.as_str().as_bytes(), token));
            Ok::<_, Infallible>(Ignored)
        })
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'t>, Infallible> {
        self.0.push((self.1.as_str().as_bytes(), None));
        Ok(Ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_in_order() {
        let members = usage_members(b"train-ai=n;x=1, a, train-ai=y,b=(1 2),c=\"n\"").unwrap();
        let shown = |(key, value): &UsageMember<'_>| {
            let [key, value] =
                [*key, value.unwrap_or(b"-")].map(|it| it.escape_ascii().to_string());
            format!("{key} {value}")
        };
        let shown: Vec<String> = members.iter().map(shown).collect();
        assert_eq!(shown, ["train-ai n", "a -", "train-ai y", "b -", "c -"]);
        assert_eq!(usage_members(b"train-ai = n"), None);
        assert_eq!(usage_members(b""), Some(Vec::new()));
    }

    #[test]
    fn long_values_take_linear_time() {
        for piece in ["a=(1 2);b,", "a;b=1,", "a=\"\\\\\",", "a=((((", "a=;", "a=%\"%c3%a9\","] {
            let text = piece.repeat(64 * 1024 / piece.len() + 1);
            assert_eq!(usage_members(text.as_bytes()), None, "{piece}");
        }
    }
}
