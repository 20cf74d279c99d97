//! Agents: the product tokens of a crawler, given directly or as a User-Agent header.
//!
//! RFC 9309, section 2.2.1, requires the product token to occur in the User-Agent header, so a
//! header is read as its words. All of them form the chain, longest first, because a longer name is
//! more specific (`Googlebot-News` before `Googlebot`); a file then selects the first that it
//! names. In the 1994 dialect, names are compared by occurrence and the whole header is the name.
//!
//! † By our decision, two kinds of words are not names. Links and addresses: their `bot` or `com`
//! would match groups for others. And [`COMPATIBILITY`] words such as `Mozilla`, which crawlers
//! share with browsers: a group for `Mozilla` does not apply to every crawler that claims
//! compatibility. A header with no other word belongs to a browser, and then these words are its
//! names.
//!
//! † [`ORDINARY`] words are product tokens of some crawlers, and words of other headers: `Sogou web
//! spider/4.0` is not Spider, and the phone `Code Blue` is not Code. They are names where a product
//! stands: as the first word, as the first word of a product with a version, and after `compatible;`.

use std::fmt;
use std::sync::LazyLock;

use hashbrown::HashSet;

use portcullis_dialect::limits::AGENT_HEADER_BYTES_MAX;
use portcullis_dialect::{CallerToken, Dialect, FileToken, GroupRules, NamesAgent, TokenAlphabet};

use super::Reading;

/// Words of browser headers that crawlers repeat, in lower case, sorted.
const COMPATIBILITY: &str = "\
    aarch64 amd64 android applewebkit arm64 build chrome chromium compatible cpu cros edg edge \
    en-us fedora firefox gecko headlesschrome i686 intel ios ipad iphone khtml like linux mac \
    macintosh mobile mozilla msie net nt opera opr os presto pro rv safari sv1 tablet touch \
    trident u ubuntu version webkit win32 win64 windows wow64 x x11 x64 x86_64";

/// Ordinary words that are product tokens of crawlers too, in lower case, sorted. Their place in a header
/// tells whether they are meant.
const ORDINARY: &str = "code cursor devin operator spider trae yak yeti";

/// Characters between the parts of a header: white space, and what delimits comments.
const BETWEEN_PARTS: &[char] = &[' ', '\t', ',', ';', '(', ')', '[', ']', '{', '}', '"', '<', '>'];

/// Characters of a header that is too long which its error shows.
const HEADER_CHARACTERS_SHOWN: usize = 60;

/// One crawler: its product tokens, most specific first.
///
/// The groups of the first token that a file names apply, otherwise the default groups. Most
/// crawlers have one token; Googlebot-News falls back to the groups of Googlebot. A few, whose name ends
/// with `!` here, do not read the default groups: AdsBot-Google follows only the groups that name it.
///
/// ```
/// # mod portcullis { pub use portcullis_dialect::GOOGLE; pub use portcullis_robots::policy::Crawler; }
/// use portcullis::{Crawler, GOOGLE};
///
/// let news = Crawler::parse("Googlebot-News+Googlebot", &GOOGLE).unwrap();
/// assert_eq!(news.tokens().collect::<Vec<_>>(), ["Googlebot-News", "Googlebot"]);
/// assert!(!Crawler::parse("AdsBot-Google!", &GOOGLE).unwrap().reads_default());
/// assert!(Crawler::parse("Googlebot/2.1", &GOOGLE).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Crawler {
    name: String,
    tokens: Vec<String>,
    reads_default: bool,
    reading: Reading,
}

/// Why a text does not name an agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A product token is empty or has a character that the dialect does not allow.
    #[error("invalid agent '{agent}': {problem}")]
    Token {
        /// The token, or all of them if one is empty.
        agent: String,
        /// The fault, and the value to give instead.
        problem: String,
    },
    /// The User-Agent header is empty, is too long, names no product or has a control character.
    #[error("invalid User-Agent header '{}': {problem}", header.escape_debug())]
    Header {
        /// The header, or the first characters of one that is too long.
        header: String,
        /// The fault, and the value to give instead.
        problem: String,
    },
}

impl Crawler {
    /// Parses one or more tokens joined by `+`, most specific first. A final `!` says that the default
    /// groups do not apply to the crawler's access and delays, in the dialects whose tokens have no `!`.
    ///
    /// # Errors
    ///
    /// If a token is empty or has a character that the dialect does not allow.
    pub fn parse(text: &str, dialect: &Dialect) -> Result<Crawler, AgentError> {
        let error = |agent: &str, problem: String| {
            Err(AgentError::Token { agent: agent.to_owned(), problem })
        };
        const EMPTY: &str =
            "empty token; write TOKEN, or TOKEN+TOKEN for a crawler with a fallback";
        let has_marks = match dialect.groups.caller_token {
            CallerToken::Token(alphabet) => alphabet.contains(b'!'),
            CallerToken::AnyName => true,
        };
        let (names, reads_default) = match text.strip_suffix('!').filter(|_| !has_marks) {
            Some(names) => (names, false),
            None => (text, true),
        };
        if text.is_empty() {
            return error(
                text,
                "empty name; separate names by commas alone: GPTBot,CCBot".to_owned(),
            );
        }
        let mut tokens = Vec::with_capacity(1);
        for token in names.split('+') {
            if token.is_empty() {
                return error(text, EMPTY.to_owned());
            }
            tokens.push(token.to_owned());
            if let CallerToken::Token(alphabet) = dialect.groups.caller_token
                && !token.bytes().all(|byte| alphabet.contains(byte))
            {
                let product = token.bytes().take_while(|&byte| alphabet.contains(byte)).count();
                let begins = |start: &str| {
                    token.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start))
                };
                let advice = match &token[..product] {
                    "" if begins("@") => {
                        "a list is not a crawler; name it in -a, as in -a @FILE,@ai-training"
                            .to_owned()
                    }
                    "" => "name a crawler".to_owned(),
                    _ if begins("user-agent:") => {
                        "write the product token alone, without `User-agent:`".to_owned()
                    }
                    _ if token.ends_with(',') && token.matches(',').count() == 1 => {
                        "remove the comma".to_owned()
                    }
                    _ if token.contains(',') => {
                        "write one name alone; in a file, one per line".to_owned()
                    }
                    _ if token.contains([' ', ';']) && !token.contains('/') => {
                        "separate agents by commas; in a file, by lines".to_owned()
                    }
                    product => format!("leave out what follows {product}"),
                };
                let (name, tokens) = (dialect.name, alphabet.describe());
                let problem = format!("product tokens of {name} have only {tokens}; {advice}");
                return error(token, problem);
            }
        }
        Ok(Crawler { name: text.to_owned(), tokens, reads_default, reading: Reading::default() })
    }

    /// Returns the crawler that sends this User-Agent header. Its name is the header.
    ///
    /// ```
    /// # mod portcullis { pub use portcullis_dialect::RFC_9309; pub use portcullis_robots::policy::Crawler; }
    /// use portcullis::{Crawler, RFC_9309};
    ///
    /// let header = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://a.example/gptbot)";
    /// let agent = Crawler::from_header(header, &RFC_9309)?;
    /// assert_eq!(agent.tokens().collect::<Vec<_>>(), ["GPTBot"]);
    /// assert_eq!(agent.name(), header);
    /// # Ok::<(), portcullis_robots::policy::AgentError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the header is empty, is longer than [`AGENT_HEADER_BYTES_MAX`], has a control character, or
    /// names no product.
    pub fn from_header(header: &str, dialect: &Dialect) -> Result<Crawler, AgentError> {
        let name = header.trim_matches([' ', '\t']);
        let error = |problem: &str| {
            Err(AgentError::Header { header: name.to_owned(), problem: problem.to_owned() })
        };
        if name.is_empty() {
            return error("it is empty; give the header that the crawler sends");
        }
        if name.len() > AGENT_HEADER_BYTES_MAX {
            let start: String = name.chars().take(HEADER_CHARACTERS_SHOWN).collect();
            let problem = format!(
                "it has {} bytes, and {AGENT_HEADER_BYTES_MAX} are the most; give the product token \
                 instead",
                name.len()
            );
            return Err(AgentError::Header { header: start + "…", problem });
        }
        if name.chars().any(|character| character.is_control() && character != '\t') {
            return error("it has a control character; write it on one line");
        }
        let tokens = match dialect.groups.names_agent {
            NamesAgent::Equal => tokens(name, &dialect.groups),
            NamesAgent::OccursInName => whole_name(name).into_iter().collect(),
        };
        if tokens.is_empty() {
            return error("it names no product; give the product token instead");
        }
        let reading = Reading::default();
        Ok(Crawler { name: name.to_owned(), tokens, reads_default: true, reading })
    }

    /// Returns the crawler with the tokens of `documented` after its own, with its reading, and with default
    /// groups only if both read them.
    #[must_use]
    pub fn read_as(mut self, documented: &Crawler) -> Crawler {
        let is_known =
            |tokens: &[String], token: &str| tokens.iter().any(|it| it.eq_ignore_ascii_case(token));
        for token in documented.tokens() {
            if !is_known(&self.tokens, token) {
                self.tokens.push(token.to_owned());
            }
        }
        self.reads_default &= documented.reads_default;
        self.with_reading(documented.reading)
    }

    /// Returns the crawler with another reading.
    #[must_use]
    pub fn with_reading(self, reading: Reading) -> Crawler {
        Crawler { reading, ..self }
    }

    /// Returns how the crawler reads robots.txt where it differs from the dialect.
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// Returns the crawler, to which the default groups do not apply. Its name ends with `!`.
    #[must_use]
    pub fn without_default(self) -> Crawler {
        Crawler { name: self.name + "!", reads_default: false, ..self }
    }

    /// Returns a crawler without a name: in every file, the default groups apply to it.
    pub fn unnamed() -> Crawler {
        let (name, reading) = ("*".to_owned(), Reading::default());
        Crawler { name, tokens: Vec::new(), reads_default: true, reading }
    }

    /// Returns whether the tokens are parts that browsers have in common, so that they name no
    /// crawler.
    pub fn is_browser(&self) -> bool {
        self.tokens.iter().all(|token| token.split(' ').all(is_compatibility))
    }

    /// Whether the default groups apply if no group names a token. Their statements about the use of pages
    /// hold in any case, because they are about the pages and not about the crawler's access.
    pub fn reads_default(&self) -> bool {
        self.reads_default
    }

    /// Returns the agent as given: tokens joined by `+`, or a User-Agent header.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the tokens, most specific first.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().map(String::as_str)
    }
}

impl fmt::Display for Crawler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Returns the product that a User-Agent header names where crawlers and tools name themselves: its first
/// word, or in a header that begins like a browser's, the word after `compatible;`, or else the first word of
/// a comment with a link. `None` for a header of a browser.
///
/// ```
/// use portcullis_robots::policy::product;
///
/// assert_eq!(product("curl/8.5.0"), Some("curl"));
/// assert_eq!(product("Mozilla/5.0 (compatible; ABot/1.0; +https://a.example/)"), Some("ABot"));
/// assert_eq!(product("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0"), None);
/// ```
pub fn product(header: &str) -> Option<&str> {
    product_of(header.trim_start_matches(BETWEEN_PARTS)).or_else(|| {
        let comments = header.split('(').skip(1).map(|rest| rest.split(')').next().unwrap_or(rest));
        comments.into_iter().find_map(|comment| {
            let mut entries = comment.split(';').map(str::trim);
            let is_compatible = |entry: &str| entry.eq_ignore_ascii_case("compatible");
            let named = match entries.clone().position(is_compatible) {
                Some(place) => entries.nth(place + 1),
                None if comment.split(BETWEEN_PARTS).any(is_link) => entries.next(),
                None => None,
            };
            named.and_then(product_of)
        })
    })
}

/// Returns the product that a text begins with, unless browsers share it.
fn product_of(text: &str) -> Option<&str> {
    let part = text.split(BETWEEN_PARTS).next().filter(|part| !is_link(part))?;
    let name = part.split('/').next().unwrap_or(part).trim_end_matches('.');
    let has_letter = name.chars().any(char::is_alphabetic);
    (has_letter && !is_compatibility(name)).then_some(name)
}

/// Returns the parts of a header that are neither links nor addresses.
fn parts(header: &str) -> impl Iterator<Item = &str> {
    header.split(BETWEEN_PARTS).filter(|part| !part.is_empty() && !is_link(part))
}

/// Returns whether a part is a link or an address. By custom, `+` precedes links.
fn is_link(part: &str) -> bool {
    let has_www = part.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    part.contains("://") || part.contains('@') || part.starts_with('+') || has_www
}

fn is_compatibility(word: &str) -> bool {
    static KNOWN: LazyLock<Vec<&str>> = LazyLock::new(|| COMPATIBILITY.split(' ').collect());
    let word = || word.bytes().map(|byte| byte.to_ascii_lowercase());
    KNOWN.binary_search_by(|known| known.bytes().cmp(word())).is_ok()
}

/// Whether a word that begins at a byte of a header is an ordinary word where no product stands.
fn is_ordinary(header: &str, at: usize, word: &str) -> bool {
    if !ORDINARY.split(' ').any(|ordinary| ordinary.eq_ignore_ascii_case(word)) {
        return false;
    }
    let before = header[..at].trim_end_matches([' ', '\t']);
    // The open comment.
    let comment = before.rfind('(').filter(|open| !before[*open..].contains(')'));
    let is_compatible = before.ends_with(';')
        && comment.is_some_and(|open| {
            let mut entries = before[open + 1..].split(';').map(str::trim);
            entries.any(|entry| entry.eq_ignore_ascii_case("compatible"))
        });
    let last = before.rsplit([' ', '\t']).next().unwrap_or_default();
    let begins_product = last.contains('/') || last.ends_with([';', '(', ')', ',']);
    let has_version = header[at + word.len()..].starts_with('/');
    !(before.is_empty() || is_compatible || begins_product && has_version)
}

/// Returns the words that are not `shared` by many agents, or all of them if every one is.
fn names(words: Vec<&str>, shared: impl Fn(&str) -> bool) -> Vec<&str> {
    let own: Vec<&str> = words.iter().copied().filter(|word| !shared(word)).collect();
    if own.is_empty() { words } else { own }
}

/// Returns the tokens of a header, longest first.
fn tokens(header: &str, groups: &GroupRules) -> Vec<String> {
    let alphabet = alphabet(groups);
    let all: Vec<&str> = parts(header).flat_map(|part| words(part, alphabet)).collect();
    // A word is a part of the header, so its address is its place.
    let place = |word: &str| word.as_ptr().addr() - header.as_ptr().addr();
    let words = names(all, |word| is_ordinary(header, place(word), word));
    let mut seen: HashSet<String, foldhash::fast::RandomState> = HashSet::default();
    let is_new = |name: &&str| seen.insert(name.to_ascii_lowercase());
    let names = names(words, is_compatibility).into_iter();
    let mut tokens: Vec<String> = names.filter(is_new).map(str::to_owned).collect();
    tokens.sort_by_key(|token| std::cmp::Reverse(token.len()));
    tokens
}

/// Returns the characters of the tokens that a file can name.
fn alphabet(groups: &GroupRules) -> TokenAlphabet {
    match (groups.file_token, groups.caller_token) {
        (FileToken::Prefix(alphabet), _) => alphabet,
        (FileToken::WholeValue, CallerToken::Token(alphabet)) => alphabet,
        (FileToken::WholeValue, CallerToken::AnyName) => TokenAlphabet::Rfc1945,
    }
}

/// Returns the words of a part that can be tokens: each run of name characters, cut as a file's
/// value would be (`MJ` for `MJ12bot` if tokens have no digits). Words without a letter are
/// versions and are left out; a version with a letter (`v1.2`) does no harm, because no group names
/// it.
fn words(part: &str, alphabet: TokenAlphabet) -> impl Iterator<Item = &str> {
    let in_run = move |character: char| {
        u8::try_from(character).is_ok_and(|byte| {
            alphabet.contains(byte) || TokenAlphabet::LettersAndDigits.contains(byte)
        })
    };
    part.split(move |character| !in_run(character)).filter_map(move |run| {
        let end = run.bytes().position(|byte| !alphabet.contains(byte));
        // A final full stop ends a sentence.
        let word = run[..end.unwrap_or(run.len())].trim_end_matches('.');
        word.bytes().any(|byte| byte.is_ascii_alphabetic()).then_some(word)
    })
}

/// Returns the header without the parts that are not names, for dialects that compare by
/// occurrence.
fn whole_name(header: &str) -> Option<String> {
    let has_letter = |part: &str| part.chars().any(char::is_alphabetic);
    // A version without a name is shared by many agents.
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
    use portcullis_dialect::{DRAFT_2019, GOOGLE, KOSTER_1996, ORIGINAL_1994, RFC_9309};

    fn tokens_of(header: &str, dialect: &Dialect) -> Vec<String> {
        let agent = Crawler::from_header(header, dialect).expect(header);
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
    fn ordinary_words_are_names_where_a_product_stands() {
        let rows: [(&str, &[&str]); 9] = [
            ("Sogou web spider/4.0(+http://www.sogou.example/help)", &["Sogou", "web"]),
            (
                "Mozilla/5.0 (Linux; Android 8.0; Code Blue) AppleWebKit/537.36 (KHTML, like Gecko)",
                &["Blue"],
            ),
            (
                "Mozilla/5.0 (Linux; Android 8.0; Code) AppleWebKit/537.36",
                &["AppleWebKit", "Mozilla", "Android", "Linux"],
            ),
            ("Spider", &["Spider"]),
            ("Code/1.0 (+https://a.example)", &["Code"]),
            ("Mozilla/5.0 (compatible; Spider; +https://a.example)", &["Spider"]),
            ("Mozilla/5.0 (KHTML, like Gecko; compatible; Operator) Chrome/9", &["Operator"]),
            ("Mozilla/5.0 (KHTML, like Gecko) Cursor/1.2 Chrome/9", &["Cursor"]),
            ("Mozilla/5.0 (compatible; web spider)", &["web"]),
        ];
        for (header, expected) in rows {
            assert_eq!(tokens_of(header, &RFC_9309), expected, "{header}");
        }
    }

    #[test]
    fn products_stand_where_crawlers_and_tools_name_themselves() {
        for (header, expected) in [
            ("curl/8.5.0", Some("curl")),
            (" python-requests/2.31.0", Some("python-requests")),
            ("GPTBot.", Some("GPTBot")),
            ("Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.example/)", Some("MJ12bot")),
            ("Mozilla/5.0 (KHTML, like Gecko; compatible; A Bot/1; +https://a.example)", Some("A")),
            ("Mozilla/5.0 (X11) Safari/605.1.15 (Bot/0.1; +http://a.example/)", Some("Bot")),
            ("Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1)", None),
            ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) Mobile/15E148", None),
            ("Mozilla/5.0 (Linux; Android 8.0; SM-G960U Build/R16NW) Chrome/90.0", None),
            ("Mozilla/5.0 (compatible", None),
            ("(+https://a.example/bot)", None),
            ("", None),
            ("-", None),
            ("5.0", None),
        ] {
            assert_eq!(product(header), expected, "{header}");
        }
    }

    #[test]
    fn tokens_have_the_dialects_characters() {
        let header = "Mozilla/5.0 (compatible; MJ12bot/2; a!b; 360Spider)";
        assert_eq!(tokens_of(header, &RFC_9309), ["360Spider", "MJ12bot", "a", "b"]);
        // Words do not start inside longer ones: there is no `bot` in 12bot, no `Spider` in
        // 360Spider.
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
                let error = Crawler::from_header(header, dialect).unwrap_err();
                assert!(error.to_string().contains("empty"), "{error}");
            }
            for header in ["5.0", "(+https://a.example/bot)", "()", "bot@example.com", "/;"] {
                let error = Crawler::from_header(header, dialect).unwrap_err();
                assert!(error.to_string().contains("no product"), "{error}");
            }
            for header in ["Bot\r\nHost: a", "Bot\0", "Bot\u{7f}", "Bot\u{85}"] {
                let error = Crawler::from_header(header, dialect).unwrap_err();
                assert!(error.to_string().contains("control character"), "{error}");
                assert!(!error.to_string().contains(['\r', '\n', '\0']), "{error}");
            }
        }
    }

    /// As many words as fit, all different: 100 headers take milliseconds, not seconds.
    #[test]
    fn headers_of_many_words() {
        let words: Vec<String> = (0..).map(|number| format!("b{number}")).take(1_400).collect();
        let header = words.join(" ");
        assert!((AGENT_HEADER_BYTES_MAX - 1_000..AGENT_HEADER_BYTES_MAX).contains(&header.len()));
        for dialect in [&RFC_9309, &KOSTER_1996] {
            for _ in 0..100 {
                assert_eq!(tokens_of(&format!("{header} B7"), dialect).len(), words.len());
            }
            let long = format!("GPTBot {}", " x".repeat(AGENT_HEADER_BYTES_MAX / 2));
            let error = Crawler::from_header(&long, dialect).unwrap_err();
            assert!(error.to_string().contains("8192 are the most"), "{error}");
            assert!(error.to_string().len() < 250, "{error}");
        }
        let most = format!("{:1$}.", "GPTBot", AGENT_HEADER_BYTES_MAX - 1);
        assert_eq!(tokens_of(&most, &RFC_9309), ["GPTBot"]);
    }

    #[test]
    fn compatibility_words_are_in_lower_case_and_in_order() {
        assert!(COMPATIBILITY.split(' ').is_sorted());
        assert!(COMPATIBILITY.split(' ').all(|word| !word.is_empty()));
        assert_eq!(COMPATIBILITY.to_ascii_lowercase(), COMPATIBILITY);
    }
}
