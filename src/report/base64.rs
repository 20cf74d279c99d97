//! Base64 (RFC 4648, section 4), for octets that JSON cannot hold.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `octets` in base64, padded.
pub(super) fn encode(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len().div_ceil(3) * 4);
    for group in octets.chunks(3) {
        let word = group
            .iter()
            .zip([16, 8, 0])
            .fold(0, |word, (&octet, shift)| word | u32::from(octet) << shift);
        for digit in 0..4 {
            text.push(if digit <= group.len() {
                let index = word >> (18 - 6 * digit) & 63;
                char::from(ALPHABET[index as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10.
    #[test]
    fn vectors_of_the_standard() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (octets, text) in cases {
            assert_eq!(encode(octets.as_bytes()), text);
        }
    }

    #[test]
    fn all_octets_equal_another_implementation() {
        use ::base64::Engine as _;

        let octets: Vec<u8> = (0..=255).collect();
        let expected = ::base64::engine::general_purpose::STANDARD.encode(&octets);
        assert_eq!(encode(&octets), expected);
    }
}
