//! Writes the seed corpus of every target: `seeds FOLDER` writes `FOLDER/TARGET/NUMBER`.

#[path = "../seeds/mod.rs"]
mod seeds;

use std::collections::BTreeSet;
use std::path::Path;

use seeds::Seeds;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: seeds FOLDER");
        std::process::exit(2);
    };
    let seeds = Seeds::of_project(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let of_targets: [(&str, &BTreeSet<Vec<u8>>); 6] = [
        ("parse", &seeds.parse),
        ("normalise", &seeds.normalise),
        ("decide", &seeds.decide),
        ("usage", &seeds.usage),
        ("dictionary", &seeds.dictionary),
        ("split", &seeds.split),
    ];
    for (target, seeds) in of_targets {
        let folder = Path::new(&folder).join(target);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("{number:05}")), seed)?;
        }
        println!("{} seeds in {}", seeds.len(), folder.display());
    }
    Ok(())
}
