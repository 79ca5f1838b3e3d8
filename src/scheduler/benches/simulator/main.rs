//! Replays traces and made-up loads through the scheduler that the server runs, in virtual time,
//! and prints one line a figure: `name value unit`, behind it what the figure is to reach and whether it did,
//! and at the end which did not; then it fails.
//!
//! `cargo bench -p scheduler [-- NAME…]`; the traces come from the folder in `BERTH_TRACES`, or from
//! `../shared/traces` beside the repository. `--nodes CSV --pods CSV --arrivals FILE` replays other
//! files of openb's form instead, `--philly DIR` and `--helios DIR` those of Philly's and Helios' form in a
//! folder, with a past of users that counts with `--half-life HOURS`; `--plots DIR` leaves SVG files there.

mod fairness;
mod figures;
mod gates;
mod jobs;
mod openb;
mod philly;
mod plot;
mod rivals;
mod synthetic;
mod traces;

use std::path::PathBuf;

/// What the command line asks for.
#[derive(Debug, Default)]
struct Options {
    names: Vec<String>,
    nodes: Option<PathBuf>,
    pods: Option<PathBuf>,
    arrivals: Option<PathBuf>,
    philly: Option<PathBuf>,
    helios: Option<PathBuf>,
    plots: Option<PathBuf>,
    /// Of what users had, in replays of traces; 0: it does not count.
    half_life_ms: i64,
}

impl Options {
    fn read() -> Result<Self, String> {
        let mut options = Self::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().ok_or_else(|| format!("{argument} needs something behind it"));
            let mut path = || Ok::<_, String>(Some(PathBuf::from(value()?)));
            match argument.as_str() {
                "--nodes" => options.nodes = path()?,
                "--pods" => options.pods = path()?,
                "--arrivals" => options.arrivals = path()?,
                "--philly" => options.philly = path()?,
                "--helios" => options.helios = path()?,
                "--plots" => options.plots = path()?,
                "--half-life" => {
                    let hours: i64 = value()?.parse().map_err(|_| "no hours: --half-life")?;
                    options.half_life_ms = hours * 3_600_000;
                }
                // Cargo's own.
                "--bench" => {}
                unknown if unknown.starts_with('-') => return Err(format!("unknown: {unknown}")),
                name => options.names.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    /// Whether measurements of this name are wanted.
    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }
}

fn main() {
    if let Err(error) = Options::read().and_then(|options| run(&options)) {
        eprintln!("{error}");
        std::process::exit(2);
    }
    match gates::sum() {
        Ok(said) => println!("{said}"),
        Err(said) => {
            println!("{said}");
            std::process::exit(1);
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    if let (Some(nodes), Some(pods), Some(arrivals)) =
        (&options.nodes, &options.pods, &options.arrivals)
    {
        let workload = openb::Workload::read(nodes, pods)?;
        return openb::replay_all(
            "trace",
            &workload,
            std::slice::from_ref(arrivals),
            options.plots.as_deref(),
        );
    }
    if let Some(folder) = &options.philly {
        return philly::other(folder, options.half_life_ms, options.plots.as_deref());
    }
    if let Some(folder) = &options.helios {
        return philly::helios(folder, options.half_life_ms, options.plots.as_deref());
    }
    if options.wants("openb") {
        match traces::folder("openb") {
            Ok(folder) => openb::published(&folder, options.plots.as_deref())?,
            Err(absent) => eprintln!("openb is left out: {absent}"),
        }
    }
    for nodes in [100, 1_000, 10_000] {
        if options.wants(&format!("nodes{nodes}")) {
            synthetic::placements(nodes);
        }
    }
    if options.wants("gang4") {
        synthetic::gangs();
    }
    if options.wants("users") {
        fairness::users();
    }
    if options.wants("gang") {
        fairness::gang();
    }
    if options.wants("memory") {
        synthetic::memory();
    }
    if options.wants("philly") {
        match traces::folder("philly") {
            Ok(folder) => philly::published(&folder, options.plots.as_deref())?,
            Err(absent) => eprintln!("philly is left out: {absent}"),
        }
    }
    if options.wants("philly_spread") {
        match traces::folder("philly") {
            Ok(folder) => philly::spread(&folder)?,
            Err(absent) => eprintln!("philly_spread is left out: {absent}"),
        }
    }
    Ok(())
}
