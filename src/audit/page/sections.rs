//! The parts of the page, in order: what each shows, what to do about it, its charts and tables.

use super::{Section, View, agent_name, code, listed};
use crate::audit::model::{
    AgentVerdicts, Distribution, FileRow, List, NeverCause, NeverRule, ReachCounts, Report,
    RobotRow, RuleRow,
};
use crate::decision::{PolicyState, Reason};
use crate::report::html::{
    Bar, Bars, Column, Html, NONE, Part, Table, bytes, counted, histogram, html, number, share,
};

/// Rows that a chart shows.
const CHARTED: usize = 12;
/// Rules that are shown as covering another.
const COVERING: usize = 5;

const VERDICTS: [Part; 4] = [
    Part { class: "allow", name: "may fetch" },
    Part { class: "disallow", name: "must not fetch" },
    Part { class: "unknown", name: "not known" },
    Part { class: "invalid", name: "not a URL" },
];

const SHARES: [Part; 4] = [
    Part { class: "allow", name: "everything" },
    Part { class: "part", name: "a part" },
    Part { class: "disallow", name: "nothing" },
    Part { class: "unknown", name: "not known" },
];

const COUNT: [Part; 1] = [Part { class: "disallow", name: "count" }];

/// All parts, in order.
pub(super) fn all(view: View<'_>) -> Vec<Section> {
    vec![
        verdicts(view),
        hosts(view),
        deciding(view),
        never(view),
        idle(view),
        unknown(view),
        reach(view),
        robots(view),
        states(view),
        files(view),
        notes(view),
        crawl_delays(view),
        sitemaps(view),
        invalid(view),
        limits(view),
        about(view),
        Section {
            id: "glossary",
            title: "Words",
            meaning: html!("The terms of this page."),
            advice: Html::default(),
            body: Html::of_source(include_str!("glossary.html")),
        },
    ]
}

/// A chart beside its table, or above it if there is no room.
fn pair(chart: Html, table: Html) -> Html {
    html!("<div class=\"pair\">\n{}<div>\n{}</div>\n</div>\n", chart, table)
}

/// A chart of one count for each of the first rows.
fn counts<T>(title: &str, table: &str, rows: &[T], bar: impl Fn(&T) -> (String, u64)) -> Html {
    let bar = |row| {
        let (label, value) = bar(row);
        Bar { label, figure: number(value), values: vec![value] }
    };
    let bars: Vec<Bar> = rows.iter().take(CHARTED).map(bar).collect();
    Bars { title, table, parts: &COUNT, are_shares: false }.html(&bars)
}

/// A reason in words: the head of a column, and what it means.
fn reason(reason: Reason) -> (&'static str, &'static str) {
    match reason {
        Reason::Rule => ("a rule", "a rule matches and decides."),
        Reason::NoRule => (
            "no rule matches",
            "a group applies to the agent, and none of its rules matches: allowed.",
        ),
        Reason::NoGroup => ("no group", "the file has rules, but no group for the agent: allowed."),
        Reason::NoRules => ("no rules", "the file was read and has no rules: allowed."),
        Reason::RobotsTxt => ("robots.txt itself", "robots.txt may always be fetched."),
        Reason::Unavailable => ("no file", "the server answered that there is no robots.txt."),
        Reason::Unreachable => {
            ("server failed", "the server or the network failed when robots.txt was fetched.")
        }
        Reason::Deferred => ("come back later", "the server asked to come back later."),
        Reason::NoPolicy => ("not known", "no robots.txt of the origin is known."),
        Reason::BadUrl => ("not a URL", "the record is not a URL."),
    }
}

fn verdicts(view: View<'_>) -> Section {
    let report = view.report;
    let rows = &report.verdicts;
    let whole = report.records.records;
    let bar = |row: &AgentVerdicts| Bar {
        label: row.agent.clone(),
        figure: format!("may fetch {}", share(row.allow, whole)),
        values: vec![row.allow, row.disallow, row.unknown, row.invalid],
    };
    let title = "URLs by agent and verdict";
    let chart = Bars { title, table: "verdicts-table", parts: &VERDICTS, are_shares: true };
    let chart = chart.html(&rows.iter().map(bar).collect::<Vec<_>>());
    let table = Table::new("verdicts-table", html!("{}", title), rows)
        .text("agent", |row| agent_name(&row.agent))
        .number("may fetch", |row| row.allow)
        .figure("share", move |row| share(row.allow, whole))
        .number("must not fetch", |row| row.disallow)
        .figure("share", move |row| share(row.disallow, whole))
        .number("not known", |row| row.unknown)
        .number("not a URL", |row| row.invalid);
    // Reasons that do not occur have no column.
    let caption = html!("Why: URLs by agent and reason");
    let mut why =
        Table::new("reasons-table", caption, rows).text("agent", |row| agent_name(&row.agent));
    let mut words = Html::default();
    for it in Reason::ALL {
        let count = move |row: &AgentVerdicts| {
            let found = row.reasons.iter().find(|found| found.reason == it.as_str());
            found.map_or(0, |found| found.count)
        };
        if rows.iter().any(|row| count(row) > 0) {
            let (name, meaning) = reason(it);
            why = why.number(name, count);
            words += html!("<li>{} (<code>{}</code>): {}</li>\n", name, it.as_str(), meaning);
        }
    }
    let why = match words.is_empty() {
        true => Html::default(),
        false => html!(
            "<h3>Why</h3>\n{}<ul class=\"words\">\n{}</ul>\n",
            why.html_or("No agent was given."),
            words
        ),
    };
    Section {
        id: "agents",
        title: "What each agent may fetch",
        meaning: html!(
            "How many of {} each agent may fetch, and why. “Not known” is not permission: no robots.txt \
             of the origin is known.",
            counted(whole, "record", "records")
        ),
        advice: html!(
            r##"If an agent must not fetch URLs that you want it to have, look for its rules in <a href="#deciding">the rules that decide most</a>."##
        ),
        body: html!("{}{}", pair(chart, table.html_or("No agent was given.")), why),
    }
}

fn hosts(view: View<'_>) -> Section {
    let report = view.report;
    let hosts = &report.hosts;
    let rows = view.rows(&hosts.most_affected);
    let title = "Decisions that disallow, over all agents, by host";
    let chart = counts(title, "hosts-table", rows, |row| (row.host.clone(), row.disallowed));
    let caption =
        view.caption("Hosts with URLs that an agent must not fetch", &hosts.most_affected);
    let mut table = Table::new("hosts-table", caption, rows)
        .text("host", |row| code(&row.host))
        .number("URLs", |row| row.urls)
        .number("disallowed, all agents", |row| row.disallowed);
    for (agent, name) in report.agents.iter().enumerate() {
        table = table.upright(&agent_name(name), move |row| (row.by_agent[agent], row.urls));
    }
    let decisions: u64 = report.verdicts.iter().map(|row| row.disallow).sum();
    let shown: u64 = rows.iter().map(|row| row.disallowed).sum();
    Section {
        id: "hosts",
        title: "Hosts most affected",
        meaning: html!(
            "{} of {} disallow some URL for some agent. Those shown cause {} of all decisions that \
             disallow. The column of an agent counts the host’s URLs that it must not fetch.",
            hosts.affected,
            counted(hosts.asked, "host", "hosts"),
            share(shown, decisions)
        ),
        advice: html!(
            "Start at the top with the hosts that you need: ask their owners, or take them off your list."
        ),
        body: html!("{}{}", chart, table.html_or("No host disallows a URL for an agent.")),
    }
}

/// `Disallow` or `Allow`.
fn field(verdict: &str) -> &'static str {
    if verdict == "allow" { "Allow" } else { "Disallow" }
}

/// `Disallow: /search`, with its verdict marked.
fn rule(row: &RuleRow) -> Html {
    let field = field(row.verdict);
    html!("<span class=\"is-{}\">{}:</span> {}", row.verdict, field, code(&row.rule))
}

fn deciding(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let rows = view.rows(&figures.deciding);
    let chart = counts("URLs decided, by rule", "deciding-table", rows, |it| {
        let RuleRow { host, verdict, rule, .. } = &it.row;
        (format!("{host} · {}: {rule}", field(verdict)), it.urls)
    });
    let caption = view.caption("Rules by URLs decided", &figures.deciding);
    let table = Table::new("deciding-table", caption, rows)
        .text("rule", |it| rule(&it.row))
        .text("host", |it| code(&it.row.host))
        .number("line", |it| it.row.line.into())
        .number("hosts", |it| it.row.hosts)
        .number("URLs", |it| it.urls)
        .text("group", |it| code(&it.row.group))
        .text("decided for", move |it| {
            let agents = (0..it.by_agent.len()).filter(|&agent| it.by_agent[agent] > 0);
            view.agents(&agents.collect::<Vec<_>>())
        })
        .text("first URLs", |it| samples(&it.samples));
    Section {
        id: "deciding",
        title: "Rules that decide most",
        meaning: html!(
            "{} apply to these agents in the files of the URLs’ origins; {} decided a URL. A policy that \
             several hosts share is counted once.",
            counted(figures.asked, "rule", "rules"),
            figures.deciding.total
        ),
        advice: html!(
            "Read the rules at the top and the URLs beside them: here one line changes most. \
             <code>Disallow: /</code> closes a whole host."
        ),
        body: html!("{}{}", chart, table.html_or("No rule decided a URL.")),
    }
}

/// The first sample, and the others folded.
fn samples(samples: &[String]) -> Html {
    let Some((first, others)) = samples.split_first() else { return Html::default() };
    if others.is_empty() {
        return code(first);
    }
    let items: Html = others.iter().map(|it| html!("<li>{}</li>", code(it))).collect();
    html!(
        "{}<details><summary>{} more</summary><ul>{}</ul></details>",
        code(first),
        others.len(),
        items
    )
}

fn never(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let rows = view.rows(&figures.never);
    let caption = view.caption("Rules that can never decide", &figures.never);
    let why = |cause| match cause {
        NeverCause::NoUrl => "no URL matches",
        NeverCause::Shadowed => "other rules win",
        NeverCause::Equal => "equals another rule",
    };
    let table = Table::new("never-table", caption, rows)
        .text("rule", |it| rule(&it.row))
        .text("host", |it| code(&it.row.host))
        .number("line", |it| it.row.line.into())
        .number("hosts", |it| it.row.hosts)
        .text("why", move |it| html!("{}", why(it.cause)))
        .text("because of", covering)
        .number("URLs checked there", |it| it.urls);
    let causes = &figures.never_by_cause;
    let mut meaning = html!(
        "{} can never decide a URL for any of the agents: {} because no URL matches, {} because other \
         rules win wherever they match, {} because another rule is equal.",
        counted(figures.never.total, "rule", "rules"),
        causes.no_url,
        causes.shadowed,
        causes.equal
    );
    if figures.not_known > 0 {
        let rules = counted(figures.not_known, "other rule", "other rules");
        meaning += html!(" For {} the search hit a limit.", rules);
    }
    Section {
        id: "never",
        title: "Rules that can never decide",
        meaning,
        advice: html!(
            "If the file is yours: remove the rule, or fix it if it was meant to do something. Without \
             such a rule the file decides the same."
        ),
        body: table.html_or("There is none."),
    }
}

fn covering(rule: &NeverRule) -> Html {
    let first = rule.covered_by.iter().take(COVERING);
    let first = first
        .map(|it| html!("line {}, {}: {}", u64::from(it.line), field(it.verdict), code(&it.rule)));
    let more = rule.covered_by.len().saturating_sub(COVERING);
    let more = (more > 0).then(|| html!("and {} more", more));
    Html::join(first.chain(more), "<br/>")
}

fn idle(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let rows = view.rows(&figures.idle);
    let caption = view.caption("Rules that decided nothing", &figures.idle);
    let table = Table::new("idle-table", caption, rows)
        .text("rule", |it| rule(&it.row))
        .text("host", |it| code(&it.row.host))
        .number("line", |it| it.row.line.into())
        .number("hosts", |it| it.row.hosts)
        .number("URLs checked there", |it| it.urls)
        .text("group", |it| code(&it.row.group))
        .text("applies to", move |it| view.agents(&it.row.agents));
    Section {
        id: "idle",
        title: "Rules that decided nothing",
        meaning: html!(
            "{}, {} of those that apply, decided none of these URLs. The hosts with the most URLs come \
             first.",
            counted(figures.idle.total, "rule", "rules"),
            share(figures.idle.total, figures.asked)
        ),
        advice: html!(
            "Most are fine and match other URLs. If a rule was meant for URLs of this list, its pattern \
             has a mistake."
        ),
        body: table.html_or("Every rule decided something."),
    }
}

fn unknown(view: View<'_>) -> Section {
    let unknown = &view.report.unknown;
    let rows = view.rows(&unknown.worth_fetching);
    let title = "URLs without a known policy, by origin";
    let chart = counts(title, "unknown-table", rows, |row| (row.origin.clone(), row.urls));
    let caption = view.caption("Origins to fetch a robots.txt from", &unknown.worth_fetching);
    let table = Table::new("unknown-table", caption, rows)
        .text("origin", |row| code(&row.origin))
        .number("URLs", |row| row.urls);
    let shown: u64 = rows.iter().map(|row| row.urls).sum();
    let [meaning, advice, body] = match unknown.urls {
        0 => [html!("A policy is known for every URL."), Html::default(), Html::default()],
        urls => [
            html!(
                "For {} of {}{} no robots.txt is known. This does not mean that they are allowed.",
                counted(urls, "URL", "URLs"),
                if unknown.exact { "" } else { "at least " },
                counted(unknown.origins, "origin", "origins")
            ),
            html!(
                "Fetch the robots.txt of the origins shown: {} of these URLs will be decided.",
                share(shown, urls)
            ),
            pair(chart, table.html_or("No origin is counted.")),
        ],
    };
    Section { id: "unknown", title: "Unknown hosts worth fetching next", meaning, advice, body }
}

fn reach_values(reach: &ReachCounts) -> Vec<u64> {
    vec![reach.everything, reach.part, reach.nothing, reach.not_known]
}

fn reach(view: View<'_>) -> Section {
    let rows = &view.report.reach;
    let title = "Origins by agent and by what it may fetch";
    let chart = Bars { title, table: "reach-table", parts: &SHARES, are_shares: true };
    let bars = rows.iter().map(|row| {
        let values = reach_values(&row.reach);
        let share = share(row.reach.nothing, values.iter().sum());
        Bar { label: row.agent.clone(), figure: format!("nothing at {share}"), values }
    });
    let chart = chart.html(&bars.collect::<Vec<_>>());
    let caption = html!("Origins by agent: what it may fetch, and how it is addressed");
    let table = Table::new("reach-table", caption, rows)
        .text("agent", |row| agent_name(&row.agent))
        .number("everything", |row| row.reach.everything)
        .number("a part", |row| row.reach.part)
        .number("nothing", |row| row.reach.nothing)
        .number("not known", |row| row.reach.not_known)
        .number("named", |row| row.named)
        .number("by default", |row| row.by_default)
        .number("not addressed", |row| row.unnamed);
    Section {
        id: "reach",
        title: "What the files allow each agent",
        meaning: html!(
            "Whatever the list of URLs: how many origins (a scheme and a host) allow the agent every URL, \
             a part of them, or none, and whether they name it, address it in the group for all robots, \
             or do not address it."
        ),
        advice: html!(
            "Many origins that name an agent and allow it nothing are a decision about that agent, to be \
             respected. “By default” means that they exclude all robots that they do not name."
        ),
        body: pair(chart, table.html_or("No agent was given.")),
    }
}

fn robots(view: View<'_>) -> Section {
    let figures = &view.report.robots;
    let named = view.rows(&figures.most_named);
    let title = "What origins that name a robot allow it: the robots named most";
    let chart = Bars { title, table: "robots-table", parts: &SHARES, are_shares: true };
    let bars = named.iter().take(CHARTED).map(|row| Bar {
        label: row.name.clone(),
        figure: format!("named by {}", counted(row.hosts, "host", "hosts")),
        values: reach_values(&row.reach),
    });
    let chart = chart.html(&bars.collect::<Vec<_>>());
    let others = (figures.others.origins > 0).then_some(&figures.others);
    let rows: Vec<&RobotRow> = others.into_iter().chain(named).collect();
    let caption =
        view.caption("Robots that files name, and origins by what they allow", &figures.most_named);
    let table = Table::new("robots-table", caption, &rows)
        .text("robot", |row| match row.name.as_str() {
            "*" => html!("* (all others)"),
            name => code(name),
        })
        .text("in this audit", |row| html!("{}", if row.asked { "yes" } else { "" }))
        .number("hosts", |row| row.hosts)
        .number("origins", |row| row.origins)
        .part("everything", |row| (row.reach.everything, row.origins))
        .part("a part", |row| (row.reach.part, row.origins))
        .part("nothing", |row| (row.reach.nothing, row.origins))
        .number("not known", |row| row.reach.not_known);
    Section {
        id: "robots",
        title: "Robots that files name",
        meaning: html!(
            "{} a robot; {} rules and no group for robots that are not named, so those may fetch \
             everything there. Most hosts have two origins, http and https.",
            counted(figures.naming_origins, "origin names", "origins name"),
            counted(figures.without_default, "origin has", "origins have")
        ),
        advice: html!(
            "If you run a robot that many hosts name and that is not in this audit, add it to the agents."
        ),
        body: pair(chart, table.html_or("No file names a robot.")),
    }
}

fn states(view: View<'_>) -> Section {
    let rows = &view.report.states;
    let origins: u64 = rows.iter().map(|row| row.origins).sum();
    let urls: u64 = rows.iter().map(|row| row.urls).sum();
    let words = |state: &str| match PolicyState::ALL.into_iter().find(|it| it.as_str() == state) {
        Some(PolicyState::Rules) => ("rules", "The file was read and has rules."),
        Some(PolicyState::NoRules) => {
            ("no rules", "The file was read and has no rules: everything is allowed.")
        }
        Some(PolicyState::Unavailable) => ("no file", "The server answered that there is no file."),
        Some(PolicyState::Unreachable) => ("unreachable", "The server or the network failed."),
        Some(PolicyState::Deferred) => ("come back later", "The server asked to come back later."),
        Some(PolicyState::Unknown) | None => {
            ("not known", "Nothing is known. This does not mean allowed.")
        }
    };
    let caption = html!("Origins and URLs by the state of their robots.txt");
    let table = Table::new("states-table", caption, rows)
        .text("state", move |row| html!("{}", words(row.state).0))
        .text("what it means", move |row| html!("{}", words(row.state).1))
        .number("origins", |row| row.origins)
        .figure("share", move |row| share(row.origins, origins))
        .number("URLs", |row| row.urls)
        .figure("share", move |row| share(row.urls, urls));
    Section {
        id: "states",
        title: "What is known of the origins",
        meaning: html!(
            "Whether a robots.txt was read, did not exist, or could not be fetched. Where there are no \
             rules, this alone decides."
        ),
        advice: html!(
            "Fetch unreachable and deferred files again: for now they exclude every robot."
        ),
        body: table.html_or("No state was counted."),
    }
}

/// A histogram, the distribution in words, and its numbers in a table that unfolds. `unit` is one and
/// many of what is counted.
fn distribution(
    id: &str,
    title: &str,
    unit: [&str; 2],
    of: &str,
    distribution: &Distribution,
) -> Html {
    let Distribution { count, p50, p90, p99, max, bins, .. } = distribution;
    if *count == 0 {
        return html!("<p class=\"none\">{}: nothing to count.</p>\n", title);
    }
    let value = |value: u64| if of == "bytes" { bytes(value) } else { number(value) };
    let range = |from: u64, to: u64| match from == to {
        true => value(from),
        false => format!("{} to {}", value(from), value(to)),
    };
    let caption = html!("{}: {} by {}", title, counted(*count, unit[0], unit[1]), of);
    let table = Table::new(id, caption, bins)
        .figure(of, |bin| range(bin.from, bin.to))
        .number(unit[1], |bin| bin.count)
        .figure("share", |bin| share(bin.count, *count));
    let columns = bins.iter().map(|bin| Column {
        name: value(bin.from),
        range: range(bin.from, bin.to),
        count: bin.count,
    });
    let title = format!("{title} ({}, logarithmic)", unit[1]);
    html!(
        r#"<div class="distribution">
{}<p>Half have at most {}, nine in ten at most {}, 99 of 100 at most {}; the maximum is {}.</p>
<details>
<summary>The numbers</summary>
{}</details>
</div>
"#,
        histogram(&title, id, &columns.collect::<Vec<_>>()),
        value(*p50),
        value(*p90),
        value(*p99),
        value(*max),
        table.html_or("")
    )
}

const FILE: [&str; 2] = ["file", "files"];

fn files(view: View<'_>) -> Section {
    let files = &view.report.files;
    let largest = |id: &str, title: &str, list: &List<FileRow>| {
        let table = Table::new(id, view.caption(title, list), view.rows(list))
            .text("host", |row| code(&row.host))
            .number("bytes", |row| row.bytes)
            .number("groups", |row| row.groups)
            .number("rules", |row| row.rules);
        table.html_or("There are no files.")
    };
    let groups = ["group", "groups"];
    Section {
        id: "files",
        title: "The files",
        meaning: html!(
            "{} with {} in all; {} ({}) disallow every URL for robots that they do not name.",
            counted(files.files, "file", "files"),
            bytes(files.bytes.sum),
            files.closed,
            share(files.closed, files.files)
        ),
        advice: html!(
            "A file far longer than others is often another document, or a list made by a program. \
             Crawlers stop reading at a limit."
        ),
        body: html!(
            "<div class=\"distributions\">\n{}{}{}{}</div>\n{}{}",
            distribution("bytes", "Size of files", FILE, "bytes", &files.bytes),
            distribution("rules-of-file", "Rules per file", FILE, "rules", &files.rules),
            distribution("groups-of-file", "Groups per file", FILE, "groups", &files.groups),
            distribution(
                "rules-of-group",
                "Rules per group",
                groups,
                "rules",
                &files.rules_of_group
            ),
            largest("longest-table", "The longest files", &files.longest),
            largest("most-rules-table", "The files with most rules", &files.most_rules)
        ),
    }
}

fn notes(view: View<'_>) -> Section {
    let notes = &view.report.notes;
    let files = view.report.files.files;
    let words = |kind: &str| kind.replace('-', " ");
    let chart =
        counts("Files by oddity", "notes-table", notes, |note| (words(note.kind), note.files));
    let table = Table::new("notes-table", html!("Files by oddity"), notes)
        .text("oddity", move |note| html!("{}", words(note.kind)))
        .text("what it is", |note| html!("{}", note.meaning))
        .number("files", |note| note.files)
        .figure("share", move |note| share(note.files, files))
        .text("first hosts", |note| Html::join(note.examples.iter().map(|it| code(it)), "<br/>"));
    Section {
        id: "notes",
        title: "What is odd in the files",
        meaning: html!(
            "What the parser noted, by kind: mistakes that a crawler skips silently, so that rules do \
             not do what their author meant."
        ),
        advice: html!("If the file is yours, fix it as the table says."),
        body: pair(chart, table.html_or("Nothing is odd.")),
    }
}

fn crawl_delays(view: View<'_>) -> Section {
    let delays = &view.report.crawl_delays;
    let caption = view.caption("The longest crawl-delays", &delays.longest);
    let table = Table::new("delays-table", caption, view.rows(&delays.longest))
        .text("host", |row| code(&row.host))
        .number("line", |row| row.line.into())
        .figure("seconds", |row| row.value.clone())
        .text("group", |row| row.group.as_deref().map(code).unwrap_or_default());
    let lines = ["line", "lines"];
    let seconds = || distribution("seconds", "Crawl-delays", lines, "seconds", &delays.seconds);
    Section {
        id: "crawl-delays",
        title: "Crawl-delays",
        meaning: html!(
            "{} a crawl-delay ({}, {} of them not a number of seconds). It asks for a pause between two \
             requests and decides no URL.",
            counted(delays.files, "file has", "files have"),
            counted(delays.lines, "line", "lines"),
            delays.malformed
        ),
        advice: html!(
            "Respect them where you can. A delay of a day or more means, in practice, few pages."
        ),
        body: match delays.lines {
            0 => Html::default(),
            _ => pair(seconds(), table.html_or("None is a number.")),
        },
    }
}

fn sitemaps(view: View<'_>) -> Section {
    let sitemaps = &view.report.sitemaps;
    let caption = view.caption("Files that name the most sitemaps", &sitemaps.most);
    let table = Table::new("sitemaps-table", caption, view.rows(&sitemaps.most))
        .text("host", |row| code(&row.host))
        .number("sitemaps", |row| row.sitemaps)
        .text("the first", |row| code(&row.first));
    let of_file = &sitemaps.of_file;
    let chart = || distribution("sitemaps-of-file", "Sitemaps per file", FILE, "sitemaps", of_file);
    Section {
        id: "sitemaps",
        title: "Sitemaps",
        meaning: html!(
            "{} ({} of all) {} sitemaps in {}; {} URL, {} on another host.",
            counted(sitemaps.files, "file", "files"),
            share(sitemaps.files, view.report.files.files),
            if sitemaps.files == 1 { "names" } else { "name" },
            counted(sitemaps.lines, "line", "lines"),
            counted(sitemaps.malformed, "is not an absolute", "are not an absolute"),
            counted(sitemaps.elsewhere, "is", "are")
        ),
        advice: html!(
            "Crawlers ignore a sitemap that is not an absolute URL: write it with scheme and host."
        ),
        body: match sitemaps.lines {
            0 => Html::default(),
            _ => pair(chart(), table.html_or("There is none.")),
        },
    }
}

fn invalid(view: View<'_>) -> Section {
    let invalid = &view.report.invalid;
    let caption = html!("The first records that are not URLs");
    let table = Table::new("invalid-table", caption, &invalid.examples)
        .text("record", |example| code(example))
        .number("bytes shown", |example| example.len() as u64);
    let [advice, body] = match invalid.others {
        0 => [Html::default(), Html::default()],
        _ => [
            html!(
                "Check whether the list was cut or written in another encoding, and fix its producer."
            ),
            table.html_or("None is shown."),
        ],
    };
    Section {
        id: "invalid",
        title: "Records that are not URLs",
        meaning: html!(
            "{} empty; {} text that is not a URL. No agent may fetch them.",
            counted(invalid.empty, "record is", "records are"),
            counted(invalid.others, "other record has", "other records have")
        ),
        advice,
        body,
    }
}

fn limits(view: View<'_>) -> Section {
    let limits = &view.report.limits;
    let hit = limits.iter().filter(|limit| limit.hits > 0).count();
    let table = Table::new("limits-table", html!("Limits, and how often they were hit"), limits)
        .text("limit", |limit| html!("{}", limit.name.replace('-', " ")))
        .figure("value", |limit| limit.value.map_or_else(|| NONE.to_owned(), number))
        .text("what it limits", |limit| html!("{}", limit.what))
        .number("hit", |limit| limit.hits)
        .text("by", |limit| html!("{}", limit.unit));
    Section {
        id: "limits",
        title: "Limits",
        meaning: html!(
            "{} of {} were hit. Beyond a limit, something is ignored or not known; no URL is allowed \
             because of it.",
            hit,
            counted(limits.len() as u64, "limit", "limits")
        ),
        advice: Html::default(),
        body: table.html_or("No limit was counted."),
    }
}

fn about(view: View<'_>) -> Section {
    let Report { source, records, inputs, version, agents, .. } = view.report;
    let kind = match source.kind {
        "set" => "a compiled policy set",
        "folder" => "a folder of files named by host",
        "file" => "one file, for every URL",
        other => other,
    };
    let count = |value: Option<u64>| value.map_or_else(|| NONE.to_owned(), number);
    let captured = source
        .captured
        .as_ref()
        .map_or_else(|| html!("not known"), |dates| html!("{} to {}", dates.first, dates.last));
    let limit = source.robots_bytes_max.map_or_else(|| "all".to_owned(), number);
    let facts = [
        ("lists of URLs", listed(inputs.iter().map(|input| code(input)))),
        ("records", html!("{} ({})", records.records, bytes(records.bytes))),
        ("agents", listed(agents.iter().map(|agent| agent_name(agent)))),
        ("policies from", html!("{} ({})", code(&source.name), kind)),
        ("hash of the policies", code(&source.hash)),
        ("captured", captured),
        ("dialect", code(source.dialect)),
        ("bytes read per file", html!("{}", limit)),
        ("hosts, origins", html!("{}, {}", count(source.hosts), count(source.origins))),
        ("distinct policies", html!("{}", source.policies)),
        ("version", html!("portcullis {}", version)),
    ];
    let rows: Html =
        facts.iter().map(|(name, fact)| html!("<dt>{}</dt><dd>{}</dd>\n", name, fact)).collect();
    let cut = match super::longest_list(view.report) > view.rows {
        false => Html::default(),
        true => html!(
            " Lists show at most {}, to keep the page small; the JSON report has more.",
            counted(view.rows as u64, "row", "rows")
        ),
    };
    Section {
        id: "about",
        title: "Where the numbers come from",
        meaning: html!("Equal inputs make the same page, byte for byte.{}", cut),
        advice: Html::default(),
        body: html!("<dl class=\"facts\">\n{}</dl>\n", rows),
    }
}
