use api::jobs::{ConfigForm, JobConfig, Syntax};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::ids::{JobKey, JobName};

use crate::address;
use crate::i18n::{told, tr};
use crate::pages::job::detail::Part;
use crate::parts::command::command;
use crate::parts::copy_button::CopyButton;
use crate::parts::loaded::Loaded;
use crate::reading::reading;
use crate::server_fns::jobs::get_config;

#[lazy]
pub(super) fn job_config() -> Part {
    |key, _| view! { <ConfigTab key=key/> }.into_any()
}

/// The job's file: as written, as JSON, as YAML. Which one is in the address.
#[component]
pub(crate) fn ConfigTab(key: JobKey) -> impl IntoView {
    let query = use_query_map();
    let form = Memo::new(move |_| form_from_word(query.read().get("form").as_deref()));
    let asked = key.clone();
    let config = reading(move || form.get(), move |form| get_config(asked.clone(), form));
    let name = key.name.clone();
    view! {
        <div class="config-tab">
            <Forms key=key form=form/>
            <Loaded
                resource=config
                lines=12
                content=move |config| view! { <File name=name.clone() config=config/> }
            />
        </div>
    }
}

const FORMS: [ConfigForm; 3] = [ConfigForm::Written, ConfigForm::Json, ConfigForm::Yaml];

fn form_word(form: ConfigForm) -> &'static str {
    match form {
        ConfigForm::Written => "written",
        ConfigForm::Json => "json",
        ConfigForm::Yaml => "yaml",
    }
}

fn form_from_word(word: Option<&str>) -> ConfigForm {
    FORMS.into_iter().find(|form| Some(form_word(*form)) == word).unwrap_or(ConfigForm::Written)
}

#[component]
fn Forms(key: JobKey, form: Memo<ConfigForm>) -> impl IntoView {
    let base = address::job_tab(&key, "config");
    let links = FORMS.map(|each| {
        let word = told(move |t| match each {
            ConfigForm::Written => t.job.as_written,
            ConfigForm::Json => "JSON",
            ConfigForm::Yaml => "YAML",
        });
        let current = move || (form.get() == each).then_some("true");
        let href = format!("{base}?form={}", form_word(each));
        view! { <a class="segment" href=href aria-current=move || current() data-noscroll="true">{word}</a> }
    });
    view! { <nav class="segments" aria-label=tr(|t| t.job.notation)>{links}</nav> }
}

#[component]
fn File(name: JobName, config: JobConfig) -> impl IntoView {
    let file = match config.syntax {
        Syntax::Json => format!("{name}.json"),
        Syntax::Yaml => format!("{name}.yaml"),
    };
    let data = format!("data:text/plain;charset=utf-8,{}", percent(&config.text));
    view! {
        <div class="config">
            <div class="buttons config__actions">
                <CopyButton text=config.text.clone()/>
                <a class="button" href=data download=file>{tr(|t| t.common.download)}</a>
            </div>
            <pre class="config__text" tabindex="0">{command(config.text)}</pre>
        </div>
    }
}

/// A text as a `data:` address takes it: every byte but plain letters and digits escaped.
fn percent(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_from_addresses() {
        for form in FORMS {
            assert_eq!(form_from_word(Some(form_word(form))), form);
        }
        assert_eq!(form_from_word(None), ConfigForm::Written);
    }

    #[test]
    fn a_file_survives_its_address() {
        assert_eq!(percent("a: 1\n"), "a%3A%201%0A");
    }
}
