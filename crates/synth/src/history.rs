//! Generates the history of a host: what it answers to several captures over five years.
//!
//! The captures are spread evenly. The shares come from 13,623 captures of 1,600 hosts from September
//! 2020 to March 2025: 18 % fail, 9 % find no file, and of the other files 16 % have another layout and
//! 38 % another rule.
//!
//! No capture depends on another host, so an archive is streamed.

use super::random::SplitMix64;

/// The first second of histories: 2020-07-01.
const START: u64 = 1_593_561_600;
/// Five years, to the end of June 2025.
const SPAN: u64 = 1_826 * 24 * 60 * 60;

/// One capture of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capture {
    /// Seconds since 1970.
    pub(super) time: u64,
    pub(super) status: u16,
    /// The version of the file that the host has, which it serves if the status is 200.
    pub(super) version: Version,
}

/// The changes to the file of a host since its first version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    /// The number of new layouts.
    pub(super) redesigns: u64,
    /// The number of rules added to the layout's default group.
    pub(super) edits: u64,
}

/// Draws the captures of a host in the order of time. The first one finds a file.
pub(super) fn draw(mut random: SplitMix64, captures: u64) -> Vec<Capture> {
    let share = SPAN / captures;
    let mut version = Version::default();
    let capture = |position| {
        let time = START + position * share + random.below(share);
        let status = match random.below(100) {
            _ if position == 0 => 200,
            0..18 => 503,
            18..27 => 404,
            _ => 200,
        };
        match random.below(100) {
            _ if position == 0 || status != 200 => {}
            0..16 => version = Version { redesigns: version.redesigns + 1, edits: 0 },
            16..54 => version.edits += 1,
            _ => {}
        }
        Capture { time, status, version }
    };
    (0..captures).map(capture).collect()
}

/// Draws a time of the years that histories cover.
pub(super) fn draw_time(random: &mut SplitMix64) -> u64 {
    START + random.below(SPAN)
}
