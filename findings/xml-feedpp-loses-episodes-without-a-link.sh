#!/usr/bin/env bash
# XML::FeedPP 0.95 (Debian 12, libxml-feedpp-perl): merging feeds drops each item without a <link>, such as podcast
# episodes, and turns the id of an Atom entry into a permanent link.
#
# By its manual merge takes a feed of any format into another. RSS 2.0 requires a title or a description in an item
# and nothing else. The address can be the guid, which is a permanent link unless the item says otherwise, or the
# enclosure. Such items are read, and merge drops them silently. An Atom id may be any URI (RFC 4287, section 4.2.6);
# here a urn:uuid becomes a guid with isPermaLink="true", which readers open as a URL. The enclosure of the entry is
# lost, and the date of its last change replaces the date of publication.
# Needs perl and apt-get on Debian 12.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet libxml-feedpp-perl=0.95-1 libxml-treepp-perl=0.43-3 >/dev/null 2>&1
for package in *.deb; do dpkg --extract "$package" .; done
cat >podcast.rss <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>P</title><link>https://h.example/</link><description>P</description>
<item><title>1</title><link>https://h.example/1</link>
<enclosure url="https://h.example/1.mp3" length="5" type="audio/mpeg"/></item>
<item><title>2</title><guid>https://h.example/2</guid>
<enclosure url="https://h.example/2.mp3" length="5" type="audio/mpeg"/></item>
<item><title>3</title><enclosure url="https://h.example/3.mp3" length="5" type="audio/mpeg"/></item>
</channel></rss>
XML
cat >blog.atom <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><title>B</title><id>urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8</id>
<updated>2026-11-27T12:00:00Z</updated>
<entry><title>4</title><id>urn:uuid:6ba7b814-9dad-11d1-80b4-00c04fd430c8</id><link href="https://h.example/4"/>
<link rel="enclosure" href="https://h.example/4.mp3" type="audio/mpeg"/>
<published>2026-11-01T12:00:00Z</published><updated>2026-11-27T12:00:00Z</updated></entry>
</feed>
XML
output=$(perl -Iusr/share/perl5 - <<'PL'
use strict;
use warnings;
use XML::FeedPP;

my $all = XML::FeedPP::RSS->new;
for my $name ("podcast.rss", "blog.atom") {
    my $feed = XML::FeedPP->new($name);
    print "$name has ", join(" ", map { $_->title } $feed->get_item), "\n";
    $all->merge($name);
}
print "merged ", join(" ", map { $_->title } $all->get_item), "\n";
print "$_\n" for $all->to_string =~ m{(<(?:guid|enclosure|pubDate)[ >][^\n]*)}g;
PL
)
expected='podcast.rss has 1 2 3
blog.atom has 4
merged 4 1
<pubDate>Fri, 27 Nov 2026 12:00:00 GMT</pubDate>
<guid isPermaLink="true">urn:uuid:6ba7b814-9dad-11d1-80b4-00c04fd430c8</guid>
<pubDate>Fri, 27 Nov 2026 12:00:00 GMT</pubDate>
<enclosure type="audio/mpeg" length="5" url="https://h.example/1.mp3" />
<guid isPermaLink="true">https://h.example/1</guid>'
echo "$output"
diff <(echo "$expected") <(echo "$output")
