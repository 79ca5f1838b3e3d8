//! `berth migrate`: from SQLite to PostgreSQL.

use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use database::copies;

use super::backup::staging::Staging;
use super::installation::{Installation, wait};
use super::outcome::Outcome;
use super::text;

#[derive(Debug, Args)]
pub(super) struct Migrate {
    /// The SQLite database, which stays as it is [default: berth.db in the data folder]
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    installation: Installation,
}

impl Migrate {
    pub(super) fn run(self) -> Outcome {
        let config = self.installation.read()?;
        let to = config.database_url();
        if to.starts_with("sqlite:") {
            bail!(
                "database.url: write the empty PostgreSQL database into the configuration first, as \
                 in postgres://berth@db.example.org/berth"
            );
        }
        let from = self.from.unwrap_or_else(|| config.data.join("berth.db"));
        let staging = Staging::new(config.data.join("migrating"))?;
        let between = staging.path("berth.db");
        let moved = wait(async {
            let moved = copies::migrate(&from, &between, &to).await;
            moved.context("nothing was moved, and the SQLite database is as it was")
        })?;
        let rows = moved.rows.iter().map(|(table, rows)| vec![table.clone(), rows.to_string()]);
        text::table(&["TABLE", "ROWS"], &rows.collect::<Vec<_>>());
        text::say(format_args!(
            "All of it is in PostgreSQL now. {} stays as it was; start the server.",
            from.display()
        ));
        Ok(())
    }
}
