//! From a container's making to its removal, each step twice.

use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::{ContainerSpec, ContainerStatus, EngineError, LogRequest};
use futures::StreamExt;
use protocol::epoch::Epoch;
use protocol::ids::TaskKey;
use protocol::spec::GraceSignal;

use super::{LIMIT, World, follow};

pub(super) async fn created_twice(world: World) {
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
pub(super) async fn another_epoch(world: World) {
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
pub(super) async fn strangers(world: World) {
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

pub(super) async fn started_twice(world: World) {
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

pub(super) async fn exit_codes(world: World) {
    let cases = [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -15 $$", 143)];
    for (job, (command, expected)) in (120..).zip(cases) {
        let name = world.run(job, command).await;
        assert_eq!(world.code(&name).await, expected, "{command}");
    }
}

pub(super) async fn memory(world: World) {
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

pub(super) async fn stop(world: World) {
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

pub(super) async fn signal(world: World) {
    let name = world.run(145, "echo ready; sleep 600").await;
    let mut log = follow(&world, &name).await;
    while !log.next().await.unwrap().contains("ready") {}
    world.engine.signal(&name, GraceSignal::Usr1).await.unwrap();
    assert_eq!(world.code(&name).await, 138);
    world.engine.signal(&name, GraceSignal::Usr1).await.unwrap();
}

pub(super) async fn stop_by_force(world: World) {
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

pub(super) async fn removed_twice(world: World) {
    let name = world.run(160, "sleep 600").await;
    world.engine.remove(&name).await.unwrap();
    world.engine.remove(&name).await.unwrap();
    assert_eq!(world.engine.inspect(&name).await.unwrap(), None);
    assert!(!world.names().await.contains(&name));
    let again = world.run(160, "exit 5").await;
    assert_eq!((world.code(&again).await, again), (5, name), "the name is free");
}

pub(super) async fn nothing_there(world: World) {
    let name = world.spec(180, "").name();
    let engine = &world.engine;
    assert_eq!(engine.inspect(&name).await.unwrap(), None);
    engine.stop(&name, Duration::from_secs(1)).await.unwrap();
    engine.signal(&name, GraceSignal::Term).await.unwrap();
    let missing = |error: EngineError| matches!(error, EngineError::NoContainer(_));
    assert!(missing(engine.start(&name).await.unwrap_err()));
    assert!(missing(engine.stats(&name).await.unwrap_err()));
    assert!(missing(engine.logs(&name, LogRequest::default()).await.err().unwrap()));
    assert!(missing(engine.exec(&name, vec!["true".into()], false).await.unwrap_err()));
    assert!(missing(engine.put_archive(&name, "/tmp", Bytes::new()).await.unwrap_err()));
    assert!(missing(engine.get_archive(&name, "/tmp").await.err().unwrap()));
}

pub(super) async fn changes(world: World) {
    let mut changes = world.engine.changes("test").await.unwrap();
    // Before the stream is looked at for the first time: it must not be lost.
    let name = world.run(240, "exit 0").await;
    let woken = tokio::time::timeout(LIMIT, changes.next()).await.expect("it wakes");
    woken.unwrap().unwrap();
    assert_eq!(world.code(&name).await, 0);
}

/// Whoever lists when woken sees what woke him, though he saw the container run before.
pub(super) async fn an_end_is_seen(world: World) {
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
