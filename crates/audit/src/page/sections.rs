//! The sections of the page in order, and the sections about agents, hosts and rules.

use std::cmp::Reverse;

use super::{View, agent_name, code, listed, others, shared};
use super::{files, usage};
use crate::model::{
    AddressCounts, AgentReach, AgentVerdicts, DecidingRule, HostRow, List, NeverCause, NeverRule,
    ReachCounts, Report, RobotRow, RuleRow,
};
use portcullis_dialect::decision::{PolicyState, Reason};
use portcullis_report::html;
use portcullis_report::html::{Bar, Bars, Caption, Html, Part, Table, counted, number, share};
use portcullis_report::page::Section;
use portcullis_robots::visible::cut_characters;

/// The most agents with their own columns in the table of hosts. More would not fit side by side.
pub(super) const AGENT_COLUMNS_MAX: usize = 6;
/// The most characters of a host in the label of a rule.
const HOST_CHARACTERS: usize = 40;
/// The number of covering rules that are shown before the others unfold.
const COVERING: usize = 3;

const VERDICTS: [Part<'_>; 4] = [
    Part { class: "allow", name: "may fetch" },
    Part { class: "disallow", name: "must not fetch" },
    Part { class: "unknown", name: "not known" },
    Part { class: "invalid", name: "not a URL" },
];

const SHARES: [Part<'_>; 4] = [
    Part { class: "allow", name: "everything" },
    Part { class: "part", name: "a part" },
    Part { class: "disallow", name: "nothing" },
    Part { class: "unknown", name: "not known" },
];

const RULES: [Part<'_>; 2] = [
    Part { class: "allow", name: "URLs that the rule allows" },
    Part { class: "disallow", name: "URLs that the rule disallows" },
];

/// Returns all sections, in order. Without records, the sections about URLs are left out.
pub(super) fn all(view: View<'_>) -> Vec<Section> {
    let of_urls: &[fn(View<'_>) -> Section] = match view.report.records.records {
        0 => &[],
        _ => &[verdicts, hosts, deciding, idle, unknown, files::invalid],
    };
    let of_files: [fn(View<'_>) -> Section; 11] = [
        never,
        reach,
        robots,
        usage::usage,
        states,
        files::files,
        files::notes,
        files::crawl_delays,
        files::sitemaps,
        files::limits,
        files::about,
    ];
    let glossary = Section {
        id: "glossary",
        title: "Glossary",
        body: Html::of_source(include_str!("glossary.html")),
        ..Section::default()
    };
    let sections = of_urls.iter().chain(&of_files).map(|section| section(view));
    sections.chain([glossary]).collect()
}

/// Returns a chart beside its table, or above it if there is no room.
pub(super) fn pair(chart: Html, table: Html) -> Html {
    html!("<div class=\"pair\">\n{}<div>\n{}</div>\n</div>\n", chart, table)
}

/// Returns a chart of one count for each row.
pub(super) fn counts<T>(
    (title, table, class): (&str, &str, &str),
    rows: &[T],
    bar: impl Fn(&T) -> (String, u64),
) -> Html {
    let bar = |row| {
        let (label, value) = bar(row);
        Bar { label, figure: number(value), values: vec![value] }
    };
    let bars: Vec<Bar> = rows.iter().map(bar).collect();
    let caption = Caption { title, axes: "", table };
    Bars { caption, parts: &[Part { class, name: "" }], are_shares: false }.html(&bars)
}

/// Returns a chart of bars of equal length, whose parts are shares.
pub(super) fn shares(title: &str, table: &str, parts: &[Part<'_>], bars: &[Bar]) -> Html {
    Bars { caption: Caption { title, axes: "", table }, parts, are_shares: true }.html(bars)
}

/// Returns a reason in words: the head of a column, and its meaning.
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
        Reason::NotYet => ("too new", "the robots.txt was captured after the time asked about."),
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
    // If there are many agents, the ones that may fetch least come first.
    let mut charted: Vec<&AgentVerdicts> = rows.iter().collect();
    if charted.len() > AGENT_COLUMNS_MAX {
        charted.sort_by_key(|row| row.allow);
    }
    let bars: Vec<Bar> = charted.into_iter().map(bar).collect();
    let chart = shares(title, "verdicts-table", &VERDICTS, &bars);
    let table = Table::new("verdicts-table", html!("{}", title), rows)
        .text("agent", |row| agent_name(&row.agent))
        .number("may fetch", |row| row.allow)
        .figure("share", move |row| share(row.allow, whole))
        .number("must not fetch", |row| row.disallow)
        .figure("share", move |row| share(row.disallow, whole))
        .number("not known", |row| row.unknown)
        .number("not a URL", |row| row.invalid);
    // Reasons that do not occur have no column.
    let caption = html!("URLs by agent and reason");
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
            "How many of {} each agent may fetch, and why. “Not known” does not mean allowed: no \
             robots.txt of the host is known.",
            counted(whole, "record", "records")
        ),
        advice: html!(
            r##"To see why an agent must not fetch a URL, look for its rules in <a href="#deciding">Rules that decide most</a>."##
        ),
        body: html!("{}{}", pair(chart, table.html_or("No agent was given.")), why),
    }
}

/// Returns the sentence about the agents that may fetch most and least.
fn agents(report: &Report) -> Html {
    let verdicts = &report.verdicts;
    let whole = report.records.records;
    let may_fetch = |row: &AgentVerdicts| {
        let share = share(row.allow, whole);
        html!("<strong>{}</strong> may fetch {}", agent_name(&row.agent), share)
    };
    // Of equal agents, the first counts.
    let most = verdicts.iter().rev().max_by_key(|row| row.allow);
    let least = verdicts.iter().min_by_key(|row| row.allow);
    match (most, least) {
        _ if report.records.known == 0 && whole > 0 => {
            html!("No URL was decided: for none of them a robots.txt is known.")
        }
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
    let title = "Decisions that disallow, by host";
    let chart =
        counts((title, "hosts-table", "disallow"), rows, |row| (row.host.clone(), row.disallowed));
    let caption =
        view.caption("Hosts with URLs that an agent must not fetch", &hosts.most_affected);
    let mut table = Table::new("hosts-table", caption, rows).text("host", |row| code(&row.host));
    let agents = report.agents.len();
    if agents <= AGENT_COLUMNS_MAX {
        for (agent, name) in report.agents.iter().enumerate() {
            table = table.part(name, move |row| (row.by_agent[agent], row.urls));
        }
    } else {
        let affected = |row: &HostRow| row.by_agent.iter().filter(|urls| **urls > 0).count() as u64;
        table = table.part("agents", move |row| (affected(row), agents as u64));
    }
    if agents > 1 {
        table = table.number("decisions", |row| row.disallowed);
    }
    table = table.number("URLs of the host", |row| row.urls);
    if agents > AGENT_COLUMNS_MAX {
        table = table.text("which agents", move |row| {
            view.agents((0..agents).filter(|&agent| row.by_agent[agent] > 0))
        });
    }
    let decisions: u64 = report.verdicts.iter().map(|row| row.disallow).sum();
    let shown: u64 = rows.iter().map(|row| row.disallowed).sum();
    let [finding, advice] = match hosts.affected {
        0 if hosts.asked == 0 => {
            [html!("No URL is on a host with a known robots.txt."), Html::default()]
        }
        0 => [html!("No host disallows a URL for an agent."), Html::default()],
        affected => [
            html!(
                "{} of {} disallow some URL for some agent. Those shown cause {} of all decisions that \
                 disallow.",
                affected,
                counted(hosts.asked, "host", "hosts"),
                share(shown, decisions)
            ),
            html!(
                "Start at the top with the hosts that you need: ask their owners, or remove them from \
                 your list."
            ),
        ],
    };
    Section {
        id: "hosts",
        title: "Hosts most affected",
        finding,
        meaning: html!(
            "{} A decision is one URL for one agent.",
            match agents <= AGENT_COLUMNS_MAX {
                true => "The column of an agent counts the host’s URLs that it must not fetch.",
                false => "The table counts the agents that must not fetch some URL of the host.",
            }
        ),
        advice,
        body: html!("{}{}", chart, table.html_or("There is nothing to list.")),
    }
}

/// Returns `Disallow` or `Allow`.
fn field(verdict: &str) -> &'static str {
    if verdict == "allow" { "Allow" } else { "Disallow" }
}

/// Returns a table of rules: the rule, its host, a count of URLs, the columns that `middle` adds,
/// then the rule's place.
fn rules<'a, R>(
    view: View<'a>,
    (id, title, urls): (&str, &str, &str),
    list: &'a List<R>,
    row: impl Fn(&R) -> (&RuleRow, u64) + Copy + 'a,
    middle: impl FnOnce(Table<'a, R>) -> Table<'a, R>,
) -> Table<'a, R> {
    let table = Table::new(id, view.caption(title, list), view.rows(list))
        .text("rule", move |it| {
            let RuleRow { verdict, rule, .. } = row(it).0;
            let field = field(verdict);
            html!("<span class=\"is-{}\">{}:</span> {}", verdict, field, code(rule))
        })
        .text("host", move |it| shared(&row(it).0.host, row(it).0.hosts))
        .number(urls, move |it| row(it).1);
    middle(table)
        .number("line", move |it| row(it).0.line.into())
        .text("group", move |it| code(&row(it).0.group))
        .number("hosts with it", move |it| row(it).0.hosts)
}

fn deciding(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let rows = view.rows(&figures.deciding);
    let bar = |it: &DecidingRule| {
        let RuleRow { host, hosts, verdict, rule, line, .. } = &it.row;
        Bar {
            label: format!(
                "{}{} · {}: {rule} (line {line})",
                cut_characters(host, HOST_CHARACTERS),
                others(*hosts),
                field(verdict)
            ),
            figure: number(it.urls),
            values: if *verdict == "allow" { vec![it.urls, 0] } else { vec![0, it.urls] },
        }
    };
    let caption = Caption { title: "URLs decided, by rule", axes: "", table: "deciding-table" };
    let chart = Bars { caption, parts: &RULES, are_shares: false };
    let chart = chart.html(&rows.iter().map(bar).collect::<Vec<_>>());
    let names = ("deciding-table", "Rules by URLs decided", "URLs");
    let table = rules(
        view,
        names,
        &figures.deciding,
        |it| (&it.row, it.urls),
        |table| {
            table
                .text("decides for", move |it| {
                    view.agents((0..it.by_agent.len()).filter(|&agent| it.by_agent[agent] > 0))
                })
                .text("first URLs", |it| {
                    Html::folded(it.samples.iter().map(|it| code(it)), 1, "<br/>")
                })
        },
    );
    Section {
        id: "deciding",
        title: "Rules that decide most",
        finding: html!(
            "{} apply to these agents in the files of the URLs’ hosts; {} decided a URL.",
            counted(figures.asked, "rule", "rules"),
            figures.deciding.total
        ),
        meaning: html!(
            "A file that several hosts share is counted once, with the host that has most of the \
             URLs."
        ),
        advice: html!(
            "Read the rules at the top and the URLs beside them: changing one of these lines has the most \
             effect. <code>Disallow: /</code> closes a whole host."
        ),
        body: html!("{}{}", chart, table.html_or("No rule decided a URL.")),
    }
}

fn never(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let names = ("never-table", "Rules that can never decide", "URLs checked");
    let why = |cause| match cause {
        NeverCause::NoUrl => "no URL matches",
        NeverCause::Shadowed => "other rules win",
        NeverCause::Equal => "equals another rule",
    };
    let table = rules(
        view,
        names,
        &figures.never,
        |it| (&it.row, it.urls),
        |table| {
            table.text("why", move |it| html!("{}", why(it.cause))).text("because of", covering)
        },
    );
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
        advice: html!(
            "If the file is yours: remove the rule, or fix it if it was meant to have an effect. Removing \
             it changes no verdict."
        ),
        body: table.html_or("Every rule can decide some URL."),
        ..Section::default()
    }
}

fn covering(rule: &NeverRule) -> Html {
    let rules = rule.covered_by.iter();
    let rules = rules
        .map(|it| html!("line {}, {}: {}", u64::from(it.line), field(it.verdict), code(&it.rule)));
    Html::folded(rules, COVERING, "<br/>")
}

fn idle(view: View<'_>) -> Section {
    let figures = &view.report.rules;
    let names = ("idle-table", "Rules that decided nothing", "URLs checked");
    let table = rules(
        view,
        names,
        &figures.idle,
        |it| (&it.row, it.urls),
        |table| table.text("applies to", move |it| view.agents(it.row.agents.iter().copied())),
    );
    Section {
        id: "idle",
        title: "Rules that decided nothing",
        finding: html!(
            "{} ({} of those that apply) decided none of these URLs.",
            counted(figures.idle.total, "rule", "rules"),
            share(figures.idle.total, figures.asked)
        ),
        meaning: html!("The hosts with the most URLs come first."),
        advice: html!(
            "Most are fine and match other URLs. If a rule was meant for URLs of this list, its pattern \
             has a mistake."
        ),
        body: table.html_or("Every rule decided some URL."),
    }
}

fn unknown(view: View<'_>) -> Section {
    let unknown = &view.report.unknown;
    let rows = view.rows(&unknown.worth_fetching);
    let title = "URLs without a known robots.txt, by origin";
    let chart =
        counts((title, "unknown-table", "unknown"), rows, |row| (row.origin.clone(), row.urls));
    let caption = view.caption("Origins to fetch a robots.txt from", &unknown.worth_fetching);
    let table = Table::new("unknown-table", caption, rows)
        .text("origin", |row| code(&row.origin))
        .number("URLs", |row| row.urls);
    let shown: u64 = rows.iter().map(|row| row.urls).sum();
    let [finding, advice, body] = match unknown.urls {
        0 => [html!("For every URL a robots.txt is known."), Html::default(), Html::default()],
        urls => [
            html!(
                "For {} of {}{} no robots.txt is known. This does not mean that they are allowed.",
                counted(urls, "URL", "URLs"),
                if unknown.exact { "" } else { "at least " },
                counted(unknown.hosts, "host", "hosts")
            ),
            html!(
                "Fetch the robots.txt of the origins shown, and {} of these URLs can be decided.",
                share(shown, urls)
            ),
            pair(chart, table.html_or("No origin is counted.")),
        ],
    };
    Section {
        id: "unknown",
        title: "Unknown hosts worth fetching next",
        finding,
        advice,
        body,
        ..Section::default()
    }
}

fn reach_values(reach: &ReachCounts) -> Vec<u64> {
    vec![reach.everything, reach.part, reach.nothing, reach.not_known]
}

fn reach(view: View<'_>) -> Section {
    let rows = &view.report.reach;
    let title = "Hosts by agent and by how much it may fetch";
    let mut charted: Vec<&AgentReach> = rows.iter().collect();
    if charted.len() > AGENT_COLUMNS_MAX {
        charted.sort_by_key(|row| Reverse(row.hosts.reach.nothing));
    }
    let bars = charted.into_iter().map(|row| {
        let values = reach_values(&row.hosts.reach);
        let share = share(row.hosts.reach.nothing, values.iter().sum());
        Bar { label: row.agent.clone(), figure: format!("nothing on {share}"), values }
    });
    let chart = shares(title, "reach-table", &SHARES, &bars.collect::<Vec<_>>());
    let caption = html!("Hosts by agent: what it may fetch, and how the file addresses it");
    let of = |row: &AgentReach| -> AddressCounts { row.hosts };
    let table = Table::new("reach-table", caption, rows)
        .text("agent", |row| agent_name(&row.agent))
        .number("everything", move |row| of(row).reach.everything)
        .number("a part", move |row| of(row).reach.part)
        .number("nothing", move |row| of(row).reach.nothing)
        .number("not known", move |row| of(row).reach.not_known)
        .number("named", move |row| of(row).named)
        .number("by default", move |row| of(row).by_default)
        .number("not addressed", move |row| of(row).unnamed);
    Section {
        id: "reach",
        title: "What the files allow each agent",
        meaning: html!(
            "Independent of the list of URLs: how many hosts allow the agent every URL, a part of them, or \
             none, and whether their file names the agent, addresses it in the group for all robots, or \
             does not address it."
        ),
        advice: html!(
            "If many hosts name an agent and allow it nothing, they decided about that agent: respect it. \
             “By default” counts hosts whose group for all robots applies."
        ),
        body: pair(chart, table.html_or("No agent was given.")),
        ..Section::default()
    }
}

fn robots(view: View<'_>) -> Section {
    let figures = &view.report.robots;
    let named = view.rows(&figures.most_named);
    let title = "What the hosts that name a robot allow it";
    let bars = named.iter().map(|row| Bar {
        label: row.name.clone(),
        figure: format!("named by {}", counted(row.hosts, "host", "hosts")),
        values: reach_values(&row.by_host),
    });
    let chart = shares(title, "robots-table", &SHARES, &bars.collect::<Vec<_>>());
    let others = (figures.others.hosts > 0).then_some(&figures.others);
    let rows: Vec<&RobotRow> = others.into_iter().chain(named).collect();
    let caption =
        view.caption("Robots that files name, and hosts by what they allow", &figures.most_named);
    let table = Table::new("robots-table", caption, &rows)
        .text("robot", |row| match row.name.as_str() {
            "*" => html!("* (all others)"),
            name => code(name),
        })
        .number("hosts", |row| row.hosts)
        .part("everything", |row| (row.by_host.everything, row.hosts))
        .part("a part", |row| (row.by_host.part, row.hosts))
        .part("nothing", |row| (row.by_host.nothing, row.hosts))
        .number("not known", |row| row.by_host.not_known)
        .text("in this audit", |row| html!("{}", if row.asked { "yes" } else { "" }));
    Section {
        id: "robots",
        title: "Robots that files name",
        finding: html!(
            "{} a robot. {} rules but no group for all robots, so robots that are not named may fetch \
             everything there.",
            counted(figures.naming_hosts, "host names", "hosts name"),
            counted(figures.hosts_without_default, "host has", "hosts have")
        ),
        advice: html!(
            "If you run a robot that many hosts name and that is not in this audit, add it to the agents."
        ),
        body: pair(chart, table.html_or("No file names a robot.")),
        ..Section::default()
    }
}

fn states(view: View<'_>) -> Section {
    let rows = &view.report.states;
    let hosts: u64 = rows.iter().map(|row| row.hosts).sum();
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
    let caption = html!("Hosts and URLs by the state of their robots.txt");
    let table = Table::new("states-table", caption, rows)
        .text("state", move |row| html!("{}", words(row.state).0))
        .number("hosts", |row| row.hosts)
        .figure("share", move |row| share(row.hosts, hosts))
        .number("URLs", |row| row.urls)
        .figure("share", move |row| share(row.urls, urls))
        .text("what it means", move |row| html!("{}", words(row.state).1));
    Section {
        id: "states",
        title: "What is known of the hosts",
        meaning: html!(
            "Whether a robots.txt was read, did not exist, or could not be fetched. Where there are no \
             rules, this alone decides."
        ),
        advice: html!(
            "Fetch unreachable and deferred files again: for now they exclude every robot."
        ),
        body: table.html_or("No state was counted."),
        ..Section::default()
    }
}
