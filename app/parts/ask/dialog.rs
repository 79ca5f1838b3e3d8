use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Asker;
use crate::i18n::{Texts, text_of};
use crate::parts::confirm::Confirm;

impl Asker {
    /// Does what was asked about; the question stays where that fails.
    fn answer(self) {
        let Some(act) = self.act.try_get_value().flatten() else { return };
        if self.busy.try_update_value(|busy| std::mem::replace(busy, true)) != Some(false) {
            return;
        }
        spawn_local(async move {
            let answer = act().await;
            self.busy.try_set_value(false);
            match answer {
                Ok(()) => self.opener.close(),
                Err(failed) => {
                    if failed.is_signed_out() {
                        self.again.then(move || self.answer());
                    }
                    self.failed.try_set(Some(failed));
                }
            }
        });
    }

    /// What the question says: a line each.
    fn lines(self, texts: &'static Texts) -> Vec<String> {
        let mut lines = vec![self.lead.get().to_owned()];
        match self.effect.get() {
            None => lines.push(texts.queue.thinking.to_owned()),
            Some(Ok(effect)) => lines.extend(texts.queue.effects(&effect)),
            Some(Err(failed)) => lines.extend(failed.sentences(texts)),
        }
        lines.extend(self.failed.get().iter().flat_map(|failed| failed.sentences(texts)));
        lines
    }
}

/// The question. It opens as soon as it is there.
#[component]
pub(super) fn AskDialog(asker: Asker) -> impl IntoView {
    let words = text_of(move |texts| asker.lines(texts).join("\n"));
    Effect::new(move |_| {
        if asker.opener.0.get().is_some() {
            asker.opener.open();
        }
    });
    view! {
        <Confirm opener=asker.opener title=asker.title text=words>
            <button
                type="button"
                class="button button--primary"
                on:click=move |_| asker.answer()
            >
                {move || asker.title.get()}
            </button>
        </Confirm>
    }
}
