//! Tests of CSV: columns, missing texts, and rows that are not as the header says.

use portcullis_dialect::Fetched;
use portcullis_files::input::{InputError, Source};
use portcullis_robots::access::{CaptureNote, TimeUnit, UnixSeconds};

use super::{Keeper, fields, lost, read_all};
use crate::BrokenKind::{Forgeable, Senseless, Unreadable};
use crate::FieldMap;
use crate::csv::open;
use crate::{BatchReader as _, ReadConfig};

fn source(text: &str) -> Source {
    let text = std::io::Cursor::new(text.to_owned().into_bytes());
    Source::from_reader("a.csv", text)
}

#[track_caller]
fn read(text: &str, names: &FieldMap) -> Keeper {
    read_all(&mut open(source(text), names).unwrap(), None)
}

#[track_caller]
fn problem(text: &str, names: &FieldMap) -> String {
    match open(source(text), names) {
        Err(InputError::List { problem, .. }) => problem,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the file was opened"),
    }
}

#[test]
fn rows_are_captures() {
    let text = "\u{feff}Domain,timestamp,status,ROBOTS_TXT,truncated,other\r\n\
                a.example,2024-01-01,200,\"User-agent: *\nDisallow: /\"\"x\"\"\n\",false,\r\n\
                \r\n\
                https://b.example:8443/shop?x,20240101000000,404.0,,,\n\
                c.example,,200,,,\n\
                d.example,,200,\"\",,\n\
                e.example,,,,,\n\
                f.example,2024-01-01 00:00:00,200,Disallow: /,True,x";
    let found = read(text, &FieldMap::default());
    assert_eq!(lost(&found), ["c.example -"]);
    let rows: Vec<_> = found
        .captures
        .iter()
        .map(|kept| (&*kept.subject, kept.is_host, kept.capture.answer, &*kept.capture.body))
        .collect();
    let body = b"User-agent: *\nDisallow: /\"x\"\n";
    let expected: [(&str, bool, Fetched, &[u8]); 5] = [
        ("a.example", true, Fetched::Status(200), body),
        ("https://b.example:8443/robots.txt", false, Fetched::Status(404), b""),
        ("d.example", true, Fetched::Status(200), b""),
        ("e.example", true, Fetched::NoResponse, b""),
        ("f.example", true, Fetched::BrokenBody, b""),
    ];
    assert_eq!(rows, expected);
    let time = Some(UnixSeconds(1_704_067_200));
    let times: Vec<_> = found.captures.iter().map(|kept| kept.capture.captured_at).collect();
    assert_eq!(times, [time, time, None, None, time]);
    assert_eq!(found.stored_bytes, text.len() as u64);
}

#[test]
fn a_value_that_stands_for_none_is_null() {
    for none in ["", "\\N", "-"] {
        let text = format!(
            "url,host,status,error,truncated,timestamp,body\n\
             https://a.example/robots.txt,{none},200,{none},{none},{none},{none}\n\
             https://b.example/robots.txt,,404,{none},{none},{none},\"\"\n\
             https://c.example/robots.txt,,200,{none},{none},{none},x\n\
             {none},d.example,{none},{none},,,{none}\n"
        );
        let found = read(&text, &FieldMap::default());
        let answers: Vec<Fetched> = found.captures.iter().map(|it| it.capture.answer).collect();
        let (ok, missing) = (Fetched::Status(200), Fetched::Status(404));
        assert_eq!(answers, [missing, ok, Fetched::NoResponse], "{none}");
        assert_eq!(lost(&found), ["https://a.example/robots.txt -"]);
        assert_eq!(found.captures[2].subject, "d.example");
    }
}

/// The first column of a field that is not null counts, as in JSON Lines.
#[test]
fn several_columns_of_a_field() {
    let text = "uri,url,status,text,body,timestamp,fetched_at,content_truncated,truncated\n\
                https://a.example/robots.txt,,200,a,,,2024-01-01,,\n\
                https://a.example/robots.txt,,200,a,,2024-01-01,,length,\n\
                https://b.example/robots.txt,https://a.example/robots.txt,200,b\\n,\"a\",2024-01-02,2024-01-01,,\n\
                https://a.example/robots.txt,,200,a\\n,,,2024-01-01,,\n\
                https://a.example/robots.txt,,200,a,b\\n,,2024-01-01,,\n";
    let found = read(text, &FieldMap::default());
    let answers = found.captures.iter().map(|it| it.capture.answer);
    let (ok, cut) = (Fetched::Status(200), Fetched::BrokenBody);
    assert!(answers.eq([ok, cut, ok]));
    for kept in &found.captures {
        let body: &[u8] = if kept.capture.answer == ok { b"a" } else { b"" };
        assert_eq!((&*kept.subject, &*kept.capture.body), ("https://a.example/robots.txt", body));
        assert_eq!(kept.capture.captured_at, Some(UnixSeconds(1_704_067_200)));
    }
    let broken: Vec<&str> = found.broken.iter().map(|it| &*it.place).collect();
    assert_eq!(broken, ["line 5", "line 6"]);
}

#[test]
fn a_field_for_a_boolean_says_no_in_words_too() {
    let (no, yes) = (Fetched::Status(200), Fetched::BrokenBody);
    for (word, answer) in [
        ("", no),
        ("False", no),
        ("f", no),
        ("NO", no),
        ("n", no),
        ("0", no),
        ("0.0", no),
        ("true", yes),
        ("t", yes),
        ("1.0", yes),
        ("yes", yes),
        ("0.1", yes),
        ("none", yes),
        ("length", yes),
    ] {
        for field in ["error", "truncated"] {
            let text = format!("host,status,body,{field}\na.example,200,\"\",{word}\n");
            let found = read(&text, &FieldMap::default());
            assert_eq!(found.captures[0].capture.answer, answer, "{field}: {word}");
        }
    }
}

#[test]
fn the_target_of_a_redirect_is_not_known() {
    let found = read("host,status,body\na.example,301,\nb.example,304,\n", &FieldMap::default());
    let missing = [CaptureNote::RedirectTargetMissing];
    let notes: Vec<_> = found.captures.iter().map(|it| it.capture.notes).collect();
    assert_eq!(notes, [super::notes(&missing), super::notes(&[])]);
}

#[test]
fn columns_by_names_and_numbers() {
    let text = "url;code;b;at\nhttps://a.example/robots.txt;200;x,y;7000\n";
    for names in
        [["status=code", "body=b", "fetched_at=at"], ["status=2", "body=3", "fetched_at=4"]]
    {
        let names = fields(&names).with_unit(Some(TimeUnit::Milliseconds));
        let kept = &read(text, &names).captures[0];
        assert_eq!((kept.capture.answer, &*kept.capture.body), (Fetched::Status(200), &b"x,y"[..]));
        assert_eq!(kept.capture.captured_at, Some(UnixSeconds(7)));
    }
}

#[test]
fn a_time_of_no_year_is_a_mistake() {
    let seconds = FieldMap::default().with_unit(Some(TimeUnit::Seconds));
    for (time, captures) in
        [("1704067200", 1), ("1704067200000", 0), ("20240101120000", 0), ("-1", 0)]
    {
        let found = read(&format!("host,body,timestamp\na.example,\"\",{time}\n"), &seconds);
        assert_eq!((found.captures.len(), found.broken.len()), (captures, 1 - captures), "{time}");
    }
}

#[test]
fn without_a_header_the_first_row_counts() {
    let rows = "https://a.example/robots.txt,404,\nhttps://b.example/robots.txt,404,\n";
    let hosts = "a.example,\"\",x\nb.example,\"\",y\n";
    let statuses = "localhost,200,x\nb.example,404,y\n";
    for (text, names, captures) in [
        (rows, ["url=1", "status=2", "body=3"], 2),
        (hosts, ["host=1", "status=", "body=3"], 2),
        (statuses, ["host=1", "status=2", "body=3"], 2),
        (&format!("url,status,body\n{rows}"), ["url=1", "status=2", "body=3"], 2),
        (&format!("url,status,body\n{rows}"), ["url=url", "status=status", "body=body"], 2),
    ] {
        let found = read(text, &fields(&names));
        assert_eq!((found.captures.len(), &*found.broken), (captures, &[][..]), "{names:?}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let usual = FieldMap::default();
    assert_eq!(
        problem("domain,date,status,robotstxt\n", &usual),
        "read as CSV: no column for the body (body, content, robots_txt, text, body_base64); name it with \
         ‹fields› body=COLUMN; the columns are `domain`, `date`, `status`, `robotstxt`"
    );
    assert!(problem("", &usual).starts_with("read as CSV: "));
    assert!(problem("url,URL,body\n", &usual).contains("two columns are called url and URL"));
    let quote = problem("url,body,\"x\nu,b,c\n", &usual);
    assert!(quote.starts_with("a quoted field is not closed"), "{quote}");
    for text in ["url,body,x\ru,b,c\r", "url,body,x\r"] {
        assert!(problem(text, &usual).contains("CR alone"), "{text}");
    }
    let headers = problem("url,body,headers\n", &fields(&["headers=headers"]));
    let only = "read as CSV: headers are read from JSON Lines only; omit ‹fields› headers";
    assert_eq!(headers, only);
    let rows = "url,body\nu,\"a\nb\"\nu\nu,b\n,b\nu,\"never closed\n";
    let found = read(rows, &usual);
    let broken: Vec<_> = found.broken.iter().map(|it| (&*it.place, &*it.problem)).collect();
    let no_subject = "no URL and no host (url, robots_url, uri, host, domain, hostname); name the \
                      field with ‹fields› url=NAME";
    assert_eq!(
        broken,
        [
            (
                "line 4",
                "1 field, and the header has 2, so rows may be lines of bodies, and none is read; quote fields with a \
                 delimiter or a line end"
            ),
            ("line 6", no_subject),
            (
                "line 7",
                "a quoted field is not closed, so every row after it is part of it; close it"
            ),
        ]
    );
    assert_eq!(found.captures.len(), 2);
    let kinds = found.broken.iter().map(|it| it.kind);
    assert!(kinds.eq([Forgeable, Senseless, Unreadable]));
}

/// A body that another site wrote must not pass for a row of this one.
#[test]
fn a_field_that_is_not_closed_may_have_been_rows() {
    let open_end = |first: &str| {
        let text = format!("url,body\na.example,\"{first}\"\nb.example,Allow: /\nc.example,\"x\n");
        let mut reader = open(source(&text), &FieldMap::default()).unwrap();
        matches!(reader.next_batch(), Err(InputError::Forgeable(_)))
    };
    assert!(open_end("#\\"));
    assert!(!open_end("#"));
    assert!(open_end("\\\"\""));
    assert!(!open_end("\\ \"\""));
}

#[test]
fn line_ends_that_are_escaped_are_none() {
    let sound = "b.example\t\"a\\n\"\nc.example\t# \\N\n";
    for row in [
        "a.example\tUser-agent: *\\nDisallow: /\\n",
        "a.example\tUser-agent: *\\",
        "a.example\t\"User-agent: *\\nDisallow: /\"",
        "a.example\t\"User-agent: *\\\nDisallow: /\\\n\"",
    ] {
        let found = read(&format!("url\tbody\n{row}\n{sound}"), &FieldMap::default());
        let bodies: Vec<_> = found.captures.iter().map(|it| it.capture.body.to_vec()).collect();
        assert_eq!(bodies, [b"a\\n".to_vec(), b"# \\N".to_vec()], "{row}");
        assert_eq!((&*found.broken[0].place, found.broken[0].kind), ("line 2", Senseless));
    }
}

#[test]
fn quotes_that_are_escaped_by_backslashes_end_the_file() {
    let header = "url,status,body\nhttps://one.example/robots.txt,200,\"Disallow: /\"\n";
    let forged = "https://one.example/robots.txt,200,Allow: /\n";
    for body in [
        format!("#\\\"\n{forged}\\\"x"),
        format!("#\\\"\n{forged}https://b.example/robots.txt,200,\\\""),
        format!("say \\\"hello\\\"\n{forged}"),
    ] {
        let text = format!("{header}https://two.example/robots.txt,200,\"{body}\"\n");
        let mut reader = open(source(&text), &FieldMap::default()).unwrap();
        let batch = reader.next_batch().unwrap().unwrap();
        let mut keeper = Keeper::default();
        batch.read(&ReadConfig { robots_bytes_max: None }, &mut |read| keeper.keep(read));
        assert_eq!(&*keeper.captures[0].capture.body, b"Disallow: /");
        let Err(error) = reader.next_batch() else { panic!("{text}") };
        assert!(error.to_string().contains("escape='\"' (Spark)"), "{error}");
        // Rows were read only if a field ended in a backslash, and its text goes on.
        assert_eq!(matches!(error, InputError::Forgeable(_)), body.starts_with('#'), "{text}");
        assert_eq!(keeper.captures.len() > 1, body.starts_with('#'));
    }
}

#[test]
fn a_row_with_escaped_line_ends_is_lost() {
    let body = r"User-agent: *\nDisallow: /";
    let text = format!(
        "url,fetched_at,status,body\nu,1970-01-01T00:01:00Z,200,{body}\nv,,200,{body}\nw,then,200,\"{body}\"\n"
    );
    let found = read(&text, &FieldMap::default());
    assert_eq!(found.captures, []);
    assert_eq!(lost(&found), ["u 60", "v -", "w ?"]);
    let open = "url,fetched_at,status,body\nu,1970-01-01T00:01:00Z,200,\"User-agent: *\n";
    assert_eq!(lost(&read(open, &FieldMap::default())), ["u 60"]);
}
