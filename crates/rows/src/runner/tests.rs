//! Runs over any number of threads: order, bounds, failures.

mod failures;

use std::io::{self, Cursor, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::*;
use crate::limits::READ_AHEAD_CHUNKS;
use portcullis_files::limits::CHUNK_BYTES;

const THREADS: [usize; 4] = [1, 2, 3, 7];

/// Chunks of a few records, so that a short list has many.
const SMALL: ChunkConfig =
    ChunkConfig { chunk_bytes: 32, record_bytes_max: 100, by_row_group: false, pause: None };

/// The error of a run, or of a sink.
#[derive(Debug)]
enum Failure {
    Run(RunError),
    Sink,
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        Failure::Run(error)
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        Failure::Run(error.into())
    }
}

type Opened = Result<Source, InputError>;

fn config(threads: usize) -> Config<'static> {
    Config { threads, chunks: SMALL, ..Config::default() }
}

fn list(records: usize) -> Vec<u8> {
    (0..records).flat_map(|n| format!("https://example.com/{n}\n").into_bytes()).collect()
}

fn source(bytes: &[u8]) -> Opened {
    let reader = Cursor::new(bytes.to_vec());
    Ok(Source::from_reader("list", reader))
}

/// Tags every record with its length, stops after some of them, and takes longer for some chunks than
/// for later ones.
fn tag(counter: &mut usize, rows: &mut Rows<'_>, out: &mut Vec<u8>) -> Result<(), Failure> {
    *counter += 1;
    let chunk = rows.text().unwrap();
    std::thread::sleep(Duration::from_micros(
        chunk.get(chunk.len() / 2).map_or(0, |&byte| byte as u64 % 5 * 50),
    ));
    out.clear();
    out.push(b'[');
    // A record a block.
    rows.read(usize::MAX, |records| {
        for record in records.iter() {
            write!(out, "{}\t", record.text().len()).unwrap();
            out.extend_from_slice(record.whole());
        }
        Ok::<bool, Failure>(!out.ends_with(b"3\n"))
    })?;
    out.push(b']');
    Ok(())
}

/// Returns everything that the sink received, byte for byte and call by call, and the result.
fn tagged(sources: Vec<Opened>, config: &Config<'_>) -> (Vec<u8>, Result<(), Failure>) {
    let mut written = Vec::new();
    let (mut last, mut is_over) = (None, true);
    let result = run(
        sources,
        config,
        || 0,
        tag,
        |part: &Part<'_>, out: &mut Vec<u8>| {
            assert_eq!(part.is_first, is_over, "the first follows the last");
            let number = last.map_or(0, |last| last + usize::from(is_over));
            assert_eq!(part.number, number);
            (last, is_over) = (Some(number), part.is_last);
            written.extend_from_slice(out);
            Ok(())
        },
    );
    (written, result)
}

#[test]
fn the_output_does_not_depend_on_threads_or_on_how_a_list_is_opened() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("list");
    let mut bytes = list(500);
    bytes.extend(b"\r\n\n\xff\xfe\0\r\nlast");
    std::fs::write(&path, &bytes).unwrap();
    let (expected, result) = tagged(vec![Source::open(&path)], &config(1));
    result.unwrap();
    assert!(expected.iter().filter(|byte| **byte == b'[').count() > 300);
    for threads in THREADS {
        for source in [Source::open(&path), source(&bytes)] {
            let found = tagged(vec![source], &config(threads));
            assert!(found.0 == expected, "{threads} threads");
            found.1.unwrap();
        }
    }
}

#[test]
fn sources_follow_one_another() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("list");
    std::fs::write(&path, list(40)).unwrap();
    let zstd = zstd::encode_all(&list(60)[..], 1).unwrap();
    let sources = || {
        vec![
            source(b""),
            Source::open(&path),
            source(&zstd),
            source(b"no end"),
            source(b""),
            Source::open(&path),
        ]
    };
    let (expected, result) = tagged(sources(), &config(1));
    result.unwrap();
    for (threads, open_ahead) in THREADS.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let progress = AtomicU64::new(0);
        let config = Config { progress: Some(&progress), open_ahead, ..config(threads) };
        let (found, result) = tagged(sources(), &config);
        assert!(found == expected, "{threads} threads");
        let stored = 2 * list(40).len() + zstd.len() + 6;
        assert_eq!(progress.into_inner(), stored as u64);
        result.unwrap();
    }
}

#[test]
fn no_input_is_no_output() {
    for threads in THREADS {
        for sources in [vec![], vec![source(b""), source(b"")]] {
            // An empty input has an empty chunk.
            let chunks = sources.len();
            let (written, result) = tagged(sources, &config(threads));
            result.unwrap();
            assert_eq!(written, b"[]".repeat(chunks));
        }
    }
}

#[test]
fn all_threads_of_the_machine() {
    let (written, result) = tagged(vec![source(&list(50))], &config(0));
    assert!(result.is_ok());
    assert_eq!(written, tagged(vec![source(&list(50))], &config(1)).0);
}

#[test]
fn a_slow_pipe() {
    for threads in [1, 2] {
        let (reader, mut writer) = io::pipe().unwrap();
        let feeder = std::thread::spawn(move || {
            for bytes in list(20).chunks(7) {
                writer.write_all(bytes).unwrap();
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        let source = Source::from_reader("pipe", reader);
        let (written, _) = tagged(vec![Ok(source)], &config(threads));
        feeder.join().unwrap();
        assert_eq!(written, tagged(vec![self::source(&list(20))], &config(1)).0);
    }
}

#[test]
fn chunks_are_written_while_a_later_pipe_is_silent() {
    for threads in [1, 2] {
        let (reader, writer) = io::pipe().unwrap();
        let silent = Source::from_reader("pipe", reader);
        let mut writer = Some(writer);
        let mut seen = 0;
        let result = run(
            [source(b"one\n"), Ok(silent)],
            &config(threads),
            || (),
            |(), _, _: &mut ()| Ok(()),
            |_, ()| {
                seen += 1;
                // The pipe ends only now: a run that waited for it would never get here.
                writer = None;
                Ok::<(), Failure>(())
            },
        );
        // The second is the empty chunk of the pipe.
        result.unwrap();
        assert_eq!(seen, 2);
    }
}

#[test]
fn memory_is_bounded_by_chunks_in_flight() {
    for threads in THREADS {
        let begun = AtomicUsize::new(0);
        let scratches = AtomicUsize::new(0);
        let mut written = 0;
        let mut in_flight_most = 0;
        run(
            [source(&list(300))],
            &config(threads),
            || scratches.fetch_add(1, Ordering::SeqCst),
            |_, _, _: &mut ()| {
                begun.fetch_add(1, Ordering::SeqCst);
                Ok(())
            },
            |_, ()| {
                // A slow sink lets the threads run as far ahead as the bound allows.
                std::thread::sleep(Duration::from_micros(300));
                in_flight_most = in_flight_most.max(begun.load(Ordering::SeqCst) - written);
                written += 1;
                Ok::<(), Failure>(())
            },
        )
        .unwrap();
        let bound = match threads {
            1 => 1,
            _ => threads * IN_FLIGHT_CHUNKS_PER_THREAD,
        };
        assert!(in_flight_most <= bound, "{in_flight_most} of {bound}");
        assert!(scratches.into_inner() <= threads);
    }
}

#[test]
fn a_stream_is_read_ahead_no_further_than_the_bound() {
    struct Counting(&'static AtomicUsize, Cursor<Vec<u8>>);
    impl Read for Counting {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.1.read(out)?;
            self.0.fetch_add(count, Ordering::SeqCst);
            Ok(count)
        }
    }
    // A stream reads a chunk of the usual size at once, so smaller ones would show nothing.
    let chunks = ChunkConfig { chunk_bytes: CHUNK_BYTES, record_bytes_max: CHUNK_BYTES, ..SMALL };
    let list = list(1_500_000);
    for threads in [1, 2] {
        let read: &'static AtomicUsize = Box::leak(Box::default());
        let reader = Counting(read, Cursor::new(list.clone()));
        let source = Source::from_reader("list", reader);
        let mut written = 0;
        let mut ahead_most = 0;
        run(
            [Ok(source)],
            &Config { chunks, ..config(threads) },
            || (),
            |(), rows, bytes: &mut usize| {
                *bytes = rows.text().unwrap().len();
                Ok(())
            },
            |_, bytes| {
                std::thread::sleep(Duration::from_micros(200));
                ahead_most = ahead_most.max(read.load(Ordering::SeqCst) - written);
                written += *bytes;
                Ok::<(), Failure>(())
            },
        )
        .unwrap();
        // In flight, read ahead, and the one being assembled.
        let at_once = threads * IN_FLIGHT_CHUNKS_PER_THREAD + READ_AHEAD_CHUNKS + 1;
        let bound = at_once * (CHUNK_BYTES + 1);
        assert!(bound < list.len() && ahead_most <= bound, "{ahead_most} of {bound}");
    }
}

#[test]
fn long_records_count_as_several_chunks() {
    let long = [&b"https://a.example/"[..], &b"x".repeat(72), b"\n"].concat().repeat(60);
    let begun = AtomicUsize::new(0);
    let mut written = 0;
    let mut most = 0;
    run(
        [source(&long)],
        &config(4),
        || (),
        |(), _, (): &mut ()| {
            begun.fetch_add(1, Ordering::SeqCst);
            Ok(())
        },
        |_, ()| {
            std::thread::sleep(Duration::from_micros(500));
            most = most.max(begun.load(Ordering::SeqCst) - written);
            written += 1;
            Ok::<(), Failure>(())
        },
    )
    .unwrap();
    assert_eq!(written, 60);
    // Each counts as three, and the last one handed out may pass the bound.
    assert!(most <= 4 * IN_FLIGHT_CHUNKS_PER_THREAD / 3 + 1, "{most}");
}

#[test]
fn outputs_come_back_as_the_sink_left_them() {
    for threads in THREADS {
        let made = AtomicUsize::new(0);
        run(
            [source(&list(300))],
            &config(threads),
            || (),
            |(), _, output: &mut Vec<u8>| {
                if output.capacity() == 0 {
                    made.fetch_add(1, Ordering::SeqCst);
                }
                assert!(output.is_empty());
                output.push(1);
                Ok(())
            },
            |_, output| {
                output.clear();
                Ok::<(), Failure>(())
            },
        )
        .unwrap();
        assert!(made.into_inner() <= threads * IN_FLIGHT_CHUNKS_PER_THREAD);
    }
}

#[test]
fn work_goes_on_while_the_sink_writes() {
    let busy = AtomicBool::new(false);
    let mut overlapped = false;
    run(
        [source(&list(300))],
        &config(2),
        || (),
        |(), _, (): &mut ()| {
            busy.store(true, Ordering::SeqCst);
            Ok(())
        },
        |_, ()| {
            busy.store(false, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(1));
            overlapped |= busy.load(Ordering::SeqCst);
            Ok::<(), Failure>(())
        },
    )
    .unwrap();
    assert!(overlapped);
}
