//! `berth login`, `token` and `users`.

use std::io::{BufRead, IsTerminal, Write};
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::client::{self, Client};
use super::table::print_json;
use super::{CommandError, Common, Outcome, text};

#[derive(Debug, Args)]
pub(super) struct Login {
    /// Who
    user: String,
    #[command(flatten)]
    common: Common,
}

impl Login {
    pub(super) fn run(self) -> Outcome {
        let client = Client::guest(&self.common);
        let token = token(&client, &self.user, LONGEST)?;
        let login = client::Login { server: client.server.clone(), user: self.user, token };
        login.write()?;
        text::say(format_args!("signed in at {} as {}", login.server, login.user));
        Ok(())
    }
}

/// A week, in seconds: the longest that a token lives.
const LONGEST: u64 = 604_800;

#[derive(Debug, Args)]
pub(super) struct Token {
    /// Who
    user: String,
    /// How long it lives, in seconds
    #[arg(long, default_value_t = LONGEST)]
    expiration: u64,
    #[command(flatten)]
    common: Common,
}

impl Token {
    pub(super) fn run(self) -> Outcome {
        let token = token(&Client::guest(&self.common), &self.user, self.expiration)?;
        if self.common.json {
            return print_json(&json!({ "token": token }));
        }
        text::say(token);
        Ok(())
    }
}

fn token(client: &Client, user: &str, expiration: u64) -> anyhow::Result<String> {
    let password = password(&format!("Password of {user}: "))?;
    let body = json!({ "username": user, "password": password, "expiration": expiration });
    let answer = client.post("/api/v1/token", &body)?;
    let token = answer["token"].as_str();
    let token = token.ok_or_else(|| CommandError::new("the server gave no token"))?;
    Ok(token.to_owned())
}

#[derive(Debug, Args)]
pub(super) struct Users {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Lists users
    List,
    /// Adds a user; the password is asked for, or read from standard input
    Add {
        /// The name
        name: String,
        /// Makes an administrator
        #[arg(long)]
        admin: bool,
    },
}

impl Users {
    pub(super) fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        match self.what.unwrap_or(What::List) {
            What::List => list(&client, self.common.json),
            What::Add { name, admin } => {
                let password = password(&format!("Password for {name}: "))?;
                let body = json!({ "username": name, "password": password, "admin": admin });
                let answer = client.post("/api/v2/users", &body)?;
                if self.common.json {
                    return print_json(&answer);
                }
                text::say(format_args!("added {name}"));
                Ok(())
            }
        }
    }
}

fn list(client: &Client, json: bool) -> Outcome {
    let users: Vec<Value> = client.get("/api/v2/users")?;
    if json {
        return print_json(&users);
    }
    let rows: Vec<_> = users
        .iter()
        .map(|user| {
            let clusters = user["virtualCluster"].as_array().into_iter().flatten();
            let clusters: Vec<_> = clusters.filter_map(Value::as_str).collect();
            let admin = if user["admin"].as_bool() == Some(true) { "yes" } else { "no" };
            vec![
                user["username"].as_str().unwrap_or_default().to_owned(),
                admin.to_owned(),
                clusters.join(", "),
            ]
        })
        .collect();
    text::table(&["USER", "ADMINISTRATOR", "VIRTUAL CLUSTERS"], &rows);
    Ok(())
}

/// Asks for a password; a terminal does not show it.
fn password(prompt: &str) -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    let terminal = stdin.is_terminal();
    if terminal {
        eprint!("{prompt}");
        std::io::stderr().flush()?;
        echo(false);
    }
    let mut line = String::new();
    let read = stdin.lock().read_line(&mut line);
    if terminal {
        echo(true);
        eprintln!();
    }
    read?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// Switches the terminal's echo; where `stty` is missing it stays on.
fn echo(on: bool) {
    let word = if on { "echo" } else { "-echo" };
    let _status = Command::new("stty").arg(word).stdin(Stdio::inherit()).status();
}
