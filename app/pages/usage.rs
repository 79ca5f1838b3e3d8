mod asked;
mod bars;

use api::usage::{UsageBy, UsageQuery, UsageReport, UsageSum};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::i18n::{Texts, text, told, tr};
use crate::number;
use crate::pages::usage::asked::Asked;
use crate::pages::usage::bars::Bars;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::meter::Portion;
use crate::parts::page_header::PageHeader;
use crate::parts::search_form::SearchForm;
use crate::parts::table::{Column, TableOf};
use crate::reading::reading;
use crate::server_fns::usage::get_usage;
use crate::session::Session;
use crate::time::Span;

type Words = fn(&'static Texts) -> &'static str;

/// What was used of GPUs: one's own, and everybody's for administrators. Days and by what it is summed
/// up are in the address.
#[component]
pub(crate) fn UsagePage() -> impl IntoView {
    let query = use_query_map();
    let admin = Session::get().is_admin();
    let asked = Memo::new(move |_| Asked::read(|key| query.read().get(key), admin));
    let report = reading(
        move || asked.get(),
        |asked| {
            let UsageQuery { from, until, username } = asked.query;
            get_usage(from, until, username, asked.by)
        },
    );
    view! {
        <PageHeader title=text(|t| t.usage.title)>
            {move || {
                let address = asked.read().table();
                view! { <a class="button" href=address rel="external">{tr(|t| t.usage.csv)}</a> }
            }}
        </PageHeader>
        <div class="filter">
            <div class="filter__row">
                <Form asked=asked admin=admin/>
            </div>
            {move || {
                let unsaid = asked.read().leaves_days_open();
                unsaid.then(|| {
                    let words = told(|t| (t.usage.days_unsaid)(UsageQuery::USUAL_DAYS));
                    view! { <p class="hint">{words}</p> }
                })
            }}
            <div class="filter__row">{move || view! { <Kinds asked=asked.get()/> }}</div>
        </div>
        <Loaded
            resource=report
            lines=8
            content=move |report| {
                let by = asked.get_untracked().by;
                view! { <Report report=report by=by/> }
            }
        />
    }
    .into_any()
}

/// The days, and to administrators whose use.
#[component]
fn Form(asked: Memo<Asked>, admin: bool) -> impl IntoView {
    let value = move |name: &'static str| {
        let pairs = asked.read().pairs();
        pairs.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    };
    let field = move |name: &'static str, kind: &'static str, words: Words| {
        view! {
            <label class="labelled">
                <span class="hint">{tr(words)}</span>
                <input
                    class="input"
                    type=kind
                    name=name
                    value=move || value(name)
                    prop:value=move || value(name).unwrap_or_default()
                />
            </label>
        }
    };
    let user = admin.then(|| field("user", "text", |t| t.map.by_user));
    view! {
        <SearchForm action="/usage">
            {field("from", "date", |t| t.usage.from)}
            {field("until", "date", |t| t.usage.until)}
            {user}
            {move || value("by").map(|by| view! { <input type="hidden" name="by" value=by/> })}
            <button class="button" type="submit">{tr(|t| t.usage.show)}</button>
        </SearchForm>
    }
    .into_any()
}

/// How a sum is called.
fn heads(by: UsageBy) -> Words {
    match by {
        UsageBy::User => |t| t.map.by_user,
        UsageBy::Group => |t| t.usage.group,
        UsageBy::VirtualCluster => |t| t.jobs.cluster,
        UsageBy::GpuType => |t| t.map.group_type,
        UsageBy::Day => |t| t.usage.day,
        UsageBy::Month => |t| t.usage.month,
    }
}

/// How a sum is called that has no name.
fn nameless(by: UsageBy) -> Words {
    match by {
        UsageBy::Group => |t| t.usage.no_group,
        UsageBy::User
        | UsageBy::VirtualCluster
        | UsageBy::GpuType
        | UsageBy::Day
        | UsageBy::Month => |t| t.usage.no_type,
    }
}

#[component]
fn Kinds(asked: Asked) -> impl IntoView {
    let links = asked::KINDS.map(|(by, _)| {
        let href = Asked { by, ..asked.clone() }.address();
        let here = (asked.by == by).then_some("true");
        view! {
            <a class="segment" href=href aria-current=here data-noscroll="true">{tr(heads(by))}</a>
        }
    });
    view! {
        <nav class="segments segments--wrap" aria-label=tr(|t| t.usage.by)>{links}</nav>
    }
    .into_any()
}

#[component]
fn Report(report: UsageReport, by: UsageBy) -> impl IntoView {
    let UsageReport { whole, days, sums, further, from, until: _ } = report;
    if whole == UsageSum::default() {
        let (title, hint) = (text(|t| t.usage.nothing), text(|t| t.usage.counted));
        return view! { <EmptyState title=title hint=hint/> }.into_any();
    }
    let (hours, jobs) = (hours(whole.gpu_seconds), whole.jobs);
    let most = whole.gpu_seconds;
    let priced = whole.cost.is_some();
    let rows = sums.into_iter().map(|sum| {
        view! { <Row sum=sum nameless=nameless(by) whole=most priced=priced/> }
    });
    let rows = rows.collect_view();
    let further = (further > 0).then(|| {
        view! { <p class="hint">{told(move |t| (t.finding.and_more)(further))}</p> }
    });
    view! {
        <div class="stack">
            <p>{told(move |t| (t.usage.whole)(&hours, jobs))}</p>
            <Bars from=from days=days/>
            <Sums by=by priced=priced>{rows}</Sums>
            {further}
            <div class="hint">
                <p>{tr(|t| t.usage.counted)}</p>
                <p>{tr(|t| t.usage.meant)}</p>
            </div>
        </div>
    }
    .into_any()
}

#[component]
fn Sums(by: UsageBy, priced: bool, children: Children) -> impl IntoView {
    let mut columns = vec![
        Column::new(heads(by), ""),
        Column::new(|t| t.usage.asked, "num"),
        Column::new(|t| t.usage.gpu_hours, "num"),
        Column::new(|t| t.usage.part, ""),
        Column::new(|t| t.usage.busy, "num"),
        Column::new(|t| t.usage.lost, "num"),
        Column::new(|t| t.usage.jobs, "num"),
        Column::new(|t| t.usage.wait, "num"),
    ];
    if priced {
        columns.push(Column::new(|t| t.usage.cost, "num"));
    }
    view! { <TableOf label=|t| t.usage.title columns=columns>{children()}</TableOf> }.into_any()
}

#[component]
fn Row(sum: UsageSum, nameless: Words, whole: u64, priced: bool) -> impl IntoView {
    let (lost, wait) = (sum.lost_gpu_seconds(), millis(sum.mean_wait()));
    let busy = busy(&sum);
    let busy = told(move |t| busy.map_or_else(|| "–".to_owned(), t.queue.percent));
    let cost = priced.then(|| {
        let cost = sum.cost.map(number::amount);
        view! { <td class="num">{cost}</td> }
    });
    let UsageSum { name, jobs, gpu_seconds, asked_gpu_seconds, .. } = sum;
    let label = if name.is_empty() { text(nameless) } else { Signal::stored(name) };
    view! {
        <tr>
            <th scope="row"><span class="table__name">{move || label.get()}</span></th>
            <td class="num">{hours(asked_gpu_seconds)}</td>
            <td class="num">{hours(gpu_seconds)}</td>
            <td><Portion part=gpu_seconds whole=whole/></td>
            <td class="num">{busy}</td>
            <td class="num">{hours(lost)}</td>
            <td class="num">{number::count(jobs)}</td>
            <td class="num">{told(move |t| (t.span)(Span::of_millis(wait)))}</td>
            {cost}
        </tr>
    }
    .into_any()
}

/// How busy the GPUs were, where that was measured.
fn busy(sum: &UsageSum) -> Option<u32> {
    let measured = sum.measured_gpu_seconds;
    let percent = || u32::try_from(number::percent(sum.used_gpu_seconds, measured)).unwrap_or(100);
    (measured > 0).then(percent)
}

fn millis(seconds: u64) -> i64 {
    i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000)
}

/// Hours with one decimal, so that those of a column stand beneath each other.
fn hours(seconds: u64) -> String {
    let tenths = seconds.saturating_add(180) / 360;
    format!("{}.{}", number::count(tenths / 10), tenths % 10)
}

#[cfg(test)]
mod tests {
    use api::usage::{UsageBy, UsageSum};

    use super::{busy, heads, hours};
    use crate::i18n::Language;

    #[test]
    fn users_have_groups_and_nodes_are_grouped() {
        let chinese = Language::Chinese.texts();
        assert_eq!(heads(UsageBy::Group)(chinese), chinese.accounts.groups);
        assert_ne!(heads(UsageBy::Group)(chinese), chinese.map.group);
    }

    #[test]
    fn how_busy_gpus_were_is_told_where_it_was_measured() {
        let sum = UsageSum { gpu_seconds: 100, used_gpu_seconds: 30, ..UsageSum::default() };
        assert_eq!(busy(&sum), None);
        let measured = UsageSum { measured_gpu_seconds: 40, ..sum };
        assert_eq!(busy(&measured), Some(75));
    }

    #[test]
    fn hours_have_one_decimal() {
        let written = [0, 179, 180, 3_600, 5_400, 36_000_000].map(hours);
        assert_eq!(written, ["0.0", "0.0", "0.1", "1.0", "1.5", "10\u{202f}000.0"]);
    }
}
