//! Every dialect's own example, and what is wrong with files that are wrong.

mod any;
mod bad;
mod good;
mod mistakes;
