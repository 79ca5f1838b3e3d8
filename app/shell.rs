use std::collections::BTreeMap;

use leptos::prelude::*;
use leptos_meta::MetaTags;
use serde::{Deserialize, Serialize};

use crate::edge;
use crate::routes::App;

/// Where the browser finds the parts of the pages: logical name → address of the hashed file
/// (`main.css` → `/pkg/main.0123abcd.css`). Empty when nothing was built: the pages then are plain
/// HTML.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assets(pub BTreeMap<String, String>);

impl Assets {
    fn address(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    /// The addresses as JSON that may stand inside a `<script>`.
    fn json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default().replace('<', "\\u003c")
    }
}

/// The whole document around the pages.
pub fn shell(_options: LeptosOptions, assets: Assets) -> impl IntoView {
    edge::guard_scripts();
    view! {
        <!DOCTYPE html>
        <html>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <meta name="description" content=edge::opening().language.texts().sign_in.lead/>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                <AssetLinks assets=assets/>
                <MetaTags/>
            </head>
            <body>
                <App/>
            </body>
        </html>
    }
}

/// The stylesheet, the script that starts the browser's part, and the table of heavy parts.
#[component]
fn AssetLinks(assets: Assets) -> impl IntoView {
    let css = assets.address("main.css").map(|css| view! { <link rel="stylesheet" href=css/> });
    // What the code fetches first comes beside it.
    let texts = assets.address(edge::opening().language.file());
    let texts = texts.map(|texts| view! { <Code address=texts/> });
    let start = assets.address("app.js").zip(assets.address("app_bg.wasm")).map(|(js, wasm)| {
        let start = format!(
            "import init, {{ hydrate }} from {js:?}; await init({{ module_or_path: {wasm:?} }}); hydrate();"
        );
        view! {
            <link rel="modulepreload" href=js/>
            <Code address=wasm/>
            {texts}
            <script type="module" nonce=edge::nonce() inner_html=start></script>
        }
    });
    view! {
        {css}
        <script type="application/json" id="assets" nonce=edge::nonce() inner_html=assets.json()></script>
        {start}
    }
}

/// Lets the browser fetch code before it is asked for.
#[component]
fn Code(address: String) -> impl IntoView {
    view! { <link rel="preload" href=address r#as="fetch" r#type="application/wasm" crossorigin=""/> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_the_script() {
        let assets = Assets(BTreeMap::from([("</script>".to_owned(), "/a".to_owned())]));
        assert_eq!(assets.json(), r#"{"\u003c/script>":"/a"}"#);
    }
}
