//! What is checked of a valid job file at the door: that its virtual cluster may be used, that it
//! can ever start, that its folders exist.

use std::sync::Arc;

use api::{Actor, Error, ErrorCode, Result};
use protocol::document::Document;
use protocol::environment::{self, JobFacts};
use protocol::ids::{JobId, JobKey, JobName};
use protocol::problem::Problem;
use protocol::spec::{Dialect, JobSpec};
use protocol::wait::WaitReason;
use scheduler::Admission;
use storage::{EntryKind, StorageError};

use crate::accounts::rights::Usable;
use crate::container::code;
use crate::container::images;
use crate::container::public_keys;
use crate::error::{database, internal};
use crate::files::access::Access;
use crate::files::failure;
use crate::known::cluster::Cluster;
use crate::known::queue::request;
use crate::ops::virtual_clusters;
use crate::shared::Shared;

/// The output folder that nobody else can have.
const OWN_OUTPUT: &str = "$PAI_DEFAULT_FS_URI/Output/$PAI_USER_NAME/$PAI_JOB_NAME";

/// Why a valid job file is refused.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The path of the field it is about, in the words of version 1.
    field: &'static str,
    pub(super) error: Error,
    /// Set when it could never start, whatever the load.
    pub(super) never: Option<WaitReason>,
}

impl Refusal {
    /// The refusal as a problem of the text it is about.
    pub(super) fn located(self, text: &str) -> Problem {
        let keys: Vec<_> = self.field.split('.').collect();
        let places = [keys.clone(), [vec!["defaults"], keys].concat()];
        let document = Document::read(text).ok();
        let found = document.and_then(|document| {
            places.iter().find_map(|keys| Some((keys.join("."), document.position(keys)?)))
        });
        let (path, (line, column)) = found.unwrap_or_else(|| (String::new(), (1, 1)));
        Problem { path, line, column, message: self.error.message, allowed: String::new() }
    }
}

pub(super) async fn check(
    shared: &Shared,
    actor: &Actor,
    spec: &JobSpec,
) -> std::result::Result<(), Refusal> {
    let refused = |field: &'static str| move |error| Refusal { field, error, never: None };
    free_of_users(shared, &spec.name).await.map_err(refused("jobName"))?;
    let cluster = shared.cluster();
    let name = &spec.virtual_cluster;
    let settings = cluster.virtual_cluster(name);
    let settings = settings
        .ok_or_else(|| virtual_clusters::missing(name))
        .map_err(refused("virtualCluster"))?;
    let usable =
        Usable::by(shared, actor).await.map_err(database).map_err(refused("virtualCluster"))?;
    if !usable.admits(settings) {
        let message = format!("{} may not use the virtual cluster {name}", actor.user);
        let error = Error::new(ErrorCode::ForbiddenUserError, message);
        return Err(refused("virtualCluster")(error));
    }
    public_keys::check(spec).map_err(refused("extras"))?;
    for role in &spec.roles {
        images::admit(shared, actor, &role.image).await.map_err(refused("image"))?;
    }
    let admission = admission(&cluster).await.map_err(refused("taskRoles"))?;
    admission.admit(&request(spec, &actor.user)).map_err(|reason| {
        let error = Error::new(ErrorCode::ImpossibleRequestError, reason.to_string());
        Refusal { never: Some(reason.clone()), ..refused(asked_in(&reason))(error) }
    })?;
    for (field, path) in
        [("authFile", &spec.auth_file), ("dataDir", &spec.data_dir), ("codeDir", &spec.code_dir)]
    {
        if let Some(path) = path {
            exists(shared, actor, spec, field, path).await.map_err(refused(field))?;
        }
    }
    Ok(())
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
async fn free_of_users(shared: &Shared, name: &JobName) -> Result<()> {
    let Ok(JobKey { user, .. }) = name.as_str().parse() else { return Ok(()) };
    let given = database::user_names::find(shared.database.read(), &user).await;
    if given.map_err(database)?.is_none() {
        return Ok(());
    }
    let message = format!(
        "{name} reads as the address of a job of the user {user}: choose a name without {user}~"
    );
    Err(Error::new(ErrorCode::InvalidParametersError, message))
}

/// Where a job file asks for what can never be had.
fn asked_in(reason: &WaitReason) -> &'static str {
    let WaitReason::NodesAbsent { wanted } = reason else { return "taskRoles" };
    if wanted.names.is_empty() { "extras.berth.nodeLabels" } else { "extras.berth.nodes" }
}

async fn exists(
    shared: &Shared,
    actor: &Actor,
    spec: &JobSpec,
    field: &str,
    path: &str,
) -> Result<()> {
    let invalid = |message: String| {
        Error::new(ErrorCode::InvalidParametersError, format!("{field}: {message}"))
    };
    let path = environment::substitute(path, &facts(shared, spec, &key(actor, spec)));
    let place = shared.storage.resolve(&path).map_err(|error| invalid(error.to_string()))?;
    let access = Access { shared, actor };
    let readable = match field {
        "authFile" => access.to_read(&place).await,
        _ => access.to_read_whole(&place).await,
    };
    readable.map_err(|error| about(field, error))?;
    let found = shared.storage.find(&place).await.map_err(failure);
    let found = found
        .map_err(|error| about(field, error))?
        .ok_or_else(|| invalid(format!("{path} does not exist in {}", shared.storage.uri())))?;
    match (field, found.kind) {
        (_, EntryKind::Link) => Err(invalid(format!("{path} is a link: name what it leads to"))),
        ("codeDir", EntryKind::File) => Err(invalid(format!("{path} is a file: name its folder"))),
        ("codeDir", EntryKind::Folder) => {
            match shared.storage.folder_size(&place, code::LARGEST).await {
                Err(StorageError::TooLarge { .. }) => {
                    Err(invalid(format!("{path} is larger than 200 MB; put data into dataDir")))
                }
                other => other.map(drop).map_err(failure).map_err(|error| about(field, error)),
            }
        }
        ("authFile", EntryKind::Folder) => Err(invalid(format!("{path} is a folder"))),
        (_, EntryKind::File | EntryKind::Folder) => Ok(()),
    }
}

/// Makes the output folder of a version 1 job: the one it names, else the default one. Where the
/// default one is somebody else's, who has a job of the same name, it is one in the user's own.
pub(super) async fn create_output(
    shared: &Shared,
    actor: &Actor,
    spec: &mut JobSpec,
) -> Result<()> {
    if spec.dialect == Dialect::V2 && spec.output_dir.is_none() {
        return Ok(());
    }
    let default = spec.output_dir.as_deref().is_none_or(str::is_empty);
    match make_output(shared, actor, spec).await {
        Err(error) if default && error.code == ErrorCode::ForbiddenUserError => {
            spec.output_dir = Some(OWN_OUTPUT.to_owned());
            make_output(shared, actor, spec).await
        }
        made => made,
    }
}

async fn make_output(shared: &Shared, actor: &Actor, spec: &JobSpec) -> Result<()> {
    let key = key(actor, spec);
    let path = environment::output_dir(&facts(shared, spec, &key));
    let place = shared.storage.resolve(&path).map_err(failure);
    let place = place.map_err(|error| about("outputDir", error))?;
    let written = Access { shared, actor }.to_write_whole(&place).await;
    written.map_err(|error| about("outputDir", error))?;
    let made = shared.storage.create_folder(&place).await.map_err(failure);
    made.map_err(|error| about("outputDir", error))
}

/// The same, with the field that it is about.
fn about(field: &str, error: Error) -> Error {
    Error { message: format!("{field}: {}", error.message), ..error }
}

fn key(actor: &Actor, spec: &JobSpec) -> JobKey {
    JobKey { user: actor.user.clone(), name: spec.name.clone() }
}

fn facts<'a>(shared: &'a Shared, spec: &'a JobSpec, key: &'a JobKey) -> JobFacts<'a> {
    JobFacts { key, spec, job_id: JobId(0), attempt: 0, file_system_uri: shared.storage.uri() }
}
