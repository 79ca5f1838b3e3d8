use leptos::prelude::*;

use crate::failed::Failed;
use crate::json::Answer;

/// Remembers the language.
#[server(prefix = "/fn", endpoint = "preferences/language", output = Answer)]
pub(crate) async fn set_language(language: String) -> Result<(), Failed> {
    use crate::edge::{LANGUAGE_COOKIE, remember};
    use crate::i18n::Language;
    let language = Language::from_word(&language).unwrap_or_default();
    remember(LANGUAGE_COOKIE, language.as_str());
    Ok(())
}

/// Remembers the theme.
#[server(prefix = "/fn", endpoint = "preferences/theme", output = Answer)]
pub(crate) async fn set_theme(theme: String) -> Result<(), Failed> {
    use crate::edge::{THEME_COOKIE, remember};
    let theme = crate::edge::theme(&theme);
    remember(THEME_COOKIE, theme.as_str());
    Ok(())
}
