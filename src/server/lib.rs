//! Everything of the `berth` binary: configuration, the HTTP server with its doors, the
//! command-line client. It puts the other rooms together and decides nothing itself.

mod aliases;
pub mod auth;
pub mod commands;
mod compress;
pub mod config;
mod cors;
mod failure;
pub mod follow;
mod functions;
mod guest;
pub mod health;
pub mod limits;
pub mod listen;
mod live;
mod metrics;
mod old_pages;
pub mod openapi;
mod pages;
mod proxy;
mod rates;
mod requests;
mod rest;
pub mod router;
mod security;
pub mod site;
pub mod state;
mod streams;
mod terminal;
mod transfer;
mod webhdfs;
