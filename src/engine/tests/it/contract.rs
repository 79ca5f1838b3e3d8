//! What every engine keeps, whatever it is made of.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::{
    Container, ContainerSpec, ContainerStatus, Content, Engine, EngineError, LogRequest, Network,
    Volume,
};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use protocol::cluster::GpuRuntime;
use protocol::epoch::Epoch;
use protocol::ids::{JobId, TaskKey};
use tokio::io::AsyncWriteExt;

use crate::image;

/// Longer than anything here takes; a hang fails the test instead of keeping it.
pub(crate) const LIMIT: Duration = Duration::from_secs(90);

/// An engine and an image it has.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) image: String,
}

impl World {
    pub(crate) fn spec(&self, job: i64, command: &str) -> ContainerSpec {
        ContainerSpec {
            cluster: "test".into(),
            key: TaskKey { job: JobId(job), attempt: 0, role: 1, index: 2, retry: 0 },
            epoch: Epoch::default().next(7),
            labels: BTreeMap::from([("berth.user".into(), "alice".into())]),
            image: self.image.clone(),
            command: command.into(),
            guest: None,
            job_env: Arc::from([("GREETING".into(), "a bad day".into())]),
            env: vec![("GREETING".into(), "good day".into())],
            cpus: 1,
            memory_mb: 64,
            shm_mb: 16,
            gpus: Vec::new(),
            gpu_runtime: GpuRuntime::None,
            infiniband: false,
            code: None,
            folders: Vec::new(),
            network: Network::Host,
        }
    }

    /// Makes and starts a container; gives its name.
    pub(crate) async fn run(&self, job: i64, command: &str) -> String {
        let spec = self.spec(job, command);
        self.engine.create(&spec).await.unwrap();
        self.engine.start(&spec.name()).await.unwrap();
        spec.name()
    }

    pub(crate) async fn see(&self, name: &str) -> Container {
        self.engine.inspect(name).await.unwrap().expect("the container is there")
    }

    /// Waits for the end by the engine's own changes.
    pub(crate) async fn end(&self, name: &str) -> ContainerStatus {
        let waiting = async {
            let mut changes = self.engine.changes("test").await.unwrap();
            loop {
                let status = self.see(name).await.status;
                if matches!(status, ContainerStatus::Exited { .. }) {
                    return status;
                }
                changes.next().await.expect("the engine lives").unwrap();
            }
        };
        tokio::time::timeout(LIMIT, waiting).await.expect("the container ends")
    }

    pub(crate) async fn code(&self, name: &str) -> i32 {
        match self.end(name).await {
            ContainerStatus::Exited { code, .. } => code,
            ContainerStatus::Created | ContainerStatus::Running { .. } => unreachable!("it ended"),
        }
    }

    pub(crate) async fn log(&self, name: &str, request: LogRequest) -> String {
        let reading = async {
            let chunks = self.engine.logs(name, request).await.unwrap();
            let chunks: Vec<_> = chunks.try_collect().await.unwrap();
            chunks.into_iter().flat_map(|chunk| chunk.bytes).collect::<Vec<u8>>()
        };
        let bytes = tokio::time::timeout(LIMIT, reading).await.expect("the log ends");
        String::from_utf8(bytes).unwrap()
    }

    async fn names(&self) -> Vec<String> {
        let list = self.engine.list("test").await.unwrap();
        list.into_iter().map(|container| container.name).collect()
    }
}

/// Runs all cases side by side and tells every one that failed.
pub(crate) async fn keeps_the_contract(world: World) {
    let mut cases = Cases { world, running: Vec::new() };
    cases.add("created twice", created_twice);
    cases.add("another epoch", another_epoch);
    cases.add("strangers", strangers);
    cases.add("started twice", started_twice);
    cases.add("exit codes", exit_codes);
    cases.add("memory", memory);
    cases.add("stop", stop);
    cases.add("stop by force", stop_by_force);
    cases.add("removed twice", removed_twice);
    cases.add("no image", no_image);
    cases.add("nothing there", nothing_there);
    cases.add("written", written);
    cases.add("log", log);
    cases.add("log followed", log_followed);
    cases.add("stats", stats);
    cases.add("exec", exec);
    cases.add("archive", archive);
    cases.add("images", images);
    cases.add("volumes", volumes);
    cases.add("changes", changes);
    cases.add("an end is seen", an_end_is_seen);
    cases.add("info", info);
    cases.finish().await;
}

pub(crate) struct Cases {
    pub(crate) world: World,
    pub(crate) running: Vec<(&'static str, tokio::task::JoinHandle<()>)>,
}

impl Cases {
    pub(crate) fn add<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        case: impl FnOnce(World) -> F,
    ) {
        self.running.push((name, tokio::spawn(case(self.world.clone()))));
    }

    pub(crate) async fn finish(self) {
        let mut failed = Vec::new();
        for (name, case) in self.running {
            if case.await.is_err() {
                failed.push(name);
            }
        }
        assert!(failed.is_empty(), "failed, with their reasons above: {failed:?}");
        for name in self.world.names().await {
            self.world.engine.remove(&name).await.unwrap();
        }
        assert_eq!(self.world.names().await, Vec::<String>::new());
    }
}

async fn created_twice(world: World) {
    let spec = world.spec(100, "sleep 60");
    let first = world.engine.create(&spec).await.unwrap();
    let second = world.engine.create(&spec).await.unwrap();
    assert_eq!(first, second);
    let same = |name: &String| *name == spec.name();
    assert_eq!(world.names().await.into_iter().filter(same).count(), 1);
    let seen = world.see(&spec.name()).await;
    assert_eq!((seen.key, seen.status), (spec.key, ContainerStatus::Created));
    assert_eq!(world.engine.list("another").await.unwrap(), []);
}

/// A name that comes again in another life of the database is another container's.
async fn another_epoch(world: World) {
    let spec = world.spec(105, "sleep 600");
    let engine = &world.engine;
    engine.create(&spec).await.unwrap();
    let before = world.see(&spec.name()).await;
    assert_eq!(before.epoch, spec.epoch);
    for epoch in [Epoch::default(), Epoch::default().next(8), spec.epoch.next(7)] {
        let other = ContainerSpec { epoch, command: "exit 1".into(), ..spec.clone() };
        let error = engine.create(&other).await.unwrap_err();
        assert!(matches!(error, EngineError::Failed(_)), "{error:?}");
    }
    assert_eq!(world.see(&spec.name()).await, before, "it stays what it is");
    let labels = engine.labels(&spec.name()).await.unwrap();
    assert_eq!(labels.get("berth.user").map(String::as_str), Some("alice"));
    let of_before = ContainerSpec { epoch: Epoch::default(), ..world.spec(106, "sleep 600") };
    engine.create(&of_before).await.unwrap();
    engine.create(&of_before).await.unwrap();
    let listed = engine.list("test").await.unwrap();
    let epoch =
        |key: TaskKey| listed.iter().find(|found| found.key == key).map(|found| found.epoch);
    assert_eq!(epoch(spec.key), Some(spec.epoch));
    assert_eq!(epoch(of_before.key), Some(Epoch::default()));
    let gone = engine.labels("berth-test-none").await.unwrap_err();
    assert!(matches!(gone, EngineError::NoContainer(_)), "{gone:?}");
}

/// Containers of other clusters are told of, and are in no list of this one.
async fn strangers(world: World) {
    let engine = &world.engine;
    let spec = ContainerSpec { cluster: "theirs".into(), ..world.spec(107, "sleep 600") };
    engine.create(&spec).await.unwrap();
    engine.start(&spec.name()).await.unwrap();
    let theirs = engine.strangers("test").await.unwrap();
    let told = theirs.iter().find(|stranger| stranger.name == spec.name()).unwrap();
    assert_eq!((told.cluster.as_str(), told.runs), ("theirs", true));
    let own = engine.strangers("theirs").await.unwrap();
    assert!(own.iter().all(|stranger| stranger.cluster != "theirs"), "{own:?}");
    engine.remove(&spec.name()).await.unwrap();
}

async fn started_twice(world: World) {
    let name = world.run(110, "sleep 0.2; exit 4").await;
    world.engine.start(&name).await.unwrap();
    let first = world.end(&name).await;
    world.engine.start(&name).await.unwrap();
    assert_eq!(world.see(&name).await.status, first, "what ran is not run again");
    let ContainerStatus::Exited { started_at: Some(started), finished_at, code: 4, .. } = first
    else {
        panic!("{first:?}")
    };
    assert!(finished_at >= started);
}

async fn exit_codes(world: World) {
    let cases = [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -15 $$", 143)];
    for (job, (command, expected)) in (120..).zip(cases) {
        let name = world.run(job, command).await;
        assert_eq!(world.code(&name).await, expected, "{command}");
    }
}

async fn memory(world: World) {
    // As with a guest, something outlives what is killed: else the engine may find nobody to ask.
    let mut spec = world.spec(130, "tail /dev/zero; sleep 1; exit 137");
    spec.memory_mb = 20;
    world.engine.create(&spec).await.unwrap();
    world.engine.start(&spec.name()).await.unwrap();
    assert_eq!(world.code(&spec.name()).await, 137);
    // An engine may hear of the reason after the end.
    let told = async {
        while !matches!(
            world.see(&spec.name()).await.status,
            ContainerStatus::Exited { oom_killed: true, .. }
        ) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LIMIT, told).await.expect("the engine says that it was for memory");
}

async fn written(world: World) {
    let write = "head -c 2000000 /dev/zero > /much && echo ready";
    let ended = world.run(165, write).await;
    world.end(&ended).await;
    let name = world.run(166, &format!("{write}; sleep 600")).await;
    let mut log = follow(&world, &name).await;
    while !log.next().await.unwrap().contains("ready") {}
    let key = |job| world.spec(job, "").key;
    let written = world.engine.written("test").await.unwrap();
    assert!(written.get(&key(166)).is_some_and(|bytes| *bytes > 1_000_000), "{written:?}");
    assert_eq!(written.get(&key(165)), None, "only of what runs");
    assert!(world.engine.written("another").await.unwrap().is_empty());
}

async fn stop(world: World) {
    // A signal that comes before the init process listens is lost.
    let name = world.run(140, "echo ready; sleep 600").await;
    let mut log = follow(&world, &name).await;
    while !log.next().await.unwrap().contains("ready") {}
    world.engine.stop(&name, Duration::from_secs(60)).await.unwrap();
    // Had SIGTERM not been enough, it would have been killed: 137.
    let status = world.see(&name).await.status;
    assert!(matches!(status, ContainerStatus::Exited { code: 143, .. }), "{status:?}");
    world.engine.stop(&name, Duration::from_secs(1)).await.unwrap();
}

async fn stop_by_force(world: World) {
    // `:` keeps the shell from giving its place to `sleep`, which would not ignore the signal.
    let name = world.run(150, "trap '' TERM; echo ready; sleep 600; :").await;
    let mut log = follow(&world, &name).await;
    while !log.next().await.unwrap().contains("ready") {}
    let began = Instant::now();
    world.engine.stop(&name, Duration::from_secs(2)).await.unwrap();
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(1900) && took < Duration::from_secs(30), "{took:?}");
    let status = world.see(&name).await.status;
    assert!(matches!(status, ContainerStatus::Exited { code: 137, .. }), "{status:?}");
}

async fn follow(world: &World, name: &str) -> futures::stream::BoxStream<'static, String> {
    let request = LogRequest { follow: true, ..Default::default() };
    let log = world.engine.logs(name, request).await.unwrap();
    log.map(|chunk| String::from_utf8_lossy(&chunk.unwrap().bytes).into_owned()).boxed()
}

async fn removed_twice(world: World) {
    let name = world.run(160, "sleep 600").await;
    world.engine.remove(&name).await.unwrap();
    world.engine.remove(&name).await.unwrap();
    assert_eq!(world.engine.inspect(&name).await.unwrap(), None);
    assert!(!world.names().await.contains(&name));
    let again = world.run(160, "exit 5").await;
    assert_eq!((world.code(&again).await, again), (5, name), "the name is free");
}

async fn no_image(world: World) {
    let mut spec = world.spec(170, "exit 0");
    spec.image = "berth-missing:none".into();
    let error = world.engine.create(&spec).await.unwrap_err();
    assert!(
        matches!(&error, EngineError::NoImage { image, .. } if *image == spec.image),
        "{error:?}"
    );
    assert!(!world.engine.has_image(&spec.image).await.unwrap());
    assert!(world.engine.has_image(&world.image).await.unwrap());
}

async fn nothing_there(world: World) {
    let name = world.spec(180, "").name();
    let engine = &world.engine;
    assert_eq!(engine.inspect(&name).await.unwrap(), None);
    engine.stop(&name, Duration::from_secs(1)).await.unwrap();
    let missing = |error: EngineError| matches!(error, EngineError::NoContainer(_));
    assert!(missing(engine.start(&name).await.unwrap_err()));
    assert!(missing(engine.stats(&name).await.unwrap_err()));
    assert!(missing(engine.logs(&name, LogRequest::default()).await.err().unwrap()));
    assert!(missing(engine.exec(&name, vec!["true".into()], false).await.unwrap_err()));
    assert!(missing(engine.put_archive(&name, "/tmp", Bytes::new()).await.unwrap_err()));
    assert!(missing(engine.get_archive(&name, "/tmp").await.err().unwrap()));
}

async fn log(world: World) {
    let name = world.run(190, "echo first; sleep 1.2; echo second").await;
    let status = world.end(&name).await;
    let ContainerStatus::Exited { started_at, finished_at, .. } = status else { panic!() };
    let whole = world.log(&name, LogRequest::default()).await;
    assert!(whole.contains("first") && whole.contains("second"), "{whole}");
    let last = LogRequest { tail_lines: Some(1), ..Default::default() };
    let last = world.log(&name, last).await;
    assert_eq!(last.lines().count(), 1, "{last}");
    assert!(whole.ends_with(&last));
    let middle = started_at.unwrap().plus_millis(finished_at.since(started_at.unwrap()) / 2);
    let since = LogRequest { since: Some(middle), ..Default::default() };
    assert_eq!(world.log(&name, since).await, last);
}

async fn log_followed(world: World) {
    let name = world.run(200, "echo begin; sleep 1; echo finish").await;
    let mut log = follow(&world, &name).await;
    let first = log.next().await.unwrap();
    assert!(!matches!(world.see(&name).await.status, ContainerStatus::Created));
    let rest = tokio::time::timeout(LIMIT, log.collect::<String>()).await.expect("it ends");
    let text = first + &rest;
    assert!(text.contains("begin") && text.contains("finish"), "{text}");
    assert_eq!(world.code(&name).await, 0);
}

async fn stats(world: World) {
    let name = world.run(210, "sleep 600").await;
    let first = world.engine.stats(&name).await.unwrap();
    let second = world.engine.stats(&name).await.unwrap();
    for stats in [first, second] {
        assert!(stats.memory_bytes > 0 && stats.memory_bytes <= 64 << 20, "{stats:?}");
        assert!((0.0..16.0).contains(&stats.cpus), "{stats:?}");
    }
    world.engine.remove(&name).await.unwrap();
}

async fn exec(world: World) {
    let name = world.run(220, "sleep 600").await;
    let mut exec = world.engine.exec(&name, vec!["cat".into()], false).await.unwrap();
    assert_eq!(world.engine.exec_code(&exec.id).await.unwrap(), None);
    exec.input.write_all(b"hello through cat\n").await.unwrap();
    exec.input.shutdown().await.unwrap();
    drop(exec.input);
    let output = exec.output.map_ok(|chunk| chunk.bytes).try_collect::<Vec<Bytes>>();
    let output = tokio::time::timeout(LIMIT, output).await.expect("cat ends").unwrap().concat();
    assert!(String::from_utf8(output).unwrap().contains("hello through cat\n"));
    assert_eq!(world.engine.exec_code(&exec.id).await.unwrap(), Some(0));
    world.engine.remove(&name).await.unwrap();
}

async fn archive(world: World) {
    let spec = world.spec(230, "sleep 600");
    let name = spec.name();
    world.engine.create(&spec).await.unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    image::file(&mut tar, "code/main.py", 0o755, b"print('x')\n");
    image::file(&mut tar, "code/data/a.txt", 0o600, "äöü\n".as_bytes());
    let bytes = Bytes::from(tar.into_inner().unwrap());
    world.engine.put_archive(&name, "/", bytes).await.unwrap();
    world.engine.start(&name).await.unwrap();
    let back = world.engine.get_archive(&name, "/code").await.unwrap();
    let back = back.try_collect::<Vec<Bytes>>().await.unwrap().concat();
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(back.as_slice()).entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.header().entry_type().is_file() {
            let path = entry.path().unwrap().display().to_string();
            let mode = entry.header().mode().unwrap() & 0o777;
            let mut content = String::new();
            std::io::Read::read_to_string(&mut entry, &mut content).unwrap();
            found.insert(path, (mode, content));
        }
    }
    let expected = BTreeMap::from([
        ("code/data/a.txt".to_owned(), (0o600, "äöü\n".to_owned())),
        ("code/main.py".to_owned(), (0o755, "print('x')\n".to_owned())),
    ]);
    assert_eq!(found, expected);
    let none = world.engine.get_archive(&name, "/nowhere").await.err().unwrap();
    assert!(matches!(none, EngineError::Refused(_)), "{none:?}");
    world.engine.remove(&name).await.unwrap();
}

async fn images(world: World) {
    let spec = world.spec(235, "sleep 600");
    let (name, image) = (spec.name(), "saved/alice/contract:1");
    let engine = &world.engine;
    engine.create(&spec).await.unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    image::file(&mut tar, "made/here.txt", 0o640, &[b'x'; 70_000]);
    engine.put_archive(&name, "/", Bytes::from(tar.into_inner().unwrap())).await.unwrap();
    engine.start(&name).await.unwrap();
    let size = engine.container_size(&name).await.unwrap();
    assert!(size.own >= 70_000 && size.whole > size.own, "{size:?}");
    engine.commit(&name, image).await.unwrap();
    engine.commit(&name, image).await.unwrap();
    assert!(matches!(world.see(&name).await.status, ContainerStatus::Running { .. }));
    assert!(engine.has_image(image).await.unwrap());
    assert!(engine.image_size(image).await.unwrap() > 70_000);

    let tar: Vec<_> = engine.export(image).await.unwrap().collect().await;
    engine.remove_image(image).await.unwrap();
    engine.remove_image(image).await.unwrap();
    assert!(!engine.has_image(image).await.unwrap());
    let gone = engine.export(image).await.err().unwrap();
    assert!(matches!(gone, EngineError::NoImage { .. }), "{gone:?}");
    engine.import(futures::stream::iter(tar).boxed()).await.unwrap();
    let broken = futures::stream::iter([Err(EngineError::Failed("cut off".into()))]).boxed();
    let told = engine.import(broken).await.err().unwrap();
    assert!(matches!(&told, EngineError::Failed(words) if words == "cut off"), "{told:?}");

    let mut from = world.spec(236, "sleep 600");
    from.image = image.to_owned();
    engine.create(&from).await.unwrap();
    let made = engine.get_archive(&from.name(), "/made/here.txt").await.unwrap();
    assert!(made.try_collect::<Vec<Bytes>>().await.unwrap().concat().len() > 70_000);
    for name in [&name, &from.name()] {
        engine.remove(name).await.unwrap();
    }
    engine.remove_image(image).await.unwrap();
    let nobody = engine.commit(&name, image).await.unwrap_err();
    assert!(matches!(nobody, EngineError::NoContainer(_)), "{nobody:?}");
}

/// A source of files that breaks off in the middle.
struct Broken(Bytes);

#[async_trait::async_trait]
impl Content for Broken {
    async fn tar(&self) -> engine::Result<BoxStream<'static, engine::Result<Bytes>>> {
        let error = EngineError::Refused("the source is gone".into());
        Ok(futures::stream::iter([Ok(self.0.slice(..600)), Err(error)]).boxed())
    }
}

async fn volumes(world: World) {
    let engine = &world.engine;
    let mut tar = tar::Builder::new(Vec::new());
    image::file(&mut tar, "data/main.py", 0o444, b"print('x')\n");
    let whole = Bytes::from(tar.into_inner().unwrap());
    let volume = |name: &str, cluster: &str, attempt| Volume {
        name: format!("berth-contract-{name}"),
        cluster: cluster.into(),
        attempt,
        epoch: Epoch::default().next(5),
    };
    let code = volume("code", "contract", Some((JobId(7), 2)));
    let guest = volume("guest", "contract", None);
    let foreign = volume("foreign", "another", None);
    let error = engine.provide(&code, &world.image, &Broken(whole.clone())).await.unwrap_err();
    assert!(error.to_string().contains("the source is gone"), "{error:?}");
    assert_eq!(
        engine.volumes("contract").await.unwrap(),
        std::slice::from_ref(&code),
        "it is to be removed"
    );
    let mut names = Vec::new();
    for volume in [&code, &guest, &foreign, &code] {
        names.push(engine.provide(volume, &world.image, &whole).await.unwrap());
    }
    assert_eq!(names[0], names[3], "what is whole is not filled again");
    let again = engine.provide(&code, &world.image, &Broken(whole.clone())).await.unwrap();
    assert_eq!(again, names[0]);
    let found = engine.volumes("contract").await.unwrap();
    assert_eq!(found, [code.clone(), guest.clone()]);

    let mut spec = world.spec(237, "true");
    spec.code = Some(names[0].clone());
    engine.create(&spec).await.unwrap();
    engine.remove_volume(&code.name).await.unwrap();
    let left = engine.volumes("contract").await.unwrap();
    assert_eq!(left, [code.clone(), guest.clone()], "a container has it");
    // What is filled after that is another one, and the container, which never ran, is made anew.
    let anew = engine.provide(&code, &world.image, &whole).await.unwrap();
    assert_ne!(anew, names[0]);
    spec.code = Some(anew);
    let first = world.see(&spec.name()).await.id;
    assert_ne!(engine.create(&spec).await.unwrap(), first);
    engine.remove(&spec.name()).await.unwrap();
    for volume in [&code, &guest, &foreign, &code] {
        engine.remove_volume(&volume.name).await.unwrap();
    }
    assert_eq!(engine.volumes("contract").await.unwrap(), []);
    // An engine makes a volume that is not there: no task is to have that one.
    let error = engine.create(&spec).await.unwrap_err();
    assert!(matches!(error, EngineError::Failed(_)), "{error:?}");
    assert_eq!(engine.inspect(&spec.name()).await.unwrap(), None, "it is not kept");
    engine.remove_volume(spec.code.as_deref().unwrap()).await.unwrap();
}

async fn changes(world: World) {
    let mut changes = world.engine.changes("test").await.unwrap();
    // Before the stream is looked at for the first time: it must not be lost.
    let name = world.run(240, "exit 0").await;
    let woken = tokio::time::timeout(LIMIT, changes.next()).await.expect("it wakes");
    woken.unwrap().unwrap();
    assert_eq!(world.code(&name).await, 0);
}

/// Whoever lists when woken sees what woke him, though he saw the container run before.
async fn an_end_is_seen(world: World) {
    // A cluster of its own: nothing else wakes.
    let spec = ContainerSpec { cluster: "alone".into(), ..world.spec(241, "sleep 2") };
    let engine = &world.engine;
    let mut changes = engine.changes("alone").await.unwrap();
    engine.create(&spec).await.unwrap();
    engine.start(&spec.name()).await.unwrap();
    loop {
        let listed = engine.list("alone").await.unwrap().remove(0).status;
        let inspected = world.see(&spec.name()).await.status;
        if matches!(inspected, ContainerStatus::Exited { .. }) {
            assert_eq!(listed, inspected);
            break;
        }
        tokio::time::timeout(LIMIT, changes.next()).await.expect("it wakes").unwrap().unwrap();
    }
    engine.remove(&spec.name()).await.unwrap();
}

async fn info(world: World) {
    let info = world.engine.info().await.unwrap();
    assert!(info.cpus > 0 && info.memory_mb > 100 && !info.version.is_empty(), "{info:?}");
}
