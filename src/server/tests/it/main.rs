//! The doors of the server over real HTTP on a loopback port, with sessions in a real SQLite file.

mod doors;
mod fakes;
mod lifecycle;
mod server;
mod shapes;
mod sign_in;
