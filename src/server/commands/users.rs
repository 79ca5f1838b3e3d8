//! `berth login`, `token` and `users`.

use std::io::{BufRead, IsTerminal, Write};
use std::process::{Command, Stdio};

use clap::{Args, Subcommand};
use protocol::ids::VirtualClusterName;
use serde_json::json;

use super::client::{self, Client};
use super::outcome::Outcome;
use super::reach::Common;
use super::text;
use super::words::Words;
use crate::rest::message::Message;
use crate::rest::token;
use crate::rest::v2::users::{Creation, UserWire};

#[derive(Debug, Args)]
pub(super) struct Login {
    /// Who
    user: String,
    /// Asks for a new password, too: one that somebody else has set is good for that alone
    #[arg(long)]
    new_password: bool,
    #[command(flatten)]
    common: Common,
}

impl Login {
    pub(super) fn run(self) -> Outcome {
        let client = Client::guest(&self.common);
        let token = token(&client, &self.user, LONGEST, self.new_password)?;
        let login = client::Login { server: client.server.clone(), user: self.user, token };
        login.write()?;
        text::say((client.words().signed_in)(&login.server, &login.user));
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
        let token = token(&Client::guest(&self.common), &self.user, self.expiration, false)?;
        if self.common.json {
            return text::json(&json!({ "token": token }));
        }
        text::say(token);
        Ok(())
    }
}

fn token(
    client: &Client,
    user: &str,
    expiration: u64,
    with_new_password: bool,
) -> anyhow::Result<String> {
    let words = client.words();
    let old = password(&(words.password_of)(user))?;
    let new = with_new_password.then(|| password(&(words.new_password_of)(user)));
    let request = token::Request {
        username: user.to_owned(),
        password: old,
        expiration: Some(token::Seconds::Number(expiration)),
        new_password: new.transpose()?,
    };
    let answer: token::Answer = client.post("/api/v1/token", &request)?;
    Ok(answer.token)
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
        /// Lets the password be good for nothing but choosing another one
        #[arg(long)]
        temporary: bool,
    },
}

impl Users {
    pub(super) fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        let words = client.words();
        match self.what.unwrap_or(What::List) {
            What::List => client.show(&self.common, "/api/v2/users", |users: Vec<UserWire>| {
                let rows: Vec<_> = users.iter().map(|user| row(user, words)).collect();
                text::table(&words.users_heading, &rows);
            }),
            What::Add { name, admin, temporary } => {
                let password = password(&(words.password_for)(&name))?;
                let username = name;
                let user = Creation { username, password, admin, temporary, ..Creation::default() };
                let answer: Message = client.post("/api/v2/users", &user)?;
                if self.common.json {
                    return text::json(&answer);
                }
                text::say((words.added)(&user.username));
                Ok(())
            }
        }
    }
}

fn row(user: &UserWire, words: &Words) -> Vec<String> {
    let clusters: Vec<_> = user.virtual_cluster.iter().map(VirtualClusterName::as_str).collect();
    vec![
        user.username.to_string(),
        if user.admin { words.yes } else { words.no }.to_owned(),
        clusters.join(", "),
    ]
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

#[cfg(test)]
mod tests {
    use app::i18n::Language;

    use super::*;
    use crate::commands::client::tests::seen;
    use crate::commands::words::words;

    #[test]
    fn a_user_has_a_row() {
        let users: Vec<UserWire> = serde_json::from_value(seen("v2_users")).unwrap();
        assert_eq!(row(&users[0], words(Language::English)), ["alice", "no", "default"]);
        assert_eq!(row(&users[0], words(Language::Chinese)), ["alice", "否", "default"]);
    }
}
