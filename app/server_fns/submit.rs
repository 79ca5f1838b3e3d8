use api::storages::StorageView;
use leptos::prelude::*;
use protocol::ids::JobKey;
use protocol::problem::Problem;
use serde::{Deserialize, Serialize};
use server_fn::codec::{GetUrl, MultipartData, MultipartFormData};

use crate::document::Tree;
use crate::failed::Failed;
use crate::i18n::Language;
use crate::json::Answer;
use crate::server_fns::checked::Checked;
use crate::server_fns::reads::Reads;
use crate::server_fns::virtual_clusters::Room;
use crate::template::Template;

/// What the submit page begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Opened {
    /// The text.
    pub(crate) text: String,
    /// What it says; why it cannot be read.
    pub(crate) tree: Result<Tree, Problem>,
    /// The job it was cloned from: its secrets are used where the text has `******`.
    pub(crate) cloned_from: Option<Source>,
    /// What the check says of the text.
    pub(crate) report: Result<Checked, Failed>,
    /// Where it could run.
    pub(crate) rooms: Vec<Room>,
    /// The storages that it may ask for.
    pub(crate) storages: Vec<Offered>,
    /// The examples, by their file names without ending; what people share is asked for later.
    pub(crate) templates: Vec<Template>,
}

/// A storage that a job may ask for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offered {
    pub(crate) name: String,
    /// Where tasks have it.
    pub(crate) mount: String,
    pub(crate) read_only: bool,
    pub(crate) default: bool,
}

impl From<StorageView> for Offered {
    fn from(view: StorageView) -> Self {
        let StorageView { name, mount, read_only, default, .. } = view;
        Self { name: name.into(), mount, read_only, default }
    }
}

/// The job that a text was cloned from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Source {
    pub(crate) key: JobKey,
    /// Its own text, where the reader may see it.
    pub(crate) text: Option<String>,
}

/// What may be written in a job file, as JSON Schemas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Schemas {
    /// Of JSON documents.
    pub(crate) json: String,
    /// Of YAML documents.
    pub(crate) yaml: String,
}

/// Opens the submit page: with a text that was refused before, with a clone of a job, with a
/// template, or with the first template; with a change of it, where one is named.
#[server(prefix = "/fn", endpoint = "submit/open", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn open_submit(
    #[server(default)] text: String,
    #[server(default)] clone: String,
    #[server(default)] template: String,
    #[server(default)] instead: String,
) -> Result<Opened, Failed> {
    use api::jobs::ConfigForm;
    use protocol::again::renamed;

    use crate::edge::{call, failed};
    use crate::templates;
    let (backend, actor) = call()?;
    let cloned_from = match clone.parse::<JobKey>() {
        Ok(key) => {
            let config = backend.jobs.config(&actor, &key, ConfigForm::Written).await;
            match config {
                Ok(config) => Some(Source { key, text: Some(config.text) }),
                // What was written meanwhile is not lost with it.
                Err(_) if !text.is_empty() => Some(Source { key, text: None }),
                Err(error) => return Err(failed(error)),
            }
        }
        Err(_) => None,
    };
    let now = crate::edge::now();
    let text = match cloned_from.as_ref().and_then(|source| source.text.as_ref()) {
        _ if !text.is_empty() => text,
        Some(source) => renamed(source, now),
        None => {
            let language = crate::edge::opening().language;
            templates::opened(&backend, &actor, &template, language, now).await.map_err(failed)?
        }
    };
    let text = match instead.parse() {
        Ok(instead) => templates::changed(&text, &instead),
        Err(_) => text,
    };
    let report = backend.jobs.check(&actor, &text).await.map(Checked::from).map_err(failed);
    let clusters = backend.virtual_clusters.list(&actor).await.map_err(failed)?;
    let rooms = clusters.into_iter().map(Room::from).collect();
    let storages = backend.storages.list(&actor).await.map_err(failed)?;
    let storages = storages.into_iter().map(Offered::from).collect();
    let (tree, templates) = (Tree::read(&text), templates::all());
    Ok(Opened { text, tree, cloned_from, report, rooms, storages, templates })
}

/// The schemas that the editor helps with, explained in a language.
#[server(prefix = "/fn", endpoint = "submit/schemas", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_schemas(language: Language) -> Result<Schemas, Failed> {
    use crate::schema::in_language;
    crate::edge::call()?;
    let text = |schema| in_language(schema, language).to_string();
    Ok(Schemas { json: text(protocol::schema::v1()), yaml: text(protocol::schema::v2()) })
}

/// A template's text, with a name that is free.
#[server(prefix = "/fn", endpoint = "submit/template", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn open_template(name: String) -> Result<String, Failed> {
    use crate::edge::{call, failed, now, opening};
    let (backend, actor) = call()?;
    let language = opening().language;
    crate::templates::opened(&backend, &actor, &name, language, now()).await.map_err(failed)
}

/// The form of the submit page as browsers without JavaScript send it: `text`, or a `file` in place
/// of it. Then the browser goes to the job's page, or back to the text and what is wrong with it.
#[server(prefix = "/fn", endpoint = "submit/form", input = MultipartFormData, output = Answer)]
pub(crate) async fn submit_form(form: MultipartData) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    use crate::posted;
    let (backend, actor) = call()?;
    let submission = posted::read(form).await.map_err(failed)?;
    let answer = backend.jobs.submit(&actor, submission.clone()).await;
    leptos_axum::redirect(&match answer {
        Ok(submitted) => crate::address::job(&submitted.key),
        Err(error) => posted::back(&submission, &error),
    });
    Ok(())
}
