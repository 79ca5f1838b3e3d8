//! What running tasks use is measured, kept with their job, and told.

use std::time::Duration;

use api::ErrorCode;
use api::metrics::{Extent, JobMetrics, Metric, MetricsAsk, NodeMetricsAsk, Series};
use control::{Control, MeasuredEvery, Rules};
use engine::simulated::Call;
use protocol::cluster::GpuRuntime;
use protocol::state::State;
use protocol::time::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until_state};

/// A server that measures as fast as a test waits.
async fn start(house: &House, exporter: Option<String>) -> Control {
    let mut options = house.options(house.database().await);
    let measured_every = MeasuredEvery(Duration::from_millis(50));
    options.rules = Rules { measured_every, ..options.rules };
    options.nodes[0].metrics = exporter;
    control::start(options).await.unwrap()
}

async fn of_job(control: &Control, name: &str) -> JobMetrics {
    control.backend.metrics.of_job(&admin(), &MetricsAsk::new(key(name))).await.unwrap()
}

/// Asks until it is as wanted.
async fn until(control: &Control, name: &str, wanted: impl Fn(&JobMetrics) -> bool) -> JobMetrics {
    let waiting = async {
        loop {
            let seen = of_job(control, name).await;
            if wanted(&seen) {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap()
}

/// The last value of a metric.
fn last(series: &[Series], metric: Metric) -> Option<f32> {
    let found = series.iter().find(|series| series.metric == metric)?;
    found.values.iter().rev().find_map(|value| *value)
}

fn has_rates(seen: &JobMetrics) -> bool {
    seen.tasks.iter().all(|task| last(&task.series, Metric::Received).is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_tasks_use_is_measured_and_stays_with_their_job() {
    let house = House::new(1);
    let control = start(&house, None).await;
    let backend = &control.backend;
    submit(backend, job("measured", 2, 0, "sleep 1000", "")).await;
    until_state(backend, "measured", State::Running).await;
    let seen = until(&control, "measured", |seen| seen.tasks.len() == 2 && has_rates(seen)).await;
    assert_eq!((seen.attempt, seen.of_tasks), (0, 2));
    for task in &seen.tasks {
        // As the simulated engine says of one core and one GiB.
        let cores = last(&task.series, Metric::Cpus).unwrap();
        assert!((0.4..1.0).contains(&cores), "{cores}");
        let memory = last(&task.series, Metric::Memory).unwrap();
        assert!(memory > 0.0 && memory < 1_073_741_824.0, "{memory}");
        assert!(task.series.iter().all(|series| series.values.len() == seen.points as usize));
        assert!(task.gpus.is_empty());
    }
    backend.jobs.stop(&admin(), &key("measured")).await.unwrap();
    until_state(backend, "measured", State::Stopped).await;
    house.node(0).until_empty().await;
    let after = until(&control, "measured", has_rates).await;
    assert_eq!(after.tasks.len(), 2);
    close(&control).await;
    drop(control);
    let control = start(&house, None).await;
    let kept = of_job(&control, "measured").await;
    assert!(has_rates(&kept), "it is kept beside the logs: {kept:?}");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nothing_is_to_be_measured_nothing_is() {
    let house = House::new(1);
    let mut options = house.options(house.database().await);
    let measured_every = MeasuredEvery(Duration::from_millis(50));
    options.rules = Rules { measured_every, unmeasured: true, ..options.rules };
    let control = control::start(options).await.unwrap();
    submit(&control.backend, job("unseen", 1, 1, "sleep 1", "")).await;
    until_state(&control.backend, "unseen", State::Succeeded).await;
    close(&control).await;
    drop(control);
    let control = start(&house, None).await;
    let seen = of_job(&control, "unseen").await;
    let [task] = seen.tasks.as_slice() else { panic!("{seen:?}") };
    assert!(task.series.is_empty() && task.gpus.is_empty(), "{task:?}");
    close(&control).await;
}

/// Its first GPU, and what that did at first.
fn load(seen: &JobMetrics) -> Option<(u32, f32)> {
    let gpu = seen.tasks.first()?.gpus.first()?;
    let load = gpu.series.iter().find(|series| series.metric == Metric::GpuLoad)?;
    Some((gpu.index, load.values.iter().find_map(|value| *value)?))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn measuring_goes_on_after_the_server_was_away() {
    let house = House::new(1);
    let control = start(&house, Some(exporter().await)).await;
    submit(&control.backend, job("long", 1, 1, "sleep 1000", "")).await;
    until_state(&control.backend, "long", State::Running).await;
    until(&control, "long", |seen| load(seen).is_some()).await;
    close(&control).await;
    drop(control);
    let container = house.node(0).containers().remove(0);
    house.node(0).backdate(&container, an_hour_ago());

    // Now its engine alone tells what the GPUs do, which is something else.
    let control = start(&house, None).await;
    until_state(&control.backend, "long", State::Running).await;
    // Whoever runs on the same node is measured together with it.
    submit(&control.backend, job("after", 1, 0, "sleep 1000", "")).await;
    until_state(&control.backend, "after", State::Running).await;
    until(&control, "after", has_rates).await;
    let seen = of_job(&control, "long").await;
    let (gpu, load) = load(&seen).unwrap();
    assert_eq!(load, (gpu * 10) as f32, "what was measured before is there: {seen:?}");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drivers_are_asked_once_a_minute_where_something_runs_and_one_that_hangs_delays_nobody() {
    let house = House::new(3);
    let mut options = house.options(house.database().await);
    let measured_every = MeasuredEvery(Duration::from_millis(20));
    options.rules = Rules { measured_every, ..options.rules };
    for node in &mut options.nodes {
        node.gpu_runtime = GpuRuntime::Nvidia;
    }
    let on = |node: usize| {
        let name = &options.nodes[node].name;
        format!(r#""extras": {{ "berth": {{ "nodes": ["{name}"] }} }},"#)
    };
    let (on_silent, on_other) = (on(0), on(1));
    house.node(0).hang(Call::AskGpus, true);
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    let asked = |node: usize| house.node(node).calls(Call::AskGpus);

    submit(backend, job("silent", 1, 8, "sleep 1000", &on_silent)).await;
    tokio::time::timeout(PATIENCE, house.node(0).until_hung(1)).await.unwrap();
    submit(backend, job("other", 1, 8, "sleep 1000", &on_other)).await;
    until(&control, "other", |_| asked(1) == 1).await;
    // What follows was measured in several rounds since then, on both nodes.
    submit(backend, job("beside", 1, 0, "sleep 1000", &on_other)).await;
    until(&control, "beside", |seen| !seen.tasks.is_empty() && has_rates(seen)).await;
    until(&control, "silent", |seen| !seen.tasks.is_empty() && has_rates(seen)).await;
    assert_eq!([asked(0), asked(1), asked(2)], [0, 1, 0], "nothing runs on the last one");

    house.node(0).hang(Call::AskGpus, false);
    until(&control, "silent", |_| asked(0) == 1).await;
    assert_eq!(asked(1), 1, "its minute is not over");
    close(&control).await;
}

fn an_hour_ago() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp(i64::try_from((since - Duration::from_secs(3_600)).as_millis()).unwrap())
}

/// Serves what an exporter tells of eight GPUs, each as busy as its index times ten.
async fn exporter() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/metrics", listener.local_addr().unwrap());
    let line = |gpu: u32| format!("DCGM_FI_DEV_GPU_UTIL{{gpu=\"{gpu}\"}} {}\n", gpu * 10);
    let text: String = (0..8).map(line).collect();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => asked.push(byte),
                    Err(_) => break,
                }
            }
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
            let _gone = stream.write_all(answer.as_bytes()).await;
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_task_has_what_its_own_gpus_did() {
    let house = House::new(1);
    let control = start(&house, Some(exporter().await)).await;
    submit(&control.backend, job("trains", 2, 2, "sleep 1000", "")).await;
    let detail = until_state(&control.backend, "trains", State::Running).await;
    let is_measured = |seen: &JobMetrics| {
        let measured = |task: &api::metrics::TaskMetrics| {
            task.gpus.iter().filter(|gpu| !gpu.series.is_empty()).count() == 2
        };
        seen.tasks.len() == 2 && seen.tasks.iter().all(measured)
    };
    let seen = until(&control, "trains", is_measured).await;
    for (task, of_job) in seen.tasks.iter().zip(&detail.attempts[0].tasks) {
        let indices: Vec<u32> = task.gpus.iter().map(|gpu| gpu.index).collect();
        assert_eq!(indices, of_job.gpus);
        for gpu in &task.gpus {
            let load = last(&gpu.series, Metric::GpuLoad);
            assert_eq!(load, Some((gpu.index * 10) as f32), "GPU {}", gpu.index);
        }
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_gpus_do_now_is_told_with_their_node() {
    let house = House::new(1);
    let control = start(&house, Some(exporter().await)).await;
    let waiting = async {
        loop {
            // Nothing runs there: its exporter tells it all the same.
            let node = control.backend.nodes.list(&admin()).await.unwrap().remove(0);
            let loads = node.gpus.iter().map(|gpu| gpu.now.and_then(|now| now.load));
            if let Some(loads) = loads.collect::<Option<Vec<u32>>>() {
                return loads;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let loads = tokio::time::timeout(PATIENCE, waiting).await.unwrap();
    assert_eq!(loads, [0, 10, 20, 30, 40, 50, 60, 70]);
    let name = control.backend.nodes.list(&admin()).await.unwrap().remove(0).name;
    close(&control).await;
    drop(control);

    // What its GPUs did before is kept as well.
    let control = start(&house, None).await;
    let ask = |node| NodeMetricsAsk { node, from: None, until: None, points: None };
    let metrics = &control.backend.metrics;
    let seen = metrics.of_node(&admin(), &ask(name)).await.unwrap();
    let loads = seen.gpus.iter().map(|gpu| last(&gpu.series, Metric::GpuLoad));
    let expected = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0].map(Some);
    assert_eq!(loads.collect::<Vec<_>>(), expected);
    assert_eq!(last(&seen.series, Metric::Cpus), Some(0.0), "nothing runs there");
    let error = metrics.of_node(&admin(), &ask("nothing".parse().unwrap())).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NoNodeError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_does_not_answer_keeps_no_other_from_being_measured() {
    let house = House::new(2);
    house.node(0).set_stats_time(Duration::from_secs(1_000));
    let control = start(&house, None).await;
    // Each takes all GPUs of a node.
    for name in ["first", "second"] {
        submit(&control.backend, job(name, 1, 8, "sleep 1000", "")).await;
        until_state(&control.backend, name, State::Running).await;
    }
    let first = of_job(&control, "first").await;
    let (hangs, answers) = match house.index_of(&first.tasks[0].node) {
        0 => ("first", "second"),
        _ => ("second", "first"),
    };
    until(&control, answers, has_rates).await;
    assert!(of_job(&control, hangs).await.tasks[0].series.is_empty());
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_measured_is_empty_and_what_makes_no_sense_is_refused() {
    let house = House::new(1);
    let control = start(&house, None).await;
    let metrics = &control.backend.metrics;
    submit(&control.backend, job("holds", 1, 8, "sleep 1000", "")).await;
    until_state(&control.backend, "holds", State::Running).await;
    submit(&control.backend, job("waits", 1, 8, "sleep 1000", "")).await;
    let ask = |name: &str| MetricsAsk::new(key(name));
    assert_eq!(metrics.of_job(&admin(), &ask("waits")).await.unwrap(), JobMetrics::default());
    let error = metrics.of_job(&admin(), &ask("nothing")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NoJobError);
    let (from, until) = (Some(Timestamp(2)), Some(Timestamp(1)));
    let backwards = MetricsAsk { from, until, ..ask("holds") };
    let error = metrics.of_job(&admin(), &backwards).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::InvalidParametersError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_job_came_to_is_told_when_it_has_ended_and_after_a_restart() {
    let house = House::new(1);
    let control = start(&house, Some(exporter().await)).await;
    let backend = &control.backend;
    submit(backend, job("trains", 2, 2, "sleep 1000", "")).await;
    let detail = until_state(backend, "trains", State::Running).await;
    let is_measured = |seen: &JobMetrics| {
        let measured = |task: &api::metrics::TaskMetrics| {
            task.gpus.iter().filter(|gpu| !gpu.series.is_empty()).count() == 2
        };
        seen.tasks.len() == 2 && seen.tasks.iter().all(measured)
    };
    until(&control, "trains", is_measured).await;
    backend.jobs.stop(&admin(), &key("trains")).await.unwrap();
    until_state(backend, "trains", State::Stopped).await;
    house.node(0).until_empty().await;
    let used = backend.metrics.use_of_job(&admin(), &key("trains")).await.unwrap();
    let [role] = used.roles.as_slice() else { panic!("{used:?}") };
    // As its exporter says of each GPU by its index.
    let gpus = detail.attempts[0].tasks.iter().flat_map(|task| task.gpus.iter().copied());
    let busiest = gpus.max().unwrap() * 10;
    let load = role.gpu_load.unwrap();
    assert_eq!(Some(load.most), Some(busiest as f32), "{used:?}");
    assert!(load.mean > 0.0 && load.mean < load.most, "{used:?}");
    let Extent { mean, most } = role.cpus.unwrap();
    assert!(mean > 0.0 && mean <= most && most <= 1.0, "as the simulated engine says: {used:?}");
    assert_eq!((used.runs, used.of_runs, used.energy_wh), (2, 2, None));
    let error = backend.metrics.use_of_job(&admin(), &key("nothing")).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::NoJobError);
    close(&control).await;
    drop(control);
    let control = start(&house, None).await;
    let after = control.backend.metrics.use_of_job(&admin(), &key("trains")).await.unwrap();
    assert_eq!(after, used, "it is kept");
    close(&control).await;
}
