use api::{Actor, ErrorCode};
use protocol::ids::JobKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::state::AppState;

/// The words that jobs take.
const STOP: &str = "STOP";
const START: &str = "START";
/// Of a job that is to start again.
const NOT_STARTED: &str = "a stopped job is not started again: submit a clone";

/// `{"value": "STOP"}`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Execution {
    value: String,
}

impl Execution {
    /// Asks to stop.
    pub(crate) fn stop() -> Self {
        Self { value: STOP.to_owned() }
    }

    /// Stops a job, or leaves it as it is: one that was stopped is submitted again. Says what is
    /// worth knowing.
    pub(crate) async fn of(
        &self,
        state: &AppState,
        actor: &Actor,
        key: &JobKey,
    ) -> Result<Option<&'static str>, Failure> {
        match self.value.as_str() {
            STOP => {
                state.backend.jobs.stop(actor, key).await?;
                Ok(None)
            }
            START => {
                let detail = state.backend.jobs.get(actor, key).await?;
                if !detail.may_manage {
                    let user = &actor.user;
                    let message = format!("User {user} is not allowed to execute job {key}.");
                    return Err(Failure::new(ErrorCode::ForbiddenUserError, message));
                }
                let ends = detail.summary.stop_requested || detail.summary.state.is_final();
                Ok(ends.then_some(NOT_STARTED))
            }
            _ => Err(self.refused()),
        }
    }

    /// Stopping is all that can be asked for of a container.
    pub(crate) fn require_stop(&self) -> Result<(), Failure> {
        if self.value == STOP { Ok(()) } else { Err(self.refused()) }
    }

    fn refused(&self) -> Failure {
        let message = format!(
            "value: {:?} is not allowed here; allowed is STOP (a stopped job is not started \
             again: submit a clone)",
            self.value
        );
        Failure::new(ErrorCode::InvalidParametersError, message)
    }
}
