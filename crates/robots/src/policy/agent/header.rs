//! A User-Agent header to the tokens that it names.
//!
//! RFC 9309, section 2.2.1, wants a crawler's product token to be part of the identification string
//! that it sends, so the tokens that a header can stand for are its words. All of them are the
//! crawler's chain, the longest first, since a longer name is the more specific one
//! (`Googlebot-News` beside `Googlebot`) and among equals the earlier; a file then picks the first
//! that it names. Where names are compared by occurrence (1994), the header itself is the name.
//!
//! † Two kinds of words are no names, by our decision. Links and addresses: they tell where to
//! complain, and `bot` or `com` in them would be named by groups that mean others. And what robots
//! share with browsers, [`COMPATIBILITY`]: it is there so that servers take the robot for a
//! browser, and a group for `Mozilla` does not speak to every crawler that says so. If a header has
//! no other word, it is a browser's own, and these are its names.

use portcullis_dialect::dialect::{
    CallerToken, Dialect, FileToken, GroupRules, NamesAgent, TokenAlphabet,
};

use super::{AgentChain, AgentError};

/// Words of browsers' headers that robots repeat, in lower case, in order.
const COMPATIBILITY: &str = "\
    aarch64 amd64 android applewebkit arm64 build chrome chromium compatible cpu cros edg edge \
    en-us fedora firefox gecko headlesschrome i686 intel ios ipad iphone khtml like linux mac \
    macintosh mobile mozilla msie net nt opera opr os presto pro rv safari sv1 tablet touch \
    trident u ubuntu version webkit win32 win64 windows wow64 x x11 x64 x86_64";

/// Bytes between the parts of a header: white space, and what encloses and parts comments.
const BETWEEN_PARTS: &[char] = &[' ', '\t', ',', ';', '(', ')', '[', ']', '{', '}', '"', '<', '>'];

impl AgentChain {
    /// The crawler that sends this User-Agent header. Its name is the header.
    ///
    /// ```
    /// use portcullis_dialect::dialect::RFC_9309;
    /// use portcullis_robots::policy::AgentChain;
    ///
    /// let header = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://a.example/gptbot)";
    /// let agent = AgentChain::from_header(header, &RFC_9309)?;
    /// assert_eq!(agent.tokens().collect::<Vec<_>>(), ["GPTBot"]);
    /// assert_eq!(agent.name(), header);
    /// # Ok::<(), portcullis_robots::policy::AgentError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the header is empty, has a control character, or names no product.
    pub fn from_header(header: &str, dialect: &Dialect) -> Result<AgentChain, AgentError> {
        let name = header.trim_matches([' ', '\t']).to_owned();
        if name.is_empty() {
            return Err(AgentError::EmptyHeader);
        }
        if name.chars().any(|character| character.is_control() && character != '\t') {
            return Err(AgentError::NotAHeader { header: name });
        }
        let tokens = match dialect.groups.names_agent {
            NamesAgent::Equal => tokens(&name, &dialect.groups),
            NamesAgent::OccursInName => whole_name(&name).into_iter().collect(),
        };
        if tokens.is_empty() {
            return Err(AgentError::NoProduct { header: name });
        }
        Ok(AgentChain { name, tokens })
    }
}

/// The parts of a header that are neither links nor addresses.
fn parts(header: &str) -> impl Iterator<Item = &str> {
    header.split(BETWEEN_PARTS).filter(|part| !part.is_empty() && !is_link(part))
}

/// Whether a part tells where to read or write more. A `+` is set before links by custom.
fn is_link(part: &str) -> bool {
    let starts =
        |start: &str| part.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start));
    part.contains("://") || part.contains('@') || part.starts_with('+') || starts("www.")
}

fn is_compatibility(word: &str) -> bool {
    COMPATIBILITY.split(' ').any(|known| known.eq_ignore_ascii_case(word))
}

/// Of `words` those that are names: all but what is `shared` by many, or that if it is all.
fn names(words: Vec<&str>, shared: impl Fn(&str) -> bool) -> Vec<&str> {
    let own: Vec<&str> = words.iter().copied().filter(|word| !shared(word)).collect();
    if own.is_empty() { words } else { own }
}

/// The tokens of a header, the longest first.
fn tokens(header: &str, groups: &GroupRules) -> Vec<String> {
    let alphabet = alphabet(groups);
    let words = parts(header).flat_map(|part| words(part, alphabet)).collect();
    let mut tokens: Vec<String> = Vec::new();
    for name in names(words, is_compatibility) {
        if !tokens.iter().any(|token| token.eq_ignore_ascii_case(name)) {
            tokens.push(name.to_owned());
        }
    }
    tokens.sort_by_key(|token| std::cmp::Reverse(token.len()));
    tokens
}

/// The characters of the tokens that a file can name.
fn alphabet(groups: &GroupRules) -> TokenAlphabet {
    match (groups.file_token, groups.caller_token) {
        (FileToken::Prefix(alphabet), _) => alphabet,
        (FileToken::WholeValue, CallerToken::Token(alphabet)) => alphabet,
        (FileToken::WholeValue, CallerToken::AnyName) => TokenAlphabet::Rfc1945,
    }
}

/// The words of a part that can be tokens, delimited on both sides: each run of the characters of
/// names, and of it what a file's value would be cut to as well (`MJ` of `MJ12bot` where digits are
/// no characters of tokens). Those without a letter are versions; one with a letter (`v1.2`) stays,
/// for no group names it.
fn words(part: &str, alphabet: TokenAlphabet) -> impl Iterator<Item = &str> {
    let in_run = move |character: char| {
        u8::try_from(character).is_ok_and(|byte| {
            alphabet.contains(byte) || TokenAlphabet::LettersAndDigits.contains(byte)
        })
    };
    part.split(move |character| !in_run(character)).filter_map(move |run| {
        let end = run.bytes().position(|byte| !alphabet.contains(byte));
        // A full stop at the end is the sentence's.
        let word = run[..end.unwrap_or(run.len())].trim_end_matches('.');
        word.bytes().any(|byte| byte.is_ascii_alphabetic()).then_some(word)
    })
}

/// The header without what is no name, for dialects in which a file's name occurs in the robot's.
fn whole_name(header: &str) -> Option<String> {
    let has_letter = |part: &str| part.chars().any(char::is_alphabetic);
    // A version alone is as good as nothing.
    let shared = |part: &str| {
        let product = part.split(['/', ':']).next().unwrap_or(part);
        is_compatibility(product) || !has_letter(part)
    };
    let name = names(parts(header).collect(), shared).join(" ");
    has_letter(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portcullis_dialect::dialect::{DRAFT_2019, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

    fn tokens_of(header: &str, dialect: &Dialect) -> Vec<String> {
        let agent = AgentChain::from_header(header, dialect).expect(header);
        agent.tokens().map(str::to_owned).collect()
    }

    #[test]
    fn headers_as_they_are_sent() {
        let rows: [(&str, &[&str]); 13] = [
            (
                "Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)",
                &["ExampleBot"],
            ),
            (
                "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; \
                 +https://openai.example/gptbot)",
                &["GPTBot"],
            ),
            ("Googlebot-Image/1.0", &["Googlebot-Image"]),
            ("Googlebot/2.1 Googlebot-News (bot@example.com)", &["Googlebot-News", "Googlebot"]),
            ("CCBot/2.0 (https://commoncrawl.example/faq/)", &["CCBot"]),
            ("GPTBot", &["GPTBot"]),
            ("  GPTBot. \t", &["GPTBot"]),
            (
                "Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.example/)",
                &["MJ12bot", "v1.4.8"],
            ),
            ("aaa/1 bbb/2 AAA/3 cc", &["aaa", "bbb", "cc"]),
            ("Bot (www.example.com/other; WWW.example.com, +example.com/bot)", &["Bot"]),
            ("r\u{e9}seau Bot/\u{fc}", &["seau", "Bot", "r"]),
            ("Mozilla/5.0 (X11; Linux)", &["Mozilla", "Linux", "X11"]),
            ("my_bot.v2/1 x-Gecko", &["my_bot.v2", "x-Gecko"]),
        ];
        for (header, expected) in rows {
            assert_eq!(tokens_of(header, &RFC_9309), expected, "{header}");
            assert_eq!(tokens_of(header, &DRAFT_2019), expected, "{header}");
        }
    }

    #[test]
    fn tokens_have_the_dialects_characters() {
        let header = "Mozilla/5.0 (compatible; MJ12bot/2; a!b; 360Spider)";
        assert_eq!(tokens_of(header, &RFC_9309), ["360Spider", "MJ12bot", "a", "b"]);
        // No word begins within a longer one: 12bot is no `bot`, 360Spider no `Spider`.
        assert_eq!(tokens_of(header, &GOOGLE), ["MJ", "a", "b"]);
        assert_eq!(tokens_of(header, &KOSTER_1996), ["360Spider", "MJ12bot", "a!b"]);
    }

    #[test]
    fn the_name_of_1994_is_the_header() {
        let rows = [
            ("Mozilla/5.0 (compatible; GPTBot/1.2; +https://a.example/b)", "GPTBot/1.2"),
            ("Big Robot/1.0 (a@b.example) libwww/2", "Big Robot/1.0 libwww/2"),
            ("Mozilla/4.0 (compatible; MSIE 6.0)", "Mozilla/4.0 compatible MSIE 6.0"),
        ];
        for (header, name) in rows {
            assert_eq!(tokens_of(header, &ORIGINAL_1994), [name], "{header}");
        }
    }

    #[test]
    fn headers_that_name_nobody() {
        for dialect in Dialect::ALL {
            for header in ["", " ", "\t \t"] {
                let error = AgentChain::from_header(header, dialect).unwrap_err();
                assert_eq!(error, AgentError::EmptyHeader);
            }
            for header in ["5.0", "(+https://a.example/bot)", "()", "bot@example.com", "/;"] {
                let error = AgentChain::from_header(header, dialect).unwrap_err();
                assert_eq!(error, AgentError::NoProduct { header: header.to_owned() });
            }
            for header in ["Bot\r\nHost: a", "Bot\0", "Bot\u{7f}", "Bot\u{85}"] {
                let error = AgentChain::from_header(header, dialect).unwrap_err();
                assert_eq!(error, AgentError::NotAHeader { header: header.to_owned() });
                assert!(!error.to_string().contains(['\r', '\n', '\0']), "{error}");
            }
        }
    }

    #[test]
    fn compatibility_words_are_in_lower_case_and_in_order() {
        assert!(COMPATIBILITY.split(' ').is_sorted());
        assert!(COMPATIBILITY.split(' ').all(|word| !word.is_empty()));
        assert_eq!(COMPATIBILITY.to_ascii_lowercase(), COMPATIBILITY);
    }
}
