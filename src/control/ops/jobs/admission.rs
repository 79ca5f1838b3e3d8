//! What is checked of a valid job file at the door: that its virtual cluster may be used, that it
//! can ever start, that its folders exist.

use std::sync::Arc;

use api::{Actor, Error, ErrorCode, Result};
use database::nodes::NodeRecord;
use protocol::cluster::NodeSettings;
use protocol::document::Document;
use protocol::environment::{self, JobFacts};
use protocol::fields::JobField;
use protocol::ids::{JobId, JobKey, JobName};
use protocol::problem::Problem;
use protocol::secrets::Secrets;
use protocol::spec::{Dialect, JobSpec};
use protocol::time::Timestamp;
use protocol::wait::{ResourceKind, WaitReason};
use scheduler::Admission;
use storage::{EntryKind, Storage, StorageError, StoragePath};

use self::places::Places;
use crate::accounts::people::People;
use crate::accounts::rights;
use crate::container::code;
use crate::container::images;
use crate::container::outputs::{Expected, Outputs};
use crate::container::public_keys;
use crate::container::storages;
use crate::error::internal;
use crate::files::access::Access;
use crate::known::cluster::Cluster;
use crate::known::nodes::KnownNodes;
use crate::known::queue::request;
use crate::ops::{limits, virtual_clusters};
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

mod places;

/// The output folder that nobody else can have.
const OWN_OUTPUT: &str = "$PAI_DEFAULT_FS_URI/Output/$PAI_USER_NAME/$PAI_JOB_NAME";

/// Why a valid job file is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The paths where a file may say what it is about, the likeliest first.
    paths: Vec<String>,
    pub(super) error: Error,
    /// Set when it could never start, whatever the load.
    pub(super) never: Option<WaitReason>,
}

impl Refusal {
    /// The refusal as a problem of the text it is about.
    pub(super) fn located(&self, text: &str) -> Problem {
        let document = Document::read(text).ok();
        let found = document.and_then(|document| {
            self.paths.iter().find_map(|path| Some((path.clone(), document.position(path)?)))
        });
        let (path, (line, column)) = found.unwrap_or_else(|| (String::new(), (1, 1)));
        let message = self.error.message.clone();
        Problem { path, line, column, message, allowed: String::new() }
    }

    /// The error, with its place in the text where that is to blame.
    pub(super) fn about(self, text: &str) -> Error {
        if self.error.is_ours() {
            return self.error;
        }
        let problems = vec![self.located(text)];
        Error { problems, ..self.error }
    }
}

pub(super) async fn check(
    shared: &Shared,
    actor: &Actor,
    spec: &JobSpec,
    secrets: &Secrets,
) -> std::result::Result<(), Refusal> {
    let places = Places::of(spec);
    let refused = |paths: Vec<String>| move |error| Refusal { paths, error, never: None };
    free_of_users(&shared.store, &spec.name).await.map_err(refused(places.job(JobField::Name)))?;
    let cluster = shared.nodes.cluster();
    still_ahead(spec, now()).map_err(refused(places.job(JobField::Deadline)))?;
    usable(&shared.store, &shared.people, actor, spec, &cluster)
        .await
        .map_err(refused(places.job(JobField::VirtualCluster)))?;
    limits::check(shared, actor, spec)
        .await
        .map_err(refused(places.job(JobField::VirtualCluster)))?;
    public_keys::check(spec, secrets).map_err(refused(places.plugins()))?;
    let storages = storages::of_job(&shared.store, &shared.people, actor, spec).await;
    storages.map_err(refused(places.storages()))?;
    for (at, role) in spec.roles.iter().enumerate() {
        let admitted = images::admit(&shared.settings, &shared.store, actor, &role.image).await;
        admitted.map_err(refused(places.image(at)))?;
    }
    let admission = admission(&cluster).await.map_err(refused(Vec::new()))?;
    let admitted = admission.admit(&request(spec, &actor.user));
    let never = admitted.err().filter(|reason| !may_be_found(&shared.nodes, &cluster, reason));
    if let Some(reason) = never {
        let error = Error::new(ErrorCode::ImpossibleRequestError, reason.to_string());
        return Err(Refusal {
            never: Some(reason.clone()),
            ..refused(places.never(&reason))(error)
        });
    }
    for (name, field, path) in [
        ("authFile", JobField::AuthFile, &spec.auth_file),
        ("dataDir", JobField::DataDir, &spec.data_dir),
        ("codeDir", JobField::CodeDir, &spec.code_dir),
    ] {
        if let Some(path) = path {
            let found = exists(&shared.store, actor, spec, name, path).await;
            found.map_err(refused(places.job(field)))?;
        }
    }
    Ok(())
}

/// Refuses a deadline that is over: somebody sends an old file once more.
fn still_ahead(spec: &JobSpec, now: Timestamp) -> Result<()> {
    let Some(deadline) = spec.deadline.filter(|deadline| deadline.at() <= now) else {
        return Ok(());
    };
    let message = format!("the deadline {deadline} has passed: name a later one, or none");
    Err(Error::new(ErrorCode::InvalidParametersError, message))
}

/// Refuses a virtual cluster that is not there or not the actor's to use.
async fn usable(
    store: &Store,
    people: &People,
    actor: &Actor,
    spec: &JobSpec,
    cluster: &Cluster,
) -> Result<()> {
    let name = &spec.virtual_cluster;
    let settings = cluster.virtual_cluster(name);
    let settings = settings.ok_or_else(|| virtual_clusters::missing(name))?;
    if !rights::may_use_now(store, people, actor, settings).await? {
        let message = format!("{} may not use the virtual cluster {name}", actor.user);
        return Err(Error::new(ErrorCode::ForbiddenUserError, message));
    }
    if !cluster.stopped.contains(name) {
        return Ok(());
    }
    let message = format!("the virtual cluster {name} is stopped: it takes no new jobs for now");
    Err(Error::new(ErrorCode::ConflictVcError, message))
}

/// Whether it is GPUs that are missing, while there is a node whose drivers were not asked for any yet.
fn may_be_found(nodes: &KnownNodes, cluster: &Cluster, reason: &WaitReason) -> bool {
    let of_gpus = matches!(
        reason,
        WaitReason::TypeAbsent { .. }
            | WaitReason::Impossible { resource: ResourceKind::Gpu, virtual_cluster: None, .. }
    );
    let not_asked = |node: &NodeRecord| {
        let NodeSettings { name, gpus, gpu_runtime, .. } = &node.settings;
        let found = node.observed.as_ref().is_some_and(|observed| observed.gpus.is_some());
        let known = gpus.is_some() || !gpu_runtime.finds_gpus() || found;
        !known && !nodes.heartbeats.was_probed(name)
    };
    of_gpus && cluster.records().any(not_asked)
}

/// What tells whether a job could ever start.
async fn admission(cluster: &Arc<Cluster>) -> Result<Arc<Admission>> {
    if let Some(known) = cluster.known_admission() {
        return Ok(known);
    }
    let cluster = Arc::clone(cluster);
    tokio::task::spawn_blocking(move || cluster.admission()).await.map_err(internal)
}

/// Refuses a name that reads as the address of another user's job: `alice~train`.
async fn free_of_users(store: &Store, name: &JobName) -> Result<()> {
    let Ok(JobKey { user, .. }) = name.as_str().parse() else { return Ok(()) };
    let given = database::user_names::find(store.database.read(), &user).await;
    if given?.is_none() {
        return Ok(());
    }
    let message = format!(
        "{name} reads as the address of a job of the user {user}: choose a name without {user}~"
    );
    Err(Error::new(ErrorCode::InvalidParametersError, message))
}

async fn exists(
    store: &Store,
    actor: &Actor,
    spec: &JobSpec,
    field: &str,
    path: &str,
) -> Result<()> {
    let invalid = |message: String| {
        Error::new(ErrorCode::InvalidParametersError, format!("{field}: {message}"))
    };
    let path = environment::substitute(path, &facts(store, spec, &key(actor, spec)));
    let place = store.storage.resolve(&path).map_err(|error| invalid(error.to_string()))?;
    let access = Access { store, actor };
    let readable = match field {
        "authFile" => access.to_read(&place).await,
        _ => access.to_read_whole(&place).await,
    };
    readable.map_err(|error| about(field, error))?;
    let found = store.storage.find(&place).await;
    let found = found
        .map_err(|error| about(field, error))?
        .ok_or_else(|| invalid(format!("{path} does not exist in {}", store.storage.uri())))?;
    match (field, found.kind) {
        (_, EntryKind::Link) => Err(invalid(format!("{path} is a link: name what it leads to"))),
        ("codeDir", EntryKind::File) => Err(invalid(format!("{path} is a file: name its folder"))),
        ("codeDir", EntryKind::Folder) => {
            match store.storage.folder_size(&place, code::LARGEST).await {
                Err(StorageError::TooLarge { .. }) => {
                    Err(invalid(format!("{path} is larger than 200 MB; put data into dataDir")))
                }
                other => other.map(drop).map_err(|error| about(field, error)),
            }
        }
        ("authFile", EntryKind::Folder) => Err(invalid(format!("{path} is a folder"))),
        (_, EntryKind::File | EntryKind::Folder) => Ok(()),
    }
}

/// Makes the output folder of a version 1 job in one step, where nothing is there and nobody has it. `None`: there
/// is none to be made, or it is to be made as any other is.
pub(super) async fn create_new_output(
    store: &Store,
    outputs: &Outputs,
    actor: &Actor,
    spec: &JobSpec,
) -> Option<Made> {
    if has_no_output(spec) {
        return None;
    }
    // What fails now fails again, and is told then.
    let place = output_place(store, actor, spec).ok()?;
    let of_user = outputs.of(&actor.user);
    let _making = of_user.making().await;
    let expected = Some(of_user.expect(place.clone()));
    let made = Access { store, actor }.make_new(&place).await.ok()?;
    made.then(|| Made { new: vec![place], expected })
}

/// Makes the output folder of a version 1 job: the one it names, else the default one. Where the
/// default one is somebody else's, who has a job of the same name, it is one in the user's own.
pub(super) async fn create_output(
    store: &Store,
    outputs: &Outputs,
    actor: &Actor,
    spec: &mut JobSpec,
) -> Result<Made> {
    if has_no_output(spec) {
        return Ok(Made::default());
    }
    let default = spec.output_dir.as_deref().is_none_or(str::is_empty);
    match make_output(store, outputs, actor, spec).await {
        Err(error) if default && error.code == ErrorCode::ForbiddenUserError => {
            spec.output_dir = Some(OWN_OUTPUT.to_owned());
            make_output(store, outputs, actor, spec).await
        }
        made => made,
    }
}

fn has_no_output(spec: &JobSpec) -> bool {
    spec.dialect == Dialect::V2 && spec.output_dir.is_none()
}

fn output_place(store: &Store, actor: &Actor, spec: &JobSpec) -> Result<StoragePath> {
    let path = environment::output_dir(&facts(store, spec, &key(actor, spec)));
    store.storage.resolve(&path).map_err(|error| about("outputDir", error))
}

/// What a job has for its output.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// Folders that were not there before, the deepest first.
    pub(super) new: Vec<StoragePath>,
    /// Keeps its folder for it, whoever made that, until it is stored.
    pub(super) expected: Option<Expected>,
}

async fn make_output(
    store: &Store,
    outputs: &Outputs,
    actor: &Actor,
    spec: &JobSpec,
) -> Result<Made> {
    let place = output_place(store, actor, spec)?;
    let of_user = outputs.of(&actor.user);
    let _making = of_user.making().await;
    let expected = Some(of_user.expect(place.clone()));
    let access = Access { store, actor };
    if access.make_new(&place).await.map_err(|error| about("outputDir", error))? {
        return Ok(Made { new: vec![place], expected });
    }
    let mut new = missing(&store.storage, &place).await;
    let written = access.to_write_whole(&place).await;
    written.map_err(|error| about("outputDir", error))?;
    let made = store.storage.create_folder(&place).await;
    made.map_err(|error| about("outputDir", error))?;
    if !new.is_empty() {
        // A user's home is his whether it is there or not, and tasks of his may have it by now.
        let top = access.top(&place).await.map_err(|error| about("outputDir", error))?;
        let owner = store.storage.owner(&top).await;
        let claimed = owner.map_err(|error| about("outputDir", error))?.is_some();
        new.retain(|path| path.is_within(&top) && (claimed || *path != top));
    }
    Ok(Made { new, expected })
}

/// The folders on the way to a place that are not there, as far as that can be seen, the deepest first.
async fn missing(storage: &Storage, place: &StoragePath) -> Vec<StoragePath> {
    let (mut missing, mut next) = (Vec::new(), Some(place.clone()));
    while let Some(path) = next {
        if !matches!(storage.exists(&path).await, Ok(false)) {
            break;
        }
        next = path.parent();
        missing.push(path);
    }
    missing
}

/// The same, with the field that it is about.
fn about(field: &str, error: impl Into<Error>) -> Error {
    let error = error.into();
    Error { message: format!("{field}: {}", error.message), ..error }
}

fn key(actor: &Actor, spec: &JobSpec) -> JobKey {
    JobKey { user: actor.user.clone(), name: spec.name.clone() }
}

fn facts<'a>(store: &'a Store, spec: &'a JobSpec, key: &'a JobKey) -> JobFacts<'a> {
    JobFacts { key, spec, job_id: JobId(0), attempt: 0, file_system_uri: store.storage.uri() }
}
