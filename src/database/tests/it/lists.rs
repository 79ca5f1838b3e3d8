use std::cmp::Ordering;
use std::collections::BTreeMap;

use database::jobs::{self, JobRow, JobUpdate, NewJob};
use database::{ConnectionTrait as _, Transaction, tags, tasks};
use protocol::amount::Amount;
use protocol::ids::JobId;
use protocol::jobs::{JobOrder, JobQuery, Retries};
use protocol::state::State;
use protocol::time::{Moment, Timestamp};

use crate::stage::{Stage, a_job, a_task, at, exit, job_name, on_both, user, vc, write};

/// When the lists are asked for.
const NOW: Timestamp = Timestamp(1010);

/// Jobs with many equal values in every column, in no order at all.
fn jumble(n: i64) -> NewJob {
    let owner = ["zoe", "Adam", "bob_b", "bobxb"][(n % 4) as usize];
    let mut job = a_job(owner, &format!("job-{}", (n * 37) % 101));
    job.key.name = job_name(&format!("{}.{n}", job.key.name));
    job.spec.virtual_cluster = vc(["default", "Night", "a_1"][(n / 4 % 3) as usize]);
    job.spec.roles[0].count = u32::try_from(n * 11 % 5 + 1).unwrap();
    job.spec.roles[0].resources.gpus = Amount::from_milli((n * 5 % 3 * 500) as u64);
    job.submitted_at = at(1000 + n * 13 % 17);
    job
}

async fn fill(stage: &Stage, count: i64) -> anyhow::Result<Vec<JobRow>> {
    let tx = stage.begin().await?;
    let news: Vec<_> = (0..count).map(jumble).collect();
    for (n, id) in jobs::insert_many(&tx, &news).await?.into_iter().enumerate() {
        let mut update = JobUpdate::to(State::ALL[n * 3 % 8]);
        if update.state.is_final() {
            update.completed_at = Some(at(2000 + (n as i64) * 7 % 23));
            update.exit = Some(exit(0));
        }
        let few = u32::try_from(n % 4)?;
        update.retries = Some(Retries { user: few, platform: few * 2 % 3 });
        assert!(jobs::update(&tx, id?, State::Waiting, update).await?);
    }
    tx.commit().await?;
    let all = JobQuery { limit: 50_000, ..JobQuery::default() };
    let (rows, total) = jobs::list(&stage.db, &all, NOW).await?;
    assert_eq!((rows.len() as i64, total as i64), (count, count));
    Ok(rows)
}

/// What the documentation of `JobOrder` says, ascending.
fn compare(order: JobOrder, a: &JobRow, b: &JobRow) -> Ordering {
    let submitted = a.submitted_at.cmp(&b.submitted_at);
    let by = match order {
        JobOrder::Submitted => submitted,
        JobOrder::Completed => match (a.completed_at, b.completed_at) {
            (Some(a), Some(b)) => a.cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        },
        JobOrder::Name => a.key.name.cmp(&b.key.name),
        JobOrder::User => a.key.user.cmp(&b.key.user).then(submitted),
        JobOrder::VirtualCluster => a.virtual_cluster.cmp(&b.virtual_cluster).then(submitted),
        JobOrder::State => a.state.as_str().cmp(b.state.as_str()).then(submitted),
        JobOrder::Gpus => a.gpus.cmp(&b.gpus),
        JobOrder::Tasks => a.tasks.cmp(&b.tasks),
        JobOrder::Retries => {
            let sum = |row: &JobRow| row.retries.user + row.retries.platform;
            sum(a).cmp(&sum(b))
        }
        JobOrder::Priority => a.priority.cmp(&b.priority),
    };
    by.then(a.id.cmp(&b.id))
}

/// What the documentation of `JobQuery` says of words, states and times.
fn has(filter: &JobQuery, row: &JobRow) -> bool {
    let within = |text: &str, word: &str| text.to_lowercase().contains(&word.to_lowercase());
    let name = row.key.name.as_str();
    [name, row.key.user.as_str(), row.virtual_cluster.as_str()]
        .iter()
        .any(|text| within(text, &filter.keyword))
        && (filter.names.is_empty() || filter.names.iter().any(|word| within(name, word)))
        && (filter.states.is_empty() || filter.states.contains(&row.state))
        && filter.since.is_none_or(|since| row.submitted_at >= since.at(NOW))
        && filter.ended_since.is_none_or(|since| row.completed_at >= Some(since.at(NOW)))
}

/// Gives every third of these jobs its next state.
async fn go_on(tx: &Transaction, ids: &[JobId], round: usize) -> anyhow::Result<()> {
    let rows = jobs::rows(tx, ids).await?;
    for (n, row) in rows.iter().enumerate().filter(|(n, _)| n % 3 == round % 3) {
        let mut update = JobUpdate::to(State::ALL[(n + round) % 8]);
        update.completed_at = update.state.is_final().then(|| at(2000 + n as i64));
        let platform = u32::try_from(round)?;
        update.retries = Some(Retries { user: row.retries.user, platform });
        assert!(jobs::update(tx, row.id, row.state, update).await?);
    }
    Ok(())
}

/// Compares what lists find with what the rows say.
async fn compare_lists(stage: &Stage, ids: &[JobId], round: usize) -> anyhow::Result<()> {
    let rows = jobs::rows(stage.db.read(), ids).await?;
    let states = [vec![], vec![State::Failed], vec![State::Waiting, State::Running]];
    let words = ["", "a", "JOB-7", "b_b", "Night", "-77.", ".1", "%", "x\"", "作业"];
    let filters = words.into_iter().flat_map(|word| states.iter().map(move |some| (word, some)));
    for (n, (word, states)) in filters.enumerate() {
        let filter = JobQuery {
            keyword: if n % 2 == 0 { word.to_owned() } else { String::new() },
            names: if n % 2 == 0 { vec![] } else { vec![word.to_owned(), "job-10".to_owned()] },
            states: states.clone(),
            since: (n % 5 == 0).then_some(Moment::Ago(5)),
            ended_since: (n % 7 == 0).then_some(Moment::At(at(2010))),
            order: JobOrder::ALL[(n + round) % JobOrder::ALL.len()],
            ascending: n % 3 == 0,
            offset: n as u64 % 4,
            limit: 40,
            ..JobQuery::default()
        };
        let mut expected: Vec<_> = rows.iter().filter(|row| has(&filter, row)).cloned().collect();
        expected.sort_by(|a, b| compare(filter.order, a, b));
        if !filter.ascending {
            expected.reverse();
        }
        let total = expected.len() as u64;
        let page: Vec<_> = expected.into_iter().skip(n % 4).take(40).collect();
        let found = jobs::list(&stage.db, &filter, NOW).await?;
        assert!(found == (page, total), "round {round}: {filter:?}: {found:?}");
    }
    Ok(())
}

fn only(rows: &[JobRow], keep: impl Fn(&JobRow) -> bool) -> Vec<JobRow> {
    let mut kept: Vec<_> = rows.iter().filter(|row| keep(row)).cloned().collect();
    kept.sort_by(|a, b| compare(JobOrder::Submitted, b, a));
    kept
}

on_both! {
    async fn every_order_is_right_in_both_directions_on_every_page(stage) {
        let rows = fill(&stage, 400).await?;
        for order in JobOrder::ALL {
            for ascending in [true, false] {
                let mut expected = rows.clone();
                expected.sort_by(|a, b| compare(order, a, b));
                if !ascending {
                    expected.reverse();
                }
                let mut filter = JobQuery { order, ascending, limit: 70, ..JobQuery::default() };
                let mut paged = Vec::new();
                while (paged.len() as u64) < 400 {
                    let (page, total) = jobs::list(&stage.db, &filter, NOW).await?;
                    assert_eq!(total, 400);
                    assert!(!page.is_empty(), "{order:?} ended after {}", paged.len());
                    filter.offset += page.len() as u64;
                    paged.extend(page);
                }
                assert!(paged == expected, "{order:?}, ascending: {ascending}");
            }
        }
    }

    async fn filters_leave_out_what_they_should(stage) {
        let rows = fill(&stage, 200).await?;
        let db = &stage.db;
        let all = JobQuery { limit: 1000, ..JobQuery::default() };

        let filter = JobQuery { users: vec![user("zoe"), user("Adam")], ..all.clone() };
        let (found, total) = jobs::list(db, &filter, NOW).await?;
        let expected = only(&rows, |row| filter.users.contains(&row.key.user));
        assert_eq!((found, total), (expected.clone(), expected.len() as u64));

        let states = vec![State::Failed, State::Unknown];
        let filter = JobQuery { states: states.clone(), ..all.clone() };
        let expected = only(&rows, |row| states.contains(&row.state));
        assert_eq!(jobs::list(db, &filter, NOW).await?.0, expected);

        let filter = JobQuery { virtual_clusters: vec![vc("Night")], users: vec![user("zoe")], ..all };
        let expected =
            only(&rows, |row| row.virtual_cluster == vc("Night") && row.key.user == user("zoe"));
        let (found, total) = jobs::list(db, &JobQuery { limit: 3, ..filter }, NOW).await?;
        assert_eq!((&found[..], total), (&expected[..3], expected.len() as u64));
    }

    async fn what_jobs_ask_for_and_when_they_came_is_found(stage) {
        let rows = fill(&stage, 120).await?;
        let all = JobQuery { limit: 1000, ..JobQuery::default() };
        let found = async |filter: &JobQuery| jobs::list(&stage.db, filter, NOW).await;
        let least = JobQuery { least_gpus: Some(1500), most_gpus: Some(3000), ..all.clone() };
        let expected = only(&rows, |row| (1500..=3000).contains(&row.gpus.milli()));
        assert!(!expected.is_empty() && expected.len() < rows.len());
        assert_eq!(found(&least).await?, (expected.clone(), expected.len() as u64));

        let between = JobQuery {
            since: Some(Moment::Ago(7)),
            until: Some(Moment::At(at(1009))),
            ..all.clone()
        };
        let expected =
            only(&rows, |row| (at(1003)..=at(1009)).contains(&row.submitted_at));
        assert!(!expected.is_empty() && expected.len() < rows.len());
        assert_eq!(found(&between).await?.0, expected);

        let ended = JobQuery { ended_since: Some(Moment::At(at(2010))), ..all.clone() };
        let expected = only(&rows, |row| row.completed_at.is_some_and(|then| then >= at(2010)));
        assert!(!expected.is_empty() && expected.len() < rows.len());
        assert_eq!(found(&ended).await?.0, expected);

        let named = JobQuery { names: vec!["JOB-7".into(), ".3".into()], ..all.clone() };
        let expected = only(&rows, |row| {
            let name = row.key.name.as_str();
            name.contains("job-7") || name.contains(".3")
        });
        assert_eq!(found(&named).await?.0, expected);

        let priority = rows[0].priority;
        let ranked = JobQuery { priorities: vec![priority], ..all.clone() };
        assert_eq!(found(&ranked).await?.0, only(&rows, |row| row.priority == priority));
        let nowhere = JobQuery { nodes: vec!["nowhere".parse()?], ..all.clone() };
        assert_eq!(found(&nowhere).await?, (Vec::new(), 0));
        let twice = [a_task(rows[7].id, 0, 0, "here"), a_task(rows[7].id, 0, 1, "here")];
        write!(stage, |tx| tasks::insert_many(&tx, &twice));
        let here = JobQuery { nodes: vec!["here".parse()?, "nowhere".parse()?], ..all.clone() };
        assert_eq!(found(&here).await?, (vec![rows[7].clone()], 1));
        write!(stage, |tx| tags::add(&tx, rows[7].id, &"a b".parse()?));
        write!(stage, |tx| tags::add(&tx, rows[7].id, &"a b".parse()?));
        write!(stage, |tx| tags::add(&tx, rows[8].id, &"c".parse()?));
        let tagged = JobQuery { tags: vec!["a b".parse()?, "none".parse()?], ..all.clone() };
        assert_eq!(found(&tagged).await?, (vec![rows[7].clone()], 1));
        let untagged = JobQuery { without_tags: vec!["a b".parse()?], ..all.clone() };
        assert_eq!(found(&untagged).await?.0, only(&rows, |row| row.id != rows[7].id));
        let both = JobQuery { nodes: vec!["here".parse()?], tags: vec!["c".parse()?], ..all.clone() };
        assert_eq!(found(&both).await?, (Vec::new(), 0));
        let ranged = JobQuery { priority_ranges: vec![(priority, priority)], ..all.clone() };
        assert_eq!(found(&ranged).await?.0, only(&rows, |row| row.priority == priority));
        let kind = JobQuery { gpu_types: vec!["A1".parse()?], ..all };
        let expected = only(&rows, |row| row.gpu_types.iter().any(|kind| kind.as_str() == "A1"));
        assert_eq!(found(&kind).await?.0, expected);
    }

    async fn a_keyword_is_part_of_name_owner_or_cluster_in_any_case(stage) {
        let rows = fill(&stage, 120).await?;
        for (keyword, expected) in [
            ("ADAM", only(&rows, |row| row.key.user == user("Adam"))),
            ("iGh", only(&rows, |row| row.virtual_cluster == vc("Night"))),
            ("-77.", only(&rows, |row| row.key.name.as_str().contains("-77."))),
            ("b_b", only(&rows, |row| row.key.user == user("bob_b"))),
            ("a_1", only(&rows, |row| row.virtual_cluster == vc("a_1"))),
            ("%", Vec::new()),
            ("j_b", Vec::new()),
            ("!", Vec::new()),
            ("作业'\"\\", Vec::new()),
        ] {
            let keyword = keyword.to_owned();
            let filter = JobQuery { keyword, limit: 1000, ..JobQuery::default() };
            let (found, total) = jobs::list(&stage.db, &filter, NOW).await?;
            assert_eq!(total, expected.len() as u64, "{:?}", filter.keyword);
            assert!(found == expected, "{:?}", filter.keyword);
        }
    }

    async fn lists_find_what_the_rows_say_whatever_was_written(stage) {
        let mut ids: Vec<JobId> = Vec::new();
        for round in 0..5 {
            let tx = stage.begin().await?;
            let news: Vec<_> = (0..30).map(|n| jumble(round * 30 + n)).collect();
            let stored = jobs::insert_many(&tx, &news).await?.into_iter();
            let stored = stored.collect::<database::Result<Vec<_>>>()?;
            let round = usize::try_from(round)?;
            go_on(&tx, &ids, round).await?;
            if round == 2 {
                tx.rollback().await?;
            } else {
                tx.commit().await?;
                ids.extend(stored);
            }
            compare_lists(&stage, &ids, round).await?;
        }
        let stage = stage.reopened().await?;
        compare_lists(&stage, &ids, 5).await?;
    }

    async fn a_job_that_is_stored_no_more_leaves_the_lists(stage) {
        let rows = fill(&stage, 20).await?;
        let tx = stage.begin().await?;
        let gone = &rows[4];
        assert!(jobs::update(&tx, gone.id, gone.state, JobUpdate::to(State::Failed)).await?);
        tx.execute_unprepared(&format!("DELETE FROM jobs WHERE id = {}", gone.id.0)).await?;
        tx.commit().await?;
        let all = JobQuery { limit: 50, ..JobQuery::default() };
        let left = only(&rows, |row| row.id != gone.id);
        assert_eq!(jobs::list(&stage.db, &all, NOW).await?, (left, 19));
        let counts = jobs::counts(&stage.db, &all, NOW).await?;
        assert_eq!(counts.values().sum::<u64>(), 19);
    }

    async fn what_very_many_jobs_became_is_read_before_somebody_lists(stage) {
        jobs::refresh_lists(&stage.db).await?;
        let mut numbers = 0..;
        for count in [10, 1_100] {
            let news: Vec<_> = numbers.by_ref().take(count).map(jumble).collect();
            write!(stage, |tx| jobs::insert_many(&tx, &news));
            jobs::refresh_lists(&stage.db).await?;
            // Lists hear nothing of this: they have it only of jobs that they read then.
            write!(stage, |tx| tx.execute_unprepared("UPDATE jobs SET state = 'FAILED'"));
            let counts = jobs::counts(&stage.db, &JobQuery::default(), NOW).await?;
            let expected = match count {
                10 => BTreeMap::from([(State::Failed, 10)]),
                _ => BTreeMap::from([(State::Failed, 10), (State::Waiting, 1_100)]),
            };
            assert_eq!(counts, expected);
        }
    }

    async fn counts_leave_the_states_out_of_account(stage) {
        let rows = fill(&stage, 160).await?;
        let filter = JobQuery {
            users: vec![user("zoe")],
            states: vec![State::Failed],
            ..JobQuery::default()
        };
        let mut expected = BTreeMap::new();
        for row in rows.iter().filter(|row| row.key.user == user("zoe")) {
            *expected.entry(row.state).or_insert(0) += 1;
        }
        assert_eq!(jobs::counts(&stage.db, &filter, NOW).await?, expected);
        let all = jobs::counts(&stage.db, &JobQuery::default(), NOW).await?;
        assert_eq!(all.values().sum::<u64>(), 160);
        let none = JobQuery { keyword: "nothing".to_owned(), ..filter };
        assert_eq!(jobs::counts(&stage.db, &none, NOW).await?, BTreeMap::new());
    }

    async fn a_page_beyond_the_end_is_empty_and_says_the_total(stage) {
        fill(&stage, 20).await?;
        let filter = JobQuery { offset: 20, limit: 10, ..JobQuery::default() };
        assert_eq!(jobs::list(&stage.db, &filter, NOW).await?, (Vec::new(), 20));
        let filter = JobQuery { offset: 0, limit: 0, ..JobQuery::default() };
        assert_eq!(jobs::list(&stage.db, &filter, NOW).await?, (Vec::new(), 20));
    }
}
