//! What a container writes, says and holds while it runs.

use std::collections::BTreeMap;

use bytes::Bytes;
use engine::{ContainerStatus, EngineError, LogRequest};
use futures::{StreamExt, TryStreamExt};
use tokio::io::AsyncWriteExt;

use super::{LIMIT, World, follow};
use crate::image;

pub(super) async fn written(world: World) {
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

pub(super) async fn log(world: World) {
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

pub(super) async fn log_followed(world: World) {
    let name = world.run(200, "echo begin; sleep 1; echo finish").await;
    let mut log = follow(&world, &name).await;
    let first = log.next().await.unwrap();
    assert!(!matches!(world.see(&name).await.status, ContainerStatus::Created));
    let rest = tokio::time::timeout(LIMIT, log.collect::<String>()).await.expect("it ends");
    let text = first + &rest;
    assert!(text.contains("begin") && text.contains("finish"), "{text}");
    assert_eq!(world.code(&name).await, 0);
}

pub(super) async fn exec(world: World) {
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

pub(super) async fn archive(world: World) {
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

pub(super) async fn stats(world: World) {
    let name = world.run(210, "sleep 600").await;
    let first = world.engine.stats(&name).await.unwrap();
    let second = world.engine.stats(&name).await.unwrap();
    for stats in [first, second] {
        assert!(stats.memory_bytes > 0 && stats.memory_bytes <= 64 << 20, "{stats:?}");
        assert!((0.0..16.0).contains(&stats.cpus), "{stats:?}");
    }
    world.engine.remove(&name).await.unwrap();
}
