//! Every dialect's own example, and what is wrong with files that are wrong.

mod any;
mod bad;
mod good;
mod mistakes;
mod mutated;
mod openpai;
mod plugins;
mod storages;

/// How many inputs a property is tried with: so many, or as many as `BERTH_CASES` says.
fn cases(usual: u32) -> u32 {
    std::env::var("BERTH_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}
