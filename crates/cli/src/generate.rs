//! `portcullis --generate`: generates the man page and shell completions from the flags.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::args::Generated;
use super::exit;
use super::output;

pub fn run(kind: Generated, mut command: Command) -> anyhow::Result<()> {
    let mut text = Vec::new();
    match kind.0 {
        None => text = man(command)?,
        Some(shell) => {
            let name = command.get_name().to_owned();
            clap_complete::generate(shell, &mut command, name, &mut text);
        }
    }
    Ok(output::print(&text)?)
}

/// Renders one page for the program and all its subcommands, whose names are in the headings.
fn man(mut command: Command) -> io::Result<Vec<u8>> {
    command.build();
    let mut page = Vec::new();
    let whole = Man::new(command.clone());
    whole.render_title(&mut page)?;
    whole.render_name_section(&mut page)?;
    push_sections(&whole, "", &mut page)?;
    for subcommand in command.get_subcommands().filter(|it| it.get_name() != "help") {
        let name = format!("{}: ", subcommand.get_name().to_uppercase());
        push_sections(&Man::new(subcommand.clone()), &name, &mut page)?;
        if let Some(text) = subcommand.get_after_long_help() {
            push_as_written(&format!("{name}MORE"), &text.to_string(), &mut page);
        }
    }
    push_as_written("EXIT STATUS", exit::HELP, &mut page);
    Ok(page)
}

fn push_sections(man: &Man, name: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let mut sections = Vec::new();
    man.render_synopsis_section(&mut sections)?;
    man.render_description_section(&mut sections)?;
    man.render_options_section(&mut sections)?;
    for line in String::from_utf8_lossy(&sections).lines() {
        let line = match line.strip_prefix(".SH ") {
            Some(heading) => format!(".SH \"{name}{}\"\n", heading.trim_matches('"')),
            None => format!("{line}\n"),
        };
        page.extend_from_slice(line.as_bytes());
    }
    Ok(())
}

/// Appends a section whose lines and columns stay as they are.
fn push_as_written(heading: &str, text: &str, page: &mut Vec<u8>) {
    let mut roff = Roff::new();
    roff.control("SH", [heading]).control("nf", []);
    for line in text.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    page.extend_from_slice(roff.to_roff().as_bytes());
}
