//! What `filter` keeps, held against `classify`: the same lines, byte for byte, in the same order.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use super::row::Fault;
use super::{AGENT, Programs};

/// Has `filter` write to `kept` what it keeps of `list`, and compares with the lines that `classify`
/// allows, which have to be as many as the oracle allows.
///
/// # Errors
///
/// If they differ, or a program fails.
pub fn write(
    programs: &Programs,
    set: &Path,
    list: &Path,
    kept: &Path,
    allowed: u64,
) -> Result<(), Fault> {
    let mut filter = super::file::filter_command(programs, set, 0);
    let status = filter.arg("-o").arg(kept).arg(list).stdin(Stdio::null()).status();
    if !status.as_ref().is_ok_and(|status| status.success()) {
        return Err(Fault::Wrong(format!("filter did not end well: {status:?}")));
    }
    let file = File::open(kept).map_err(|error| Fault::Wrong(format!("what is kept: {error}")))?;
    let mut classify = Command::new(&programs.portcullis)
        .args(["classify", "--no-summary", "-a", AGENT, "-p"])
        .args([set, list])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| Fault::Wrong(format!("classify cannot be started: {error}")))?;
    let tagged = classify.stdout.take().expect("the output is a pipe");
    let [file, tagged]: [Box<dyn Read>; 2] = [Box::new(file), Box::new(tagged)];
    let compared = compare(buffered(file), buffered(tagged));
    let ended = classify.wait();
    let lines = compared.map_err(|error| Fault::Wrong(format!("not compared: {error}")))??;
    if !ended.as_ref().is_ok_and(|status| status.success()) {
        return Err(Fault::Wrong(format!("classify did not end well: {ended:?}")));
    }
    match lines == allowed {
        true => Ok(()),
        false => Err(Fault::Wrong(format!("{lines} lines kept; oracle: {allowed}"))),
    }
}

fn buffered<R: Read>(reader: R) -> BufReader<R> {
    BufReader::with_capacity(1 << 20, reader)
}

/// The number of lines of `kept`, if they are those that `tagged` allows.
fn compare(mut kept: impl BufRead, mut tagged: impl BufRead) -> io::Result<Result<u64, Fault>> {
    let (mut line, mut tagged_line, mut lines) = (Vec::new(), Vec::new(), 0);
    loop {
        tagged_line.clear();
        if tagged.read_until(b'\n', &mut tagged_line)? == 0 {
            let rest = kept.fill_buf()?.is_empty();
            return Ok(rest.then_some(lines).ok_or_else(|| differ(lines)));
        }
        let Some(allowed) = tagged_line.strip_prefix(b"allow\t") else { continue };
        line.clear();
        kept.read_until(b'\n', &mut line)?;
        if line != allowed {
            return Ok(Err(differ(lines)));
        }
        lines += 1;
    }
}

fn differ(lines: u64) -> Fault {
    let line = lines + 1;
    Fault::Wrong(format!("line {line} that filter keeps is not the one that classify allows"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_lines_in_the_same_order_are_the_same() {
        let tagged = b"allow\ta\nunknown\tb\nallow\tc\n";
        let lines = |kept: &[u8]| compare(kept, &tagged[..]).unwrap();
        assert_eq!(lines(b"a\nc\n"), Ok(2));
        for wrong in [&b"a\n"[..], b"c\na\n", b"a\nc\nd\n", b"", b"a\nc"] {
            assert!(lines(wrong).is_err(), "{wrong:?}");
        }
    }
}
