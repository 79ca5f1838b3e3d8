//! Everything of the `berth` binary: configuration, the HTTP server with its doors, the
//! command-line client. It puts the other rooms together and decides nothing itself.

mod aliases;
pub mod auth;
mod change_log;
pub mod commands;
mod compress;
pub mod config;
mod cors;
mod error_body;
mod failure;
pub mod follow;
mod functions;
mod guest;
pub mod health;
mod layers;
pub mod limits;
pub mod listen;
mod live;
mod metrics;
mod old_pages;
pub mod openapi;
mod pages;
mod probe;
mod proxy;
mod rates;
mod rest;
pub mod router;
pub mod site;
pub mod state;
mod streams;
mod task_hosts;
mod terminal;
mod transfer;
mod webhdfs;
