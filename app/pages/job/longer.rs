use leptos::prelude::*;
use protocol::ids::JobKey;
use protocol::spec::TimeLimit;
use protocol::time::Timestamp;

use crate::i18n::{Reader, text};
use crate::parts::clock::Clock;
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::jobs::SetTimeLimit;

/// By so many seconds a time limit is made longer by one click.
const BY: [u32; 3] = [3_600, 4 * 3_600, 24 * 3_600];

/// Makes the time limit of a job that runs longer. Each button says by when it would end then.
#[component]
pub(super) fn Longer(key: JobKey, limit: TimeLimit, since: Timestamp) -> impl IntoView {
    let send = Sending::to::<SetTimeLimit>();
    let longer = BY.into_iter().filter_map(|by| TimeLimit::of_seconds(limit.seconds() + by));
    let buttons = longer.map(|longer| {
        view! {
            <button
                class="button button--small"
                type="submit"
                name="limit"
                value=longer.seconds().to_string()
            >
                <Ends limit=longer since=since instead=true/>
            </button>
        }
    });
    let buttons = buttons.collect_view();
    view! {
        <SendForm to=send>
            <input type="hidden" name="key" value=key.to_string()/>
            <p class="hint"><Ends limit=limit since=since instead=false/></p>
            <FormAnswer answer=send.value() done=text(|t| t.common.saved)/>
            <div class="buttons">{buttons}</div>
        </SendForm>
    }
    .into_any()
}

/// By when it ends with the limit that it has, or with another one instead. The moment is one line.
#[component]
fn Ends(limit: TimeLimit, since: Timestamp, instead: bool) -> impl IntoView {
    let (reader, clock) = (Reader::get(), Clock::get());
    let sentence = move || {
        let (texts, moment) = (reader.texts(), clock.moment(since.plus_millis(limit.millis())));
        let sentence = match instead {
            true => (texts.job.ends_instead)(&(texts.limit)(limit), &moment),
            false => (texts.job.ends_by)(&moment),
        };
        let (before, behind) = around(&sentence, &moment);
        // One whole: in a button the parts would stand beside each other, each as narrow as it can be.
        view! {
            <span>
                {before.to_owned()} <span class="moment">{moment}</span> {behind.to_owned()}
            </span>
        }
    };
    view! { {move || sentence()} }
}

/// What stands before and behind a moment in a sentence.
fn around<'a>(sentence: &'a str, moment: &str) -> (&'a str, &'a str) {
    sentence.split_once(moment).unwrap_or((sentence, ""))
}

#[cfg(test)]
mod tests {
    use super::around;
    use crate::i18n::Language;

    #[test]
    fn a_moment_stands_in_its_sentence_once_and_whole() {
        let moment = "2026-11-24 16:59:16 UTC";
        for language in [Language::English, Language::Chinese] {
            let job = &language.texts().job;
            for sentence in [(job.ends_by)(moment), (job.ends_instead)("4h", moment)] {
                let (before, behind) = around(&sentence, moment);
                assert_eq!([before, moment, behind].concat(), sentence);
            }
        }
    }
}
