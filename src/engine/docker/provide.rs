//! Programs for all containers of a node, in a volume that each of them has read-only: mounting it
//! costs nothing, while copying it into every container would cost each start.

use bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType, VolumeCreateRequest};
use bollard::query_parameters::{CreateContainerOptions, RemoveContainerOptions};
use bytes::Bytes;

use super::connection::Connection;
use super::failure::{self, classify, status_of};
use super::{CALL, WORK};
use crate::{EngineError, Result};

/// Where a container has it.
const FOLDER: &str = "/provided";

/// Fills the volume of this name. Done again it comes to the same: what runs keeps the files that
/// it has open.
pub(super) async fn provide(
    connection: &Connection,
    volume: &str,
    image: &str,
    tar: Bytes,
) -> Result<()> {
    let request = VolumeCreateRequest { name: Some(volume.to_owned()), ..Default::default() };
    let made = connection.call(CALL, |docker| async move { docker.create_volume(request).await });
    made.await.map_err(|error| classify(error, volume))?;
    // Never started: it is there to be written through.
    let _left_by_a_crash = remove(connection, volume).await;
    create(connection, volume, image).await?;
    let filled = super::upload(connection, volume, FOLDER, tar).await;
    remove(connection, volume).await?;
    filled
}

async fn create(connection: &Connection, volume: &str, image: &str) -> Result<()> {
    let options = CreateContainerOptions { name: Some(volume.to_owned()), ..Default::default() };
    let body = ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(vec!["never".to_owned()]),
        host_config: Some(HostConfig {
            mounts: Some(vec![mount(volume, FOLDER, false)]),
            ..Default::default()
        }),
        ..Default::default()
    };
    let call = connection
        .call(WORK, |docker| async move { docker.create_container(Some(options), body).await });
    match call.await {
        Ok(_) => Ok(()),
        Err(error) if status_of(&error) == Some(404) => {
            Err(EngineError::NoImage { image: image.to_owned(), message: failure::words(&error) })
        }
        Err(error) => Err(classify(error, volume)),
    }
}

async fn remove(connection: &Connection, name: &str) -> Result<()> {
    let options = RemoveContainerOptions { force: true, v: false, link: false };
    let call = connection
        .call(WORK, |docker| async move { docker.remove_container(name, Some(options)).await });
    match call.await {
        Err(error) if status_of(&error) == Some(404) => Ok(()),
        other => other.map_err(|error| classify(error, name)),
    }
}

/// A volume as a folder of a container.
pub(super) fn mount(volume: &str, folder: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        source: Some(volume.to_owned()),
        target: Some(folder.to_owned()),
        read_only: Some(read_only),
        ..Default::default()
    }
}
