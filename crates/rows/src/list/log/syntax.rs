//! Reads the formats of configurations: Apache's `LogFormat`, nginx's `log_format`, and the rows of
//! [`servers`](super::servers).
//!
//! A format may be given with its directive, and with the quotes of the configuration or without them.
//! Adjacent quoted pieces are joined, as nginx does.

use super::escape::{Escape, Quoting};
use super::fields::{LogField, of_apache, of_nginx, of_table};
use super::servers::SERVERS;

/// A part of a format: a field, or the text between two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Text(Vec<u8>),
    Field(LogField),
    /// Anything up to the end of the line.
    Tail,
}

/// A format before it is built.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parsed {
    pub tokens: Vec<Token>,
    pub escape: Escape,
    pub quoting: Quoting,
}

/// A byte of a format with its column, from 1.
type Byte = (u8, usize);

/// The bytes of a format.
type Bytes = Vec<Byte>;

/// A format without its directive, and how its texts are escaped and quoted.
type Format<'f> = (&'f [Byte], Escape, Quoting);

/// Reads a format of a configuration. The error says what is wrong, and in which column.
pub(super) fn of_configuration(text: &str) -> Result<Parsed, String> {
    let given: Bytes = text.bytes().zip(1..).collect();
    let given = without_ends(&given, u8::is_ascii_whitespace);
    let (given, escape, quoting) = without_directive(given)?;
    let format = unquoted(given)?;
    let has = |mark: u8| {
        let mut pairs = format.windows(2);
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"{><!_".contains(&byte);
        pairs.any(|pair| pair[0].0 == mark && is_name(pair[1].0))
    };
    let both = "it has both % and $; pass the LogFormat of Apache or the log_format of nginx";
    let tokens = match (has(b'%'), has(b'$')) {
        (true, false) => of_directives(&format)?,
        (false, true) => of_variables(&format)?,
        (true, true) => return Err(both.to_owned()),
        (false, false) => {
            return Err(format!(
                "no format is called `{text}`; pass a LogFormat (%h …), a log_format ($host …), or a name such \
                 as {}",
                names_like(text)
            ));
        }
    };
    Ok(Parsed { tokens, escape, quoting })
}

/// Returns the names of formats that have a text in them, or else that of the usual one.
fn names_like(text: &str) -> String {
    const NAMES_SHOWN_MAX: usize = 3;
    let text = text.to_ascii_lowercase().replace('_', "-");
    let names = SERVERS.iter().map(|it| it.name).filter(|name| name.contains(&text));
    let names: Vec<&str> = names.take(NAMES_SHOWN_MAX).collect();
    if names.is_empty() { "combined".to_owned() } else { names.join(", ") }
}

/// Reads a row of [`servers`](super::servers), whose fields stand in `<>`.
///
/// # Panics
///
/// If it has a field that is not known: the rows are ours.
pub(super) fn of_row(format: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = format;
    while let Some((text, after)) = rest.split_once('<') {
        let (name, after) = after.split_once('>').expect("a field ends with >");
        push_text(&mut tokens, text.bytes());
        tokens.push(match name {
            "*" => Token::Tail,
            name => Token::Field(of_table(name).unwrap_or_else(|| panic!("no field `{name}`"))),
        });
        rest = after;
    }
    push_text(&mut tokens, rest.bytes());
    tokens
}

/// Takes off the directive around a format, and how nginx escapes values.
fn without_directive(given: &[Byte]) -> Result<Format<'_>, String> {
    let (mut escape, mut quoting) = (Escape::Backslash, Quoting::Backslash);
    let word = |given: &[Byte]| text_of(&given[..run_of(given, |it| !it.is_ascii_whitespace())]);
    let behind =
        |given: &[Byte], bytes: usize| bytes + run_of(&given[bytes..], u8::is_ascii_whitespace);
    let mut rest = given;
    let first = word(rest);
    if first.eq_ignore_ascii_case("LogFormat") {
        rest = &rest[behind(rest, first.len())..];
        if let [(quote @ (b'"' | b'\''), _), ..] = rest {
            // The nickname of the format stands after it.
            let end = closing(rest, *quote).ok_or("its quotes are not closed")?;
            rest = &rest[..=end];
        }
    } else if first == "log_format" {
        rest = &rest[behind(rest, first.len())..];
        let name = word(rest);
        rest = &rest[behind(rest, name.len())..];
        rest = without_ends(rest, |byte| byte.is_ascii_whitespace() || *byte == b';');
    }
    let kind = word(rest);
    if let Some(kind_of) = kind.strip_prefix("escape=") {
        (escape, quoting) = match kind_of {
            "default" => (Escape::Hex, Quoting::Plain),
            "json" => (Escape::Json, Quoting::Backslash),
            "none" => (Escape::None, Quoting::Plain),
            _ => {
                return Err(format!(
                    "`{kind}` is none of escape=default, escape=json and escape=none"
                ));
            }
        };
        rest = &rest[behind(rest, kind.len())..];
    }
    Ok((rest, escape, quoting))
}

/// Takes off the quotes of a configuration, joins the pieces in them, and undoes their escapes.
fn unquoted(given: &[Byte]) -> Result<Bytes, String> {
    match given {
        [(b'\'', _), ..] => joined(given),
        [(b'"', _), inside @ .., (b'"', _)] if is_in_quotes(given, inside) => joined(given),
        _ => Ok(without_escapes(given)),
    }
}

/// Whether a text between double quotes is a whole format, and not a format that begins and ends with quotes.
fn is_in_quotes(given: &[Byte], inside: &[Byte]) -> bool {
    let fields = inside.iter().filter(|(byte, _)| b"%$".contains(byte)).count();
    let has_escape = inside.iter().any(|(byte, _)| *byte == b'\\');
    closing(given, b'"') == Some(given.len() - 1) && (has_escape || fields > 1)
}

/// Returns the place of the quote that closes the one at the start.
fn closing(given: &[Byte], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        match given.get(at)?.0 {
            b'\\' => at += 2,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
}

fn joined(given: &[Byte]) -> Result<Bytes, String> {
    let mut found = Bytes::new();
    let mut rest = given;
    while let [(quote @ (b'"' | b'\''), column), ..] = rest {
        let end = closing(rest, *quote)
            .ok_or_else(|| format!("the quote in column {column} is not closed"))?;
        found.extend(without_escapes(&rest[1..end]));
        rest = without_ends(&rest[end + 1..], u8::is_ascii_whitespace);
    }
    match rest {
        [] => Ok(found),
        [(_, column), ..] => {
            Err(format!("column {column}: a text outside of the quotes of the format"))
        }
    }
}

fn without_escapes(given: &[Byte]) -> Bytes {
    let mut found = Bytes::new();
    let mut rest = given;
    while let [(byte, column), after @ ..] = rest {
        let (byte, taken) = match (byte, after) {
            (b'\\', [(b't', _), ..]) => (b'\t', 2),
            (b'\\', [(escaped @ (b'"' | b'\'' | b'\\'), _), ..]) => (*escaped, 2),
            _ => (*byte, 1),
        };
        found.push((byte, *column));
        rest = &rest[taken..];
    }
    found
}

fn text_of(given: &[Byte]) -> String {
    given.iter().map(|(byte, _)| char::from(*byte)).collect()
}

/// Returns the number of first bytes that `is` accepts.
fn run_of(given: &[Byte], is: impl Fn(&u8) -> bool) -> usize {
    given.iter().take_while(|(byte, _)| is(byte)).count()
}

fn without_ends(given: &[Byte], is: impl Fn(&u8) -> bool) -> &[Byte] {
    let start = given.iter().position(|(byte, _)| !is(byte)).unwrap_or(given.len());
    let end = given.iter().rposition(|(byte, _)| !is(byte)).map_or(start, |at| at + 1);
    &given[start..end]
}

/// Reads the directives of Apache.
fn of_directives(format: &[Byte]) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = format;
    while let [(byte, column), after @ ..] = rest {
        if *byte != b'%' {
            push_text(&mut tokens, [*byte]);
            rest = after;
            continue;
        }
        if let [(b'%', _), after @ ..] = after {
            push_text(&mut tokens, *b"%");
            rest = after;
            continue;
        }
        let is_modifier = |byte: &u8| b"<>!,".contains(byte) || byte.is_ascii_digit();
        let mut after = &after[run_of(after, is_modifier)..];
        let mut name = None;
        if let [(b'{', _), inside @ ..] = after {
            let end = inside.iter().position(|(byte, _)| *byte == b'}');
            let end = end.ok_or_else(|| format!("column {column}: the brace is not closed"))?;
            name = Some(text_of(&inside[..end]));
            after = &inside[end + 1..];
            if let [(b'>' | b'<', _), behind @ ..] = after {
                after = behind;
            }
        }
        // Trailers, and the first byte: two letters after `^`.
        let caret = usize::from(matches!(after, [(b'^', _), ..])) * 2;
        let letter = after.get(caret).map(|(letter, _)| *letter);
        let behind = after.get(caret + 1..).unwrap_or_default();
        let is_word = matches!(behind, [(next, _), ..] if next.is_ascii_alphabetic());
        let field = match (caret, letter) {
            (2, Some(_)) => Some(LogField::of_client(super::fields::What::Other)),
            (_, Some(letter)) if !is_word => of_apache(letter, name.as_deref()),
            _ => None,
        };
        let Some(field) = field else {
            let bytes = rest.len() - after.len() + run_of(after, u8::is_ascii_alphabetic);
            let whole = text_of(&rest[..bytes]);
            return Err(format!(
                "column {column}: `{whole}` is no directive of Apache's LogFormat; for HAProxy and Varnish \
                 name their format"
            ));
        };
        if letter == Some(b't') && name.is_none() {
            push_text(&mut tokens, *b"[");
            tokens.push(Token::Field(field));
            push_text(&mut tokens, *b"]");
        } else {
            tokens.push(Token::Field(field));
        }
        rest = behind;
    }
    Ok(tokens)
}

/// Reads the variables of nginx.
fn of_variables(format: &[Byte]) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = format;
    while let [(byte, column), after @ ..] = rest {
        if *byte != b'$' {
            push_text(&mut tokens, [*byte]);
            rest = after;
            continue;
        }
        let has_braces = matches!(after, [(b'{', _), ..]);
        let after = &after[usize::from(has_braces)..];
        let bytes = run_of(after, |byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let name = text_of(&after[..bytes]);
        rest = &after[bytes..];
        if has_braces {
            let [(b'}', _), behind @ ..] = rest else {
                return Err(format!("column {column}: the brace is not closed"));
            };
            rest = behind;
        }
        if name.is_empty() {
            return Err(format!("column {column}: `$` without the name of a variable"));
        }
        tokens.push(Token::Field(of_nginx(&name)));
    }
    Ok(tokens)
}

fn push_text(tokens: &mut Vec<Token>, text: impl IntoIterator<Item = u8>) {
    let mut text = text.into_iter().peekable();
    if text.peek().is_none() {
        return;
    }
    match tokens.last_mut() {
        Some(Token::Text(last)) => last.extend(text),
        _ => tokens.push(Token::Text(text.collect())),
    }
}
