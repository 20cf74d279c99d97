//! Examples for each subcommand, at the end of its help and in the man page. `examples.txt` has three for
//! each; a test runs all of them.

use clap::Command;

const EXAMPLES: &str = include_str!("examples.txt");

/// Adds the examples to the help of each subcommand, after what it says of formats and columns.
pub fn added_to(command: Command) -> Command {
    EXAMPLES.split("\n\n").fold(command, |command, examples| {
        let name = examples.lines().nth(1).and_then(|line| line.split(' ').nth(1));
        command.mut_subcommand(name.expect("a test reads them"), |subcommand| {
            let before = subcommand.get_after_long_help();
            // `ansi`, because else the text is searched for styles: a tenth of the instructions of a start.
            let before = before.map(|before| format!("{}\n\n", before.ansi())).unwrap_or_default();
            let examples = examples.trim_end().replace('\n', "\n  ");
            subcommand.after_long_help(format!("{before}Examples:\n  {examples}"))
        })
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::super::Arguments;
    use super::*;

    #[test]
    fn every_subcommand_has_examples_that_parse() {
        let command = added_to(Arguments::command());
        for subcommand in command.get_subcommands() {
            let start = format!("portcullis {} ", subcommand.get_name());
            let own: Vec<&str> = EXAMPLES.lines().filter(|line| line.starts_with(&start)).collect();
            assert_eq!(own.len(), 3, "{start}");
            for line in own {
                assert!(line.len() < 98, "the help would break {line}");
                let parsed = command.clone().try_get_matches_from(line.split(' '));
                assert!(parsed.is_ok(), "{line}: {parsed:?}");
            }
        }
    }
}
