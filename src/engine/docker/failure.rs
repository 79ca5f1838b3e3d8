use std::time::Duration;

use bollard::errors::Error;
use protocol::guest::PROGRAM;

use crate::model::EngineError;

/// The HTTP status the engine refused with.
pub(super) fn status_of(error: &Error) -> Option<u16> {
    match error {
        Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

/// The engine's own words, without bollard's around them.
pub(super) fn words(error: &Error) -> String {
    match error {
        Error::DockerResponseServerError { message, .. } => message.trim().to_owned(),
        Error::DockerStreamError { error } => error.trim().to_owned(),
        other => chain(other),
    }
}

/// An engine that said nothing for so long.
pub(super) fn silent(wait: Duration) -> EngineError {
    EngineError::Unreachable(format!("no answer within {} s", wait.as_secs()))
}

/// Puts a failure into our words. `subject` is the container, image or exec it was about.
pub(super) fn classify(error: Error, subject: &str) -> EngineError {
    match &error {
        Error::DockerResponseServerError { status_code, message } => {
            answered(*status_code, message.trim(), subject)
        }
        Error::RequestTimeoutError => {
            EngineError::Unreachable("no answer within the time limit".to_owned())
        }
        Error::IOError { .. }
        | Error::HyperResponseError { .. }
        | Error::HyperLegacyError { .. }
        | Error::SocketNotFoundError(_) => EngineError::Unreachable(chain(&error)),
        Error::DockerStreamError { error } => EngineError::Failed(error.trim().to_owned()),
        _ => EngineError::Failed(chain(&error)),
    }
}

fn answered(status: u16, message: &str, subject: &str) -> EngineError {
    match status {
        404 if message.contains("No such image") => {
            EngineError::NoImage { image: subject.to_owned(), message: message.to_owned() }
        }
        404 if message.contains("No such container") => {
            EngineError::NoContainer(subject.to_owned())
        }
        // It took too long, or somebody asks for too much just now.
        408 | 425 | 429 => EngineError::Failed(message.to_owned()),
        _ if is_of_job(message) => EngineError::Refused(message.to_owned()),
        _ if is_of_node(message) => EngineError::Broken(message.to_owned()),
        400..=499 => EngineError::Refused(message.to_owned()),
        _ => EngineError::Failed(message.to_owned()),
    }
}

/// Whether the engine misses what the job alone asks for: a newer driver for its image, InfiniBand.
fn is_of_job(message: &str) -> bool {
    message.contains("unsatisfied condition")
        || message.contains("error gathering device information") && message.contains("infiniband")
}

/// Whether the engine says, with whatever status, what its node lacks: nobody who wrote a job could
/// have done otherwise.
fn is_of_node(message: &str) -> bool {
    let message = message.to_lowercase();
    [
        "could not select device driver",
        "unresolvable cdi devices",
        "error gathering device information",
        "unknown or invalid runtime name",
        "nvidia-container-cli",
        "bind source path does not exist",
        "no space left on device",
        "too many open files",
        "cannot allocate memory",
        "input/output error",
        "read-only file system",
    ]
    .iter()
    .any(|part| message.contains(part))
}

/// A start that failed: besides the engine's own troubles, the image may have no shell.
pub(super) fn start_failure(error: Error, name: &str) -> EngineError {
    let text = words(&error);
    // The program is ours: the node's copy of it is damaged.
    if status_of(&error).is_some() && text.contains(PROGRAM) {
        return EngineError::Broken(text);
    }
    let shell_missing = text.contains("/bin/sh")
        && (text.contains("no such file or directory") || text.contains("not found"));
    if status_of(&error).is_some() && shell_missing {
        return no_shell();
    }
    let port_taken = ["port is already allocated", "address already in use"];
    if status_of(&error).is_some() && port_taken.iter().any(|part| text.contains(part)) {
        return EngineError::PortTaken(text);
    }
    classify(error, name)
}

/// Whether a start failed since the guest is not where it should be: nothing of a job or an image can
/// change that.
pub(super) fn no_guest(error: &Error) -> bool {
    let text = words(error);
    let broken = ["no such file or directory", "not found", "permission denied", "exec format"];
    status_of(error).is_some()
        && text.contains(PROGRAM)
        && broken.iter().any(|part| text.contains(part))
}

/// The image cannot run any command text.
pub(super) fn no_shell() -> EngineError {
    EngineError::Refused("the image has no shell: /bin/sh is needed to run the command".to_owned())
}

/// Another life of the cluster's database gave the name as well. Another attempt has another name.
pub(crate) fn of_another_epoch(name: &str) -> EngineError {
    EngineError::Failed(format!("a container of another life of the database has the name {name}"))
}

/// Whether it was a path in a container that was not found, and not the container.
pub(super) fn no_such_path(error: &Error) -> bool {
    status_of(error) == Some(404) && !words(error).contains("No such container")
}

/// Why an image could not be had.
pub(super) fn pull_failure(error: Error, image: &str, with_credentials: bool) -> EngineError {
    let message = words(&error);
    let lower = message.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    let in_own_files = has(&["mkdir /", "open /", "write /", "dial unix"]);
    if is_of_node(&message) || (in_own_files && has(&["permission denied"])) {
        return EngineError::Broken(message);
    }
    // A registry that tells nobody whether it has the image; others say so of what they have not.
    if has(&["no basic auth credentials"]) {
        return EngineError::Denied(image.to_owned());
    }
    if has(&["incorrect username or password", "unauthorized", "authentication required"])
        || (with_credentials && has(&["denied"]))
    {
        return if with_credentials {
            EngineError::Denied(image.to_owned())
        } else {
            EngineError::NoImage { image: image.to_owned(), message }
        };
    }
    let no_variant = has(&["no matching manifest", "no match for platform"]);
    let unknown = has(&["manifest unknown", "not found", "does not exist", "invalid reference"]);
    if no_variant || unknown || has(&["denied"]) {
        return EngineError::NoImage { image: image.to_owned(), message };
    }
    classify(error, image)
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status_code: u16, message: &str) -> Error {
        Error::DockerResponseServerError { status_code, message: message.to_owned() }
    }

    #[test]
    fn answers_are_told_apart() {
        let no_container = classify(answer(404, "No such container: x"), "x");
        assert!(matches!(no_container, EngineError::NoContainer(name) if name == "x"));
        let no_image = classify(answer(404, "No such image: y:latest"), "y");
        assert!(matches!(no_image, EngineError::NoImage { .. }));
        assert!(matches!(classify(answer(400, "bad"), ""), EngineError::Refused(_)));
        assert!(matches!(classify(answer(500, "busy"), ""), EngineError::Failed(_)));
        assert!(matches!(classify(answer(429, "too many requests"), ""), EngineError::Failed(_)));
        assert!(matches!(classify(Error::RequestTimeoutError, ""), EngineError::Unreachable(_)));
    }

    #[test]
    fn what_a_node_lacks_is_not_what_a_job_asks_for() {
        let runc = "failed to create task for container: OCI runtime create failed: ";
        let prestart = "error during container init: error running prestart hook #0: ";
        let mount =
            "invalid mount config for type \"bind\": bind source path does not exist: /mnt/a";
        for (status, words) in [
            (
                500,
                "could not select device driver \"nvidia\" with capabilities: [[gpu]]".to_owned(),
            ),
            (
                500,
                format!(
                    "{runc}{prestart}nvidia-container-cli: initialization error: nvml error: \
                driver/library version mismatch: unknown"
                ),
            ),
            (500, format!("{runc}{prestart}nvidia-container-cli: device error: 3: unknown device")),
            (400, "unknown or invalid runtime name: nvidia".to_owned()),
            (
                500,
                "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=3".to_owned(),
            ),
            (500, "mkdir /var/lib/docker/overlay2/x: no space left on device".to_owned()),
            (400, mount.to_owned()),
            (400, format!("{runc}exec: \"{PROGRAM}\": stat {PROGRAM}: no such file or directory")),
        ] {
            let error = start_failure(answer(status, &words), "x");
            assert!(matches!(error, EngineError::Broken(_)), "{words}: {error:?}");
        }
        let infiniband = "error gathering device information while adding custom device \
            \"/dev/infiniband\": no such file or directory";
        for words in [
            format!(
                "{runc}{prestart}nvidia-container-cli: requirement error: unsatisfied \
                condition: cuda>=12.4, please update your driver"
            ),
            infiniband.to_owned(),
        ] {
            let error = start_failure(answer(500, &words), "x");
            assert!(matches!(error, EngineError::Refused(_)), "{words}: {error:?}");
        }
    }

    #[test]
    fn a_pull_that_the_node_itself_keeps_from_going_on_is_not_the_registrys() {
        for words in [
            "failed to register layer: write /usr/lib/libcudnn.so: no space left on device",
            "mkdir /var/lib/docker/tmp: permission denied",
        ] {
            let error = pull_failure(answer(500, words), "r.org/a:1", false);
            assert!(matches!(error, EngineError::Broken(_)), "{words}: {error:?}");
        }
        let limited = "toomanyrequests: You have reached your pull rate limit";
        let error = pull_failure(answer(429, limited), "r.org/a:1", false);
        assert!(matches!(error, EngineError::Failed(_)), "{error:?}");
        let denied = "denied: Permission denied for \"1\" from request \"/v2/a/manifests/1\"";
        let error = pull_failure(answer(500, denied), "r.org/a:1", false);
        assert!(matches!(error, EngineError::NoImage { .. }), "{error:?}");
    }

    #[test]
    fn pulls_that_fail_are_told_apart() {
        let unknown = "manifest for busybox:nope not found: manifest unknown";
        assert!(matches!(
            pull_failure(answer(404, unknown), "busybox:nope", false),
            EngineError::NoImage { .. }
        ));
        let denied = "Head \"https://r/v2/x/manifests/1\": unauthorized: authentication required";
        assert!(matches!(pull_failure(answer(500, denied), "r/x:1", true), EngineError::Denied(_)));
        assert!(matches!(
            pull_failure(answer(500, denied), "r/x:1", false),
            EngineError::NoImage { .. }
        ));
        let asked = "Head \"http://r/v2/x/manifests/1\": no basic auth credentials";
        assert!(matches!(pull_failure(answer(500, asked), "r/x:1", false), EngineError::Denied(_)));
        let other = "no matching manifest for linux/arm64/v8 in the manifest list entries";
        let other = pull_failure(answer(404, other), "x", false);
        assert!(matches!(other, EngineError::NoImage { .. }), "{other:?}");
        let network = "dial tcp: lookup registry-1.docker.io: Temporary failure in name resolution";
        assert!(matches!(pull_failure(answer(500, network), "x", false), EngineError::Failed(_)));
    }

    #[test]
    fn an_image_without_a_shell_is_named() {
        let text = "OCI runtime create failed: exec: \"/bin/sh\": stat /bin/sh: no such file or \
                    directory: unknown";
        let error = start_failure(answer(400, text), "x");
        assert!(matches!(error, EngineError::Refused(text) if text.contains("no shell")));
    }

    #[test]
    fn a_guest_that_is_not_there_is_told_from_what_a_job_lacks() {
        let text = "OCI runtime create failed: exec: \"/.berth/bin/guest\": stat /.berth/bin/guest: no \
                    such file or directory: unknown";
        assert!(no_guest(&answer(400, text)));
        let folder =
            "error while creating mount source path '/data': mkdir /data: permission denied";
        assert!(!no_guest(&answer(500, folder)));
        assert!(!no_guest(&Error::RequestTimeoutError));
    }

    #[test]
    fn a_port_that_somebody_has_is_told() {
        for end in [
            "Bind for 172.17.0.1:21001 failed: port is already allocated",
            "Error starting userland proxy: listen tcp4 172.17.0.1:21005: bind: address already in use",
        ] {
            let text =
                format!("driver failed programming external connectivity on endpoint x: {end}");
            assert!(matches!(start_failure(answer(500, &text), "x"), EngineError::PortTaken(_)));
        }
    }
}
