//! What control knows: of the cluster, of jobs that have not ended, of how long others took, and what
//! it was told to go by. It acts on no engine, and knows no files and no secrets.

pub(crate) mod active;
pub(crate) mod asked_gpus;
pub(crate) mod checks;
pub(crate) mod cluster;
pub(crate) mod damage;
pub(crate) mod engine_calls;
pub(crate) mod faults;
pub(crate) mod gpus;
pub(crate) mod half_life;
pub(crate) mod idling;
pub(crate) mod lately;
pub(crate) mod leases;
pub(crate) mod loads;
pub(crate) mod members;
pub(crate) mod metrics;
pub(crate) mod observations;
pub(crate) mod own_engines;
pub(crate) mod own_failures;
pub(crate) mod passes;
pub(crate) mod portal;
pub(crate) mod posted;
pub(crate) mod promises;
pub(crate) mod quarantine;
pub(crate) mod queue;
pub(crate) mod refresh;
pub(crate) mod retention;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod sightings;
pub(crate) mod swept;
pub(crate) mod told;
pub(crate) mod unkilled;
