//! What two rule sets read together, one symbol after the other.
//!
//! Where both compare paths in the same form a symbol is a byte of such a path. Where they do not,
//! one URL has two paths; then a symbol is a *token* of the URL, a byte, an escape or a `%` that is
//! none, and each side reads what becomes of it. Tokens that no pattern tells apart are one.

use std::collections::HashSet;

use crate::dialect::Escapes;
use crate::escape::normalise;

use super::language::{Example, FREE, Language, Mark, plain_first};
use super::machine::Machine;

/// A symbol of an [`Alphabet`].
pub(super) type Symbol = u16;

/// What two sides read.
#[derive(Debug)]
pub(super) enum Alphabet {
    /// Bytes of a path that both compare.
    Bytes(Box<Language>),
    /// Tokens of a URL.
    Tokens(Vec<Token>),
}

/// A part of a URL that is brought into normal form as one.
#[derive(Debug)]
pub(super) struct Token {
    written: Vec<u8>,
    /// What the sides compare.
    compared: [Vec<u8>; 2],
    kind: TokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum TokenKind {
    /// A hexadecimal digit; two of them after a `%` would make an escape.
    Digit,
    /// A `%` that no two digits follow.
    Percent,
    /// Anything else.
    Other,
}

/// A `%` was last.
const AFTER_PERCENT: Mark = 1;
/// A `%` and a digit were last.
const AFTER_DIGIT: Mark = 2;

impl TokenKind {
    /// What is forbidden after this; nothing if it cannot stand here.
    fn after(self, mark: Mark) -> Option<Mark> {
        match (self, mark) {
            (TokenKind::Digit, AFTER_DIGIT) => None,
            (TokenKind::Digit, AFTER_PERCENT) => Some(AFTER_DIGIT),
            (TokenKind::Percent, _) => Some(AFTER_PERCENT),
            (TokenKind::Digit | TokenKind::Other, _) => Some(FREE),
        }
    }
}

impl Alphabet {
    pub(super) fn new(escapes: [Escapes; 2], sides: [&Machine; 2]) -> Alphabet {
        match escapes[0] == escapes[1] {
            true => Alphabet::Bytes(Box::new(Language::new(escapes[0]))),
            false => Alphabet::Tokens(tokens(escapes, sides)),
        }
    }

    /// Writes the symbols that can follow, with what they forbid.
    pub(super) fn moves(
        &self,
        mark: Mark,
        named: impl Iterator<Item = u8>,
        moves: &mut Vec<(Symbol, Mark)>,
    ) {
        match self {
            Alphabet::Bytes(language) => language.moves(mark, named, moves),
            Alphabet::Tokens(tokens) => {
                moves.clear();
                let after = |token: &Token| token.kind.after(mark);
                let tokens = (0..).zip(tokens);
                moves.extend(tokens.filter_map(|(symbol, token)| Some((symbol, after(token)?))));
            }
        }
    }

    /// The state of a side, the first (0) or second (1), after `symbol`.
    pub(super) fn step(
        &self,
        side: usize,
        machine: &mut Machine,
        state: u32,
        symbol: Symbol,
    ) -> u32 {
        match self {
            Alphabet::Bytes(_) => machine.step(state, symbol as u8),
            Alphabet::Tokens(tokens) => {
                let bytes = &tokens[usize::from(symbol)].compared[side];
                bytes.iter().fold(state, |state, &byte| machine.step(state, byte))
            }
        }
    }

    /// The example with a slash and these symbols.
    pub(super) fn example(&self, symbols: &[Symbol]) -> Example {
        let mut path = b"/".to_vec();
        match self {
            Alphabet::Bytes(language) => {
                path.extend(symbols.iter().map(|&symbol| symbol as u8));
                Example::of(&language.written(&path))
            }
            Alphabet::Tokens(tokens) => {
                let written = symbols.iter().map(|&symbol| &tokens[usize::from(symbol)].written);
                written.for_each(|written| path.extend_from_slice(written));
                Example::of(&path)
            }
        }
    }
}

/// The tokens of URLs that some pattern of the sides tells apart, the plain ones first.
fn tokens(escapes: [Escapes; 2], sides: [&Machine; 2]) -> Vec<Token> {
    let digits = *b"0123456789ABCDEFabcdef";
    let escapes_of_bytes = digits.iter().flat_map(|&high| digits.map(|low| vec![b'%', high, low]));
    let bytes = plain_first().iter().filter(|&&byte| byte != b'#').map(|&byte| vec![byte]);
    let mut known = HashSet::new();
    let mut tokens = Vec::new();
    for written in bytes.chain(escapes_of_bytes) {
        let kind = match *written {
            [b'%'] => TokenKind::Percent,
            [byte] if byte.is_ascii_hexdigit() => TokenKind::Digit,
            _ => TokenKind::Other,
        };
        let compared =
            escapes.map(|escapes| normalise(&written, escapes, &mut Vec::new()).to_vec());
        let told_apart = |side: usize| -> Vec<Option<u8>> {
            let bytes = compared[side].iter();
            bytes.map(|&byte| sides[side].names(byte).then_some(byte)).collect()
        };
        if known.insert((kind, told_apart(0), told_apart(1))) {
            tokens.push(Token { written, compared, kind });
        }
    }
    tokens
}
