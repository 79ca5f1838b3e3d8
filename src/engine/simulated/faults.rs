//! What goes wrong at a simulated node when somebody wants it to.

use std::collections::{HashMap, HashSet};

use super::node::{Node, State};
use crate::model::{EngineError, Result};

/// A kind of call to a simulated engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// To list the containers.
    List,
    /// To make a container.
    Create,
    /// To start one.
    Start,
    /// To stop one.
    Stop,
    /// To remove one.
    Remove,
    /// For a piece of a log.
    Logs,
    /// One of those by which a volume is filled.
    Fill,
    /// To remove a volume.
    RemoveVolume,
    /// To remove an image.
    RemoveImage,
    /// To ask the drivers what the GPUs do.
    AskGpus,
}

impl Call {
    /// Whether a launch consists of such calls.
    fn is_of_launch(self) -> bool {
        match self {
            Self::Fill | Self::Create | Self::Start => true,
            Self::List | Self::Stop | Self::Remove | Self::Logs => false,
            Self::RemoveVolume | Self::RemoveImage | Self::AskGpus => false,
        }
    }

    /// Whether those who wait for changes hear of it.
    fn is_heard(self) -> bool {
        match self {
            Self::Create | Self::Start | Self::Remove => true,
            Self::List | Self::Stop | Self::Logs | Self::Fill => false,
            Self::RemoveVolume | Self::RemoveImage | Self::AskGpus => false,
        }
    }
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The engine refuses it.
    Refused,
    /// It is done, and the answer is lost.
    Unheard,
    /// Nothing is done, and no answer ever comes.
    Hangs,
    /// It is done, and no answer ever comes.
    DoneAndHangs,
}

impl Fault {
    /// One of each.
    pub const ALL: [Self; 4] = [Self::Refused, Self::Unheard, Self::Hangs, Self::DoneAndHangs];
}

/// What somebody wants to go wrong, and what has become of it.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Kinds of calls that do not answer for now.
    pub(super) hanging: HashSet<Call>,
    /// Kinds of calls that are refused for now.
    pub(super) refused: HashSet<Call>,
    /// The call of a launch that goes wrong, counted from the node's first one.
    pub(super) next: Option<(u64, Fault)>,
    /// Names of the containers whose starts are on their way, while the line is silent.
    pub(super) starts_on_their_way: Option<Vec<String>>,
    /// How many calls were made.
    pub(super) made: HashMap<Call, u64>,
    /// How many of them did not answer at once.
    pub(super) hung: u64,
}

impl Faults {
    /// How many calls launches have made.
    pub(super) fn of_launches(&self) -> u64 {
        let made = self.made.iter().filter(|(call, _)| call.is_of_launch());
        made.map(|(_, count)| count).sum()
    }

    /// A call is made: how it goes wrong, if it does.
    fn meet(&mut self, call: Call) -> Option<Fault> {
        *self.made.entry(call).or_default() += 1;
        if self.refused.contains(&call) {
            return Some(Fault::Refused);
        }
        let count = self.of_launches();
        self.next.take_if(|(at, _)| call.is_of_launch() && *at == count).map(|(_, fault)| fault)
    }
}

impl Node {
    /// Makes a call that may go wrong.
    pub(super) async fn call<T>(
        &self,
        call: Call,
        act: impl FnOnce(&mut State) -> Result<T>,
    ) -> Result<T> {
        self.until_answering(call).await;
        let fault = self.look(|state| state.faults.meet(call));
        let act = || if call.is_heard() { self.reach_and_wake(act) } else { self.reach(act) };
        match fault {
            None => act(),
            Some(Fault::Refused) => Err(EngineError::Failed("device or resource busy".to_owned())),
            Some(Fault::Unheard) => {
                act()?;
                Err(EngineError::Unreachable("the answer was lost".to_owned()))
            }
            Some(Fault::Hangs) => self.never().await,
            Some(Fault::DoneAndHangs) => {
                act()?;
                self.never().await
            }
        }
    }

    /// Waits until calls of this kind answer.
    pub(super) async fn until_answering(&self, call: Call) {
        let hangs = || self.look(|state| state.faults.hanging.contains(&call));
        if !hangs() {
            return;
        }
        let mut changes = self.watch();
        self.change(|state| state.faults.hung += 1);
        // The sender lives in the node: `changed` cannot fail while we hold it.
        while hangs() && changes.changed().await.is_ok() {}
    }

    async fn never<T>(&self) -> T {
        self.change(|state| state.faults.hung += 1);
        std::future::pending().await
    }
}
