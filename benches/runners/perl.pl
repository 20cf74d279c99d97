#!/usr/bin/env perl
# Matchers in Perl as runners of `portcullis-bench` (benches/RUNNERS.md).
#
#     portcullis-bench conform --runner "WWW::RobotRules=perl benches/runners/perl.pl WWW::RobotRules"
#
# Each function takes the bytes of a file and the agent, and returns a function from URLs to answers.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my %LIBRARIES = (
    "WWW::RobotRules" => sub {
        my ($content, $agent) = @_;
        my (%parsed, $rules);
        $rules = WWW::RobotRules->new($agent);
        # It keeps the rules of each host.
        return sub {
            my ($origin) = $_[0] =~ m{^(\w+://[^/?]*)};
            $parsed{$origin} //= do { $rules->parse("$origin/robots.txt", $content); 1 };
            return $rules->allowed($_[0]);
        };
    },
);

my $name = $ARGV[0];
eval "require $name" or die $@;
binmode $_ for *STDIN, *STDOUT;
$| = 1;

sub nanoseconds { return int(1e9 * clock_gettime(CLOCK_MONOTONIC)) }

my ($agent, @texts, @matchers, @urls) = ("");
while (defined(my $line = <STDIN>)) {
    chomp $line;
    my ($word, $rest) = split / /, $line, 2;
    if ($word eq "portcullis-bench") {
        print "runner ", $name->VERSION, "\n";
    } elsif ($word eq "agent") {
        $agent = $rest;
    } elsif ($word eq "files") {
        @texts = ();
        for (1 .. $rest) {
            my $size = <STDIN>;
            read STDIN, my $text, $size + 1;
            push @texts, substr $text, 0, $size;
        }
    } elsif ($word eq "build") {
        my $start = nanoseconds();
        @matchers = map { my $text = $_; scalar eval { $LIBRARIES{$name}->($text, $agent) } } @texts;
        my $time = nanoseconds() - $start;
        defined $matchers[$_] or print "refused $_ error\n" for 0 .. $#matchers;
        print "built $time\n";
    } elsif ($word eq "urls") {
        @urls = map { chomp(my $line = <STDIN>); [split / /, $line, 2] } 1 .. $rest;
    } elsif ($word eq "decide") {
        my $start = nanoseconds();
        # 1, 0, or -1 for a URL that it does not know.
        my @answers = map { my ($file, $url) = @$_; scalar eval { $matchers[$file]->($url) } } @urls;
        my $time = nanoseconds() - $start;
        print "decided $time ", (map { !defined $_ || $_ < 0 ? "?" : $_ ? 1 : 0 } @answers), "\n";
    } else {
        die "perl.pl: no such request: $word\n";
    }
}
