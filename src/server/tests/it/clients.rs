//! WebHDFS with other people's clients.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use crate::hall::{Hall, peak_kilobytes};

/// Runs a program off the runtime's threads; it must succeed.
async fn run(mut command: Command) -> String {
    let Output { status, stdout, stderr } = output(&mut command).await;
    let told = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {}{told}", String::from_utf8_lossy(&stdout));
    String::from_utf8(stdout).unwrap()
}

async fn output(command: &mut Command) -> Output {
    let mut program = Command::new(command.get_program());
    program.args(command.get_args()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    let folder = command.get_current_dir().map(Path::to_owned);
    tokio::task::spawn_blocking(move || {
        program.current_dir(folder.unwrap_or_else(std::env::temp_dir));
        let name = program.get_program().to_owned();
        program
            .output()
            .unwrap_or_else(|error| panic!("the tests need {}: {error}", name.display()))
    })
    .await
    .unwrap()
}

fn program(name: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(arguments);
    command
}

/// Python with the clients, installed once for all runs of the tests.
pub(crate) fn python() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let wanted = std::fs::read(clients().join("requirements.txt")).unwrap();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-clients");
        let program = folder.join("bin/python");
        if std::fs::read(folder.join("installed")).is_ok_and(|known| known == wanted) {
            return program;
        }
        let mut make = Command::new("python3");
        make.args(["-m", "venv", "--clear"]).arg(&folder);
        let made = make.status().expect("the tests need Python (Debian: python3-venv)");
        assert!(made.success(), "python3 -m venv failed (Debian: apt-get install python3-venv)");
        let mut install = Command::new(&program);
        install.args(["-m", "pip", "install", "--quiet", "--requirement"]);
        let installed = install.arg(clients().join("requirements.txt")).output().unwrap();
        let told = String::from_utf8_lossy(&installed.stderr);
        assert!(installed.status.success(), "the clients cannot be installed by pip: {told}");
        std::fs::write(folder.join("installed"), wanted).unwrap();
        program
    })
}

/// What is here to be run by other people's programs.
pub(crate) fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/clients")
}

/// The whole address with the token of alice.
fn url(hall: &Hall, path: &str, operation: &str) -> String {
    format!("{}{}", hall.client.base, hall.address("alice", path, operation))
}

#[tokio::test(flavor = "multi_thread")]
async fn curl_uploads_lists_reads_and_removes() {
    let hall = Hall::open().await;
    let file = hall.folder.path().join("file");
    // Small enough to be sent at once, and large enough that curl asks first.
    for size in [10_000, 3_000_000] {
        std::fs::write(&file, "x".repeat(size)).unwrap();
        let upload = url(&hall, "/alice/up", "CREATE&overwrite=true");
        let arguments = ["-sS", "--fail-with-body", "-L", "-T", file.to_str().unwrap(), &upload];
        run(program("curl", &arguments)).await;
        assert_eq!(hall.text("/alice/up").await.len(), size);
    }
    let append = url(&hall, "/alice/up", "APPEND");
    run(program("curl", &["-sS", "-f", "-L", "-X", "POST", "--data-binary", "end", &append])).await;
    let list = run(program("curl", &["-sS", "-f", &url(&hall, "/alice", "LISTSTATUS")])).await;
    assert!(
        list.contains("\"pathSuffix\":\"up\"") && list.contains("\"length\":3000003"),
        "{list}"
    );
    let open = url(&hall, "/alice/up", "OPEN&offset=2999999");
    assert_eq!(run(program("curl", &["-sS", "-f", "-L", &open])).await, "xend");
    let delete = url(&hall, "/alice/up", "DELETE");
    let deleted = run(program("curl", &["-sS", "-f", "-X", "DELETE", &delete])).await;
    assert_eq!(deleted, "{\"boolean\":true}");
    let refused = url(&hall, "/bob/up", "CREATE");
    let arguments = ["-sS", "-f", "-L", "-T", file.to_str().unwrap(), &refused];
    assert!(!output(&mut program("curl", &arguments)).await.status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn wget_uploads_lists_reads_and_removes() {
    let hall = Hall::open().await;
    let file = hall.folder.path().join("file");
    std::fs::write(&file, "x".repeat(3_000_000)).unwrap();
    let body = format!("--body-file={}", file.display());
    let upload = url(&hall, "/alice/up", "CREATE");
    run(program("wget", &["-nv", "-O", "-", "--method=PUT", &body, &upload])).await;
    let key = "/Container/alice/train/ssh/application_1/.ssh/application_1";
    hall.write("admin", key, "PRIVATE KEY").await;
    let mut wget = program("wget", &["-nv", &url(&hall, key, "OPEN"), "-O", "application_1"]);
    wget.current_dir(hall.folder.path());
    run(wget).await;
    let saved = std::fs::read_to_string(hall.folder.path().join("application_1")).unwrap();
    assert_eq!(saved, "PRIVATE KEY", "as the documents say it");
    let list = run(program("wget", &["-nv", "-O", "-", &url(&hall, "/alice", "LISTSTATUS")])).await;
    assert!(list.contains("\"length\":3000000"), "{list}");
    let delete = url(&hall, "/alice/up", "DELETE");
    run(program("wget", &["-nv", "-O", "-", "--method=DELETE", &delete])).await;
    assert_eq!(hall.ask("GET", "alice", "/alice/up", "GETFILESTATUS").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn hdfscli_works() {
    let hall = Hall::open().await;
    let script = clients().join("hdfscli.py");
    let folder = hall.folder.path().display().to_string();
    let arguments = [script.to_str().unwrap(), &hall.client.base, hall.token("alice"), &folder];
    let python = python().to_str().unwrap();
    assert_eq!(run(program(python, &arguments)).await, "well\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn fsspec_works() {
    let hall = Hall::open().await;
    let script = clients().join("fsspec_client.py");
    let (_, authority) = hall.client.base.split_once("://").unwrap();
    let (host, port) = authority.split_once(':').unwrap();
    let arguments = [script.to_str().unwrap(), host, port, hall.token("alice")];
    let python = python().to_str().unwrap();
    assert_eq!(run(program(python, &arguments)).await, "well\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_passes_through_little_memory() {
    const SIZE: u64 = 600_000_000;
    let hall = Hall::open().await;
    let file = hall.folder.path().join("large");
    std::fs::File::create(&file).unwrap().set_len(SIZE).unwrap();
    let before = peak_kilobytes();
    let upload = url(&hall, "/alice/large", "CREATE");
    run(program("curl", &["-sS", "-f", "-L", "-T", file.to_str().unwrap(), &upload])).await;
    let stored = hall.folder.path().join("storage/alice/large");
    assert_eq!(std::fs::metadata(stored).unwrap().len(), SIZE);
    let open = url(&hall, "/alice/large", "OPEN");
    let written = ["-sS", "-f", "-o", "/dev/null", "-w", "%{size_download}", &open];
    assert_eq!(run(program("curl", &written)).await, SIZE.to_string());
    // The other tests of this process need memory as well, for the hashes of passwords.
    let grown = peak_kilobytes() - before;
    assert!(grown < 250 * 1_024, "{grown} kB more than before");
}
