//! What only Docker can show.

use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::{
    ContainerStatus, EndpointOptions, EngineError, Folder, LogRequest, Share, Stream, Volume,
    connect,
};
use futures::{StreamExt, TryStreamExt};
use protocol::epoch::Epoch;
use protocol::gpus::{GpuProblem, Reading};
use protocol::guest::{PEERS_BEGIN, PEERS_END};

use crate::contract::{Cases, LIMIT, World, keeps_the_contract};
use crate::dockerd::Dockerd;
use crate::image;

pub(crate) fn world(endpoint: &str, image: &str) -> World {
    let options = EndpointOptions { endpoint: endpoint.into(), ..Default::default() };
    World { engine: connect(&options).unwrap(), image: image.into() }
}

#[tokio::test(flavor = "multi_thread")]
async fn docker_keeps_the_contract() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let world = world(&dockerd.endpoint(), image::PLAIN);
    keeps_the_contract(world.clone()).await;

    let mut cases = Cases { world, running: Vec::new() };
    cases.add("what a task finds", what_a_task_finds);
    cases.add("bash is preferred", bash_is_preferred);
    cases.add("code", code);
    cases.add("folders", folders);
    cases.add("shares", shares);
    cases.add("no guest", no_guest);
    cases.add("no shell", no_shell);
    cases.add("long command", long_command);
    cases.add("both streams", both_streams);
    cases.add("output by parts", followed_while_it_runs);
    cases.add("terminal", terminal);
    cases.add("no GPUs", no_gpus);
    cases.add("no registry", no_registry);
    cases.finish().await;
    names_of_others(&dockerd).await;
    what_an_image_of_a_container_says(&dockerd).await;
    an_id_is_no_name(&dockerd).await;
    architectures_are_told(&dockerd).await;
    what_is_written_without_end_is_rotated(&dockerd).await;
}

/// A container that its guest has told of its job, as far as an engine can tell.
async fn what_an_image_of_a_container_says(dockerd: &Dockerd) {
    let world = world(&dockerd.endpoint(), image::PLAIN);
    let mut spec = world.spec(370, "echo s3cret; echo peers >/made; sleep 600");
    spec.env.push(("TOKEN".to_owned(), "s3cret".to_owned()));
    let (name, image) = (spec.name(), "saved/alice/quiet:1");
    world.engine.create(&spec).await.unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    let config = format!("{PEERS_BEGIN}Host s3cret\n{PEERS_END}Host mine\n");
    image::file(&mut tar, "root/.ssh/config", 0o600, config.as_bytes());
    let tar = Bytes::from(tar.into_inner().unwrap());
    world.engine.put_archive(&name, "/", tar).await.unwrap();
    world.engine.start(&name).await.unwrap();
    world.engine.commit(&name, image).await.unwrap();

    let looked = dockerd.docker(&["exec", &name, "cat", "/root/.ssh/config"]);
    assert_eq!(looked.trim(), config.trim(), "the container is as it was");
    let inspected = dockerd.docker(&["inspect", image]);
    let history = dockerd.docker(&["history", "--no-trunc", image]);
    for trace in ["s3cret", "berth.", "TOKEN", "BERTH", "echo"] {
        assert!(!inspected.contains(trace), "{trace} in {inspected}");
        assert!(!history.contains(trace), "{trace} in {history}");
    }
    let config = |image: &str| dockerd.docker(&["inspect", "--format", "{{json .Config}}", image]);
    let [own, original] = [config(image), config(image::PLAIN)].map(|text| {
        let mut fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(&text).unwrap();
        // Where the engine noted which container an image came from, and empty fields.
        fields.retain(|name, value| {
            name != "Image" && name != "Hostname" && !value.is_null() && value != ""
        });
        fields
    });
    assert_eq!(own, original);
    let ran = dockerd.docker(&["run", "--rm", image, "cat", "/root/.ssh/config", "/made"]);
    assert_eq!(ran.trim(), "Host mine\npeers");
    assert_eq!(dockerd.docker(&["images", "-q", "--filter", "dangling=true"]).trim(), "");
    world.engine.remove(&name).await.unwrap();
}

/// A task that writes without end fills its node's disk no further than this, and its last words are there.
async fn what_is_written_without_end_is_rotated(dockerd: &Dockerd) {
    let world = world(&dockerd.endpoint(), image::PLAIN);
    let flood = "head -c 320000000 /dev/zero | tr '\\0' x; echo; echo the end";
    let name = world.run(372, flood).await;
    assert_eq!(world.code(&name).await, 0);
    let inspect = |what: &str| dockerd.docker(&["inspect", "--format", what, &name]);
    let settings = inspect("{{json .HostConfig.LogConfig}}");
    for said in ["\"json-file\"", "\"max-size\":\"64m\"", "\"max-file\":\"4\""] {
        assert!(settings.contains(said), "{settings}");
    }
    let log = std::path::PathBuf::from(inspect("{{.LogPath}}").trim());
    let files = std::fs::read_dir(log.parent().unwrap()).unwrap().map(Result::unwrap);
    let is_of_log = |file: &std::fs::DirEntry| {
        let name = file.file_name();
        name.to_string_lossy().starts_with(&*log.file_name().unwrap().to_string_lossy())
    };
    let sizes: Vec<u64> =
        files.filter(is_of_log).map(|file| file.metadata().unwrap().len()).collect();
    let kept: u64 = sizes.iter().sum();
    assert!(sizes.len() <= 4 && kept > 128 << 20 && kept <= (4 * 64 + 1) << 20, "{sizes:?}");
    let last = LogRequest { tail_lines: Some(1), ..Default::default() };
    assert_eq!(world.log(&name, last).await, "the end\n");
    world.engine.remove(&name).await.unwrap();
}

/// What an image is made for stands in it, and its node has one of the two that Berth is built for.
async fn architectures_are_told(dockerd: &Dockerd) {
    let world = world(&dockerd.endpoint(), image::PLAIN);
    let own = world.engine.info().await.unwrap().architecture.unwrap();
    assert_eq!(own.as_str(), std::env::consts::ARCH);
    let of = async |image: &str| world.engine.image_architecture(image).await.unwrap();
    assert_eq!(of(image::PLAIN).await, Some(own));
    let none = world.engine.image_architecture("berth-test:none").await.unwrap_err();
    assert!(matches!(none, EngineError::NoImage { .. }), "{none:?}");
}

/// Else whoever tries short words would get at images of others.
async fn an_id_is_no_name(dockerd: &Dockerd) {
    let world = world(&dockerd.endpoint(), image::PLAIN);
    let id = dockerd.docker(&["images", "-q", "--no-trunc", image::PLAIN]);
    let digits = id.trim().trim_start_matches("sha256:").to_owned();
    for word in [&digits[..4], &digits[..12]] {
        let mut spec = world.spec(371, "true");
        spec.image = word.to_owned();
        let refused = world.engine.create(&spec).await.unwrap_err();
        assert!(matches!(refused, EngineError::NoImage { .. }), "{word}: {refused:?}");
        assert!(!world.engine.has_image(word).await.unwrap());
    }
}

async fn what_a_task_finds(world: World) {
    let script = "pwd; echo $PAI_WORK_DIR $QIZHI_WORK_DIR; echo $GREETING; \
        grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; ulimit -n; \
        df -m /dev/shm | tail -n 1; cat /sys/fs/cgroup/memory/memory.limit_in_bytes \
        2>/dev/null || cat /sys/fs/cgroup/memory.max; chown 1:1 /start && echo owned; \
        mknod /dev/x b 8 0 2>/dev/null || echo no devices; tr '\\0' ' ' </proc/1/cmdline";
    let name = world.run(300, script).await;
    let code = world.code(&name).await;
    let log = world.log(&name, LogRequest::default()).await;
    assert_eq!(code, 0, "{log}");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "/start/here");
    assert_eq!(lines[1], "/start/here /start/here");
    assert_eq!(lines[2], "good day");
    assert_eq!(lines[3].split_whitespace().last(), Some("00000000a00401fb"), "{log}");
    assert_eq!(lines[4].split_whitespace().last(), Some("1"), "no new privileges");
    let files: u64 = lines[5].parse().unwrap();
    assert!(files == 65_536 || (1024..65_536).contains(&files), "{files} open files");
    assert_eq!(lines[6].split_whitespace().nth(1), Some("16"), "{log}");
    assert_eq!(lines[7], (64 << 20).to_string());
    assert_eq!((lines[8], lines[9]), ("owned", "no devices"));
    assert!(lines[10].contains("docker-init"), "{log}");
}

async fn bash_is_preferred(world: World) {
    let mut spec = world.spec(310, "echo \"$0 ran '$GREETING'\"; exit 6");
    spec.image = image::WITH_BASH.into();
    world.engine.create(&spec).await.unwrap();
    world.engine.start(&spec.name()).await.unwrap();
    assert_eq!(world.code(&spec.name()).await, 6);
    let log = world.log(&spec.name(), LogRequest::default()).await;
    assert!(log.starts_with("this is bash\n") && log.ends_with("ran 'good day'\n"), "{log}");
}

/// The image starts in `/start/here`.
async fn code(world: World) {
    let mut tar = tar::Builder::new(Vec::new());
    image::file(&mut tar, "lib/a.txt", 0o444, b"a text\n");
    let tar = Bytes::from(tar.into_inner().unwrap());
    let volume = Volume {
        name: "berth-code-311".into(),
        cluster: "code".into(),
        attempt: None,
        epoch: Epoch::default(),
    };
    let name = world.engine.provide(&volume, &world.image, &tar).await.unwrap();
    let script =
        "cat code/lib/a.txt && cd code && cd .. && pwd; touch code/b 2>/dev/null || echo kept";
    let mut spec = world.spec(311, script);
    spec.code = Some(name);
    world.engine.create(&spec).await.unwrap();
    world.engine.start(&spec.name()).await.unwrap();
    assert_eq!(world.code(&spec.name()).await, 0);
    let log = world.log(&spec.name(), LogRequest::default()).await;
    assert!(log == "a text\n/start/here\nkept\n", "{log}");
    world.engine.remove_volume(&volume.name).await.unwrap();
    let left = world.engine.volumes("code").await.unwrap();
    assert_eq!(left.as_slice(), std::slice::from_ref(&volume), "a container has it");
    world.engine.remove(&spec.name()).await.unwrap();
    world.engine.remove_volume(&volume.name).await.unwrap();
    assert_eq!(world.engine.volumes("code").await.unwrap(), []);
}

async fn folders(world: World) {
    let node = tempfile::tempdir().unwrap();
    let at = |name: &str| node.path().join(name).display().to_string();
    for name in ["read", "write"] {
        std::fs::create_dir(at(name)).unwrap();
        std::fs::write(node.path().join(name).join("a"), "from the node\n").unwrap();
    }
    let mut spec = world.spec(312, "cat /in/a /out/a; echo done > /out/b; echo no > /in/b");
    spec.folders = vec![
        Folder { source: at("read"), target: "/in".into(), read_only: true },
        Folder { source: at("write"), target: "/out".into(), read_only: false },
    ];
    world.engine.create(&spec).await.unwrap();
    world.engine.start(&spec.name()).await.unwrap();
    assert_ne!(world.code(&spec.name()).await, 0, "/in is not to be written to");
    let log = world.log(&spec.name(), LogRequest::default()).await;
    // What is said on both streams may stand in another order.
    assert_eq!(log.matches("from the node\n").count(), 2, "{log}");
    assert_eq!(std::fs::read_to_string(at("write") + "/b").unwrap(), "done\n");
    assert!(!node.path().join("read/b").exists());
    let mut missing = world.spec(313, "true");
    missing.folders = vec![Folder { source: at("no"), target: "/no".into(), read_only: true }];
    let error = world.engine.create(&missing).await.unwrap_err();
    assert!(matches!(&error, EngineError::Broken(text) if text.contains("/no")), "{error:?}");
}

/// What a server would be asked for, of the kernel's own memory: the engine mounts it all the same.
async fn shares(world: World) {
    let share = |target: &str, read_only| Share {
        kind: "tmpfs",
        device: "tmpfs".to_owned(),
        options: "size=1m,nosuid,nodev".to_owned(),
        target: target.to_owned(),
        read_only,
    };
    let mut spec = world.spec(315, "echo a > /a/x && cat /a/x /proc/mounts && ! echo b > /b/x");
    spec.shares = vec![share("/a", false), share("/b", true)];
    world.engine.create(&spec).await.unwrap();
    world.engine.start(&spec.name()).await.unwrap();
    let code = world.code(&spec.name()).await;
    let log = world.log(&spec.name(), LogRequest::default()).await;
    assert_eq!(code, 0, "{log}");
    assert!(log.lines().any(|line| line == "a") && log.contains("tmpfs /a tmpfs"), "{log}");
    world.engine.remove(&spec.name()).await.unwrap();
}

/// As when somebody has removed a file of the volume.
async fn no_guest(world: World) {
    let mut tar = tar::Builder::new(Vec::new());
    image::file(&mut tar, "other", 0o755, b"no guest\n");
    let tar = Bytes::from(tar.into_inner().unwrap());
    let cluster = "guest-314".to_owned();
    let epoch = Epoch::default();
    let volume = Volume { name: "berth-guest-314".into(), cluster, attempt: None, epoch };
    let name = world.engine.provide(&volume, &world.image, &tar).await.unwrap();
    let mut spec = world.spec(314, "true");
    spec.guest = Some(engine::Guest { volume: name.clone(), config: "{}".into() });
    world.engine.create(&spec).await.unwrap();
    let error = world.engine.start(&spec.name()).await.unwrap_err();
    assert!(matches!(error, EngineError::Failed(_)), "{error:?}");
    assert_eq!(world.engine.inspect(&spec.name()).await.unwrap(), None, "it is made anew");
    let anew = world.engine.provide(&volume, &world.image, &tar).await.unwrap();
    assert_ne!(anew, name);
    world.engine.remove_volume(&volume.name).await.unwrap();
    assert_eq!(world.engine.volumes(&volume.cluster).await.unwrap(), []);
}

async fn no_shell(world: World) {
    let mut spec = world.spec(320, "exit 0");
    spec.image = image::EMPTY.into();
    let error = world.engine.create(&spec).await.unwrap_err();
    assert!(matches!(&error, EngineError::Refused(text) if text.contains("no shell")), "{error:?}");
    assert_eq!(world.engine.inspect(&spec.name()).await.unwrap(), None, "it is not kept");
}

async fn long_command(world: World) {
    let text = format!("# {}\necho 'it'\"'\"'s \\ $((6 * 7))'", "x".repeat(100_000));
    let name = world.run(330, &text).await;
    assert_eq!(world.code(&name).await, 0);
    assert_eq!(world.log(&name, LogRequest::default()).await, "it's \\ $((6 * 7))\n");
}

async fn both_streams(world: World) {
    let name = world.run(340, "echo out; echo err >&2").await;
    world.end(&name).await;
    let log = world.engine.logs(&name, LogRequest::default()).await.unwrap();
    let mut chunks: Vec<_> = log.try_collect().await.unwrap();
    chunks.sort_by_key(|chunk| chunk.stream == Stream::Err);
    let told: Vec<_> = chunks.iter().map(|chunk| (chunk.stream, &chunk.bytes[..])).collect();
    assert_eq!(told, [(Stream::Out, &b"out\n"[..]), (Stream::Err, &b"err\n"[..])]);
}

async fn followed_while_it_runs(world: World) {
    let name = world.run(350, "echo one; read line </hold; echo $line").await;
    assert_eq!(world.code(&name).await, 0, "the shell goes on without the file");
    let name = world.run(351, "mkfifo /hold; echo one; read line </hold; echo $line").await;
    let request = LogRequest { follow: true, ..Default::default() };
    let mut log = world.engine.logs(&name, request).await.unwrap();
    let first = log.next().await.unwrap().unwrap();
    assert_eq!(&first.bytes[..], b"one\n", "told while the container waits");
    let command = ["/bin/sh", "-c", "echo two >/hold"].map(str::to_owned).to_vec();
    let exec = world.engine.exec(&name, command, false).await.unwrap();
    let second = tokio::time::timeout(LIMIT, log.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(&second.bytes[..], b"two\n");
    assert!(log.next().await.is_none());
    drop(exec);
}

async fn terminal(world: World) {
    let name = world.run(360, "sleep 600").await;
    let command = ["/bin/sh", "-c", "read x; stty size; exit 9"].map(str::to_owned).to_vec();
    let mut exec = world.engine.exec(&name, command, true).await.unwrap();
    world.engine.resize_exec(&exec.id, 123, 45).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut exec.input, b"go\r").await.unwrap();
    let output = exec.output.map_ok(|chunk| chunk.bytes).try_collect::<Vec<_>>();
    let output = tokio::time::timeout(LIMIT, output).await.unwrap().unwrap().concat();
    let output = String::from_utf8(output).unwrap();
    assert!(output.contains("45 123"), "{output}");
    assert_eq!(world.engine.exec_code(&exec.id).await.unwrap(), Some(9));
    world.engine.remove(&name).await.unwrap();
}

async fn no_gpus(world: World) {
    let found = world.engine.probe_gpus(&world.image).await.unwrap();
    assert_eq!(found, Reading::failed(GpuProblem::NoRuntime));
    let mut spec = world.spec(370, "exit 0");
    spec.gpu_runtime = protocol::cluster::GpuRuntime::Nvidia;
    spec.gpus = vec![engine::GpuDevice { index: 0, uuid: None }];
    world.engine.create(&spec).await.unwrap();
    let error = world.engine.start(&spec.name()).await.unwrap_err();
    assert!(matches!(&error, EngineError::Broken(text) if text.contains("nvidia")), "{error:?}");
    let list = world.engine.list("test").await.unwrap();
    let seen = list.into_iter().find(|one| one.name == spec.name()).unwrap().status;
    let ContainerStatus::Exited { started_at: None, finished_at, error: Some(error), .. } = seen
    else {
        panic!("{seen:?}")
    };
    assert!(finished_at.0 > 0 && error.contains("nvidia"), "{error}");
}

async fn no_registry(world: World) {
    // Nothing listens there: the engine says so, and the image is not said to be missing.
    let mut pull = world.engine.pull("127.0.0.1:9/a/b:1", None).await.unwrap();
    let error = pull.next().await.unwrap().unwrap_err();
    assert!(matches!(error, EngineError::Failed(_)), "{error:?}");
    assert!(pull.next().await.is_none());
}

async fn names_of_others(dockerd: &Dockerd) {
    let world = world(&dockerd.endpoint(), image::PLAIN);
    let spec = world.spec(400, "exit 0");
    dockerd.docker(&["create", "--net=host", "--name", &spec.name(), image::PLAIN, "/bin/true"]);
    let error = world.engine.create(&spec).await.unwrap_err();
    assert!(matches!(&error, EngineError::Broken(text) if text.contains("somebody else")));
    assert_eq!(world.engine.list("test").await.unwrap(), [], "it is none of ours");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_engine_is_unreachable_and_found_again() {
    let mut dockerd = Dockerd::start();
    image::load(&dockerd);
    let world = world(&dockerd.endpoint(), image::PLAIN);
    let name = world.run(1, "sleep 600").await;
    let mut changes = world.engine.changes("test").await.unwrap();
    let follow = LogRequest { follow: true, ..Default::default() };
    let log = world.engine.logs(&name, follow).await.unwrap();
    let watching = tokio::spawn(async move { changes.next().await });
    let following = tokio::spawn(log.collect::<Vec<_>>());

    dockerd.kill();
    let began = Instant::now();
    let error = world.engine.info().await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
    let error = world.engine.list("test").await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
    let told = tokio::time::timeout(LIMIT, watching).await.expect("the stream ends").unwrap();
    assert!(!matches!(told, Some(Ok(()))), "{told:?}");
    tokio::time::timeout(LIMIT, following).await.expect("the log ends").unwrap();

    dockerd.resume();
    let seen = world.engine.list("test").await.unwrap();
    assert_eq!(seen[0].name, name);
    world.engine.remove(&name).await.unwrap();
}
