//! Why a launch did not come about, and what follows from that: blame is decided by who could have
//! done otherwise.

use std::error::Error;

use engine::EngineError;
use lifecycle::explain;
use protocol::exit::{Cause, Exit};
use protocol::ids::NodeName;

use crate::container::code::LookError;
use crate::container::images::CopyError;
use crate::container::storages::NotGiven;
use crate::known::lacks::Part;
use crate::known::own_failures::Ours;

/// Why a launch did not come about.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum LaunchError {
    /// The database does not answer, or what it holds does not fit together.
    #[error("{0}")]
    Records(String),
    /// The storage does not answer.
    #[error("{0}")]
    Storage(String),
    /// This server's key does not open the job's secrets.
    #[error("a secret cannot be opened: the server's key has changed")]
    Sealed,
    /// Something of ours failed for another task of the job, while this one waited for its turn.
    #[error("the job has been put off")]
    PutOff(Ours),
    /// The node's engine failed or refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// It failed or refused to start the container that it had made.
    #[error(transparent)]
    Start(EngineError),
    /// The image did not come to the node: its registry, or who else has it, failed or refused.
    #[error(transparent)]
    Image(EngineError),
    /// The job asks for what is not there, or not its owner's.
    #[error("{0}")]
    Job(String),
    /// A container in quarantine has its name, its GPUs or its ports.
    #[error("{0} is in quarantine and has its place")]
    Quarantined(String),
    /// Its node fails a check that comes before each attempt.
    #[error("{0}")]
    Unwell(String),
    /// Its node lacks a storage of the job's, as these words say, which is no user's to mend.
    #[error("{1}")]
    Lacks(Part, String),
    /// Its node's network is not what all tasks of the job were told that it is.
    #[error("its node's network has changed")]
    Moved,
}

/// What follows from a failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Consequence {
    /// Nobody could have done otherwise: nothing is counted, and the job is put off.
    PutOff(Ours),
    /// It is tried again on this node, but not for ever: this is the cause then.
    TriedAgain(Cause),
    /// Another try would come to the same.
    Final(Exit),
    /// The same, and its node's engine has nothing to do with it.
    Elsewhere(Exit),
}

impl Consequence {
    fn ends(cause: Cause) -> Self {
        Self::Final(without_code(cause))
    }

    /// The words of the node's engine, where it is the engine that failed and nobody else.
    pub(super) fn of_node(&self) -> Option<&str> {
        match self {
            Self::TriedAgain(Cause::EngineFailed { message, .. })
            | Self::Final(Exit { cause: Cause::EngineFailed { message, .. }, .. }) => Some(message),
            Self::PutOff(_) | Self::TriedAgain(_) | Self::Final(_) | Self::Elsewhere(_) => None,
        }
    }
}

impl LaunchError {
    /// What follows for a task of this image on this node.
    pub(super) fn consequence(self, node: &NodeName, image: &str) -> Consequence {
        match self {
            Self::Records(_) => Consequence::PutOff(Ours::Records),
            Self::Storage(_) => Consequence::PutOff(Ours::Storage),
            Self::Sealed => Consequence::PutOff(Ours::Key),
            Self::PutOff(ours) => Consequence::PutOff(ours),
            Self::Start(EngineError::Refused(words)) => {
                Consequence::Final(explain::refusal(&words))
            }
            Self::Engine(error) | Self::Start(error) => of_engine(error, node, image),
            Self::Image(error) => of_image(error, node, image),
            Self::Job(message) => Consequence::ends(Cause::ContainerRefused { message }),
            Self::Quarantined(_) => {
                let (node, message) = (node.clone(), self.to_string());
                Consequence::Elsewhere(without_code(Cause::EngineFailed { node, message }))
            }
            Self::Unwell(message) => {
                let node = node.clone();
                Consequence::Elsewhere(without_code(Cause::NodeUnwell { node, message }))
            }
            Self::Lacks(Part { storage, .. }, message) => {
                let node = node.clone();
                Consequence::Elsewhere(without_code(Cause::StorageAbsent {
                    node,
                    storage,
                    message,
                }))
            }
            Self::Moved => Consequence::ends(Cause::NodeLost { node: node.clone() }),
        }
    }
}

fn without_code(cause: Cause) -> Exit {
    Exit { code: None, cause, evidence: Vec::new() }
}

fn of_engine(error: EngineError, node: &NodeName, image: &str) -> Consequence {
    let (node, image) = (node.clone(), image.to_owned());
    match error {
        // What it was to be given is read from the storage.
        EngineError::Content(_) => Consequence::PutOff(Ours::Storage),
        EngineError::Refused(message) => Consequence::ends(Cause::ContainerRefused { message }),
        EngineError::Denied(_) => Consequence::ends(Cause::RegistryDenied { image }),
        EngineError::PortTaken(_) => Consequence::ends(Cause::PortTaken),
        EngineError::Broken(message) => Consequence::ends(Cause::EngineFailed { node, message }),
        // It was brought there a moment ago.
        EngineError::NoImage { message, .. } => {
            Consequence::TriedAgain(Cause::ImageUnavailable { node, image, message })
        }
        EngineError::Unreachable(_)
        | EngineError::NoContainer(_)
        | EngineError::Failed(_)
        | EngineError::Endpoint { .. } => {
            let message = error.to_string();
            Consequence::TriedAgain(Cause::EngineFailed { node, message })
        }
    }
}

fn of_image(error: EngineError, node: &NodeName, image: &str) -> Consequence {
    let (node, image) = (node.clone(), image.to_owned());
    match error {
        EngineError::Content(_) => Consequence::PutOff(Ours::Storage),
        EngineError::NoImage { message, .. } | EngineError::Refused(message) => {
            Consequence::ends(match explain::no_variant(&message) {
                Some(of_node) => Cause::OtherArchitecture { node, image, of_image: None, of_node },
                None => Cause::ImageNotFound { image, message },
            })
        }
        EngineError::Denied(_) => Consequence::ends(Cause::RegistryDenied { image }),
        EngineError::Broken(message) => Consequence::ends(Cause::EngineFailed { node, message }),
        EngineError::Unreachable(_)
        | EngineError::NoContainer(_)
        | EngineError::PortTaken(_)
        | EngineError::Failed(_)
        | EngineError::Endpoint { .. } => {
            let message = error.to_string();
            Consequence::TriedAgain(Cause::ImageUnavailable { node, image, message })
        }
    }
}

impl From<database::Error> for LaunchError {
    fn from(error: database::Error) -> Self {
        let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        Self::Records(format!("{error}{source}"))
    }
}

impl From<LookError> for LaunchError {
    fn from(error: LookError) -> Self {
        match error {
            LookError::Records(message) => Self::Records(message),
            LookError::Storage(message) => Self::Storage(message),
            LookError::Refused(message) => Self::Job(message),
        }
    }
}

/// What an operation answers when it looks at the storage.
impl From<api::Error> for LaunchError {
    fn from(error: api::Error) -> Self {
        LookError::from(error).into()
    }
}

impl From<NotGiven> for LaunchError {
    fn from(error: NotGiven) -> Self {
        match error {
            NotGiven::Sealed => Self::Sealed,
            NotGiven::Exposed(part) => {
                let name = &part.storage;
                let message = format!(
                    "the storage {name} and the users' own files lie in each other on this node: tell an \
                     administrator"
                );
                Self::Lacks(part, message)
            }
            NotGiven::Absent(part) => {
                let name = &part.storage;
                let message = match &part.own {
                    Some(_) => format!(
                        "the storage {name} has no folder for you on this node: tell an administrator"
                    ),
                    None => {
                        format!("the storage {name} is not on this node: tell an administrator")
                    }
                };
                Self::Lacks(part, message)
            }
        }
    }
}

impl From<CopyError> for LaunchError {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Records(error) => error.into(),
            CopyError::Engine(error) => Self::Image(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::architecture::Architecture;
    use protocol::exit::Blame;

    use super::*;

    const IMAGE: &str = "r.org/team/torch:1";

    fn consequence(error: impl Into<LaunchError>) -> Consequence {
        error.into().consequence(&"node-1".parse().unwrap(), IMAGE)
    }

    fn text() -> String {
        "it says so".to_owned()
    }

    fn no_image() -> EngineError {
        EngineError::NoImage { image: IMAGE.to_owned(), message: text() }
    }

    #[test]
    fn what_is_ours_is_nobodys_try() {
        let unavailable = || database::Error::Unavailable { message: text() };
        let source = "no such table".into();
        for (error, ours) in [
            (unavailable().into(), Ours::Records),
            (database::Error::Internal { source }.into(), Ours::Records),
            (CopyError::Records(unavailable()).into(), Ours::Records),
            (LookError::Records(text()).into(), Ours::Records),
            (LookError::Storage(text()).into(), Ours::Storage),
            (EngineError::Content(text()).into(), Ours::Storage),
            (LaunchError::Image(EngineError::Content(text())), Ours::Storage),
            (LaunchError::Sealed, Ours::Key),
            (LaunchError::PutOff(Ours::Storage), Ours::Storage),
        ] {
            let words = format!("{error:?}");
            assert_eq!(consequence(error), Consequence::PutOff(ours), "{words}");
        }
    }

    #[test]
    fn what_the_database_says_is_known_to_who_reads_the_log() {
        let error = database::Error::Internal { source: "no such table".into() };
        assert!(LaunchError::from(error).to_string().ends_with(": no such table"));
    }

    #[test]
    fn who_fails_is_tried_again_and_named() {
        for error in [EngineError::Unreachable(text()), EngineError::Failed(text())] {
            let by_engine = consequence(error.clone());
            let Consequence::TriedAgain(cause @ Cause::EngineFailed { .. }) = by_engine else {
                panic!("{by_engine:?}")
            };
            assert_eq!(cause.blame(), Blame::Platform);
            let by_registry = consequence(LaunchError::Image(error));
            let Consequence::TriedAgain(cause @ Cause::ImageUnavailable { .. }) = by_registry
            else {
                panic!("{by_registry:?}")
            };
            assert_eq!(cause.blame(), Blame::Platform);
        }
        // An image that was brought and is gone again is nobody's mistake in a name.
        let gone = consequence(no_image());
        assert!(
            matches!(gone, Consequence::TriedAgain(Cause::ImageUnavailable { .. })),
            "{gone:?}"
        );
    }

    #[test]
    fn what_has_its_place_is_the_platforms_and_it_goes_elsewhere() {
        let found = consequence(LaunchError::Quarantined("berth-c-7-a0-r0-t0-n0".to_owned()));
        assert_eq!(found.of_node(), None, "its engine did nothing wrong");
        let Consequence::Elsewhere(Exit { cause, .. }) = found else { panic!("{found:?}") };
        assert_eq!(cause.blame(), Blame::Platform);
        assert!(cause.to_string().contains("berth-c-7-a0-r0-t0-n0"), "{cause}");
    }

    #[test]
    fn a_storage_that_a_node_lacks_is_its_administrators_and_the_job_goes_elsewhere() {
        let of = |own: Option<&str>| Part {
            storage: "data".parse().unwrap(),
            own: own.map(|own| own.parse().unwrap()),
        };
        let lacks = [
            NotGiven::Exposed(of(None)),
            NotGiven::Absent(of(None)),
            NotGiven::Absent(of(Some("alice"))),
        ];
        for lacks in lacks {
            let found = consequence(lacks);
            assert_eq!(found.of_node(), None, "its engine did nothing wrong");
            let Consequence::Elsewhere(Exit { cause, .. }) = found else { panic!("{found:?}") };
            assert_eq!(cause.blame(), Blame::Platform, "{cause}");
            assert!(cause.to_string().contains("the storage data"), "{cause}");
        }
        assert_eq!(consequence(NotGiven::Sealed), Consequence::PutOff(Ours::Key));
    }

    #[test]
    fn what_is_refused_is_final_and_says_by_whom() {
        let (message, image) = (text(), IMAGE.to_owned());
        let not_found = || Cause::ImageNotFound { image: image.clone(), message: message.clone() };
        let refused = || Cause::ContainerRefused { message: message.clone() };
        let denied = || Cause::RegistryDenied { image: image.clone() };
        for (error, cause) in [
            (LaunchError::Image(no_image()), not_found()),
            (LaunchError::Image(EngineError::Refused(text())), not_found()),
            (LaunchError::Image(EngineError::Denied(IMAGE.to_owned())), denied()),
            (EngineError::Denied(IMAGE.to_owned()).into(), denied()),
            (EngineError::Refused(text()).into(), refused()),
            (LookError::Refused(text()).into(), refused()),
            (EngineError::PortTaken(text()).into(), Cause::PortTaken),
            (LaunchError::Moved, Cause::NodeLost { node: "node-1".parse().unwrap() }),
        ] {
            let words = format!("{error:?}");
            assert_eq!(consequence(error), Consequence::ends(cause), "{words}");
        }
        let absent = "exec: \"train\": executable file not found in $PATH";
        let started = consequence(LaunchError::Start(EngineError::Refused(absent.to_owned())));
        let Consequence::Final(exit) = started else { panic!("{started:?}") };
        assert_eq!((exit.code, exit.cause), (Some(127), Cause::CommandNotFound));
    }

    #[test]
    fn an_image_for_other_processors_is_told_from_one_that_is_not_there() {
        let of = |message: &str| {
            let (image, message) = (IMAGE.to_owned(), message.to_owned());
            consequence(LaunchError::Image(EngineError::NoImage { image, message }))
        };
        let other = |of_node| {
            let (node, image) = ("node-1".parse().unwrap(), IMAGE.to_owned());
            let cause = Cause::OtherArchitecture { node, image, of_image: None, of_node };
            assert_eq!(cause.blame(), Blame::User);
            Consequence::ends(cause)
        };
        let says = "no matching manifest for linux/arm64/v8 in the manifest list entries";
        assert_eq!(of(says), other(Architecture::new("aarch64")));
        assert_eq!(of("no match for platform in manifest: not found"), other(None));
        let Consequence::Final(exit) = of("manifest unknown") else { panic!("it is tried again") };
        assert!(matches!(exit.cause, Cause::ImageNotFound { .. }), "{exit:?}");
    }

    #[test]
    fn what_a_node_lacks_is_tried_elsewhere_and_counted_against_it() {
        for error in [
            LaunchError::Engine(EngineError::Broken(text())),
            LaunchError::Start(EngineError::Broken(text())),
            LaunchError::Image(EngineError::Broken(text())),
        ] {
            let consequence = consequence(error);
            assert_eq!(consequence.of_node(), Some(text().as_str()));
            let Consequence::Final(exit) = consequence else { panic!("{consequence:?}") };
            assert_eq!(exit.cause.blame(), Blame::Platform);
        }
        let again = consequence(LaunchError::Start(EngineError::Failed(text())));
        assert!(again.of_node().is_some(), "{again:?}");
        // A registry that is out of reach says nothing of the node, nor does what is ours.
        for error in [
            LaunchError::Image(EngineError::Failed(text())),
            LaunchError::Engine(no_image()),
            LaunchError::Engine(EngineError::Refused(text())),
            LaunchError::Sealed,
        ] {
            assert_eq!(consequence(error).of_node(), None);
        }
    }
}
