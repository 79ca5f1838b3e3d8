//! What the address asks for.

use api::compare::MOST;
use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use protocol::ids::JobKey;

use crate::address;
use crate::live::Live;

/// Which jobs, and whether all that their files say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) jobs: Vec<String>,
    pub(super) all: bool,
}

impl Wanted {
    pub(super) fn read(params: &ParamsMap) -> Self {
        let mut jobs = params.get_all("job").unwrap_or_default();
        jobs.retain(|job| !job.trim().is_empty());
        Self { jobs, all: params.get("all").as_deref() == Some("1") }
    }

    /// The same without one of them.
    pub(super) fn without(&self, job: &str) -> String {
        let name = job.rsplit('~').next().unwrap_or(job);
        let is_it = |each: &str| each == job || !each.contains('~') && each == name;
        let jobs = self.jobs.iter().map(String::as_str).filter(|each| !is_it(each));
        address::compare(jobs, self.all)
    }

    /// The same jobs, with all that their files say or only with what differs.
    pub(super) fn showing(&self, all: bool) -> String {
        address::compare(self.jobs.iter().map(String::as_str), all)
    }

    /// Whether no more can be compared.
    pub(super) fn is_full(&self) -> bool {
        self.jobs.len() >= MOST
    }

    /// Counts what changes of them.
    pub(super) fn changes(&self, live: Live) -> u64 {
        let keys = self.jobs.iter().filter_map(|job| job.parse::<JobKey>().ok());
        keys.map(|key| live.job(&key).get()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(jobs: &[&str]) -> Wanted {
        Wanted { jobs: jobs.iter().map(|job| (*job).to_owned()).collect(), all: false }
    }

    #[test]
    fn jobs_are_read_from_the_address_and_taken_out_of_it() {
        let mut params = ParamsMap::new();
        for job in ["ada~a", "", "b"] {
            params.insert("job", job.to_owned());
        }
        let read = Wanted::read(&params);
        assert_eq!(read, wanted(&["ada~a", "b"]));
        assert_eq!(read.without("ada~a"), "/compare?job=b");
        assert_eq!(read.without("ada~b"), "/compare?job=ada~a", "one's own, by its name alone");
        assert_eq!(read.showing(true), "/compare?job=ada~a&job=b&all=1");
    }
}
