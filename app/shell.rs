use leptos::prelude::*;
use leptos_meta::MetaTags;

use crate::routes::App;

/// Where the browser finds the stylesheet and the browser's part of the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    /// The stylesheet, such as `/pkg/berth.0123456789abcdef.css`.
    pub css: String,
    /// The JavaScript that wasm-bindgen made.
    pub js: String,
    /// The WebAssembly module.
    pub wasm: String,
    /// The icon in the browser's tab, an SVG.
    pub icon: String,
}

/// The whole document around the pages.
pub fn shell(_options: LeptosOptions) -> impl IntoView {
    view! {
        <!DOCTYPE html>
        <html>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="color-scheme" content="light dark"/>
                <AssetLinks/>
                <MetaTags/>
            </head>
            <body>
                <App/>
            </body>
        </html>
    }
}

/// The stylesheet and the script that starts the browser's part.
#[component]
fn AssetLinks() -> impl IntoView {
    crate::edge::guard_scripts();
    let nonce = leptos::nonce::use_nonce();
    use_context::<Assets>().map(|Assets { css, js, wasm, icon }| {
        let start = format!(
            "import({js:?}).then(m => m.default({{module_or_path: {wasm:?}}}).then(() => m.hydrate()))"
        );
        view! {
            <link rel="stylesheet" href=css/>
            <link rel="icon" href=icon type="image/svg+xml"/>
            <link rel="modulepreload" href=js/>
            <link rel="preload" href=wasm r#as="fetch" r#type="application/wasm" crossorigin=""/>
            <script type="module" nonce=nonce inner_html=start></script>
        }
    })
}
