//! The guest: the one static program that Berth puts into every container, at `/.berth/bin/guest`.
//!
//! As the container's first process it runs the task's command ([`run`]) and beside it an SSH
//! server, so that a user gets into any image, be there a shell in it or not. Under the names `ssh`
//! and `scp`, as which it stands at the end of the `PATH`, it is a small client for images that have
//! none. What it does depends on the name it is called by and then on its first argument:
//!
//! | called as | does |
//! |---|---|
//! | `berth-guest run [--config FILE]` | runs the task that [`protocol::guest::GuestConfig`] tells of |
//! | `ssh …`, `berth-guest ssh …` | runs a command in another task |
//! | `scp …`, `berth-guest scp …` | copies files from and to another task |
//! | `berth-guest sftp-server` | serves files on standard input and output |
//! | `berth-guest terminal …` | becomes a program with a terminal of its own |
//!
//! The task's command comes first: nothing that goes wrong in the SSH server ends it.

mod call;
mod children;
mod client;
mod descriptor;
mod environment;
mod folder;
mod launch;
mod lease;
mod limits;
mod memory;
mod names;
mod note;
mod peers;
mod pump;
mod run;
mod scp;
mod server;
mod sftp;
mod signals;
mod spool;
mod terminal;
mod words;

pub use call::main;
