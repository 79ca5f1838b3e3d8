//! How the running control is, for whoever watches over it.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::ids::NodeName;

use super::Control;
use crate::known::engine_calls::CallTimes;
use crate::known::own_failures::OwnFailureCounts;
use crate::known::passes::PassTimes;
use crate::known::posted::PostCounts;
use crate::known::swept::SweptCounts;
use crate::loops::supervised::LoopState;
use crate::wake::now;

/// A figure that does not come within so long is left out.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// How a part of the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// `database`, `storage`, `loop schedule`, …
    pub name: String,
    /// Without it the server can take no work.
    pub needed: bool,
    /// What is wrong with it, in words for everybody; `None`: it is well.
    pub problem: Option<String>,
}

/// The last pass of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopPass {
    /// The loop.
    pub name: &'static str,
    /// How long ago it ended well; where none has, how long ago the loop was begun.
    pub age: Duration,
    /// The loop is not well when it is longer ago than this.
    pub patience: Duration,
}

/// What alarms may go by.
#[derive(Debug, Clone)]
pub struct Figures {
    /// The passes of the loops that have any by themselves.
    pub loops: Vec<LoopPass>,
    /// How long calls to engines took, by what was asked for.
    pub engine_calls: BTreeMap<&'static str, CallTimes>,
    /// How often each node's engine failed at what since the start.
    pub engine_failures: Vec<(NodeName, &'static str, u64)>,
    /// Bytes of the database, if it says.
    pub database_bytes: Option<u64>,
    /// How long the job has waited that has waited longest for its first start, of those that nobody
    /// holds; 0: there is none. `None`: the scheduler has not looked yet.
    pub oldest_waiting: Option<Duration>,
    /// Whether this server leads, as far as it is sure.
    pub leads: bool,
    /// The number of its lead, which grows with each; `None`: there can be no other server.
    pub term: Option<i64>,
}

impl Control {
    /// How each part is that work goes by. It takes some seconds at most, whatever hangs.
    pub async fn readiness(&self) -> Vec<Part> {
        let (database, storage) =
            tokio::join!(self.probes.database.problem(), self.probes.storage.problem());
        let ground = |name: &str, problem| Part { name: name.to_owned(), needed: true, problem };
        let ground = [ground("database", database), ground("storage", storage)];
        let loops = self.loops.states().map(|state| {
            let LoopState { name, needed, problem, age: _ } = state;
            Part { name: format!("loop {name}"), needed, problem }
        });
        ground.into_iter().chain(self.lead()).chain(loops).collect()
    }

    /// How the lead is, where there may be other servers.
    fn lead(&self) -> Option<Part> {
        let fencing_token = self.shared.store.database.fencing_token();
        fencing_token.leader()?;
        let problem = (!fencing_token.acts()).then(|| {
            "nothing is started or stopped until this server is sure that it leads".to_owned()
        });
        Some(Part { name: "lead".to_owned(), needed: true, problem })
    }

    /// What alarms may go by. It takes some seconds at most, whatever hangs.
    pub async fn figures(&self) -> Figures {
        let shared = &self.shared;
        let size = tokio::time::timeout(PATIENCE, shared.store.database.size()).await;
        let oldest = shared.jobs.seen().oldest_waiting();
        let waited = |since| u64::try_from(now().since(since)).unwrap_or(0);
        Figures {
            loops: self.loops.states().filter_map(|state| pass(&state)).collect(),
            engine_calls: shared.counts.engine_calls.times(),
            engine_failures: shared.counts.engine_calls.failures(),
            database_bytes: size.ok().and_then(Result::ok),
            oldest_waiting: oldest
                .map(|since| Duration::from_millis(since.map(waited).unwrap_or_default())),
            leads: shared.store.database.fencing_token().acts(),
            term: shared.store.database.fencing_token().leader().map(|leader| leader.term),
        }
    }

    /// How long the scheduler's passes took.
    #[must_use]
    pub fn schedule_passes(&self) -> PassTimes {
        self.schedule.times()
    }

    /// How often what is this server's own has kept jobs from going on.
    #[must_use]
    pub fn own_failures(&self) -> OwnFailureCounts {
        self.shared.counts.own_failures.counts()
    }

    /// How much people were sent.
    #[must_use]
    pub fn posted(&self) -> PostCounts {
        self.shared.outbound.posted.counts()
    }

    /// How much was forgotten, since it was older than it is kept for.
    #[must_use]
    pub fn swept(&self) -> SweptCounts {
        self.shared.counts.swept.counts()
    }
}

fn pass(state: &LoopState) -> Option<LoopPass> {
    let (age, patience) = state.age?;
    Some(LoopPass { name: state.name, age, patience })
}
