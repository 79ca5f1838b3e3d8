use std::collections::BTreeMap;
use std::time::Duration;

use bollard::Docker;
use bollard::auth::DockerCredentials;
use bollard::models::CreateImageInfo;
use bollard::query_parameters::CreateImageOptions;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use protocol::spec::RegistryAuth;
use tokio::time::Instant;

use super::failure::pull_failure;
use crate::model::{EngineError, Result};

/// A pull may take hours, but not be silent for so long.
const STALLED: Duration = Duration::from_secs(300);
/// Between two lines about the same layers.
const BETWEEN_LINES: Duration = Duration::from_secs(1);

/// Engines of this version and later take the platform of an image, all of them and not only those that
/// are set up to try things out. What counts its versions otherwise, such as Podman, is left to itself.
const TAKES_PLATFORM: u32 = 20;

/// Of which platform an engine of this version is to pull images for these processors.
pub(super) fn platform(version: &str, architecture: &str) -> Option<&'static str> {
    let major = version.split('.').next()?.parse::<u32>().ok()?;
    match architecture {
        "x86_64" | "amd64" if major >= TAKES_PLATFORM => Some("linux/amd64"),
        "aarch64" | "arm64" if major >= TAKES_PLATFORM => Some("linux/arm64"),
        _ => None,
    }
}

/// Pulls an image. A reference without tag means `latest`, not all tags.
pub(super) fn pull(
    docker: Docker,
    (image, platform): (&str, Option<&str>),
    auth: Option<&RegistryAuth>,
) -> BoxStream<'static, Result<String>> {
    let (name, tag) = split(image);
    let options = CreateImageOptions {
        from_image: Some(name.to_owned()),
        tag: Some(tag.to_owned()),
        platform: platform.unwrap_or_default().to_owned(),
        ..Default::default()
    };
    let docker = docker.with_timeout(STALLED);
    let pull = Pull {
        answers: docker.create_image(Some(options), None, auth.map(credentials)).boxed(),
        image: image.to_owned(),
        with_credentials: auth.is_some(),
        progress: Progress::default(),
        told_at: None,
    };
    stream::unfold(Some(pull), |pull| async move {
        let mut pull = pull?;
        match pull.next_line().await {
            Some(Ok(line)) => Some((Ok(line), Some(pull))),
            Some(Err(error)) => Some((Err(error), None)),
            None => None,
        }
    })
    .boxed()
}

struct Pull {
    answers: BoxStream<'static, std::result::Result<CreateImageInfo, bollard::errors::Error>>,
    image: String,
    with_credentials: bool,
    progress: Progress,
    told_at: Option<Instant>,
}

impl Pull {
    async fn next_line(&mut self) -> Option<Result<String>> {
        loop {
            let answer = match tokio::time::timeout(STALLED, self.answers.next()).await {
                Ok(answer) => answer?,
                Err(_) => {
                    return Some(Err(EngineError::Unreachable(format!(
                        "the pull of {} made no progress for {} s",
                        self.image,
                        STALLED.as_secs()
                    ))));
                }
            };
            let told = match answer {
                Ok(info) => self.progress.take(info),
                Err(error) => {
                    return Some(Err(pull_failure(error, &self.image, self.with_credentials)));
                }
            };
            match told {
                Told::Line(line) => return Some(Ok(line)),
                Told::Layers if self.is_time() => return Some(Ok(self.progress.line())),
                Told::Layers | Told::Nothing => {}
            }
        }
    }

    fn is_time(&mut self) -> bool {
        let due = self.told_at.is_none_or(|told_at| told_at.elapsed() >= BETWEEN_LINES);
        if due {
            self.told_at = Some(Instant::now());
        }
        due
    }
}

/// How far the layers are.
#[derive(Debug, Default)]
struct Progress {
    layers: BTreeMap<String, Layer>,
}

#[derive(Debug, Default)]
struct Layer {
    done: bool,
    loaded: i64,
    size: i64,
}

#[derive(Debug, PartialEq, Eq)]
enum Told {
    Line(String),
    Layers,
    Nothing,
}

impl Progress {
    fn take(&mut self, info: CreateImageInfo) -> Told {
        let Some(status) = info.status else { return Told::Nothing };
        let layer_words = [
            "Pulling fs layer",
            "Waiting",
            "Downloading",
            "Verifying Checksum",
            "Download complete",
            "Extracting",
            "Pull complete",
            "Already exists",
        ];
        let Some(id) = info.id.filter(|_| layer_words.contains(&status.as_str())) else {
            return Told::Line(status);
        };
        let layer = self.layers.entry(id).or_default();
        layer.done = matches!(status.as_str(), "Pull complete" | "Already exists");
        if status == "Downloading"
            && let Some(detail) = info.progress_detail
        {
            layer.loaded = detail.current.unwrap_or(layer.loaded);
            layer.size = detail.total.unwrap_or(layer.size).max(layer.loaded);
        }
        if status == "Download complete" {
            layer.loaded = layer.size;
        }
        Told::Layers
    }

    fn line(&self) -> String {
        let done = self.layers.values().filter(|layer| layer.done).count();
        let loaded: i64 = self.layers.values().map(|layer| layer.loaded).sum();
        let size: i64 = self.layers.values().map(|layer| layer.size).sum();
        let (count, mega) = (self.layers.len(), 1_000_000);
        format!("{done} of {count} layers, {} of {} MB", loaded / mega, size / mega)
    }
}

pub(super) fn credentials(auth: &RegistryAuth) -> DockerCredentials {
    DockerCredentials {
        username: Some(auth.user.clone()),
        password: Some(auth.password.clone()),
        serveraddress: (!auth.registry.is_empty()).then(|| auth.registry.clone()),
        ..Default::default()
    }
}

/// Name and tag, or name and digest.
fn split(image: &str) -> (&str, &str) {
    if let Some((name, digest)) = image.split_once('@') {
        return (name, digest);
    }
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (image, "latest"),
    }
}

#[cfg(test)]
mod tests {
    use bollard::models::ProgressDetail;

    use super::*;

    #[test]
    fn references_are_split() {
        assert_eq!(split("busybox"), ("busybox", "latest"));
        assert_eq!(split("r:5000/a/b"), ("r:5000/a/b", "latest"));
        assert_eq!(split("r:5000/a/b:1.0"), ("r:5000/a/b", "1.0"));
        assert_eq!(split("a@sha256:12"), ("a", "sha256:12"));
    }

    #[test]
    fn an_engine_is_asked_for_its_own_platform_if_it_can_be() {
        assert_eq!(platform("20.10.24+dfsg1", "x86_64"), Some("linux/amd64"));
        assert_eq!(platform("29.1.2", "aarch64"), Some("linux/arm64"));
        for (version, architecture) in [("19.03.1", "x86_64"), ("4.3.1", "aarch64"), ("", "x86_64")]
        {
            assert_eq!(platform(version, architecture), None, "{version}");
        }
        assert_eq!(platform("29.1.2", "riscv64"), None, "it pulls what it takes for its own");
    }

    #[test]
    fn layers_are_summed_up() {
        let info = |id: &str, status: &str, current, total| CreateImageInfo {
            id: Some(id.into()),
            status: Some(status.into()),
            progress_detail: Some(ProgressDetail { current, total }),
            ..Default::default()
        };
        let mut progress = Progress::default();
        let first = progress.take(info("latest", "Pulling from a/b", None, None));
        assert_eq!(first, Told::Line("Pulling from a/b".into()));
        progress.take(info("l1", "Already exists", None, None));
        progress.take(info("l2", "Downloading", Some(30_000_000), Some(90_000_000)));
        assert_eq!(progress.line(), "1 of 2 layers, 30 of 90 MB");
        progress.take(info("l2", "Download complete", None, None));
        assert_eq!(progress.line(), "1 of 2 layers, 90 of 90 MB");
        assert_eq!(progress.take(info("l2", "Pull complete", None, None)), Told::Layers);
        assert_eq!(progress.line(), "2 of 2 layers, 90 of 90 MB");
    }
}
