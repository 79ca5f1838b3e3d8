//! Images: looked at, moved, removed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bollard::body_try_stream;
use bollard::errors::Error;
use bollard::models::{BuildInfo, ImageInspect};
use bollard::query_parameters::{
    ImportImageOptions, InspectContainerOptions, PushImageOptions, RemoveImageOptions,
    TagImageOptions,
};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt};
use protocol::architecture::Architecture;
use protocol::image::{explicit, split};
use protocol::spec::RegistryAuth;

use super::DockerEngine;
use super::connection::{CALL, WORK};
use super::failure::{self, classify, pull_failure, silent, status_of};
use super::pull::credentials;
use super::streams::moving;
use crate::images::{ImageSize, Images};
use crate::model::{EngineError, Result};

/// Work on an image may take so long: the disk of a large container is walked or copied.
pub(super) const LONG: Duration = Duration::from_secs(3 * 60 * 60);
/// What moves an image may not be silent for so long.
const STALLED: Duration = Duration::from_secs(15 * 60);

impl DockerEngine {
    pub(super) async fn inspect_image(&self, image: &str) -> Result<ImageInspect> {
        let name = explicit(image);
        let call =
            self.connection.call(CALL, |docker| async move { docker.inspect_image(&name).await });
        call.await.map_err(|error| match status_of(&error) {
            Some(404) => {
                EngineError::NoImage { image: image.to_owned(), message: failure::words(&error) }
            }
            _ => classify(error, image),
        })
    }

    pub(super) async fn tag(&self, image: &str, target: &str) -> Result<()> {
        let (repo, tag) = split(target);
        let options = TagImageOptions { repo: Some(repo.to_owned()), tag: tag.map(str::to_owned) };
        let call = self
            .connection
            .call(WORK, |docker| async move { docker.tag_image(image, Some(options)).await });
        call.await.map_err(|error| classify(error, image))
    }

    /// Refuses to take a name from an image of the node.
    async fn refuse_taken(&self, image: &str, target: &str) -> Result<()> {
        let ours = self.inspect_image(image).await?.id;
        match self.inspect_image(target).await {
            Ok(other) if other.id != ours => Err(EngineError::Refused(format!(
                "this node has another image {target}, which it would lose: choose another name"
            ))),
            Ok(_) | Err(EngineError::NoImage { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl Images for DockerEngine {
    async fn container_size(&self, name: &str) -> Result<ImageSize> {
        let options = InspectContainerOptions { size: true };
        let call = self.connection.call(WORK * 5, |docker| async move {
            docker.inspect_container(name, Some(options)).await
        });
        let found = call.await.map_err(|error| match status_of(&error) {
            Some(404) => EngineError::NoContainer(name.to_owned()),
            _ => classify(error, name),
        })?;
        Ok(ImageSize { own: bytes(found.size_rw), whole: bytes(found.size_root_fs) })
    }

    async fn image_size(&self, image: &str) -> Result<u64> {
        Ok(bytes(self.inspect_image(image).await?.size))
    }

    async fn image_id(&self, image: &str) -> Result<String> {
        let id = self.inspect_image(image).await?.id;
        id.ok_or_else(|| EngineError::Failed(format!("the engine tells no id of {image}")))
    }

    async fn image_architecture(&self, image: &str) -> Result<Option<Architecture>> {
        let found = self.inspect_image(image).await?;
        Ok(found.architecture.as_deref().and_then(Architecture::new))
    }

    async fn may_pull(&self, image: &str, auth: Option<&RegistryAuth>) -> Result<()> {
        let (name, credentials) = (explicit(image), auth.map(credentials));
        let call = self.connection.call(WORK, |docker| async move {
            docker.inspect_registry_image(&name, credentials).await.map(drop)
        });
        call.await.map_err(|error| pull_failure(error, image, auth.is_some()))
    }

    async fn commit(&self, name: &str, image: &str) -> Result<()> {
        self.save(name, image).await
    }

    async fn remove_image(&self, image: &str) -> Result<()> {
        let options = RemoveImageOptions { force: true, ..Default::default() };
        let name = explicit(image);
        let call = self.connection.call(WORK * 5, |docker| async move {
            docker.remove_image(&name, Some(options), None).await.map(drop)
        });
        match call.await {
            Err(error) if status_of(&error) == Some(404) => Ok(()),
            other => other.map_err(|error| classify(error, image)),
        }
    }

    async fn export(&self, image: &str) -> Result<BoxStream<'static, Result<Bytes>>> {
        self.inspect_image(image).await?;
        let subject = image.to_owned();
        let docker = self.connection.docker(STALLED)?;
        let pieces = docker.export_image(&explicit(image));
        Ok(moving(pieces.map_err(move |error| classify(error, &subject)).boxed(), STALLED))
    }

    async fn import(&self, tar: BoxStream<'static, Result<Bytes>>) -> Result<()> {
        let failure: Arc<Mutex<Option<EngineError>>> = Arc::default();
        let noted = Arc::clone(&failure);
        let tar = tar.map(move |piece| {
            piece.map_err(|error| {
                let told = std::io::Error::other(error.to_string());
                *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                told
            })
        });
        let options = ImportImageOptions { quiet: true, ..Default::default() };
        let docker = self.connection.docker(LONG)?;
        let loaded = docker.import_image(options, body_try_stream(tar), None);
        let outcome = tokio::time::timeout(LONG, taken(loaded)).await;
        let source = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        source.map_or_else(|| outcome.unwrap_or_else(|_| Err(silent(LONG))), Err)
    }

    async fn push(
        &self,
        image: &str,
        target: &str,
        auth: Option<&RegistryAuth>,
    ) -> Result<BoxStream<'static, Result<String>>> {
        self.refuse_taken(image, target).await?;
        self.tag(image, target).await?;
        let (name, tag) = split(target);
        let options = PushImageOptions { tag: tag.map(str::to_owned), platform: None };
        let docker = self.connection.docker(STALLED)?;
        let answers = docker.push_image(name, Some(options), auth.map(credentials));
        let (subject, with_credentials) = (target.to_owned(), auth.is_some());
        let answers =
            answers.map_err(move |error| pull_failure(error, &subject, with_credentials)).boxed();
        let answers = moving(answers, STALLED);
        let lines = answers.filter_map(|answer| async move {
            match answer {
                Ok(info) => info.status.filter(|line| !line.is_empty()).map(Ok),
                Err(error) => Some(Err(error)),
            }
        });
        Ok(lines.boxed())
    }
}

/// What the engine says of a tar that it takes: only its failure matters.
async fn taken(answers: impl Stream<Item = std::result::Result<BuildInfo, Error>>) -> Result<()> {
    let mut answers = std::pin::pin!(answers);
    while let Some(answer) = answers.next().await {
        answer.map_err(|error| classify(error, ""))?;
    }
    Ok(())
}

fn bytes(number: Option<i64>) -> u64 {
    number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
}
