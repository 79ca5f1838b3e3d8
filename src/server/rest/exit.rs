//! How something ended, in the words of OpenPAI's exit table.

use std::borrow::Cow;

use protocol::exit::{Blame, Cause, Exit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A row of the exit table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ExitSpec {
    code: i32,
    phrase: Cow<'static, str>,
    issuer: Cow<'static, str>,
    causer: Cow<'static, str>,
    #[serde(rename = "type")]
    kind: Cow<'static, str>,
    stage: Cow<'static, str>,
    behavior: Cow<'static, str>,
    reaction: Cow<'static, str>,
    reason: String,
    repro: Vec<String>,
    solution: Vec<String>,
}

/// How something that is over went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum ExitType {
    Succeeded,
    Failed,
}

/// The part of a row that the cause alone decides: its code where the table has one of its own,
/// its phrase, issuer, causer and stage.
struct Row(Option<i32>, &'static str, &'static str, &'static str, &'static str);

const USER: &str = "USER_CONTAINER";

fn row(cause: &Cause) -> Row {
    let program = |code, phrase| Row(code, phrase, "PAI_RUNTIME", USER, "RUNNING");
    let launch = |code, phrase| Row(Some(code), phrase, "PAI_RUNTIME", "PAI_RUNTIME", "LAUNCHING");
    let engine = |code, phrase, who, stage| Row(Some(code), phrase, "PAI_DOCKER", who, stage);
    let node = |code, phrase, who| Row(Some(code), phrase, "PAI_K8S", who, "RUNNING");
    let job = |code, phrase, who| Row(Some(code), phrase, "PAI_FC", who, "UNKNOWN");
    match cause {
        Cause::Succeeded => Row(Some(0), "Succeeded", USER, USER, "COMPLETING"),
        Cause::CommandFailed => {
            Row(None, "PAIRuntimeUnknownFailed", "PAI_RUNTIME", "UNKNOWN", "UNKNOWN")
        }
        Cause::CommandNotFound => Row(Some(220), "UserCommandExitWithError", USER, USER, "RUNNING"),
        Cause::CommandNotExecutable => {
            engine(-1202, "ContainerDockerStartCmdPermissionDenied", USER, "LAUNCHING")
        }
        Cause::OutOfMemory { .. } => engine(-1200, "UserContainerDockerOOMKilled", USER, "RUNNING"),
        Cause::SharedMemory { .. } => {
            Row(Some(135), "ContainerSigBusReceived", USER, USER, "RUNNING")
        }
        Cause::GpuOutOfMemory => program(Some(226), "ContainerCudaOOMKilled"),
        Cause::CudaVersion => program(Some(224), "ContainerCudaVersionMismatch"),
        Cause::CudaError => program(None, "ContainerCudaError"),
        Cause::GpuHardware => {
            Row(Some(223), "ContainerCudaUncorrectableECCError", "PAI_RUNTIME", "PAI_HW", "RUNNING")
        }
        Cause::NcclError => program(None, "ContainerNcclError"),
        Cause::DiskFull => program(None, "ContainerDiskFull"),
        Cause::ModuleMissing => program(Some(232), "ContainerImportError"),
        Cause::FileMissing => program(None, "ContainerFileMissing"),
        Cause::ProgramError => program(Some(231), "ContainerSyntaxError"),
        Cause::Signal { signal } => {
            Row(Some(128 + signal), signal_phrase(*signal), "PAI_OS", USER, "RUNNING")
        }
        Cause::ImageNotFound { .. }
        | Cause::RegistryDenied { .. }
        | Cause::OtherArchitecture { .. } => launch(254, "ContainerImageNotExists"),
        Cause::ContainerRefused { .. } => {
            engine(-1201, "ContainerDockerCreationError", "UNKNOWN", "LAUNCHING")
        }
        Cause::PortTaken => launch(253, "ContainerPortConflict"),
        Cause::ContainerLost { .. } => job(-101, "PodExternalDeleted", "PAI_UNKNOWN"),
        Cause::NodeLost { .. } => node(-1001, "PodNodeLost", "PAI_K8S"),
        Cause::EngineRestarted { .. }
        | Cause::NodeOutOfMemory { .. }
        | Cause::NodeUnwell { .. }
        | Cause::StorageAbsent { .. }
        | Cause::EngineFailed { .. }
        | Cause::ImageUnavailable { .. }
        | Cause::NodeDrained { .. } => node(-1000, "PodEvicted", "PAI_K8S"),
        Cause::Preempted => node(-1003, "PodPreemptedForCriticalPod", "PAI_K8S"),
        Cause::StopRequested { .. } => job(-210, "StopFrameworkRequested", "USER_STOP"),
        Cause::JobEnded { .. } => job(-220, "FrameworkAttemptCompletion", "USER_STOP"),
        Cause::TimeLimit => node(-1004, "PodDeadlineExceeded", "USER_STOP"),
        Cause::Idle { .. } => node(-1000, "PodEvicted", "USER_STOP"),
    }
}

fn signal_phrase(signal: i32) -> &'static str {
    match signal {
        2 => "ContainerSigIntReceived",
        3 => "ContainerSigQuitReceived",
        4 => "ContainerSigIllReceived",
        6 => "ContainerSigAbrtReceived",
        7 => "ContainerSigBusReceived",
        8 => "ContainerSigFpeReceived",
        9 => "ContainerSigKillReceived",
        11 => "ContainerSigSegvReceived",
        13 => "ContainerSigPipeReceived",
        15 => "ContainerSigTermReceived",
        _ => "ContainerSignalReceived",
    }
}

/// The one number of an ending: the table's where the cause has one, else the program's own.
pub(crate) fn code(exit: &Exit) -> i32 {
    let Row(code, ..) = row(&exit.cause);
    code.or(exit.code).unwrap_or(match exit.cause.blame() {
        Blame::None => 0,
        Blame::User | Blame::Platform | Blame::Stop => 256,
    })
}

/// The row of the table.
pub(crate) fn spec(exit: &Exit) -> ExitSpec {
    let Row(_, phrase, issuer, causer, stage) = row(&exit.cause);
    let (kind, behavior, reaction) = match exit.cause.blame() {
        Blame::None => ("USER_SUCCESS", "UNKNOWN", "NEVER_RETRY"),
        Blame::User => ("USER_FAILURE", "PERMANENT", "RETRY_TO_MAX"),
        Blame::Platform => ("PLATFORM_FAILURE", "TRANSIENT", "ALWAYS_RETRY"),
        Blame::Stop => ("USER_STOP", "PERMANENT", "NEVER_RETRY"),
    };
    ExitSpec {
        code: code(exit),
        phrase: phrase.into(),
        issuer: issuer.into(),
        causer: causer.into(),
        kind: kind.into(),
        stage: stage.into(),
        behavior: behavior.into(),
        reaction: reaction.into(),
        reason: reason(&exit.cause),
        repro: Vec::new(),
        solution: Vec::new(),
    }
}

/// One sentence, English.
pub(crate) fn reason(cause: &Cause) -> String {
    cause.sentence()
}

/// What the table calls it.
pub(crate) fn phrase(exit: &Exit) -> &'static str {
    let Row(_, phrase, ..) = row(&exit.cause);
    phrase
}

/// What the ending amounts to.
pub(crate) fn kind(exit: &Exit) -> ExitType {
    match exit.cause.blame() {
        Blame::None => ExitType::Succeeded,
        Blame::User | Blame::Platform | Blame::Stop => ExitType::Failed,
    }
}

/// The task whose end ended the job, where one did.
pub(crate) fn trigger(exit: &Exit) -> Option<(String, u32)> {
    let Cause::JobEnded { role: Some(role), index: Some(index) } = &exit.cause else {
        return None;
    };
    Some((role.to_string(), *index))
}

/// The reason, and the lines that show it.
pub(crate) fn diagnostics(exit: &Exit) -> String {
    let mut text = reason(&exit.cause);
    for line in &exit.evidence {
        text.push('\n');
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: Option<i32>, cause: Cause) -> Exit {
        Exit { code, cause, evidence: vec!["last line".into()] }
    }

    #[test]
    fn codes_are_the_tables_or_the_programs() {
        assert_eq!(code(&exit(Some(0), Cause::Succeeded)), 0);
        assert_eq!(code(&exit(Some(3), Cause::CommandFailed)), 3);
        assert_eq!(code(&exit(Some(137), Cause::OutOfMemory { limit_mb: 100 })), -1200);
        assert_eq!(code(&exit(None, Cause::StopRequested { by: "alice".into() })), -210);
        assert_eq!(code(&exit(Some(139), Cause::Signal { signal: 11 })), 139);
        assert_eq!(code(&exit(None, Cause::CommandFailed)), 256);
    }

    #[test]
    fn the_row_names_who_is_to_blame() {
        let spec = spec(&exit(Some(137), Cause::OutOfMemory { limit_mb: 100 }));
        assert_eq!([&*spec.kind, &*spec.phrase], ["USER_FAILURE", "UserContainerDockerOOMKilled"]);
        assert!(diagnostics(&exit(None, Cause::Preempted)).ends_with("\nlast line"));
    }
}
