//! The life of a job as a pure function: what is wanted, what is recorded and what is observed go
//! in; what to record and what to do come out.
//!
//! [`decide`] looks at one job that holds a place. It is called again and again; each call moves
//! the job by what is certain now, and a crash between any two steps heals in the next call.

pub mod completion;
mod decide;
pub mod explain;
pub mod idle;
pub mod model;
pub mod retry;

pub use decide::decide;
