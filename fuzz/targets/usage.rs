#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| portcullis_fuzz::usage(data));

#[cfg(not(fuzzing))]
fn main() {
    portcullis_fuzz::replay(portcullis_fuzz::usage);
}
