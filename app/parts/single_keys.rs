//! Whether single keys do something: whoever speaks to his computer, or whose hand presses more than was
//! meant, turns them off (WCAG 2.1.4). The browser keeps it, since it is of the keyboard and not of the user.

use leptos::prelude::*;
use web_sys::Storage;

use crate::i18n::tr;
use crate::parts::key_list::KeyList;

/// Where the browser keeps it. What is not there is on.
const NAME: &str = "berth:single-keys";
const OFF: &str = "off";

/// It is asked for at each key, so that other tabs follow.
pub(crate) fn are_on() -> bool {
    let kept = kept().and_then(|kept| kept.get_item(NAME).ok().flatten());
    kept.as_deref() != Some(OFF)
}

fn turn(on: bool) {
    let Some(kept) = kept() else { return };
    // A storage that is full or forbidden keeps nothing: they stay as they are.
    let _ = if on { kept.remove_item(NAME) } else { kept.set_item(NAME, OFF) };
}

fn kept() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// Turns them on and off. Without JavaScript there are none.
#[component]
pub(crate) fn SingleKeys() -> impl IntoView {
    let list = KeyList::get();
    // Only the browser knows.
    let on = RwSignal::new(None);
    Effect::new(move |_| on.set(Some(are_on())));
    let change = move |event| {
        turn(event_target_checked(&event));
        on.set(Some(are_on()));
    };
    view! {
        <section class="card stack" aria-labelledby="keyboard">
            <h2 id="keyboard">{tr(|t| t.keys.title)}</h2>
            <div>
                <label class="check">
                    <input
                        type="checkbox"
                        aria-describedby="single-keys-hint"
                        disabled=move || on.get().is_none()
                        prop:checked=move || on.get() == Some(true)
                        on:change=change
                    />
                    {tr(|t| t.keys.single)}
                </label>
                <p class="hint" id="single-keys-hint">{tr(|t| t.keys.single_hint)}</p>
            </div>
            <div class="buttons">
                <button
                    type="button"
                    class="button"
                    disabled=move || on.get().is_none()
                    on:click=move |_| list.ask()
                >
                    {tr(|t| t.keys.show)}
                </button>
            </div>
        </section>
    }
    .into_any()
}
