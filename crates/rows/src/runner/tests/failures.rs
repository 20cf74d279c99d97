//! Runs that fail in the sink, in a reader or in the work.

use std::sync::mpsc;

use super::*;

#[test]
fn a_sink_that_fails_ends_the_run() {
    for threads in THREADS {
        let mut calls = 0;
        let result = run(
            [source(&list(1000))],
            &config(threads),
            || 0,
            tag,
            |_, _: &mut Vec<u8>| {
                calls += 1;
                match calls {
                    3 => Err(Failure::Sink),
                    _ => Ok(()),
                }
            },
        );
        assert!(matches!(result, Err(Failure::Sink)));
        assert_eq!(calls, 3, "a sink that has failed is not called again");
    }
}

#[test]
fn a_sink_that_fails_does_not_wait_for_a_silent_pipe() {
    for threads in [1, 2] {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(&list(20)).unwrap();
        let source = Source::from_reader("pipe", reader);
        let result =
            run([Ok(source)], &config(threads), || 0, tag, |_, _: &mut Vec<u8>| Err(Failure::Sink));
        assert!(matches!(result, Err(Failure::Sink)));
        // The pipe was open all the time.
        drop(writer);
    }
}

/// Bytes, followed by an error of the system.
fn failing_source(bytes: &[u8]) -> Opened {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the cable is cut"))
        }
    }
    let reader = Cursor::new(bytes.to_vec()).chain(Broken);
    Ok(Source::from_reader("pipe", reader))
}

#[test]
fn a_read_error_follows_the_chunks_before_it() {
    let whole = list(100);
    let cut_short = &whole[..whole.len() - 3];
    let last = whole[..whole.len() - 1].iter().rposition(|&byte| byte == b'\n');
    let (expected, _) = tagged(vec![source(&whole[..=last.unwrap()])], &config(1));
    for threads in THREADS {
        let (written, result) =
            tagged(vec![failing_source(cut_short), source(b"never read\n")], &config(threads));
        assert!(written == expected, "{threads} threads");
        let Err(Failure::Run(RunError::Input(error))) = result else { panic!("{threads} threads") };
        assert!(error.to_string().starts_with("cannot read pipe "), "{error}");
    }
}

#[test]
fn an_open_error_follows_the_sources_before_it() {
    let missing = || Source::open("no/such/list".as_ref());
    let (expected, _) = tagged(vec![source(&list(50))], &config(1));
    for threads in THREADS {
        for open_ahead in [false, true] {
            let sources = vec![source(&list(50)), missing(), source(&list(50))];
            let (written, result) = tagged(sources, &Config { open_ahead, ..config(threads) });
            assert!(written == expected);
            assert!(matches!(result, Err(Failure::Run(RunError::Input(InputError::Open { .. })))));
        }
    }
}

/// Returns the message of the panic that `run` ends with.
fn panic_message(run: impl FnOnce() + Send + 'static) -> String {
    // On a thread of its own, so that a run that hangs fails the test.
    let (sender, receiver) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let _sender = sender;
        run();
    });
    let ended = receiver.recv_timeout(Duration::from_secs(60));
    assert_eq!(ended, Err(mpsc::RecvTimeoutError::Disconnected), "it hangs");
    let panic = thread.join().unwrap_err();
    (*panic.downcast_ref::<&str>().unwrap()).to_owned()
}

#[test]
fn panics_propagate() {
    struct Panicking;
    impl Read for Panicking {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("in the reader")
        }
    }
    for threads in THREADS {
        let work = panic_message(move || {
            let work = |(): &mut (), rows: &mut Rows<'_>, (): &mut ()| {
                assert!(
                    !rows.text().unwrap().starts_with(b"https://example.com/20"),
                    "in the work"
                );
                Ok::<(), Failure>(())
            };
            run([source(&list(500))], &config(threads), || (), work, |_, ()| Ok(())).ok();
        });
        assert_eq!(work, "in the work");
        let sink = panic_message(move || {
            let sink = |_: &Part<'_>, _: &mut Vec<u8>| panic!("in the sink");
            run([source(&list(500))], &config(threads), || 0, tag, sink).ok();
        });
        assert_eq!(sink, "in the sink");
        let scratch = panic_message(move || {
            let scratch = || panic!("in the scratch");
            run([source(&list(500))], &config(threads), scratch, tag, |_, _| Ok(())).ok();
        });
        assert_eq!(scratch, "in the scratch");
        let reader = panic_message(move || {
            let source = Source::from_reader("pipe", Panicking);
            tagged(vec![self::source(&list(50)), Ok(source)], &config(threads)).1.ok();
        });
        assert_eq!(reader, "in the reader");
    }
}
