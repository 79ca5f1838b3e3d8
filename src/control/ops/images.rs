//! `api::images`.

use std::sync::Arc;

use api::audit::AuditAction;
use api::changes::Change;
use api::images::{ImageSize, Images, SaveImage, SavedImageView, TaskOfJob};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::images::{ImageRecord, ImageUpdate};
use database::tasks::Task;
use engine::{Engine, EngineError};
use protocol::ids::UserName;
use protocol::image::{ImageState, SavedImage, in_registry};

use super::tasks;
use crate::accounts::rights::owner_only;
use crate::container::{code, images};
use crate::error::internal;
use crate::known::cluster::Observation;
use crate::records::audit::{self, Note};
use crate::shared::Shared;
use crate::wake::now;

/// The most images a user has.
const MOST: usize = 50;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Images for Ops {
    async fn size(&self, actor: &Actor, task: &TaskOfJob) -> Result<ImageSize> {
        let run = self.run_of(actor, task).await?;
        let engine = self.engine(&run)?;
        let name = run.key.container_name(&self.0.identity.installation);
        let size = engine.container_size(&name).await.map_err(|error| gone(task, &run, error))?;
        Ok(ImageSize { own: size.own, whole: size.whole })
    }

    async fn save(&self, actor: &Actor, request: &SaveImage) -> Result<SavedImageView> {
        let SaveImage { task, name, tag, registry, auth_file, address } = request;
        let run = self.run_of(actor, task).await?;
        let image = SavedImage::new(task.job.user.clone(), name.trim(), tag.trim());
        let image = image.map_err(|error| invalid(error.to_string()))?.to_string();
        let registry = match registry.trim() {
            "" => None,
            text => Some(in_registry(text).map_err(|error| invalid(error.to_string()))?),
        };
        if let Some(image) = &registry {
            images::known_registry(&self.0.settings, image)?;
        }
        let auth_file = self.auth_file(actor, auth_file, registry.is_some()).await?;
        let engine = self.engine(&run)?;
        let container = run.key.container_name(&self.0.identity.installation);
        match engine.inspect(&container).await {
            Ok(Some(_)) => {}
            Ok(None) => return Err(gone(task, &run, EngineError::NoContainer(container))),
            Err(error) => return Err(gone(task, &run, error)),
        }
        let mut record = ImageRecord {
            id: 0,
            owner: task.job.user.clone(),
            image,
            node: run.placement.node.clone(),
            bytes: 0,
            job: task.job.clone(),
            task: format!("{}-{}", task.role, task.index),
            container: run.key,
            made_by: actor.user.clone(),
            created_at: now(),
            state: ImageState::Saving,
            problem: None,
            registry,
            auth_file,
        };
        self.make_room(&record).await?;
        self.note(actor, AuditAction::ImageSaved, &record, address.clone()).await?;
        self.0.containers.images.held().insert(run.key);
        let stored = self.0.store.write(async |t| database::images::insert(t, &record).await).await;
        record.id = match stored {
            Err(database::Error::Conflict { .. }) => return Err(name_taken(&record.image)),
            other => other?,
        };
        self.0.live.wakeups.images.wake();
        self.tell(&record.owner);
        Ok(self.view(record))
    }

    async fn list(&self, actor: &Actor) -> Result<Vec<SavedImageView>> {
        let owner = (!actor.admin).then_some(&actor.user);
        let images = database::images::list(self.0.store.database.read(), owner).await;
        Ok(images?.into_iter().map(|image| self.view(image)).collect())
    }

    async fn remove(&self, actor: &Actor, id: i64) -> Result<()> {
        let missing = || {
            let message = "there is no such saved image, or it is not yours";
            Error::new(ErrorCode::NoImageError, message)
        };
        let found = database::images::get(self.0.store.database.read(), id).await?;
        let image = found.ok_or_else(missing)?;
        if !actor.admin && actor.user != image.owner {
            return Err(missing());
        }
        self.refuse_needed(&image).await?;
        self.note(actor, AuditAction::ImageRemoved, &image, None).await?;
        let update = ImageUpdate { state: ImageState::Removing, bytes: None, problem: None };
        let asked = self
            .0
            .store
            .write(async |t| database::images::update(t, id, image.state, &update).await)
            .await;
        if !asked? {
            let message = format!("{} has just got further: look again", image.image);
            return Err(Error::new(ErrorCode::ConflictImageError, message));
        }
        self.0.live.wakeups.images.wake();
        self.tell(&image.owner);
        Ok(())
    }
}

impl Ops {
    /// The last run of a task, for those who may enter it.
    async fn run_of(&self, actor: &Actor, task: &TaskOfJob) -> Result<Task> {
        let TaskOfJob { job, role, index } = task;
        owner_only(actor, &job.user, "save its containers")?;
        tasks::last_run(&self.0.store, job, None, role, *index).await?.ok_or_else(|| {
            let message = format!("{job} has no task {role}-{index}, or it has no place yet");
            Error::new(ErrorCode::NoTaskError, message)
        })
    }

    fn engine(&self, run: &Task) -> Result<Arc<dyn Engine>> {
        let node = &run.placement.node;
        match self.0.nodes.observations().get(node) {
            Some(Observation::Answers { engine, .. }) => Ok(Arc::clone(engine)),
            Some(Observation::Silent) | None => {
                let message = format!("{node} is out of contact: try again when it answers");
                Err(Error::new(ErrorCode::UnavailableError, message))
            }
        }
    }

    /// A file with credentials that the actor may read.
    async fn auth_file(&self, actor: &Actor, file: &str, pushed: bool) -> Result<Option<String>> {
        let file = file.trim();
        if file.is_empty() {
            return Ok(None);
        }
        if !pushed {
            return Err(invalid("authFile: it is for a push, and no registry is named".to_owned()));
        }
        let file = file.strip_prefix("$PAI_DEFAULT_FS_URI").unwrap_or(file);
        let about =
            |error: Error| Error { message: format!("authFile: {}", error.message), ..error };
        let path = code::readable(&self.0.store, &self.0.people, &actor.user, file)
            .await
            .map_err(about)?;
        if !self.0.store.storage.exists(&path).await.map_err(internal)? {
            return Err(invalid(format!("authFile: there is no {file}")));
        }
        Ok(Some(file.to_owned()))
    }

    /// Refuses a name that is taken, and more images than are allowed; what failed under the name
    /// gives way.
    async fn make_room(&self, image: &ImageRecord) -> Result<()> {
        let mine = database::images::list(self.0.store.database.read(), Some(&image.owner)).await;
        let mine = mine?;
        let same = mine.iter().find(|other| other.image == image.image);
        match same.map(|same| (same.id, same.state)) {
            Some((id, ImageState::Failed)) => {
                let forgotten = self.0.store.write(async |t| database::images::forget(t, id).await);
                return Ok(forgotten.await?);
            }
            Some(_) => return Err(name_taken(&image.image)),
            None => {}
        }
        if mine.len() >= MOST {
            let message = format!("{} has {MOST} saved images: remove one first", image.owner);
            return Err(Error::new(ErrorCode::ConflictImageError, message));
        }
        Ok(())
    }

    async fn refuse_needed(&self, image: &ImageRecord) -> Result<()> {
        let jobs = self.0.jobs.active.all(&self.0.store.database).await?;
        let needs = |named: &str| match SavedImage::read(named) {
            Some(Ok(saved)) => saved.to_string() == image.image,
            Some(Err(_)) | None => false,
        };
        let found = jobs.iter().find(|job| job.spec.roles.iter().any(|role| needs(&role.image)));
        let Some(job) = found else { return Ok(()) };
        let message = format!(
            "{} is needed by {}, which is {}: stop it first, or wait until it has ended",
            image.image,
            job.row.key,
            job.row.state.as_str()
        );
        Err(Error::new(ErrorCode::ConflictImageError, message))
    }

    async fn note(
        &self,
        actor: &Actor,
        action: AuditAction,
        image: &ImageRecord,
        address: Option<String>,
    ) -> Result<()> {
        let detail = match &image.registry {
            Some(registry) => format!("{} → {registry}", image.image),
            None => image.image.clone(),
        };
        let object = format!("{}/{}", image.job, image.task);
        Ok(audit::write(&self.0.store, actor, Note { action, object, detail, address }).await?)
    }

    fn tell(&self, owner: &UserName) {
        self.0.live.tell(Change::Image { owner: owner.clone() });
    }

    fn view(&self, image: ImageRecord) -> SavedImageView {
        SavedImageView {
            progress: self.0.containers.images.progress().get(&image.id).cloned(),
            id: image.id,
            owner: image.owner,
            image: image.image,
            state: image.state,
            problem: image.problem,
            node: image.node,
            bytes: (image.bytes > 0).then_some(image.bytes),
            registry: image.registry,
            job: image.job,
            task: image.task,
            made_by: image.made_by,
            created_at: image.created_at,
        }
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidParametersError, message)
}

fn name_taken(image: &str) -> Error {
    let message = format!("{image} is taken: choose another name or tag, or remove it first");
    Error::new(ErrorCode::ConflictImageError, message)
}

/// Why a container cannot be looked at.
fn gone(task: &TaskOfJob, run: &Task, error: EngineError) -> Error {
    let TaskOfJob { job, role, index } = task;
    let node = &run.placement.node;
    let (code, message) = match error {
        EngineError::NoContainer(_) => {
            let message = format!(
                "{role}-{index} of {job} has no container on {node} (it is {}): one can be saved \
                 while its task runs, or is kept because it failed",
                run.state.as_str()
            );
            (ErrorCode::ConflictImageError, message)
        }
        other => (ErrorCode::UnavailableError, format!("{node}: {other}")),
    };
    Error::new(code, message)
}
