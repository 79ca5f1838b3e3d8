use leptos::prelude::*;
use protocol::ids::JobKey;
use protocol::spec::TimeLimit;
use protocol::time::Timestamp;

use crate::i18n::{text, told};
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
    let (send, clock) = (Sending::to::<SetTimeLimit>(), Clock::get());
    let end = move |limit: TimeLimit| clock.moment(since.plus_millis(limit.millis()));
    let longer = BY.into_iter().filter_map(|by| TimeLimit::of_seconds(limit.seconds() + by));
    let buttons = longer.map(|longer| {
        view! {
            <button
                class="button button--small"
                type="submit"
                name="limit"
                value=longer.seconds().to_string()
            >
                {told(move |t| (t.job.ends_instead)(&(t.limit)(longer), &end(longer)))}
            </button>
        }
    });
    let buttons = buttons.collect_view();
    view! {
        <SendForm to=send>
            <input type="hidden" name="key" value=key.to_string()/>
            <p class="hint">{told(move |t| (t.job.ends_by)(&end(limit)))}</p>
            <FormAnswer answer=send.value() done=text(|t| t.common.saved)/>
            <div class="buttons">{buttons}</div>
        </SendForm>
    }
    .into_any()
}
