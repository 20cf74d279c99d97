//! Writes the seed corpus of every target: `seeds FOLDER` writes `FOLDER/TARGET/NUMBER`.

#[path = "../seeds/mod.rs"]
mod seeds;

use std::path::Path;

use seeds::Seeds;

fn main() -> std::io::Result<()> {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("usage: seeds FOLDER");
        std::process::exit(2);
    };
    let seeds = Seeds::from_project(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    for (target, seeds) in seeds.0 {
        let folder = Path::new(&folder).join(target);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("{number:05}")), seed)?;
        }
        println!("{} seeds in {}", seeds.len(), folder.display());
    }
    Ok(())
}
