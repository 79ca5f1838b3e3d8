//! How containers have ended that did so when nobody looked.
//!
//! An engine that was killed, or whose machine was, may not know it: then it says that they were killed, or that
//! nobody knows, or (when it has lost them altogether) that they ended well. So what the program beside the task
//! says counts before the engine's word, and where it says nothing, these words count for nothing.

use std::time::Duration;

use engine::{Engine, EngineError};
use protocol::exit::{Cause, Exit};
use protocol::guest::GuestExit;
use protocol::ids::NodeName;

use crate::container::guest::exit;

/// What engines say of what they or their machines ended, or have lost: ended well, killed, terminated, and
/// "unknown".
const CODES_OF_A_DYING_ENGINE: [i32; 4] = [0, 137, 143, 255];
/// An engine that fails when it is asked what the program said is asked so often,
const TRIES: u32 = 3;
/// and again after so long. One that goes on to do so has nothing to say.
const PAUSE: Duration = Duration::from_secs(1);

/// How such a container has ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unseen {
    /// So.
    Known(Exit),
    /// With this code, which its log explains.
    Code(i32),
}

/// Asks what the program beside the task said, for so long at most, and judges by it.
///
/// # Errors
/// The engine does not answer.
pub(super) async fn look(
    engine: &dyn Engine,
    name: &str,
    (code, node): (i32, &NodeName),
    patience: Duration,
) -> engine::Result<Unseen> {
    let said = tokio::time::timeout(patience, said(engine, name)).await;
    let late = |_| EngineError::Unreachable("how a container ended is not told in time".into());
    Ok(judge(said.map_err(late)??, code, node))
}

async fn said(engine: &dyn Engine, name: &str) -> engine::Result<Option<GuestExit>> {
    let mut tries = 1;
    loop {
        match exit::said(engine, name).await {
            Err(error @ EngineError::Unreachable(_)) => return Err(error),
            Err(_) if tries < TRIES => tries += 1,
            said => return Ok(said.unwrap_or_default()),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Judges by what the program said, if it said anything, and the engine's code.
pub(super) fn judge(said: Option<GuestExit>, code: i32, node: &NodeName) -> Unseen {
    match said.map_or(code, |said| said.code) {
        0 if said.is_some() => {
            Unseen::Known(Exit { code: Some(0), cause: Cause::Succeeded, evidence: Vec::new() })
        }
        // Who ends his program so by himself just then gets a try that is not counted.
        code if CODES_OF_A_DYING_ENGINE.contains(&code) => {
            let cause = Cause::EngineRestarted { node: node.clone() };
            let code = (code != 0).then_some(code);
            Unseen::Known(Exit { code, cause, evidence: Vec::new() })
        }
        code => Unseen::Code(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_word_counts_before_the_engines() {
        let node: NodeName = "node-1".parse().unwrap();
        let judged = |said: Option<i32>, code| match judge(
            said.map(|code| GuestExit { code, signal: None }),
            code,
            &node,
        ) {
            Unseen::Known(Exit { cause: Cause::Succeeded, .. }) => Ok("succeeded"),
            Unseen::Known(Exit { cause: Cause::EngineRestarted { .. }, .. }) => Ok("lost"),
            Unseen::Known(exit) => unreachable!("{exit:?}"),
            Unseen::Code(code) => Err(code),
        };
        for code in [0, 1, 137, 143, 255] {
            assert_eq!(judged(Some(0), code), Ok("succeeded"), "{code}");
            assert_eq!(judged(Some(1), code), Err(1), "{code}");
            assert_eq!(judged(Some(143), code), Ok("lost"), "{code}: it went with its engine");
        }
        for code in CODES_OF_A_DYING_ENGINE {
            assert_eq!(judged(None, code), Ok("lost"), "{code}");
        }
        assert_eq!(judged(None, 3), Err(3));
    }
}
