//! Who asks: product tokens, and the order in which a crawler falls back from one to the next.

mod header;

use std::fmt;

use portcullis_dialect::dialect::{CallerToken, Dialect};

/// One crawler: the product tokens that it obeys, the most specific first.
///
/// The first token that some group of a file names is the one whose groups are obeyed; if none is
/// named the default group is. Most crawlers have one token; a crawler such as Googlebot-News obeys
/// the groups of Googlebot where no group names itself.
///
/// ```
/// use portcullis_dialect::dialect::GOOGLE;
/// use portcullis_robots::policy::AgentChain;
///
/// let news = AgentChain::parse("Googlebot-News+Googlebot", &GOOGLE).unwrap();
/// assert_eq!(news.tokens().collect::<Vec<_>>(), ["Googlebot-News", "Googlebot"]);
/// assert!(AgentChain::parse("Googlebot/2.1", &GOOGLE).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentChain {
    name: String,
    tokens: Vec<String>,
}

/// An agent that the dialect cannot ask about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// There is no token, or an empty one.
    #[error(
        "the agent '{agent}' has an empty token; write TOKEN, or TOKEN+TOKEN for a crawler that falls back"
    )]
    Empty {
        /// The agent as given.
        agent: String,
    },
    /// A token has a character that no token has.
    #[error(
        "the agent '{token}' is no product token: the dialect {dialect} takes {allowed}; leave out the version and what follows it"
    )]
    NotAToken {
        /// The token as given.
        token: String,
        /// The dialect's name.
        dialect: &'static str,
        /// The characters that a token may have.
        allowed: &'static str,
    },
    /// A User-Agent header has nothing in it.
    #[error("the User-Agent header is empty; write it as the crawler sends it")]
    EmptyHeader,
    /// A User-Agent header names nobody.
    #[error(
        "the User-Agent header '{header}' names no product; give the crawler's product token instead"
    )]
    NoProduct {
        /// The header as given.
        header: String,
    },
    /// A User-Agent header has a byte that no header has.
    #[error(
        "the User-Agent header '{}' has a control character; write it in one line, as it is sent",
        header.escape_debug()
    )]
    NotAHeader {
        /// The header as given.
        header: String,
    },
}

impl AgentChain {
    /// One or more tokens, joined by `+`, the most specific first.
    ///
    /// # Errors
    ///
    /// If a token is empty, or has a character that the dialect's tokens do not have.
    pub fn parse(text: &str, dialect: &Dialect) -> Result<AgentChain, AgentError> {
        let tokens: Vec<String> = text.split('+').map(str::to_owned).collect();
        for token in &tokens {
            if token.is_empty() {
                return Err(AgentError::Empty { agent: text.to_owned() });
            }
            if let CallerToken::Token(alphabet) = dialect.groups.caller_token
                && !token.bytes().all(|byte| alphabet.contains(byte))
            {
                return Err(AgentError::NotAToken {
                    token: token.clone(),
                    dialect: dialect.name,
                    allowed: alphabet.describe(),
                });
            }
        }
        Ok(AgentChain { name: text.to_owned(), tokens })
    }

    /// The agent as it was given: its tokens joined by `+`, or its User-Agent header.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tokens, the most specific first.
    pub fn tokens(&self) -> impl Iterator<Item = &str> {
        self.tokens.iter().map(String::as_str)
    }
}

impl fmt::Display for AgentChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
