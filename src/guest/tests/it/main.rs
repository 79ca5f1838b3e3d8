//! The guest as a process, against the clients that people use.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod bare;
mod client;
mod enter;
mod files;
mod forward;
mod guest;
mod lease;
mod peers;
mod run;
mod session;
