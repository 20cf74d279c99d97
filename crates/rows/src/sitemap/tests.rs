use std::fs;
use std::io::Read;
use std::path::Path;

use super::document::{Root, root_of};
use super::files_of_index;
use crate::input::{ChunkConfig, Chunks, InputError, Source};
use crate::limits::{SITEMAP_DEPTH_MAX, SITEMAP_MARKUP_BYTES_MAX, SITEMAPS_NAMED_MAX};
use crate::list::{ListConfig, ListFormat};
use portcullis_files::limits::CHUNK_BYTES;

const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";

/// Returns a sitemap with this content.
fn urlset(content: &str) -> String {
    format!(
        "<?xml version='1.0' encoding='UTF-8'?>\n<urlset xmlns='{NAMESPACE}'>{content}</urlset>"
    )
}

/// Reads a whole list: its lines up to an error, and the error.
fn read(source: Source) -> (String, Option<InputError>) {
    read_with(source, &ListConfig::default())
}

fn read_with(source: Source, config: &ListConfig) -> (String, Option<InputError>) {
    let mut lines = String::new();
    for chunk in Chunks::new(source, ChunkConfig::default(), config.clone()) {
        match chunk {
            Ok(chunk) => {
                assert_eq!(chunk.list.format(), ListFormat::Sitemap);
                lines.push_str(str::from_utf8(&chunk).unwrap());
            }
            Err(error) => return (lines, Some(error)),
        }
    }
    (lines, None)
}

fn read_text(text: impl AsRef<[u8]>) -> (String, Option<InputError>) {
    let text = text.as_ref().to_vec();
    let source = Source::from_reader("map.xml", std::io::Cursor::new(text));
    read(source)
}

/// Reads a sitemap that is whole.
#[track_caller]
fn lines(text: impl AsRef<[u8]>) -> String {
    let (lines, error) = read_text(text);
    assert!(error.is_none(), "{}", error.unwrap());
    lines
}

/// Returns the message about a sitemap that is not.
#[track_caller]
fn failure(text: impl AsRef<[u8]>) -> String {
    let (lines, error) = read_text(text);
    error.unwrap_or_else(|| panic!("read as whole: {lines:?}")).to_string()
}

#[test]
fn values() {
    for (content, expected) in [
        ("", ""),
        ("<url><loc>https://a.example/</loc></url>", "https://a.example/\n"),
        ("<url ><loc\n>a</loc ></url>\n<url><loc>b</loc></url>", "a\nb\n"),
        // Entities of XML, references by number, CDATA, comments and processing instructions.
        ("<url><loc>a?b&amp;c&#x26;d&#38;e&apos;&quot;&lt;&gt;</loc></url>", "a?b&c&d&e'\"<>\n"),
        ("<url><loc>a<![CDATA[?b&amp;<c>]]>d</loc></url>", "a?b&amp;<c>d\n"),
        ("<!-- <url><loc>x</loc></url> --><url><loc>a<!-- x --><?x y?>b</loc></url>", "ab\n"),
        // A value has one line, and line ends inside are seen.
        ("<url><loc>\n  a b\n\n c&#10;d\r\n\t</loc></url>", "a b\t c\td\n"),
        ("<url><loc>https://a.example/&#13;x</loc></url>", "https://a.example/\tx\n"),
        // An entry without a value keeps its place.
        (
            "<url/><url><loc/></url><url><lastmod>1</lastmod></url><url><loc> </loc></url>",
            "\n\n\n\n",
        ),
        ("<url><loc>a</loc><loc>b</loc></url>", "a\nb\n"),
        // Only `<url><loc>` of the root's namespace.
        (
            "<url><i:image xmlns:i='i'><i:loc>x</i:loc><loc>y</loc></i:image><loc>a</loc></url>",
            "a\n",
        ),
        ("<url><loc>a</loc><x:x><loc>y</loc></x:x></url>", "a\n"),
        ("<url><loc>a</loc><news><loc>y</loc></news></url>", "a\n"),
        ("<v:video xmlns:v='v'><v:url><loc>y</loc></v:url>text</v:video>", ""),
        ("<url><loc>https://ü.example/\u{2028}</loc></url>", "https://ü.example/\u{2028}\n"),
    ] {
        assert_eq!(lines(urlset(content)), expected, "{content}");
    }
}

#[test]
fn roots() {
    let content = "<url><loc>a</loc></url>";
    for text in [
        format!("<urlset>{content}</urlset>"),
        format!("\u{feff}<urlset>{content}</urlset>\n"),
        format!("\n<!-- a --><!DOCTYPE urlset>\n<urlset xmlns='old'>{content}</urlset><!-- b -->"),
        "<s:urlset xmlns:s='s'><s:url><s:loc>a</s:loc></s:url></s:urlset>".to_owned(),
        format!("<?xml version='1.0' encoding='us-ascii'?><urlset>{content}</urlset>"),
    ] {
        assert_eq!(lines(&text), "a\n", "{text}");
    }
}

#[test]
fn what_is_not_whole_is_an_error() {
    for (text, expected) in [
        ("", "it has no element"),
        ("https://a.example/\n", "text outside"),
        ("<urlset>", "ends inside its root"),
        ("<urlset><url><loc>a</loc></url>", "ends inside its root"),
        ("<urlset><url><loc>a", "at byte"),
        ("<urlset><url><loc>a</url></urlset>", "expected `</loc>`"),
        ("<urlset><url><loc>a</loc></url></urlset><urlset/>", "a second root"),
        ("<urlset></urlset>x", "text outside"),
        ("<urlset>https://a.example/</urlset>", "text outside"),
        ("<urlset><url>a</url></urlset>", "text outside"),
        ("<urlset><sitemap><loc>a</loc></sitemap></urlset>", "<sitemap> where <url>"),
        ("<urlset><url><loc><b>a</b></loc></url></urlset>", "<b> in <loc>"),
        ("<urlset><url><loc>a<x:b/></loc></url></urlset>", "in <loc>"),
        ("<s:urlset xmlns:s='s'><url><loc>a</loc></url></s:urlset>", "another namespace"),
        ("<s:urlset/>", "not declared"),
        ("<html><head/></html>", "its root is <html>"),
        ("<urlset><sitemapindex/></urlset>", "<sitemapindex> where <url>"),
        ("<rss><channel><item><link>a</item></channel></rss>", "expected `</link>`"),
        ("<rss><channel><item><link>a<b/></link></item></channel></rss>", "<b> in <link>"),
        ("<rss><channel><item><link>a</link></item>", "ends inside its root"),
        ("<feed><entry><link href='a&#10;b'/></entry></feed>", "control character"),
        ("<feed><entry><link href='a&x;'/></entry></feed>", "byte"),
        ("<urlset><url><loc>a&b;</loc></url></urlset>", "&b;"),
        ("<urlset><url><loc>a&b</loc></url></urlset>", "byte"),
        ("<urlset><url><loc>a&#0;</loc></url></urlset>", "byte"),
        ("<urlset><url><loc>a&#1;</loc></url></urlset>", "U+0001"),
        ("<urlset><url><loc>a\0</loc></url></urlset>", "U+0000"),
        ("<urlset><!-- <url/>", "byte"),
        ("<urlset a='", "byte"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><urlset/>", "its encoding is ISO-8859-1"),
    ] {
        let message = failure(text);
        assert!(message.starts_with("map.xml: "), "{message}");
        assert!(message.contains(expected), "{text}: {message}");
    }
    assert!(failure(b"<urlset><url><loc>\xff</loc></url></urlset>").contains("UTF-8"));
}

/// Damage delivers nothing, or whole URLs and a note if it is to be tolerated and the root is known.
#[test]
fn every_cut_is_an_error() {
    let text = urlset("<url><loc>https://a.example/</loc></url><url><loc>b</loc></url>\n");
    let lenient = ListConfig { is_lenient: true, ..ListConfig::default() };
    for end in 0..text.len() {
        let (lines, error) = read_text(&text[..end]);
        assert!(error.is_some() && lines.is_empty(), "{end} bytes: {lines:?}");
        let part = std::io::Cursor::new(text.as_bytes()[..end].to_vec());
        let source = Source::from_reader("map.xml", part);
        let mut chunks = Chunks::new(source, ChunkConfig::default(), lenient.clone());
        let first = chunks.next().unwrap();
        assert_eq!(first.is_err(), end < text.find("<url>").unwrap(), "{end} bytes");
        let Ok(first) = first else { continue };
        let lines = String::from_utf8(first.to_vec()).unwrap();
        assert!(first.is_last && chunks.next().is_none());
        let [damage] = &first.list.take_damages()[..] else { panic!("{end} bytes") };
        assert!(damage.contains("invalid sitemap"), "{damage}");
        assert!("https://a.example/\nb\n".starts_with(&lines), "{end} bytes: {lines:?}");
        assert!(lines.is_empty() || lines.ends_with('\n'));
    }
}

#[test]
fn feeds() {
    let atom = "xmlns='http://www.w3.org/2005/Atom'";
    for (text, expected) in [
        (
            "<rss version='2.0' xmlns:atom='a'><channel><title>T</title><link>https://a.example/\
             </link><atom:link href='f'/><item><title>t &amp; u</title><link> https://a.example/1\n\
             </link><guid>g</guid></item><item><title>t</title></item><item><link>b</link>\
             <source><link>c</link></source><x><link>d</link></x></item></channel></rss>"
                .to_owned(),
            "https://a.example/1\n\nb\n",
        ),
        ("<rss/>".to_owned(), ""),
        (
            format!(
                "<?xml version='1.0'?><feed {atom}><title>T</title><link href='f'/><author><name>x\
                 </name></author><entry><title>t</title><link rel='self' href='s'/><link \
                 rel='alternate' href=' a?b&amp;c '/><link href='d'/><content>c</content></entry>\
                 <entry><id>i</id></entry><entry><link href='e'>x</link></entry></feed>"
            ),
            "a?b&c\n\ne\n",
        ),
    ] {
        assert!(root_of(text.as_bytes()).is_some());
        assert_eq!(lines(&text), expected, "{text}");
    }
}

#[test]
fn a_root_in_a_root() {
    for (content, expected) in [
        ("<urlset><url><loc>a</loc></url></urlset>", "a\n"),
        ("<url><loc>a</loc></url><urlset><url><loc>b</loc></url></urlset><url/>", "a\nb\n\n"),
        ("<urlset/><urlset><urlset><url><loc>a</loc></url></urlset></urlset>", "a\n"),
    ] {
        assert_eq!(lines(urlset(content)), expected, "{content}");
    }
    assert!(failure("<urlset><urlset>a</urlset></urlset>").contains("text outside"));
}

/// A source that repeats `part`, up to `bytes` bytes, between a head and a tail.
fn repeated(head: &str, part: &str, bytes: usize, tail: &str) -> Source {
    let parts = std::io::Cursor::new(part.repeat(CHUNK_BYTES.div_ceil(part.len())));
    let whole = parts.get_ref().len();
    let mut readers: Box<dyn Read + Send> = Box::new(std::io::Cursor::new(head.to_owned()));
    for _ in 0..bytes.div_ceil(whole) {
        readers = Box::new(readers.chain(parts.clone()));
    }
    let tail = std::io::Cursor::new(tail.to_owned());
    Source::from_reader("map.xml", readers.chain(tail))
}

#[test]
fn hostile_documents_are_errors() {
    let laughs = "<!DOCTYPE urlset [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>\
                  <urlset><url><loc>&b;</loc></url></urlset>";
    assert!(failure(laughs).contains("&b;"));
    let external = "<!DOCTYPE urlset [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>\
                    <urlset><url><loc>&a;</loc></url></urlset>";
    assert!(failure(external).contains("&a;"));

    let deep = "<x>".repeat(SITEMAP_DEPTH_MAX);
    assert!(failure(format!("<urlset><url>{deep}")).contains("nested deeper"));

    // Enough for what stands for one character in sixteen.
    let bytes = 16 * SITEMAP_MARKUP_BYTES_MAX;
    for (head, part, tail) in [
        ("<urlset a='", "a", "'/>"),
        ("<urlset><!--", "a", "--></urlset>"),
        ("<urlset><?x ", "a", "?></urlset>"),
        ("<!DOCTYPE urlset [", "<!ENTITY a 'a'>", "]><urlset/>"),
        ("<urlset><url><loc>", "a", "</loc></url></urlset>"),
        ("<urlset><url><loc>", "<![CDATA[a]]>&amp;", "</loc></url></urlset>"),
        ("<urlset><url><loc><![CDATA[", "a", "]]></loc></url></urlset>"),
        ("<urlset><url><loc>&", "a", ";</loc></url></urlset>"),
        ("<", "a", "/>"),
    ] {
        let (lines, error) = read(repeated(head, part, bytes, tail));
        let message = error.unwrap_or_else(|| panic!("{head}: read as whole")).to_string();
        let limit = format!("longer than {SITEMAP_MARKUP_BYTES_MAX} bytes");
        assert!(message.contains(&limit), "{head}: {message}");
        assert_eq!(lines, "");
    }
    let bindings: String = (0..1000).map(|it| format!(" xmlns:a{it}='{it}'")).collect();
    assert!(failure(format!("<urlset{bindings}/>")).contains("namespace"));
}

/// Many URLs are read in chunks of the usual size.
#[test]
fn long_sitemaps_are_streamed() {
    let part = "<url><loc>https://a.example/a?b&amp;c</loc><lastmod>2026-01-01</lastmod></url>\n";
    let source = repeated("<urlset>", part, 16 * CHUNK_BYTES, "</urlset>");
    let (mut urls, mut largest) = (0, 0);
    for chunk in Chunks::new(source, ChunkConfig::default(), ListConfig::default()) {
        let chunk = chunk.unwrap();
        largest = largest.max(chunk.len());
        urls += memchr::memchr_iter(b'\n', &chunk).count();
    }
    assert_eq!(urls, 16 * CHUNK_BYTES.div_ceil(part.len()));
    assert!(largest <= CHUNK_BYTES, "{largest}");
}

#[test]
fn compressed_and_plain_files() {
    let folder = tempfile::tempdir().unwrap();
    let text = urlset("<url><loc>a</loc></url>");
    let path = folder.path().join("map.xml");
    fs::write(&path, &text).unwrap();
    assert_eq!(read(Source::open(&path).unwrap()).0, "a\n");
    // By its first bytes.
    let path = folder.path().join("map");
    let mut file =
        flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), Default::default());
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    file.finish().unwrap();
    let stored = fs::metadata(&path).unwrap().len();
    let source = Source::open(&path).unwrap();
    let chunks = Chunks::new(source, ChunkConfig::default(), ListConfig::default());
    assert_eq!(chunks.map(|chunk| chunk.unwrap().stored_bytes).sum::<u64>(), stored);
    // Cut in its compression.
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let error = read(Source::open(&path).unwrap()).1.unwrap();
    assert!(matches!(error, InputError::Truncated { .. }), "{error}");
}

/// Returns an index of the sitemaps with these URLs.
fn index(urls: &[&str]) -> String {
    let entries: String =
        urls.iter().map(|url| format!("<sitemap><loc>{url}</loc></sitemap>")).collect();
    format!("<sitemapindex xmlns='{NAMESPACE}'>{entries}</sitemapindex>")
}

fn read_index(folder: &Path, urls: &[&str]) -> (String, Option<String>) {
    let path = folder.join("index.xml");
    fs::write(&path, index(urls)).unwrap();
    let (lines, error) = read(Source::open(&path).unwrap());
    (lines, error.map(|error| error.to_string()))
}

#[test]
fn indexes() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.xml", &urlset("<url><loc>a</loc></url>"));
    write("b.xml", &urlset("<url><loc>b</loc></url><url><loc>c</loc></url>"));
    write("inner.xml", &index(&["https://s.example/a.xml"]));
    write("cut.xml", "<urlset><url><loc>d</loc></url>");
    let read = |urls: &[&str]| read_index(folder.path(), urls);
    assert_eq!(read(&[]), (String::new(), None));
    let urls = ["https://s.example/b.xml", "https://t.example/x/a.xml"];
    assert_eq!(read(&urls), ("b\nc\na\n".to_owned(), None));
    let near = |name: &str| files_of_index(Source::open(&folder.path().join(name)).unwrap());
    assert_eq!(near("index.xml"), ["b.xml", "a.xml"].map(|name| folder.path().join(name)));
    write("lines.txt", "https://s.example/a.xml");
    assert!(near("a.xml").is_empty() && near("lines.txt").is_empty());
    assert_eq!(read(&[urls[1], urls[1]]), ("a\n".to_owned(), None));
    // The path has the name, and not the query.
    for url in ["https://s.example/a.xml?x=/b.xml", "https://s.example/x/a.xml#/b.xml"] {
        assert_eq!(read(&[url]), ("a\n".to_owned(), None));
    }

    let failures = [
        (vec![urls[0], "https://s.example/a.xml", urls[1]], "", "same file name"),
        (
            vec![urls[1], "https://s.example/z.xml"],
            "",
            "1 is not next to it: https://s.example/z.xml;",
        ),
        (vec!["https://s.example/"], "", "not next to it"),
        (vec!["https://s.example/.."], "", "not next to it"),
        (vec!["https://s.example/..%2fa.xml"], "", "not next to it"),
        (vec!["https://s.example/x\\a.xml"], "", "not next to it"),
        (vec!["https://s.example?x=/a.xml"], "", "not next to it"),
        (
            vec!["https://s.example/a.xml?page=1", "https://s.example/a.xml?page=2"],
            "",
            "same file name",
        ),
        (vec!["a.xml"], "", "not next to it"),
        (vec![""], "", "not next to it"),
        (vec![urls[1], "https://s.example/inner.xml"], "a\n", "inner.xml: an index of sitemaps in"),
        (vec!["https://s.example/index.xml"], "", "in another one"),
        (vec![urls[1], "https://s.example/cut.xml"], "a\n", "cut.xml: invalid sitemap"),
    ];
    for (urls, before, expected) in failures {
        let (lines, error) = read(&urls);
        let error = error.unwrap_or_else(|| panic!("{urls:?}: read as whole"));
        assert!(error.contains(expected), "{urls:?}: {error}");
        assert_eq!(lines, before, "{urls:?}");
    }
    let many: Vec<String> = (0..9).map(|it| format!("https://s.example/{it}.xml")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let error = read(&many).1.unwrap();
    assert!(error.contains(&format!("and {} more", 9 - SITEMAPS_NAMED_MAX)), "{error}");
}

#[test]
fn an_index_from_a_pipe_has_no_folder() {
    let text = index(&["https://s.example/a.xml"]);
    let source = Source::from_reader("standard input", std::io::Cursor::new(text));
    assert!(read(source).1.unwrap().to_string().contains("no folder"));
}

#[test]
fn first_bytes() {
    for (text, expected) in [
        ("<urlset>", Some(Root::Pages)),
        (
            " <?xml version='1.0'?><!-- <html> -->\n<s:sitemapindex xmlns:s='s'>",
            Some(Root::Sitemaps),
        ),
        ("<!DOCTYPE html>", None),
        ("<html>", None),
        ("<urlsets>", None),
        ("https://a.example/", None),
        ("", None),
        ("<", None),
        ("<url", None),
        ("<?xml", None),
        ("<!-- <urlset>", None),
    ] {
        assert_eq!(root_of(text.as_bytes()), expected, "{text}");
    }
}
