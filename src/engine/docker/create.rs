//! Creating containers: one that is there already is taken, if it is the same one.

use bollard::models::Mount;
use bollard::query_parameters::{ContainerArchiveInfoOptions, CreateContainerOptions};
use protocol::cluster::GpuRuntime;
use protocol::guest::CODE;

use super::connection::{CALL, WORK};
use super::failure::{self, classify, of_another_epoch, status_of};
use super::{DockerEngine, gpus, observe, provide, shape};
use crate::engine::Engine;
use crate::model::{ContainerSpec, EngineError, Result};

/// A container of that name that was there, by the engine's id.
enum Adopted {
    Ran(String),
    New(String),
}

/// Why there is no new one.
enum CreateFailure {
    NameTaken,
    Other(EngineError),
}

impl DockerEngine {
    /// The container of this task, by the engine's id: a new one, or the one that is there.
    pub(super) async fn create_container(&self, spec: &ContainerSpec) -> Result<String> {
        // A name can be taken by a container that is just being removed: one more try is enough
        // for that, and the caller's next pass for everything slower.
        for _ in 0..2 {
            match self.try_create(spec).await {
                Ok(id) => return self.checked(spec, id).await,
                Err(CreateFailure::Other(error)) => return Err(error),
                Err(CreateFailure::NameTaken) => match self.adopt(spec).await? {
                    Some(Adopted::Ran(id)) => return Ok(id),
                    Some(Adopted::New(id)) => return self.checked(spec, id).await,
                    None => {}
                },
            }
        }
        Err(EngineError::Failed(format!(
            "the name {} is taken by what cannot be seen",
            spec.name()
        )))
    }

    async fn try_create(&self, spec: &ContainerSpec) -> std::result::Result<String, CreateFailure> {
        let name = spec.name();
        let facts = self.facts().await.map_err(CreateFailure::Other)?;
        if spec.gpu_runtime == GpuRuntime::Cdi
            && !spec.gpus.is_empty()
            && let Some(version) = facts.old_podman
        {
            // Its task would run without them.
            let words = gpus::leaves_out(version).to_string();
            return Err(CreateFailure::Other(EngineError::Broken(words)));
        }
        let code = self.code_mount(spec).await.map_err(CreateFailure::Other)?;
        let body = shape::body(spec, code, facts.has_init, facts.cpus);
        let options = CreateContainerOptions { name: Some(name.clone()), ..Default::default() };
        let call = self
            .connection
            .call(WORK, |docker| async move { docker.create_container(Some(options), body).await });
        match call.await {
            Ok(made) => Ok(made.id),
            Err(error) if status_of(&error) == Some(409) => Err(CreateFailure::NameTaken),
            Err(error) if status_of(&error) == Some(404) => {
                Err(CreateFailure::Other(EngineError::NoImage {
                    image: spec.image.clone(),
                    message: failure::words(&error),
                }))
            }
            Err(error) => Err(CreateFailure::Other(classify(error, &name))),
        }
    }

    /// The job's code, in the folder that the image starts in.
    async fn code_mount(&self, spec: &ContainerSpec) -> Result<Option<Mount>> {
        let Some(volume) = &spec.code else { return Ok(None) };
        let found = self.inspect_image(&spec.image).await?;
        let start = found.config.and_then(|config| config.working_dir).unwrap_or_default();
        let folder = format!("/{}/{CODE}", start.trim_matches('/')).replacen("//", "/", 1);
        Ok(Some(shape::mount(volume, &folder, true)))
    }

    /// The container of this name, if it is this one; one with other volumes that never ran is not kept.
    async fn adopt(&self, spec: &ContainerSpec) -> Result<Option<Adopted>> {
        let name = spec.name();
        let Some(found) = self.inspect_raw(&name).await? else { return Ok(None) };
        let labels = found.config.as_ref().and_then(|config| config.labels.as_ref());
        let ours = shape::key_labels(&spec.cluster, &spec.key)
            .iter()
            .all(|(label, value)| labels.and_then(|labels| labels.get(label)) == Some(value));
        if !ours {
            return Err(EngineError::Broken(format!(
                "somebody else's container has the name {name} on this node: remove or rename it"
            )));
        }
        if labels.map(shape::epoch_of).unwrap_or_default() != spec.epoch {
            return Err(of_another_epoch(&name));
        }
        let ran = observe::container(&found).is_none_or(|container| container.status.has_run());
        if !ran && !provide::has_volumes(&found, spec) {
            self.remove(&name).await?;
            return Ok(None);
        }
        Ok(found.id.map(|id| if ran { Adopted::Ran(id) } else { Adopted::New(id) }))
    }

    /// A container that never ran, if it can.
    async fn checked(&self, spec: &ContainerSpec, id: String) -> Result<String> {
        self.with_volumes(spec, &id).await?;
        self.with_shell(spec, id).await
    }

    /// The container, unless its image has no shell: it is not kept then. An init program would
    /// start all the same and leave nothing but exit code 127. Asked once an image.
    async fn with_shell(&self, spec: &ContainerSpec, id: String) -> Result<String> {
        if spec.guest.is_some() || self.cache.has_shell(&spec.image) {
            return Ok(id);
        }
        let options = ContainerArchiveInfoOptions { path: "/bin/sh".to_owned() };
        let call = self.connection.call(CALL, |docker| {
            let id = id.clone();
            async move { docker.get_container_archive_info(&id, Some(options)).await }
        });
        match call.await {
            Ok(_) => {
                self.cache.set_shell(&spec.image);
                Ok(id)
            }
            Err(error) if failure::no_such_path(&error) => {
                if self.inspect_raw(&id).await?.is_none() {
                    return Err(EngineError::NoContainer(spec.name()));
                }
                self.remove(&id).await?;
                Err(failure::no_shell())
            }
            Err(error) => Err(classify(error, &spec.name())),
        }
    }
}
