//! Lines over time as SVG.

use std::fmt::Write;
use std::path::Path;

/// A line of a plot.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 300.0;
const COLOURS: [&str; 6] = ["#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#475569"];

/// Writes a plot.
pub(crate) fn plot(path: &Path, title: &str, lines: &[Line]) -> Result<(), String> {
    let all = || lines.iter().flat_map(|line| &line.points);
    let most = |of: fn(&(f64, f64)) -> f64| all().map(of).fold(f64::MIN_POSITIVE, f64::max);
    let (right, top) = (most(|point| point.0), most(|point| point.1));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-60 -40 {} {}\" font-family=\"sans-serif\" \
         font-size=\"12\"><text y=\"-20\">{title}</text>\
         <path d=\"M0 0V{HEIGHT}H{WIDTH}\" fill=\"none\" stroke=\"#64748b\"/>\
         <text x=\"-8\" y=\"10\" text-anchor=\"end\">{top:.0}</text>\
         <text x=\"{WIDTH}\" y=\"{}\" text-anchor=\"end\">{right:.0}</text>\n",
        WIDTH + 220.0,
        HEIGHT + 80.0,
        HEIGHT + 18.0,
    );
    for (number, line) in lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let mut points = String::new();
        for (x, y) in &line.points {
            let (x, y) = (x / right * WIDTH, HEIGHT - y / top * HEIGHT);
            write!(points, "{x:.1},{y:.1} ").map_err(|error| error.to_string())?;
        }
        writeln!(
            svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            WIDTH + 8.0,
            14.0 * (number as f64 + 1.0),
            line.name,
        )
        .map_err(|error| error.to_string())?;
    }
    svg.push_str("</svg>\n");
    std::fs::write(path, svg).map_err(|error| format!("{}: {error}", path.display()))
}
