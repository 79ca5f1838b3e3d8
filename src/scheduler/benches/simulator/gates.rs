//! What figures are to reach, and whether they did.

use std::sync::Mutex;

/// What a figure is to be.
#[derive(Debug, Clone, Copy)]
enum Gate {
    AtLeast(f64),
    AtMost(f64),
}

use Gate::{AtLeast, AtMost};

/// The gates by figure, or by the end of its name where it begins with a dot. Speeds are a tenth below those that `README.md` says were measured; where nothing is
/// said of a figure, it only informs.
const GATES: [(&str, Gate); 28] = [
    // Better than fragmentation gradient descent as published: 95.23 % and 95.39 %.
    ("openb.alloc100", AtLeast(95.6)),
    ("openb.alloc130", AtLeast(95.9)),
    // Where tasks insist on types.
    ("openb_wishes.beyond_fgd100", AtLeast(1.0)),
    ("openb.placements", AtLeast(127_800.0)),
    ("nodes100.placements", AtLeast(47_400.0)),
    ("nodes1000.placements", AtLeast(31_500.0)),
    ("nodes10000.placements", AtLeast(17_600.0)),
    ("nodes100.fill", AtLeast(130_500.0)),
    ("nodes1000.fill", AtLeast(136_800.0)),
    ("nodes10000.fill", AtLeast(126_900.0)),
    ("nodes100.dry_run", AtMost(0.11)),
    ("nodes1000.dry_run", AtMost(0.25)),
    ("nodes10000.dry_run", AtMost(0.8)),
    ("nodes100.explain", AtMost(0.08)),
    ("nodes1000.explain", AtMost(0.21)),
    ("nodes10000.explain", AtMost(0.8)),
    ("nodes10000.slowest_pass", AtMost(20.0)),
    ("nodes10000.flap", AtMost(10.0)),
    ("nodes10000.flap_max", AtMost(10.0)),
    ("nodes10000.admit", AtMost(1_000.0)),
    ("gang4.tasks", AtLeast(250_000.0)),
    // A third each, to within a few hundredths.
    ("users.jain", AtLeast(0.99)),
    ("users_decayed.jain", AtLeast(0.99)),
    // Half of its own run, and what was there by then.
    ("gang.wait_of_run", AtMost(0.6)),
    ("philly0.5.mean_queue", AtMost(189.0)),
    ("philly0.25.mean_queue", AtMost(2_821.0)),
    (".sharing_loss.max", AtMost(0.0)),
    (".sharing_loss_p99.max", AtMost(0.0)),
];

/// How many figures had a gate, and the names of those that missed it.
static SEEN: Mutex<(usize, Vec<String>)> = Mutex::new((0, Vec::new()));

impl Gate {
    /// Figures are printed, and judged, to hundredths.
    fn admits(self, value: f64) -> bool {
        let shown = (value * 100.0).round() / 100.0;
        match self {
            AtLeast(least) => shown >= least,
            AtMost(most) => shown <= most,
        }
    }

    fn words(self) -> String {
        match self {
            AtLeast(least) => format!("at least {least}"),
            AtMost(most) => format!("at most {most}"),
        }
    }
}

/// What is said behind a figure: nothing where it has no gate.
pub(crate) fn beside(name: &str, value: f64) -> String {
    let is_it = |of: &str| of == name || (of.starts_with('.') && name.ends_with(of));
    let Some((_, gate)) = GATES.iter().find(|(of, _)| is_it(of)) else { return String::new() };
    let admits = gate.admits(value);
    if let Ok(mut seen) = SEEN.lock() {
        seen.0 += 1;
        if !admits {
            seen.1.push(name.to_owned());
        }
    }
    format!(" ({}: {})", gate.words(), if admits { "met" } else { "missed" })
}

/// How many gates were met; as an error, which were missed.
pub(crate) fn sum() -> Result<String, String> {
    let seen = SEEN.lock().map_err(|_poisoned| "nobody counted the gates".to_owned())?;
    let (all, missed) = (seen.0, &seen.1);
    let met = all - missed.len();
    match missed.as_slice() {
        [] => Ok(format!("{met} of {all} gates are met")),
        missed => Err(format!("{met} of {all} gates are met; missed: {}", missed.join(", "))),
    }
}
