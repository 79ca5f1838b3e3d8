use leptos::prelude::*;

/// A line drawing on a 16 × 16 grid, in the colour of the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glyph {
    Home,
    Jobs,
    Submit,
    Files,
    File,
    Clusters,
    Nodes,
    Usage,
    Admin,
    User,
    Copy,
    Check,
    Warning,
    More,
    Up,
    Down,
    Logo,
}

impl Glyph {
    fn path(self) -> &'static str {
        match self {
            Glyph::Home => "M2.5 7.5 8 3l5.5 4.5V13h-4V9.5h-3V13h-4z",
            Glyph::Jobs => "M2.5 4h2m2.5 0h6.5M2.5 8h2m2.5 0h6.5M2.5 12h2m2.5 0h6.5",
            Glyph::Submit => "M8 3v10M3 8h10",
            Glyph::Files => "M2 4.5V13h12V5.5H8L6.5 3.5H2z",
            Glyph::File => "M4 2.5h5l3 3V13.5H4zM9 2.5v3h3",
            Glyph::Clusters => {
                "M8 2.5 13.5 5 8 7.5 2.5 5zM2.5 8 8 10.5 13.5 8M2.5 11 8 13.5l5.5-2.5"
            }
            Glyph::Nodes => "M2.5 3h11v4h-11zM2.5 9h11v4h-11zM5 5h.01M5 11h.01",
            Glyph::Usage => "M3 13V8.5M8 13V3M13 13V6M2 13h12",
            Glyph::Admin => "M3 4.5h6m3 0h1M3 11.5h1m3 0h6M9 3v3h3V3zM4 10v3h3v-3z",
            Glyph::User => {
                "M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM3 13.5c.6-2.4 2.6-3.5 5-3.5s4.4 1.1 5 3.5"
            }
            Glyph::Copy => "M5.5 5.5V3h7.5v7.5h-2.5M3 5.5h7.5V13H3z",
            Glyph::Check => "m3.5 8.5 3 3 6-7",
            Glyph::Warning => "M8 2.5 14 13H2zM8 6.5v3M8 11.2v.1",
            Glyph::More => {
                "M3 7a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM8 7a1 1 0 1 0 0 2 1 1 0 0 0 0-2zM13 7a1 1 0 1 0 0 2 1 1 0 0 0 0-2z"
            }
            Glyph::Up => "m4 10 4-4 4 4",
            Glyph::Down => "m4 6 4 4 4-4",
            Glyph::Logo => "M2 9.5h12M3.5 9.5 5 13h6l1.5-3.5M8 9.5V3l4 4H8",
        }
    }
}

/// Draws a [`Glyph`]; it is decoration, the words beside it say the same.
#[component]
pub(crate) fn Drawn(glyph: Glyph) -> impl IntoView {
    view! {
        <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
            <path d=glyph.path()></path>
        </svg>
    }
}
