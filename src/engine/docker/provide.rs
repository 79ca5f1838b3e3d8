//! Volumes with files for the containers of a node, which have them read-only: mounting one costs
//! nothing, while copying files into every container would cost each start. How one is filled is in
//! `filling.rs`.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bollard::errors::Error;
use bollard::models::{
    ContainerCreateBody, ContainerInspectResponse, HostConfig, Mount, MountVolumeOptions,
    VolumeCreateRequest,
};
use bollard::query_parameters::{
    CreateContainerOptions, ListVolumesOptions, RemoveContainerOptions, RemoveVolumeOptions,
    UploadToContainerOptions,
};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::guest::PROGRAMS;

use super::DockerEngine;
use super::connection::{CALL, Connection, WORK};
use super::failure::{self, classify, status_of};
use super::shape::mount;
use crate::engine::Engine;
use crate::filling::{self, Labels, Shelf};
use crate::model::{ContainerSpec, EngineError, Result};

/// Where a filler has its volume.
const FOLDER: &str = "/provided";

#[async_trait]
impl Shelf for DockerEngine {
    async fn labels(&self, volume: &str) -> Result<Option<Labels>> {
        let call =
            self.connection.call(CALL, |docker| async move { docker.inspect_volume(volume).await });
        match call.await {
            Ok(found) => Ok(Some(found.labels.into_iter().collect())),
            Err(error) if status_of(&error) == Some(404) => Ok(None),
            Err(error) => Err(not_the_jobs(error, volume)),
        }
    }

    async fn labelled(&self, label: &str, value: &str) -> Result<Vec<(String, Labels)>> {
        let label = format!("{label}={value}");
        let options = ListVolumesOptions {
            filters: Some(HashMap::from([("label".to_owned(), vec![label])])),
        };
        let call = self
            .connection
            .call(CALL, |docker| async move { docker.list_volumes(Some(options)).await });
        let found = call.await.map_err(|error| not_the_jobs(error, ""))?;
        let found = found.volumes.unwrap_or_default().into_iter();
        Ok(found.map(|found| (found.name, found.labels.into_iter().collect())).collect())
    }

    async fn make_volume(&self, volume: &str, labels: Labels) -> Result<()> {
        let request = VolumeCreateRequest {
            name: Some(volume.to_owned()),
            labels: Some(labels.into_iter().collect()),
            ..Default::default()
        };
        let call = self
            .connection
            .call(CALL, |docker| async move { docker.create_volume(request).await.map(drop) });
        call.await.map_err(|error| not_the_jobs(error, volume))
    }

    async fn remove_volume(&self, volume: &str) -> Result<()> {
        let call = self.connection.call(WORK, |docker| async move {
            docker.remove_volume(volume, None::<RemoveVolumeOptions>).await
        });
        match call.await {
            Err(error) if matches!(status_of(&error), Some(404 | 409)) => Ok(()),
            other => other.map_err(|error| not_the_jobs(error, volume)),
        }
    }

    async fn make_filler(&self, volume: &str, labels: Labels, image: &str) -> Result<()> {
        let options =
            CreateContainerOptions { name: Some(volume.to_owned()), ..Default::default() };
        let body = filler(volume, labels, image);
        let call = self
            .connection
            .call(WORK, |docker| async move { docker.create_container(Some(options), body).await });
        match call.await {
            Ok(_) => Ok(()),
            Err(error) if status_of(&error) == Some(404) => Err(EngineError::NoImage {
                image: image.to_owned(),
                message: failure::words(&error),
            }),
            Err(error) if status_of(&error) == Some(409) => Err(not_the_jobs(error, volume)),
            Err(error) => Err(classify(error, volume)),
        }
    }

    async fn pour(&self, volume: &str, tar: BoxStream<'static, Result<Bytes>>) -> Result<()> {
        upload(&self.connection, volume, FOLDER, tar).await
    }

    async fn remove_filler(&self, volume: &str) -> Result<()> {
        let options = RemoveContainerOptions { force: true, v: false, link: false };
        let call = self.connection.call(WORK, |docker| async move {
            docker.remove_container(volume, Some(options)).await
        });
        match call.await {
            Err(error) if status_of(&error) == Some(404) => Ok(()),
            other => other.map_err(|error| not_the_jobs(error, volume)),
        }
    }
}

impl DockerEngine {
    /// A container that never ran, unless a volume of it is not the one that was filled. It is not
    /// kept then.
    pub(super) async fn with_volumes(&self, spec: &ContainerSpec, id: &str) -> Result<()> {
        for volume in spec.volumes() {
            if !filling::stands(self, volume).await? {
                self.remove(id).await?;
                return Err(filling::removed(volume));
            }
        }
        Ok(())
    }

    /// The program was not in a container that was to be started: its volume is filled anew, and the
    /// container, which never ran, is made anew with that.
    pub(super) async fn without_guest(&self, name: &str) -> Result<()> {
        let Some(found) = self.inspect_raw(name).await? else { return Ok(()) };
        for volume in volumes_at(&found, PROGRAMS) {
            filling::doubt(self, volume).await?;
        }
        self.remove(name).await
    }
}

/// Whether a container has the volumes that it is to have.
pub(super) fn has_volumes(found: &ContainerInspectResponse, spec: &ContainerSpec) -> bool {
    let has = |volume: &str| {
        let mut mounts = found.mounts.iter().flatten();
        mounts.any(|mount| mount.name.as_deref() == Some(volume))
    };
    spec.volumes().all(has)
}

fn volumes_at<'a>(
    found: &'a ContainerInspectResponse,
    folder: &'a str,
) -> impl Iterator<Item = &'a str> {
    let mounts = found.mounts.iter().flatten();
    let there = mounts.filter(move |mount| mount.destination.as_deref() == Some(folder));
    there.filter_map(|mount| mount.name.as_deref())
}

/// What an engine refuses of work that is the same for all jobs is its failure.
fn not_the_jobs(error: Error, volume: &str) -> EngineError {
    match classify(error, volume) {
        EngineError::Refused(words) => EngineError::Failed(words),
        other => other,
    }
}

fn filler(volume: &str, labels: Labels, image: &str) -> ContainerCreateBody {
    let options = MountVolumeOptions {
        labels: Some(labels.into_iter().collect()),
        // Nothing of the image is to be in it.
        no_copy: Some(true),
        ..Default::default()
    };
    let mount = Mount { volume_options: Some(options), ..mount(volume, FOLDER, false) };
    ContainerCreateBody {
        image: Some(protocol::image::explicit(image)),
        entrypoint: Some(vec!["never".to_owned()]),
        host_config: Some(HostConfig { mounts: Some(vec![mount]), ..Default::default() }),
        ..Default::default()
    }
}

/// Unpacks a tar in a container. Where its source fails, that is the error, not that the engine
/// found its end too early.
pub(super) async fn upload(
    connection: &Connection,
    name: &str,
    folder: &str,
    tar: BoxStream<'static, Result<Bytes>>,
) -> Result<()> {
    let failure: Arc<Mutex<Option<EngineError>>> = Arc::default();
    let noted = Arc::clone(&failure);
    let tar = tar.map(move |piece| {
        piece.map_err(|error| {
            let told = io::Error::other(error.to_string());
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            told
        })
    });
    let options = UploadToContainerOptions { path: folder.to_owned(), ..Default::default() };
    let call = connection.call(WORK * 5, |docker| async move {
        docker.upload_to_container(name, Some(options), bollard::body_try_stream(tar)).await
    });
    let outcome = call.await.map_err(|error| classify(error, name));
    let source = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    source.map_or(outcome, Err)
}
