//! The names of settings in messages of libraries.
//!
//! A library does not know its caller: it writes the name of a setting in `‹` and `›`, as in "name the column
//! with ‹url_field›". The program shows its flag instead, and other callers the name of their argument.

/// Returns the text with each name of a setting replaced by what `shown` returns for it.
///
/// ```
/// use portcullis_text::settings::shown_as;
///
/// let shown = shown_as("omit ‹no_header›", |name| format!("--{}", name.replace('_', "-")));
/// assert_eq!(shown, "omit --no-header");
/// ```
pub fn shown_as(text: &str, shown: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once('‹') {
        out.push_str(before);
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|it| it.is_ascii_lowercase() || it == b'_')
        };
        match marked.split_once('›').filter(|(name, _)| is_name(name)) {
            Some((name, after)) => {
                out.push_str(&shown(name));
                rest = after;
            }
            None => {
                out.push('‹');
                rest = marked;
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_text_in_such_quotes_is_no_name() {
        let upper = |text| shown_as(text, str::to_uppercase);
        assert_eq!(upper("‹host› and ‹url_field›"), "HOST and URL_FIELD");
        for text in ["", "‹", "›", "‹›", "‹A b›", "‹‹", "x › ‹ y"] {
            assert_eq!(upper(text), text);
        }
        assert_eq!(upper("‹ ‹host›"), "‹ HOST");
    }
}
