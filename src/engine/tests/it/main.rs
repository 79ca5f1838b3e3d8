//! The engines against the real thing: Docker Engines started here, and the simulated twin, which
//! keeps the same contract.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod ascend;
mod cdi;
mod certificates;
mod contract;
mod docker;
mod dockerd;
mod endpoints;
mod filling;
mod image;
mod machine;
mod nvidia;
mod podman;
mod simulated;
