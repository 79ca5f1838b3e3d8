use std::cmp::Ordering;
use std::collections::BTreeMap;

use protocol::spec::Priority;
use protocol::state::State;
use protocol::time::Moment;

use super::*;

/// When the lists are asked for.
const NOW: Timestamp = Timestamp(2020);

/// The first and whole page, short ones, one from the nearer end, one beyond it, an empty one.
const PAGES: [(u64, u64); 6] = [(0, 1000), (0, 7), (13, 20), (70, 50), (500, 5), (0, 0)];

/// Jobs with many equal values in every column, whose ids and times come in no order.
fn entry(n: i64) -> Entry {
    let pick = |texts: [&str; 3], at: i64| texts[usize::try_from(at % 3).unwrap()].to_owned();
    Entry {
        id: n * 7 % 1009 + 1,
        user: pick(["zoe", "Adam", "bob_b"], n),
        name: format!("{}-{}", pick(["train", "Eval", "sweep.x"], n / 2), n % 50),
        virtual_cluster: pick(["default", "Night", "a_1"], n / 4),
        state: State::ALL[usize::try_from(n * 3 % 8).unwrap()].as_str().to_owned(),
        priority: n % 4,
        gpu_types: pick(["[]", "[\"A100\"]", "[\"V100\",\"A100-80\"]"], n / 3),
        gpu_milli: n * 5 % 3 * 500,
        tasks: n * 11 % 5 + 1,
        retries: n % 4,
        submitted_at: 1000 + n * 13 % 17,
        completed_at: (n % 3 == 0).then_some(2000 + n * 7 % 23),
    }
}

/// Some three hundred jobs, some of which have changed since they came, and the columns that were told
/// of that and of others that are gone.
fn stage() -> (Vec<Entry>, Columns) {
    let mut entries: Vec<Entry> = (0..300).map(entry).collect();
    let mut columns = Columns::default();
    for some in entries.chunks(70) {
        columns.apply([], some.to_vec());
    }
    for entry in entries.iter_mut().step_by(4) {
        entry.state = State::Stopped.as_str().to_owned();
        (entry.completed_at, entry.priority) = (Some(2500), 9);
        entry.retries += 2;
        columns.apply([entry.id], vec![entry.clone()]);
    }
    let gone: Vec<Entry> = entries.extract_if(.., |entry| entry.id % 13 == 0).collect();
    columns.apply(gone.iter().map(|entry| entry.id), Vec::new());
    (entries, columns)
}

fn queries() -> Vec<JobQuery> {
    let word = |word: &str| JobQuery { keyword: word.to_owned(), ..JobQuery::default() };
    let states = vec![State::Failed, State::Stopped];
    vec![
        JobQuery::default(),
        word("TRAIN"),
        word("a"),
        word("b_b"),
        word("night"),
        word("x-1"),
        word("nothing of that kind"),
        JobQuery { states: states.clone(), ..word("eval") },
        JobQuery { states, users: vec!["zoe".parse().unwrap()], ..JobQuery::default() },
        JobQuery { names: vec!["-7".into(), "SWEEP".into()], ..word("a_1") },
        JobQuery { virtual_clusters: vec!["Night".parse().unwrap()], ..JobQuery::default() },
        JobQuery { least_gpus: Some(500), most_gpus: Some(999), ..JobQuery::default() },
        JobQuery { gpu_types: vec!["a100".parse().unwrap()], ..JobQuery::default() },
        JobQuery { priorities: vec![Priority(2), Priority(9)], ..JobQuery::default() },
        JobQuery {
            since: Some(Moment::At(Timestamp(1003))),
            until: Some(Moment::Ago(1011)),
            ..JobQuery::default()
        },
        JobQuery { ended_since: Some(Moment::Ago(10)), ..JobQuery::default() },
        JobQuery { ended_since: Some(Moment::At(Timestamp(2500))), ..word("eval") },
    ]
}

/// What the documentation of [`JobQuery`] says.
fn has(query: &JobQuery, job: &Entry, by_state: bool) -> bool {
    let within = |text: &str, word: &str| text.to_lowercase().contains(&word.to_lowercase());
    let anywhere = [&job.name, &job.user, &job.virtual_cluster];
    let state = || query.states.iter().any(|state| state.as_str() == job.state);
    let gpus = u64::try_from(job.gpu_milli).unwrap();
    let kind = |kind: &str| within(&job.gpu_types, &format!("\"{kind}\""));
    let priority = |asked: &Priority| i64::from(asked.0) == job.priority;
    let submitted = Timestamp(job.submitted_at);
    let ended = job.completed_at.map(Timestamp);
    anywhere.iter().any(|text| within(text, &query.keyword))
        && (query.names.is_empty() || query.names.iter().any(|name| within(&job.name, name)))
        && (query.users.is_empty() || query.users.iter().any(|user| user.as_str() == job.user))
        && (!by_state || query.states.is_empty() || state())
        && (query.virtual_clusters.is_empty()
            || query.virtual_clusters.iter().any(|name| name.as_str() == job.virtual_cluster))
        && query.least_gpus.is_none_or(|least| gpus >= least)
        && query.most_gpus.is_none_or(|most| gpus <= most)
        && (query.gpu_types.is_empty() || query.gpu_types.iter().any(|k| kind(k.as_str())))
        && (query.priorities.is_empty() || query.priorities.iter().any(priority))
        && query.since.is_none_or(|since| submitted >= since.at(NOW))
        && query.until.is_none_or(|until| submitted <= until.at(NOW))
        && query.ended_since.is_none_or(|since| ended >= Some(since.at(NOW)))
}

/// What the documentation of [`JobOrder`] says, ascending.
fn compare(order: JobOrder, a: &Entry, b: &Entry) -> Ordering {
    let submitted = a.submitted_at.cmp(&b.submitted_at);
    let ended = |job: &Entry| (job.completed_at.is_none(), job.completed_at);
    let by = match order {
        JobOrder::Submitted => submitted,
        JobOrder::Completed => ended(a).cmp(&ended(b)),
        JobOrder::Name => a.name.cmp(&b.name),
        JobOrder::User => a.user.cmp(&b.user).then(submitted),
        JobOrder::VirtualCluster => a.virtual_cluster.cmp(&b.virtual_cluster).then(submitted),
        JobOrder::State => a.state.cmp(&b.state).then(submitted),
        JobOrder::Gpus => a.gpu_milli.cmp(&b.gpu_milli),
        JobOrder::Tasks => a.tasks.cmp(&b.tasks),
        JobOrder::Retries => a.retries.cmp(&b.retries),
        JobOrder::Priority => a.priority.cmp(&b.priority),
    };
    by.then(a.id.cmp(&b.id))
}

#[test]
fn every_page_of_every_order_is_what_the_plain_definition_finds() {
    let (entries, columns) = stage();
    for query in queries() {
        for (order, ascending) in JobOrder::ALL.into_iter().flat_map(|o| [(o, true), (o, false)]) {
            let found = entries.iter().filter(|job| has(&query, job, true));
            let mut found: Vec<&Entry> = found.collect();
            found.sort_by(|a, b| compare(order, a, b));
            if !ascending {
                found.reverse();
            }
            for (offset, limit) in PAGES {
                let query = JobQuery { order, ascending, offset, limit, ..query.clone() };
                let (skipped, most) = (usize::try_from(offset), usize::try_from(limit));
                let page = found.iter().skip(skipped.unwrap()).take(most.unwrap());
                let expected: Vec<i64> = page.map(|job| job.id).collect();
                let asked = Asked { query, now: NOW, only: None, without: HashSet::new() };
                let (ids, total) = columns.page(&asked);
                assert_eq!((ids, total), (expected, found.len() as u64), "{asked:?}");
            }
        }
    }
}

#[test]
fn jobs_are_counted_by_state_whatever_states_are_asked_for() {
    let (entries, columns) = stage();
    for query in queries() {
        let mut expected = BTreeMap::new();
        for job in entries.iter().filter(|job| has(&query, job, false)) {
            *expected.entry(job.state.clone()).or_insert(0) += 1;
        }
        let asked = Asked { query, now: NOW, only: None, without: HashSet::new() };
        let counts = columns.counts(&asked).into_iter().filter(|(_, count)| *count > 0);
        assert_eq!(counts.collect::<BTreeMap<_, _>>(), expected, "{asked:?}");
    }
}

#[test]
fn only_jobs_of_the_nodes_asked_for_are_found() {
    let (_, columns) = stage();
    let query = JobQuery { limit: 10, ascending: true, ..JobQuery::default() };
    let (gone, never) = (entry(11).id, -1);
    let only = Some(HashSet::from([entry(3).id, entry(5).id, gone, never]));
    let (mut ids, total) = columns.page(&Asked { query, now: NOW, only, without: HashSet::new() });
    ids.sort_unstable();
    assert_eq!((ids, total), (vec![22, 36], 2));
}

#[test]
fn jobs_that_are_gone_take_no_room_for_long() {
    let (entries, mut columns) = stage();
    assert!(!columns.is_sparse(), "few are gone");
    let more = |n: i64| Entry { id: 10_000 + n, ..entry(n % 300) };
    let more: Vec<Entry> = (0..2_000).map(more).collect();
    columns.apply([], more.clone());
    assert!(!columns.is_sparse());
    for _twice_is_as_once in 0..2 {
        columns.apply(more.iter().map(|job| job.id), Vec::new());
    }
    assert!(columns.is_sparse());
    let compact = columns.compacted();
    assert_eq!((compact.ids.len(), compact.gone), (entries.len(), 0));
    for query in queries() {
        for order in JobOrder::ALL {
            let query = JobQuery { order, limit: 50, ..query.clone() };
            let asked = Asked { query, now: NOW, only: None, without: HashSet::new() };
            assert_eq!(compact.page(&asked), columns.page(&asked), "{asked:?}");
        }
    }
    columns.apply([10_000], more[..1].to_vec());
    assert_eq!(columns.gone, columns.stored.iter().filter(|stored| !**stored).count());
}
