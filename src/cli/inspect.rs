//! `portcullis inspect`: what is in a set, or the policies of one of its hosts.
//!
//! What is printed is data, so it goes to standard output, once all of it is known.

mod host_json;
mod host_text;
mod provenance;
mod survey_json;
mod survey_text;
mod table;

use std::ffi::OsStr;
use std::io::{self, Write};

use anyhow::Context;
use portcullis::set::PolicySet;
use portcullis::set::survey::{HostQuery, Survey, portraits};
use portcullis::visible::write_json;
use serde::Serialize;

use self::provenance::Provenance;
use super::args::InspectArgs;
use super::exit::ExitStatus;
use super::mapped;
use super::message::say;
use super::output::{Destination, Output};

pub fn run(args: &InspectArgs) -> anyhow::Result<ExitStatus> {
    let set = mapped::set(&args.set)?;
    let (status, out) = match &args.host {
        None => (ExitStatus::Done, survey(&set, args)?),
        Some(host) => inspect_host(&set, host, args.json)?,
    };
    set.is_whole()?;
    let mut output = Output::open(&Destination::StandardOutput)?;
    output.write(&out)?;
    output.finish()?;
    Ok(status)
}

fn survey(set: &PolicySet, args: &InspectArgs) -> anyhow::Result<Vec<u8>> {
    let survey = Survey::of(set, args.top)?;
    let provenance = Provenance::of(set)?;
    let mut out = Vec::new();
    match args.json {
        true => write_object(&survey_json::object(set, &survey, &provenance), &mut out)?,
        false => survey_text::write(set, &survey, &provenance, &mut out)?,
    }
    Ok(out)
}

fn inspect_host(
    set: &PolicySet,
    host: &OsStr,
    json: bool,
) -> anyhow::Result<(ExitStatus, Vec<u8>)> {
    let query = HostQuery::parse(host.as_encoded_bytes()).with_context(|| {
        format!(
            "{} is no host and no URL; write example.com or https://example.com",
            host.display()
        )
    })?;
    let found = portraits(set, &query)?;
    let mut out = Vec::new();
    if found.is_empty() {
        let names: Vec<String> = query.origins().iter().map(ToString::to_string).collect();
        let names = names.join(" or ");
        say(format_args!("{}: no policy is known for {names}", set.name()));
        return Ok((ExitStatus::Negative, out));
    }
    let provenance = Provenance::of(set)?;
    match json {
        true => write_object(&host_json::object(set, &query, &found, &provenance), &mut out)?,
        false => host_text::write(&query, &found, &provenance, &mut out)?,
    }
    Ok((ExitStatus::Done, out))
}

fn write_object(object: &impl Serialize, out: &mut Vec<u8>) -> io::Result<()> {
    write_json(object, &mut *out)?;
    out.write_all(b"\n")
}
