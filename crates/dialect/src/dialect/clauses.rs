//! Where each dialect's document says what a decision rests on.
//!
//! Documents number and title their parts each in their own way, so these are texts, kept with the
//! rest of a dialect's data.

/// The parts of a dialect's document, for explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clauses {
    /// Which rule decides, and what holds if none matches.
    pub rules: &'static str,
    /// Which groups speak to an agent, and what holds if none does.
    pub groups: &'static str,
    /// The URL of robots.txt itself.
    pub robots_txt: &'static str,
    /// The server says that there is no file for us.
    pub unavailable: &'static str,
    /// The server or the network fails.
    pub unreachable: &'static str,
    /// Which URLs a file speaks for.
    pub scope: &'static str,
}

pub(super) const ORIGINAL_1994: Clauses = Clauses {
    rules: "A Standard for Robot Exclusion (1994): Disallow",
    groups: "A Standard for Robot Exclusion (1994): User-agent",
    robots_txt: "A Standard for Robot Exclusion (1994): Disallow",
    unavailable: "A Standard for Robot Exclusion (1994): the method",
    unreachable: "not settled by the 1994 text: a temporary failure defers the visit",
    scope: "A Standard for Robot Exclusion (1994): the method",
};

pub(super) const KOSTER_1996: Clauses = Clauses {
    rules: "Koster 1996, section 3.2.2: the first rule that matches decides; if none does, access is allowed",
    groups: "Koster 1996, section 3.2.1: the record that names the robot, else that of *, else no limit",
    robots_txt: "Koster 1996, section 3.2.2",
    unavailable: "Koster 1996, section 3.1: what the server's answer means",
    unreachable: "Koster 1996, section 3.1: a temporary failure defers the visit",
    scope: "Koster 1996, section 3.1: /robots.txt of the server",
};

pub(super) const DRAFT_2019: Clauses = Clauses {
    rules: "Internet-Draft of 2019, The Allow and Disallow lines: the most octets decide; if none matches, allowed",
    groups: "Internet-Draft of 2019, The User-agent line: all groups that name the crawler, else the first of *",
    robots_txt: "Internet-Draft of 2019, The Allow and Disallow lines: /robots.txt is implicitly allowed",
    unavailable: "Internet-Draft of 2019, Unavailable status",
    unreachable: "Internet-Draft of 2019, Unreachable status",
    scope: "Internet-Draft of 2019, Access method",
};

pub(super) const RFC_9309: Clauses = Clauses {
    rules: "RFC 9309, section 2.2.2: the most octets decide; if none matches, allowed",
    groups: "RFC 9309, section 2.2.1: all groups that name the crawler, else those of *, else no rules apply",
    robots_txt: "RFC 9309, section 2.2.2: /robots.txt is implicitly allowed",
    unavailable: "RFC 9309, section 2.3.1.3: unavailable status codes",
    unreachable: "RFC 9309, section 2.3.1.4: unreachable status codes",
    scope: "RFC 9309, section 2.3: access method",
};

pub(super) const GOOGLE: Clauses = Clauses {
    rules: "Google on robots.txt, Order of precedence for rules",
    groups: "Google on robots.txt, Order of precedence for user agents",
    robots_txt: "Google on robots.txt, Order of precedence for rules",
    unavailable: "Google on robots.txt, Handling of errors and HTTP status codes",
    unreachable: "Google on robots.txt, Handling of errors and HTTP status codes",
    scope: "Google on robots.txt, File location and range of validity",
};
