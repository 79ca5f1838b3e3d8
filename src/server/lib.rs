//! Everything of the `berth` binary: configuration, the HTTP server with its doors, the
//! command-line client. It puts the other rooms together and decides nothing itself.

pub mod auth;
pub mod commands;
pub mod config;
pub mod demo;
mod failure;
mod guest;
pub mod health;
pub mod listen;
mod live;
mod metrics;
mod pages;
mod proxy;
mod requests;
mod rest;
pub mod router;
mod security;
pub mod site;
pub mod state;
mod terminal;
mod transfer;
mod webhdfs;
