//! From a rule of a virtual cluster to the end of a job that holds a GPU and does not use it, on a clock that goes
//! as fast as the test lets it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use control::{Clock, MeasuredEvery};
use protocol::cluster::{GpuCount, GpuRuntime, NodeSettings};
use protocol::exit::Cause;
use protocol::resources::PortRange;
use protocol::time::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::hall::{Hall, actor};
use crate::server::{Answer, JSON};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What the rule of this test has jobs told.
const WORDS: &str =
    "its GPUs did nothing for 30 minutes: it is stopped in 600 minutes unless somebody keeps it";

/// So far the clock of the rule is ahead of the wall clock.
static AHEAD: AtomicI64 = AtomicI64::new(0);

fn time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let ahead = AHEAD.load(Ordering::SeqCst);
    Timestamp(i64::try_from(since.as_millis()).unwrap() + ahead)
}

fn pass(millis: i64) {
    AHEAD.fetch_add(millis, Ordering::SeqCst);
}

/// Serves what an exporter tells of four GPUs, of which one works.
async fn exporter(busy: Arc<AtomicU32>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/metrics", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => asked.push(byte),
                    Err(_) => break,
                }
            }
            let load = |gpu| if gpu == busy.load(Ordering::SeqCst) { 90 } else { 2 };
            let line = |gpu| format!("DCGM_FI_DEV_GPU_UTIL{{gpu=\"{gpu}\"}} {}\n", load(gpu));
            let text: String = (0..4).map(line).collect();
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
            let _gone = stream.write_all(answer.as_bytes()).await;
        }
    });
    address
}

fn node(metrics: String) -> NodeSettings {
    NodeSettings {
        name: "idlers".parse().unwrap(),
        address: "10.0.0.1".to_owned(),
        endpoint: "sim://idlers".to_owned(),
        cpus: Some(16),
        memory_mb: Some(65_536),
        disk_gb: None,
        gpus: Some(vec![GpuCount { gpu_type: "A100".parse().unwrap(), count: 4 }]),
        gpu_runtime: GpuRuntime::None,
        ports: PortRange::default(),
        labels: std::collections::BTreeMap::new(),
        links: Vec::new(),
        shares_gpus: false,
        network: None,
        metrics: Some(metrics),
    }
}

async fn send(hall: &Hall, who: &str, method: &str, path: &str, body: Value) -> Answer {
    let token = format!("Bearer {}", hall.token(who));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    hall.client.send(method, path, &[JSON, ("authorization", &token)], &body).await
}

async fn get(hall: &Hall, who: &str, path: &str) -> Value {
    send(hall, who, "GET", path, Value::Null).await.json()
}

/// Asks until it is as wanted, and lets so much time pass before each time.
async fn until(hall: &Hall, (path, step): (&str, i64), wanted: impl Fn(&Value) -> bool) -> Value {
    let asking = async {
        loop {
            let seen = get(hall, "alice", path).await;
            if wanted(&seen) {
                return seen;
            }
            pass(step);
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(seen) => seen,
        Err(_) => panic!("{path} is {:#}", get(hall, "alice", path).await),
    }
}

async fn until_state(hall: &Hall, name: &str, state: &str) {
    let path = format!("/api/v2/jobs/alice~{name}");
    until(hall, (path.as_str(), 0), |job| job["jobStatus"]["state"] == state).await;
}

/// Starts a job of alice's with one GPU, and says which that is.
async fn begin(hall: &Hall, name: &str) -> u32 {
    let job = json!({ "jobName": name, "image": "berth/base", "virtualCluster": "lab",
        "retryCount": 3, "taskRoles": [{ "name": "worker", "taskNumber": 1, "cpuNumber": 1,
        "memoryMB": 100, "gpuNumber": 1, "command": "sleep 100000" }] });
    let answer = send(hall, "alice", "POST", "/api/v2/jobs", job).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    until_state(hall, name, "RUNNING").await;
    let key = format!("alice~{name}").parse().unwrap();
    let detail = hall.control.backend.jobs.get(&actor("alice"), &key).await.unwrap();
    detail.attempts[0].tasks[0].gpus[0]
}

/// The one attempt of a job was stopped because its GPUs did nothing for so many minutes.
async fn stopped_as_idle(hall: &Hall, name: &str) -> u32 {
    until_state(hall, name, "STOPPED").await;
    let key = format!("alice~{name}").parse().unwrap();
    let detail = hall.control.backend.jobs.get(&actor("alice"), &key).await.unwrap();
    assert_eq!(detail.attempts.len(), 1, "it is not tried again");
    match detail.summary.exit.map(|exit| exit.cause) {
        Some(Cause::Idle { minutes }) => minutes,
        other => panic!("{name}: {other:?}"),
    }
}

/// What a job's warnings by the rule say.
fn warnings(events: &Value) -> Vec<String> {
    let events = events["data"].as_array().unwrap().iter();
    let warnings = events.filter(|event| event["reason"] == "idle");
    warnings.map(|event| event["message"].as_str().unwrap().to_owned()).collect()
}

/// A job was warned so often.
async fn warned(hall: &Hall, name: &str, times: usize) {
    let path = format!("/api/v2/jobs/alice~{name}/events?type=Warning");
    let enough = |events: &Value| warnings(events).len() >= times;
    let events = until(hall, (path.as_str(), 0), enough).await;
    assert_eq!(warnings(&events), vec![WORDS; times], "{name}");
}

/// Names of the jobs that are idle, and whether each is to be stopped and is kept.
fn idle(told: &Value) -> Vec<(String, bool, bool)> {
    let jobs = told.as_array().unwrap().iter().map(|job| {
        let is = |what: &str| !job["idling"][what].is_null();
        (job["key"]["name"].as_str().unwrap().to_owned(), is("stops_at"), is("kept_until"))
    });
    let mut jobs: Vec<_> = jobs.collect();
    jobs.sort();
    jobs
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_use_a_gpu_is_warned_kept_if_wanted_and_stopped() {
    const IDLE: &str = "/api/v2/idle-jobs";
    let busy = Arc::new(AtomicU32::new(u32::MAX));
    let metrics = exporter(Arc::clone(&busy)).await;
    let hall = Hall::controlled(|options| {
        options.nodes = vec![node(metrics)];
        options.rules.measured_every = MeasuredEvery(BETWEEN_LOOKS);
        options.rules.clock = Clock(time);
    })
    .await;
    let rule = json!({ "load": 5, "minutes": 30, "grace": 10, "stop_after": 600 });
    let lab = json!({ "share": { "gpus": { "A100": 4 } }, "idle": rule });
    let set = send(&hall, "admin", "PUT", "/api/v2/virtual-clusters/lab", lab).await;
    assert_eq!(set.status, 202, "{}", set.text);
    busy.store(begin(&hall, "works").await, Ordering::SeqCst);
    for name in ["forgotten", "wanted"] {
        begin(&hall, name).await;
    }

    let both = |kept| {
        let job = |name: &str, kept: bool| (name.to_owned(), !kept, kept);
        vec![job("forgotten", false), job("wanted", kept)]
    };
    until(&hall, (IDLE, MINUTE), |told| idle(told) == both(false)).await;
    assert_eq!(idle(&get(&hall, "admin", IDLE).await), both(false), "an administrator sees all");
    assert_eq!(get(&hall, "bob", IDLE).await, json!([]), "others their own");
    for name in ["forgotten", "wanted"] {
        warned(&hall, name, 1).await;
    }

    let (keep, hours) = ("/api/v2/jobs/alice~wanted/keep", json!({ "hours": 24 }));
    assert_eq!(send(&hall, "bob", "PUT", keep, hours.clone()).await.status, 403);
    let kept = send(&hall, "alice", "PUT", keep, hours).await;
    assert!(kept.status < 300, "{}", kept.text);
    until(&hall, (IDLE, 0), |told| idle(told) == both(true)).await;
    pass(11 * HOUR);
    let minutes = stopped_as_idle(&hall, "forgotten").await;
    assert!((630..24 * 60).contains(&minutes), "{minutes}");
    // The same look has left it alone.
    until_state(&hall, "wanted", "RUNNING").await;
    until(&hall, (IDLE, 0), |told| idle(told) == both(true)[1..]).await;

    pass(14 * HOUR);
    until(&hall, (IDLE, 0), |told| idle(told) == both(false)[1..]).await;
    // It is warned anew.
    warned(&hall, "wanted", 2).await;
    pass(11 * HOUR);
    assert!(stopped_as_idle(&hall, "wanted").await >= 24 * 60);
    until_state(&hall, "works", "RUNNING").await;
    warned(&hall, "works", 0).await;
    until(&hall, (IDLE, 0), |told| *told == json!([])).await;
    assert_eq!(get(&hall, "admin", IDLE).await, json!([]));
    hall.control.shutdown().await;
}
