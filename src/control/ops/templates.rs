//! `api::templates`.

use std::sync::Arc;

use api::audit::AuditAction;
use api::templates::{ShareTemplate, Template, TemplateView, Templates};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::templates::Described;
use protocol::document::Syntax;
use protocol::ids::TemplateName;
use protocol::parse::{Parsed, parse};
use protocol::{render, sensitive};

use crate::accounts::rights::owner_only;
use crate::records::audit::Note;
use crate::shared::Shared;
use crate::wake::now;

/// The most templates that somebody shares.
const MOST: u64 = 100;
/// The longest description, in characters.
const LONGEST: usize = 500;
/// What others may not do with a template.
const CHANGE: &str = "change this template";

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Templates for Ops {
    async fn list(&self, _: &Actor) -> Result<Vec<TemplateView>> {
        let known = database::templates::list(self.0.store.database.read()).await?;
        Ok(known.into_iter().map(view).collect())
    }

    async fn get(&self, _: &Actor, name: &TemplateName) -> Result<Template> {
        let found = database::templates::get(self.0.store.database.read(), name).await;
        let found = found?.ok_or_else(|| missing(name))?;
        Ok(Template { view: view(found.described), text: found.text })
    }

    async fn save(&self, actor: &Actor, template: ShareTemplate) -> Result<bool> {
        let ShareTemplate { name, description, text } = template.clone();
        let description = checked(&description)?;
        let text = for_everybody(&parse(&text).map_err(Error::invalid_job)?);
        let done = self.0.store.write(async |t| {
            let before = database::templates::get(t, &name).await?;
            let author = before.as_ref().map_or(&actor.user, |before| &before.described.author);
            if let Err(refused) = owner_only(actor, author, CHANGE) {
                return Ok(Err(refused));
            }
            if before.is_none() && database::templates::count(t, author).await? >= MOST {
                return Ok(Err(too_many()));
            }
            let (author, description) = (author.clone(), description.clone());
            let described =
                Described { name: name.clone(), author, description, changed_at: now() };
            let template = database::templates::Template { described, text: text.clone() };
            database::templates::save(t, &template).await?;
            let note = note(AuditAction::TemplateSaved, &name);
            database::audit::insert(t, &note.by(actor)).await?;
            Ok(Ok(before.is_none()))
        });
        let is_new = match done.await {
            // Somebody was quicker with the same name: now it is known whose it is.
            Err(database::Error::Conflict { .. }) => return self.save(actor, template).await,
            done => done??,
        };
        tracing::info!(by = %actor.user, template = %name, "template saved");
        Ok(is_new)
    }

    async fn remove(&self, actor: &Actor, name: &TemplateName) -> Result<()> {
        let done = self.0.store.write(async |t| {
            let Some(known) = database::templates::get(t, name).await? else {
                return Ok(Err(missing(name)));
            };
            if let Err(refused) = owner_only(actor, &known.described.author, CHANGE) {
                return Ok(Err(refused));
            }
            database::templates::remove(t, name).await?;
            let note = note(AuditAction::TemplateRemoved, name);
            database::audit::insert(t, &note.by(actor)).await?;
            Ok(Ok(()))
        });
        done.await??;
        tracing::info!(by = %actor.user, template = %name, "template removed");
        Ok(())
    }
}

/// A job file as others see it whose job it is not.
fn for_everybody(parsed: &Parsed) -> String {
    let Parsed { spec, masked_text, .. } = parsed;
    sensitive::covered_file(masked_text, spec).unwrap_or_else(|| {
        let covered = sensitive::covered(spec);
        match parsed.syntax {
            Syntax::Json => render::to_json(&covered),
            Syntax::Yaml => render::to_yaml(&covered),
        }
    })
}

fn view(described: Described) -> TemplateView {
    let Described { name, author, description, changed_at } = described;
    TemplateView { name, description, author, changed_at }
}

/// One line that is not too long.
fn checked(description: &str) -> Result<String> {
    let description = description.trim();
    if description.chars().count() > LONGEST || description.chars().any(char::is_control) {
        let message = format!("description: allowed is one line of at most {LONGEST} characters");
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    Ok(description.to_owned())
}

fn missing(name: &TemplateName) -> Error {
    Error::new(ErrorCode::NoTemplateError, format!("Template {name} is not found."))
}

fn too_many() -> Error {
    let message = format!("you share {MOST} templates already: remove one first");
    Error::new(ErrorCode::NoEnoughQuotaError, message)
}

fn note(action: AuditAction, name: &TemplateName) -> Note {
    Note { action, object: name.to_string(), detail: String::new(), address: None }
}
