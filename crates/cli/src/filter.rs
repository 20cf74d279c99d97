//! `portcullis filter`: prints the allowed records, byte for byte.

use std::sync::Arc;
use std::time::Instant;

use portcullis_report::filter::{self, Fate, Purpose, Quantifier};
use portcullis_report::{Counts, Drops, Filtered, Selection, Tally};

use super::args::{FilterArgs, KeepOrDrop, SelectionArgs};
use super::engine::Engine;
use super::exit::ExitStatus;
use super::files::Files;
use super::output::{CompleteOutput, Compression, Compressor, Destination, Output, RecordsTo};
use super::outputs::Outputs;
use super::plan;
use super::rows::{self, Head, RowOutput};
use super::shards::Shards;
use super::stream;
use super::summary::{self, Clock};
use super::unknown_hosts::HostCounts;

/// The output for a piece.
#[derive(Default)]
struct Sorted {
    records: filter::Output,
    counts: Counts,
    compressor: Compressor,
}

pub fn run(args: FilterArgs, files: &Files) -> anyhow::Result<ExitStatus> {
    let started = Instant::now();
    let summary = plan::summary(&args.run)?;
    let policies = plan::policies(args.policies);
    let selection = selection(&args.selection);
    let mut questions = plan::questions(args.questions, policies.dialect())?;
    questions.freshness = plan::freshness(&args.freshness);
    questions.times = plan::times(args.times, args.now, Some(&args.freshness), &policies)?;
    questions.usage = args.selection.purpose.is_some();
    plan::record_agents(args.agent, &mut questions)?;
    let destination = Destination::new(args.output.joined.output);
    let prints_records = !args.quiet && !args.count;
    let folder = args.output.out_dir.as_ref();
    let prints = destination == Destination::StandardOutput && prints_records && folder.is_none();
    let mut stream = plan::stream(
        args.input,
        args.rejects,
        &questions,
        &args.run,
        policies.strictness(),
        prints,
    )?;
    let names = args.selection.aside().map(RecordsTo::file);
    let are_rows =
        prints_records && rows::keeps_rows(&stream, &destination, folder.is_some(), names)?;
    if are_rows {
        rows::not_to_terminal(prints, "-o FILE.parquet, -c to count, or -o FILE.txt for the URLs")?;
        stream.chunks = rows::ROW_GROUPS;
        stream.shows_cuts = true;
    }
    let destinations = plan::destinations(destination, folder, &stream, None, files)?;
    let hosts = args.output.unknown_hosts.as_ref();
    let sets_aside =
        stream.rejects.is_some() || hosts.is_some() || names.iter().any(Option::is_some);
    let shards = Shards::of(stream.clone(), destinations, args.output.shards, sets_aside)?;
    let mut hosts = hosts.map(HostCounts::create).transpose()?;
    let [unknown, invalid, pages] = names.map(|path| path.map(Output::create).transpose());
    let mut set_aside = [unknown?, invalid?, pages?];
    let labels = args.selection.purpose.as_slice();
    let described = Selection::of(&selection, args.selection.purpose);
    let counts_all = summary.counts_all();
    let policies = Engine::new(stream.threads)?.load(&policies, &questions)?;
    policies.show_notes(summary.form);
    let agents = policies.agents.agents.len();
    let classifier = policies.classifier(&questions)?;
    let classifier = Arc::new(classifier.with_usage(labels)?);
    let clock = Clock::loaded(started);
    let run = are_rows.then(|| summary::run(&policies, &questions));
    let output = |outputs, is_left_out| match &run {
        Some(run) => RowOutput::parquet(outputs, Vec::new(), true, run.clone()),
        None => RowOutput::text(outputs, Head::Own { first: None, is_left_out }),
    };
    // The account in Parquet files counts hosts too.
    let counts_hosts = are_rows || counts_all || summary.form != plan::SummaryForm::None;
    let hosts_max = summary::hosts_max(counts_hosts, hosts.is_some());
    let (outcome, status) = shards.run(|stream, kept_to| {
        let compressions = kept_to.compressions();
        let aside_compressions = set_aside
            .each_ref()
            .map(|it| it.as_ref().map_or(Compression::None, Output::compression));
        let mut kept_output = output(kept_to, !prints_records);
        let mut aside =
            set_aside.each_mut().map(|it| it.take().map(|file| output(Outputs::of(file), false)));
        let mut counts = Counts::new(agents);
        let unstated = args.selection.purpose.map(|_| 0);
        let (mut filtered, mut drops) = (Filtered { kept: 0, unstated }, Drops::default());
        let account = stream::run(
            stream,
            &questions,
            Arc::clone(&classifier),
            |session, piece, Sorted { records, counts, compressor }| {
                records.clear();
                records.counts_only = !prints_records;
                counts.clear(agents, hosts_max);
                if counts_all {
                    counts.ask_preferences(labels);
                    records.drops.get_or_insert_default();
                }
                let write = if are_rows { filter::write_rows } else { filter::write_chunk };
                let kept_compression = compressions.of_list(piece.rows().list_number());
                write(piece, &selection, session, counts, records)?;
                compressor.compress(kept_compression, &mut records.kept.text)?;
                for (compression, encoded) in aside_compressions.iter().zip(&mut records.aside) {
                    compressor.compress(*compression, &mut encoded.text)?;
                }
                Ok(())
            },
            |part, Sorted { records, counts: of_piece, .. }| {
                policies.check_ages(of_piece, &questions)?;
                let of_part = Filtered {
                    kept: records.kept_records,
                    unstated: selection.purpose.map(|_| records.unstated_records),
                };
                counts.merge(of_piece);
                records.drops.iter().for_each(|next| drops.merge(next));
                if let Some(hosts) = &mut hosts {
                    hosts.add(of_piece.unknown_hosts())?;
                }
                filtered.merge(of_part);
                let kept = (Some(&mut kept_output), &mut records.kept);
                let aside = aside.iter_mut().map(Option::as_mut).zip(&mut records.aside);
                for (output, encoded) in std::iter::once(kept).chain(aside) {
                    let Some(output) = output else { continue };
                    if part.is_first {
                        output.begin(part, of_piece.records == 0)?;
                    }
                    output.write(part.list, encoded, of_piece, Some(of_part))?;
                }
                Ok(())
            },
        )?;
        policies.set.is_whole()?;
        let mut complete = Vec::new();
        if args.count && !args.quiet {
            kept_output.write_text(format!("{}\n", filtered.kept).as_bytes())?;
        }
        for output in std::iter::once(kept_output).chain(aside.into_iter().flatten()) {
            complete.extend(output.complete()?);
        }
        complete.extend(account.output.map(Output::complete).transpose()?);
        complete.extend(hosts.take().map(HostCounts::complete).transpose()?);
        CompleteOutput::publish_all(complete)?;
        let stream::Account { invalid, notes, noted, .. } = account;
        let dropped = counts_all.then_some((described, drops));
        let tally = Tally { counts, invalid, filtered: Some(filtered), dropped };
        Ok(summary::Outcome { tally, notes, noted })
    })?;
    let kept = outcome.tally.filtered.map_or(0, |filtered| filtered.kept);
    summary::write(&summary, &outcome.account(summary::run(&policies, &questions), &clock))?;
    match status {
        ExitStatus::Done if args.fail.fail && kept == 0 => Ok(ExitStatus::Negative),
        status => Ok(status),
    }
}

fn selection(args: &SelectionArgs) -> filter::Plan {
    let fate = |asked: &RecordsTo| match asked {
        RecordsTo::Output => Fate::Keep,
        RecordsTo::Nowhere => Fate::Drop,
        RecordsTo::File(_) => Fate::Aside,
    };
    filter::Plan {
        quantifier: if args.any { Quantifier::Any } else { Quantifier::All },
        invert: args.invert,
        aside: args.aside().map(fate),
        purpose: args
            .unstated
            .map(|unstated| Purpose { keeps_unstated: unstated == KeepOrDrop::Keep }),
    }
}
