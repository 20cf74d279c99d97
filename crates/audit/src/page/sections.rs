//! The parts of the page in order, and those about agents, hosts and rules.

use super::files;
use super::{Section, View, agent_name, code, listed};
use crate::model::{
    AgentVerdicts, List, NeverCause, NeverRule, ReachCounts, Report, RobotRow, RuleRow,
};
use portcullis_dialect::decision::{PolicyState, Reason};
use portcullis_report::html;
use portcullis_report::html::{Bar, Bars, Html, Part, Table, counted, number, share};

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
        files::files(view),
        files::notes(view),
        files::crawl_delays(view),
        files::sitemaps(view),
        files::invalid(view),
        files::limits(view),
        files::about(view),
        Section {
            id: "glossary",
            title: "Words",
            finding: Html::default(),
            meaning: html!("The terms of this page."),
            advice: Html::default(),
            body: Html::of_source(include_str!("glossary.html")),
        },
    ]
}

/// A chart beside its table, or above it if there is no room.
pub(super) fn pair(chart: Html, table: Html) -> Html {
    html!("<div class=\"pair\">\n{}<div>\n{}</div>\n</div>\n", chart, table)
}

/// A chart of one count for each of the first rows.
pub(super) fn counts<T>(
    title: &str,
    table: &str,
    rows: &[T],
    bar: impl Fn(&T) -> (String, u64),
) -> Html {
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
        Reason::Expired => ("too old", "the robots.txt was captured too long ago."),
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
        finding: agents(report),
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

/// The agents that may fetch most and least.
fn agents(report: &Report) -> Html {
    let verdicts = &report.verdicts;
    let whole = report.records.records;
    let may_fetch = |row: &AgentVerdicts| {
        let share = share(row.allow, whole);
        html!("<strong>{}</strong> may fetch {}", agent_name(&row.agent), share)
    };
    // The first of equals.
    let most = verdicts.iter().rev().max_by_key(|row| row.allow);
    let least = verdicts.iter().min_by_key(|row| row.allow);
    match (most, least) {
        (Some(_), Some(_)) if verdicts.len() <= 4 => {
            html!("{} of all URLs.", listed(verdicts.iter().map(may_fetch)))
        }
        (Some(most), Some(least)) if most.allow == least.allow => {
            let share = share(most.allow, whole);
            html!("Each of the {} agents may fetch {} of all URLs.", verdicts.len(), share)
        }
        (Some(most), Some(least)) => html!(
            "Of {} agents, {} of all URLs, the most, and {}, the least.",
            verdicts.len(),
            may_fetch(most),
            may_fetch(least)
        ),
        _ => Html::default(),
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
        finding: html!(
            "{} of {} disallow some URL for some agent. Those shown cause {} of all decisions that \
             disallow.",
            hosts.affected,
            counted(hosts.asked, "host", "hosts"),
            share(shown, decisions)
        ),
        meaning: html!("The column of an agent counts the host’s URLs that it must not fetch."),
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

/// A table of rules that starts with the columns of [`RuleRow`].
fn rules<'a, R>(
    view: View<'a>,
    (id, title): (&str, &str),
    list: &'a List<R>,
    row: impl Fn(&R) -> &RuleRow + Copy + 'a,
) -> Table<'a, R> {
    Table::new(id, view.caption(title, list), view.rows(list))
        .text("rule", move |it| {
            let RuleRow { verdict, rule, .. } = row(it);
            let field = field(verdict);
            html!("<span class=\"is-{}\">{}:</span> {}", verdict, field, code(rule))
        })
        .text("host", move |it| code(&row(it).host))
        .number("line", move |it| row(it).line.into())
        .number("hosts", move |it| row(it).hosts)
}

fn deciding(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let rows = view.rows(&figures.deciding);
    let chart = counts("URLs decided, by rule", "deciding-table", rows, |it| {
        let RuleRow { host, verdict, rule, .. } = &it.row;
        (format!("{host} · {}: {rule}", field(verdict)), it.urls)
    });
    let names = ("deciding-table", "Rules by URLs decided");
    let table = rules(view, names, &figures.deciding, |it| &it.row)
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
        finding: html!(
            "{} apply to these agents in the files of the URLs’ origins; {} decided a URL.",
            counted(figures.asked, "rule", "rules"),
            figures.deciding.total
        ),
        meaning: html!("A policy that several hosts share is counted once."),
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
    let names = ("never-table", "Rules that can never decide");
    let why = |cause| match cause {
        NeverCause::NoUrl => "no URL matches",
        NeverCause::Shadowed => "other rules win",
        NeverCause::Equal => "equals another rule",
    };
    let table = rules(view, names, &figures.never, |it| &it.row)
        .text("why", move |it| html!("{}", why(it.cause)))
        .text("because of", covering)
        .number("URLs checked there", |it| it.urls);
    let causes = &figures.never_by_cause;
    let mut finding = html!(
        "{} can never decide a URL for any of the agents: {} because no URL matches, {} because other \
         rules win wherever they match, {} because another rule is equal.",
        counted(figures.never.total, "rule", "rules"),
        causes.no_url,
        causes.shadowed,
        causes.equal
    );
    if figures.not_known > 0 {
        let rules = counted(figures.not_known, "other rule", "other rules");
        finding += html!(" For {} the search hit a limit.", rules);
    }
    Section {
        id: "never",
        title: "Rules that can never decide",
        finding: if figures.never.total > 0 { finding } else { Html::default() },
        meaning: Html::default(),
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
    let names = ("idle-table", "Rules that decided nothing");
    let table = rules(view, names, &figures.idle, |it| &it.row)
        .number("URLs checked there", |it| it.urls)
        .text("group", |it| code(&it.row.group))
        .text("applies to", move |it| view.agents(&it.row.agents));
    Section {
        id: "idle",
        title: "Rules that decided nothing",
        finding: html!(
            "{}, {} of those that apply, decided none of these URLs.",
            counted(figures.idle.total, "rule", "rules"),
            share(figures.idle.total, figures.asked)
        ),
        meaning: html!("The hosts with the most URLs come first."),
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
    let [finding, advice, body] = match unknown.urls {
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
    Section {
        id: "unknown",
        title: "Unknown hosts worth fetching next",
        finding,
        meaning: Html::default(),
        advice,
        body,
    }
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
        finding: Html::default(),
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
        finding: html!(
            "{} a robot; {} rules and no group for robots that are not named, so those may fetch \
             everything there.",
            counted(figures.naming_origins, "origin names", "origins name"),
            counted(figures.without_default, "origin has", "origins have")
        ),
        meaning: html!("Most hosts have two origins, http and https."),
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
        finding: Html::default(),
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
