//! RFC 9651 dictionaries: the value of a Content-Usage record.
//!
//! Owns whether a value is a dictionary and which members are plain tokens. It keeps nothing else,
//! because the vocabulary gives no other type a meaning. [`statement`](super::statement) reads the
//! members.
//!
//! Cost: one pass and no recursion, so a line of any length takes time linear in its bytes; inner
//! lists do not nest (RFC 9651, section 3.1.1). Nothing fails: a value that is not a dictionary gives
//! `None`.
//!
//! This is our own code, because the crates that parse structured fields bring more dependencies
//! than the core may have. Tests compare every short text with `sfv`.

use portcullis_engine::bytes::hex_value;

/// A member of a dictionary: its key, and its value if that is a token.
pub type UsageMember<'t> = (&'t [u8], Option<&'t [u8]>);

/// Returns the members of a Content-Usage dictionary in order, or `None` if `text` is not a
/// dictionary. Of equal keys the last counts (RFC 9651, section 3.2).
pub fn usage_members(text: &[u8]) -> Option<Vec<UsageMember<'_>>> {
    let mut input = Input(text);
    let mut members = Vec::new();
    input.skip(b" ");
    while !input.0.is_empty() {
        let key = input.key()?;
        let value = if input.take(b'=') { input.item_or_inner_list()? } else { None };
        input.parameters()?;
        members.push((key, value));
        input.skip(b" \t");
        if input.0.is_empty() {
            break;
        }
        // Trailing SP, and nothing else, may end the text; it is skipped above.
        let has_next = input.take(b',');
        input.skip(b" \t");
        if !has_next || input.0.is_empty() {
            return None;
        }
    }
    Some(members)
}

/// The unread text.
struct Input<'t>(&'t [u8]);

impl<'t> Input<'t> {
    fn skip(&mut self, set: &[u8]) {
        self.take_while(|byte| set.contains(&byte));
    }

    fn take_while(&mut self, holds: impl Fn(u8) -> bool) -> &'t [u8] {
        let end = self.0.iter().position(|&byte| !holds(byte)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    /// Consumes `byte` if it is next, and returns whether it was.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(is_next)..];
        is_next
    }

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn key(&mut self) -> Option<&'t [u8]> {
        let in_key = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*');
        matches!(self.0.first()?, b'a'..=b'z' | b'*').then(|| self.take_while(in_key))
    }

    /// Reads a value without its parameters, and returns it if it is a token.
    fn item_or_inner_list(&mut self) -> Option<Option<&'t [u8]>> {
        if !self.take(b'(') {
            return self.bare_item();
        }
        loop {
            self.skip(b" ");
            if self.take(b')') {
                return Some(None);
            }
            self.bare_item()?;
            self.parameters()?;
            if !matches!(self.0.first()?, b' ' | b')') {
                return None;
            }
        }
    }

    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.skip(b" ");
            self.key()?;
            if self.take(b'=') {
                self.bare_item()?;
            }
        }
        Some(())
    }

    /// Reads a bare item, and returns it if it is a token.
    fn bare_item(&mut self) -> Option<Option<&'t [u8]>> {
        match self.0.first()? {
            b'A'..=b'Z' | b'a'..=b'z' | b'*' => {
                let in_token =
                    |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte);
                return Some(Some(self.take_while(in_token)));
            }
            b'-' | b'0'..=b'9' => self.number(true)?,
            b'"' => self.string()?,
            b':' => self.byte_sequence()?,
            b'?' if matches!(self.0.get(1)?, b'0' | b'1') => self.0 = &self.0[2..],
            b'@' => {
                self.next();
                self.number(false)?;
            }
            b'%' => self.display_string()?,
            _ => return None,
        }
        Some(None)
    }

    /// Reads an integer, or a decimal where one is allowed (RFC 9651, section 4.2.4).
    fn number(&mut self, may_be_decimal: bool) -> Option<()> {
        const INTEGER_DIGITS: usize = 15;
        const DECIMAL_DIGITS: usize = 12;
        const FRACTION_DIGITS: usize = 3;
        self.take(b'-');
        let digits = self.take_while(|byte| byte.is_ascii_digit()).len();
        if !self.take(b'.') {
            return (1..=INTEGER_DIGITS).contains(&digits).then_some(());
        }
        let fraction = self.take_while(|byte| byte.is_ascii_digit()).len();
        let is_decimal =
            (1..=DECIMAL_DIGITS).contains(&digits) && (1..=FRACTION_DIGITS).contains(&fraction);
        (may_be_decimal && is_decimal).then_some(())
    }

    fn string(&mut self) -> Option<()> {
        self.next();
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' if !matches!(self.next()?, b'"' | b'\\') => return None,
                b' '..=b'~' => {}
                _ => return None,
            }
        }
    }

    /// Reads a byte sequence. Its base64 may lack padding or have stray bits (RFC 9651, section
    /// 4.2.7), but no byte outside the alphabet and no padding within.
    fn byte_sequence(&mut self) -> Option<()> {
        self.next();
        let digits = self
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
            .len();
        let padding = self.take_while(|byte| byte == b'=').len();
        let is_whole = digits % 4 != 1 && padding <= (4 - digits % 4) % 4;
        (is_whole && self.take(b':')).then_some(())
    }

    /// Reads a display string: printable ASCII, and UTF-8 in lower-case percent triplets.
    fn display_string(&mut self) -> Option<()> {
        self.next();
        if !self.take(b'"') {
            return None;
        }
        let mut text = Vec::new();
        loop {
            text.push(match self.next()? {
                b'"' => return str::from_utf8(&text).is_ok().then_some(()),
                b'%' => self.hex_digit()? << 4 | self.hex_digit()?,
                byte @ b' '..=b'~' => byte,
                _ => return None,
            });
        }
    }

    fn hex_digit(&mut self) -> Option<u8> {
        let digit = self.next().filter(|digit| !digit.is_ascii_uppercase())?;
        hex_value(digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_testkit::words;

    type Members = Vec<(String, Option<String>)>;

    fn members(text: &[u8]) -> Option<Members> {
        let text_of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let mut members: Members = Vec::new();
        for (key, value) in usage_members(text)? {
            let key = text_of(key);
            members.retain(|(other, _)| *other != key);
            members.push((key, value.map(text_of)));
        }
        members.sort();
        Some(members)
    }

    fn by_sfv(text: &[u8]) -> Option<Members> {
        use sfv::{BareItem, Dictionary, ListEntry, Parser};
        let dictionary: Dictionary = Parser::new(text).parse().ok()?;
        let token = |entry: &ListEntry| match entry {
            ListEntry::Item(item) => match &item.bare_item {
                BareItem::Token(token) => Some(token.as_str().to_owned()),
                _ => None,
            },
            ListEntry::InnerList(_) => None,
        };
        let members = dictionary.iter().map(|(key, entry)| (key.as_str().to_owned(), token(entry)));
        let mut members: Members = members.collect();
        members.sort();
        Some(members)
    }

    /// Checks that every text of up to this many pieces is read as `sfv` reads it.
    fn compare(pieces: &[&str], length_max: usize) -> usize {
        let numbers: Vec<u8> = (0..pieces.len() as u8).collect();
        let text = |word: &Vec<u8>| word.iter().map(|&piece| pieces[usize::from(piece)]).collect();
        let texts: Vec<String> = words(&numbers, length_max).iter().map(text).collect();
        for text in &texts {
            assert_eq!(members(text.as_bytes()), by_sfv(text.as_bytes()), "{text:?}");
        }
        texts.len()
    }

    #[test]
    fn every_short_text_is_read_as_sfv_reads_it() {
        let members = ["a", "=", "n", ",", " ", "\t", ";", "A", "(", ")"];
        let items = ["a=", "\"", "\\", "?", "1", "0", "-", ".", ":", "=", "@", "%", "4", "c", "b"];
        let display = ["a=%\"", "%", "c", "3", "a", "9", "e", "2", "8", "\"", "f", "0"];
        let compared = compare(&members, 5) + compare(&items, 4) + compare(&display, 5);
        assert!(compared > 400_000, "{compared}");
    }

    #[test]
    fn numbers_and_base64_have_their_lengths() {
        let digits = |count| "1".repeat(count);
        let mut texts = Vec::new();
        for count in [1, 12, 13, 15, 16] {
            for fraction in 0..5 {
                texts.push(format!("a={}.{}", digits(count), digits(fraction)));
                texts.push(format!("a=@{}", digits(count)));
                texts.push(format!("a=-{}", digits(count)));
            }
        }
        for count in 0..9 {
            for padding in 0..5 {
                texts.push(format!("a=:{}{}:", "A".repeat(count), "=".repeat(padding)));
                texts.push(format!("a=:{}{}", "9".repeat(count), "=".repeat(padding)));
            }
        }
        texts.extend(
            ["a=:QUI=QUI=:", "a=:QU-_:", "a=:Q QI:", "a=\u{e9}", "a=\"\u{7f}\""].map(str::to_owned),
        );
        for text in texts {
            assert_eq!(members(text.as_bytes()), by_sfv(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn long_values_take_linear_time() {
        for piece in ["a=(1 2);b,", "a;b=1,", "a=\"\\\\\",", "a=((((", "a=;", "a=%\"%c3%a9\","] {
            let text = piece.repeat(64 * 1024 / piece.len() + 1);
            assert_eq!(usage_members(text.as_bytes()), None, "{piece}");
        }
    }
}
