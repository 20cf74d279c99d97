//! Checks of rules together: which ones decide, and which have no effect.
//!
//! A rule is checked in every selection of groups that applies to some crawler. It is reported only
//! if it has a problem in all of them, because a rule without effect for one crawler may decide for
//! another.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::analysis::{
    Analysis, Bound, Budget, Grouped, RuleStatus, Rules, difference, key, numbers,
};
use crate::checks::stars;
use crate::examination::{Reading, quoted};
use crate::findings::Findings;
use crate::limits::LINT_RULES_MAX;
use crate::{Code, Map};
use portcullis_dialect::{Reason, RuleID, Verdict};
use portcullis_robots::policy::{Crawler, OrderedRules};
use portcullis_robots::syntax::{RobotsTxt, Rule};

/// A problem of a rule in one selection. Other rules go by their places in it, because selections with
/// equal rules differ in their lines.
#[derive(Clone, Debug)]
struct Fault {
    code: Code,
    /// Related rules.
    others: Vec<RuleID>,
    /// The words before the first related rule, if there is one, and after it.
    words: [Cow<'static, str>; 2],
}

impl Fault {
    fn new(code: Code, others: Vec<RuleID>, words: impl Into<Cow<'static, str>>) -> Fault {
        Fault { code, others, words: ["".into(), words.into()] }
    }
}

/// The problems of the rules of a combination of groups, by place.
struct Problems {
    /// The rules whose needless stars may decide; `None` if a limit ended the search for them.
    deciding_stars: Option<Vec<RuleID>>,
    /// The place and the problem of each rule with a pattern.
    rules: Vec<(RuleID, Option<Rc<Fault>>)>,
    /// The limit that ended the analysis of some rule.
    bound: Option<Bound>,
}

/// The rules of a file, and the one budget of all analyses of them.
struct Analyst<'e> {
    grouped: Grouped<'e>,
    /// The numbers of the groups, by their rules.
    numbers: Vec<u32>,
    budget: Budget,
}

/// Checks the rules. Returns for each whether its needless stars may decide in some selection.
pub(super) fn check(findings: &mut Findings<'_, '_>) -> Vec<bool> {
    let Reading { file, dialect, .. } = findings.chosen;
    let [numbers] = numbers([file]);
    let budget = Budget::default();
    let mut analyst = Analyst { grouped: Grouped::new(file, dialect), numbers, budget };
    let (selections, mut not_compared) = selections(&analyst.grouped, &findings.config.agents);
    if !not_compared.is_empty() {
        findings.unknown(format!(
            "not all groups were compared: their combinations have more than {LINT_RULES_MAX} \
            rules"
        ));
    }
    // Rules that may decide in some selection: they have no problem there, or were not analysed.
    let mut may_decide = vec![false; file.rules().len()];
    let mut stars_may_decide = may_decide.clone();
    // The problem of each rule that has the last code, and the selection that it is of. A rule that is needless for
    // one crawler may contradict others, and win, for another.
    let mut mildest: BTreeMap<RuleID, (Rc<Fault>, &[usize])> = BTreeMap::new();
    let mut known: Map<_, Result<Problems, Bound>> = Map::default();
    for groups in &selections {
        let key = key(&analyst.numbers, groups);
        let problems = match known.entry(key).or_insert_with(|| analyst.problems_of(groups)) {
            Ok(problems) => problems,
            Err(bound) => {
                findings.unknown(format!("not all groups were compared: {bound}"));
                not_compared.extend(groups);
                continue;
            }
        };
        if let Some(bound) = problems.bound {
            let agent = &file.user_agents_of(&file.groups()[groups[0]])[0];
            let agent = quoted(agent.value);
            findings.unknown(format!("not all rules for {agent} were compared: {bound}"));
        }
        let rules = analyst.grouped.rules(groups);
        match &problems.deciding_stars {
            Some(places) => {
                places.iter().for_each(|it| stars_may_decide[rules[it.index()].index()] = true);
            }
            None => rules.iter().for_each(|rule| stars_may_decide[rule.index()] = true),
        }
        for (place, fault) in &problems.rules {
            let rule = rules[place.index()];
            let Some(fault) = fault else {
                may_decide[rule.index()] = true;
                continue;
            };
            let order = |code: Code| (!is_needless(code), code);
            if mildest.get(&rule).is_none_or(|(known, _)| order(known.code) <= order(fault.code)) {
                mildest.insert(rule, (Rc::clone(fault), groups));
            }
        }
    }
    for rule in not_compared.into_iter().flat_map(|group| file.groups()[group].rule_ids()) {
        may_decide[rule.index()] = true;
        stars_may_decide[rule.index()] = true;
    }
    for (rule, (fault, groups)) in mildest {
        if !may_decide[rule.index()] {
            report(findings, rule, &fault, &analyst.grouped, groups);
        }
    }
    everything_disallowed(findings, &mut analyst);
    stars_may_decide
}

/// Returns the combinations of groups that apply to `agents`, each once; if there are no agents, to each
/// crawler that the file names and to a crawler that it does not name. Those that do not fit the limit are
/// left out; their groups are returned too.
fn selections(grouped: &Grouped<'_>, agents: &[Crawler]) -> (Vec<Vec<usize>>, BTreeSet<usize>) {
    let mut known = BTreeSet::new();
    let audience = &grouped.audience;
    if agents.is_empty() {
        known.extend(audience.robots.iter().map(|robot| robot.groups.clone()));
        known.insert(audience.default_groups.clone());
    }
    for agent in agents {
        known.insert(audience.select(Some(agent), grouped.dialect).groups);
    }
    known.remove(&Vec::new());
    let mut rules = 0;
    let (selections, left_out): (Vec<_>, Vec<_>) = known.into_iter().partition(|selection| {
        let own = selection.iter().map(|&group| grouped.file.groups()[group].rules.len());
        rules += own.sum::<usize>();
        rules <= LINT_RULES_MAX
    });
    (selections, left_out.into_iter().flatten().collect())
}

impl Analyst<'_> {
    /// Finds the problems of the rules of one selection.
    ///
    /// # Errors
    ///
    /// If nothing of the budget was left.
    fn problems_of(&mut self, groups: &[usize]) -> Result<Problems, Bound> {
        let file = self.grouped.file;
        let in_order = self.grouped.ordered(groups, &mut self.budget)?;
        let mut analysis = Analysis::new(&in_order, &mut self.budget);
        let statuses = analysis.statuses();
        let rules = self.grouped.rules(groups);
        let contradictions = contradictions(&in_order.ordered);
        let mut problems = Problems {
            deciding_stars: None,
            rules: Vec::with_capacity(statuses.len()),
            bound: None,
        };
        for (place, status) in statuses {
            let own = &file.rules()[rules[place.index()].index()];
            if let RuleStatus::Unknown(bound) = status {
                problems.bound = Some(bound);
            }
            let mut fault = contradictions.get(&place).cloned();
            if fault.is_none() && own.verdict == Verdict::Allow {
                match analysis.defeat(place) {
                    Ok(defeat) => fault = defeat.map(defeated),
                    Err(bound) => problems.bound = Some(bound),
                }
            }
            let fault = fault.or_else(|| fault_of(file, &rules, own, status));
            problems.rules.push((place, fault.map(Rc::new)));
        }
        let own = rules.iter().map(|rule| &file.rules()[rule.index()]);
        match stars::that_may_decide(own, &self.grouped.dialect.paths, &mut self.budget) {
            Ok(places) => problems.deciding_stars = Some(places),
            Err(bound) => problems.bound = Some(bound),
        }
        Ok(problems)
    }

    /// Returns the place of the rule that disallows `/` among the rules of `groups`, if they disallow
    /// everything.
    ///
    /// # Errors
    ///
    /// If the budget does not suffice.
    fn disallowing_all(&mut self, groups: &[usize]) -> Result<Option<RuleID>, Bound> {
        let own = self.grouped.ordered(groups, &mut self.budget)?;
        let dialect = self.grouped.dialect;
        let decision = own.decide(b"/", Reason::NoRule);
        let Some(rule) = decision.rule.filter(|_| decision.verdict != Verdict::Allow) else {
            return Ok(None);
        };
        let nothing = RobotsTxt::parse(b"User-agent: *\nDisallow: /\n", dialect, None);
        let nothing = Rules::new(&nothing, &[0], &dialect.paths);
        let found = difference(&own, &nothing, &mut self.budget)?;
        Ok(found.is_none().then_some(rule))
    }
}

/// Returns a rule with its line.
fn written(rule: &Rule<'_>) -> String {
    let field = if rule.verdict == Verdict::Allow { "Allow" } else { "Disallow" };
    format!("line {} (`{field}: {})", rule.line, &quoted(rule.value)[1..])
}

/// Returns the problem that a status describes, if it is one. `rules` are the rules of the selection.
fn fault_of(
    file: &RobotsTxt<'_>,
    rules: &[RuleID],
    own: &Rule<'_>,
    status: RuleStatus,
) -> Option<Fault> {
    match status {
        RuleStatus::Decides(_) | RuleStatus::Unknown(_) => None,
        // A pattern without a leading `/` or `*` has its own code.
        RuleStatus::NeverMatches if !matches!(own.value.first(), Some(b'/' | b'*')) => None,
        RuleStatus::NeverMatches => {
            let words = format!("{} matches no path of a URL", quoted(own.value));
            Some(Fault::new(Code::NeverMatchingPattern, Vec::new(), words))
        }
        RuleStatus::Equal { to } => {
            Some(Fault::new(Code::DuplicateRule, vec![to], " has the same effect"))
        }
        RuleStatus::Shadowed { by } => {
            let others: Vec<RuleID> = by.into_iter().flatten().collect();
            let verdict = |place: &RuleID| file.rules()[rules[place.index()].index()].verdict;
            let disallows = others.iter().any(|place| verdict(place) != Verdict::Allow);
            let code = match own.verdict == Verdict::Allow && disallows {
                true => Code::DefeatedAllow,
                false => Code::ShadowedRule,
            };
            let winners = match others.len() {
                0 => "the dialect itself wins".into(),
                1 => " wins".into(),
                count => format!(", or one of {} more rules, wins", count - 1).into(),
            };
            Some(Fault { code, others, words: ["the rule never decides: ".into(), winners] })
        }
    }
}

/// Returns whether a rule with this problem changes no verdict.
fn is_needless(code: Code) -> bool {
    matches!(code, Code::DuplicateRule | Code::ShadowedRule | Code::NeverMatchingPattern)
}

/// Reports a problem in a selection of groups.
fn report(
    findings: &mut Findings<'_, '_>,
    rule: RuleID,
    fault: &Fault,
    grouped: &Grouped<'_>,
    groups: &[usize],
) {
    /// More related lines would distract from the rule itself.
    const RELATED_MAX: usize = 3;
    let file = grouped.file;
    let own = file.rules()[rule.index()];
    let others = fault.others.iter().take(RELATED_MAX);
    let others: Vec<&Rule<'_>> =
        others.map(|place| &file.rules()[grouped.rule_at(groups, *place).index()]).collect();
    let code = fault.code;
    let [before, after] = &fault.words;
    let first = others.first().map_or(String::new(), |rule| written(rule));
    findings.report(code, own.span, format!("{before}{first}{after}"));
    for other in others {
        findings.related(other.span, "this rule");
    }
    if is_needless(code) {
        findings.remove("remove the rule", own.line);
    }
}

/// Returns the problem of an Allow rule that loses to `winner` on the path that it is written with.
fn defeated((winner, path): (RuleID, Vec<u8>)) -> Fault {
    let words = format!(" wins and disallows {}", quoted(&path));
    Fault::new(Code::DefeatedAllow, vec![winner], words)
}

/// Returns the problems of rules with the same pattern in normal form as an earlier one of the selection
/// with the opposite verdict.
fn contradictions(ordered: &OrderedRules) -> Map<RuleID, Fault> {
    let mut first: Map<_, [Option<RuleID>; 2]> = Map::default();
    let (mut contradictions, mut written) = (Map::default(), BTreeSet::new());
    // The rules with a second pattern, which may decide where the written one does not.
    let mut patterns_of = BTreeMap::<RuleID, usize>::new();
    ordered.rules.iter().for_each(|&rule| *patterns_of.entry(rule).or_default() += 1);
    for (position, &rule) in ordered.rules.iter().enumerate() {
        if !written.insert(rule) {
            // The second pattern of a rule is not written, only a directory adds it.
            continue;
        }
        let known = first.entry(ordered.patterns.get(position)).or_default();
        let side = usize::from(ordered.verdicts[position] == Verdict::Allow);
        if let Some(other) = known[1 - side]
            && patterns_of[&rule] == 1
        {
            // The later rule of the file is reported; the earlier one in this order wins.
            let (earlier, later) = (other.min(rule), other.max(rule));
            let outcome = if earlier == other { "wins" } else { "loses" };
            contradictions.entry(later).or_insert_with(|| {
                let words = format!(" has the opposite verdict on the same paths, and {outcome}");
                Fault::new(Code::ContradictingRules, vec![earlier], words)
            });
        }
        known[side].get_or_insert(rule);
    }
    contradictions
}

/// Reports that everything is disallowed, for crawlers that no group names or for one of the agents.
fn everything_disallowed(findings: &mut Findings<'_, '_>, analyst: &mut Analyst<'_>) {
    let (file, agents) = (analyst.grouped.file, &findings.config.agents);
    let unnamed = agents.is_empty().then_some(None);
    let mut known: Map<_, _> = Map::default();
    for agent in agents.iter().map(Some).chain(unnamed) {
        let whom = match agent {
            Some(agent) => quoted(agent.name().as_bytes()),
            None => "crawlers that no group names".into(),
        };
        let groups = analyst.grouped.audience.select(agent, analyst.grouped.dialect).groups;
        let key = key(&analyst.numbers, &groups);
        let place = known.entry(key).or_insert_with(|| analyst.disallowing_all(&groups));
        let rule = match place {
            Ok(Some(place)) => analyst.grouped.rule_at(&groups, *place),
            Ok(None) => continue,
            Err(bound) => {
                findings.unknown(format!(
                    "it is not known whether every URL is disallowed for {whom}: {bound}"
                ));
                continue;
            }
        };
        let message = format!("every URL is disallowed for {whom}");
        findings.report(Code::EverythingDisallowed, file.rules()[rule.index()].span, message);
    }
}
