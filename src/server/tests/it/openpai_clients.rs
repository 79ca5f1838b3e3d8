//! Other people's programs that know OpenPAI's interface, unchanged, and one that is made from the document
//! of our own: each does its work with the program itself, on a simulated node.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::json;

use crate::clients::{clients, python};
use crate::operate::{PASSWORD, Place, Program, agent};

/// The package of NNI, and where it was made for.
const NNI: &str = "nni==2.3";
const PLATFORM: &str = "manylinux1_x86_64";

/// Of the package what speaks with OpenPAI, without a Node.js of its own.
const UNPACK: &str = r#"
import pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
[package] = folder.glob("*.whl")
with zipfile.ZipFile(package) as archive:
    names = [name for name in archive.namelist() if name.startswith("nni_node/")]
    archive.extractall(folder, [name for name in names if name != "nni_node/node"])
package.unlink()
"#;

/// A program that finds nothing of ours in its surroundings.
fn alone(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command
}

/// What a program says, which must end well.
fn run(command: &mut Command) -> String {
    let name = command.get_program().to_owned();
    let output = command.output();
    let output =
        output.unwrap_or_else(|error| panic!("the tests need {}: {error}", name.display()));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}{told}");
    said
}

/// The folder with OpenPAI's library and what asks it, installed once for all runs of the tests.
fn library() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openpai-clients");
        std::fs::create_dir_all(&folder).unwrap();
        let lock = std::fs::read(clients().join("package-lock.json")).unwrap();
        let same = std::fs::read(folder.join("installed")).is_ok_and(|known| known == lock);
        for name in ["package.json", "package-lock.json", "pai.cjs", "sdk.cjs", "sdk_asked.cjs"] {
            std::fs::copy(clients().join(name), folder.join(name)).unwrap();
        }
        if !same {
            let mut npm = Command::new("npm");
            npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(&folder);
            run(&mut npm);
            std::fs::write(folder.join("installed"), lock).unwrap();
        }
        folder
    })
}

/// The folder of NNI's programs, fetched once for all runs of the tests. What they are used by, which is
/// much more, is left where it is.
fn nni() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(NNI);
    let whole = folder.join("whole");
    if !whole.exists() {
        let mut pip = Command::new(python());
        pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]);
        pip.args(["--platform", PLATFORM, "--dest"]).arg(&folder).arg(NNI);
        run(&mut pip);
        run(Command::new(python()).args(["-c", UNPACK]).arg(&folder));
        std::fs::write(whole, "").unwrap();
    }
    folder.join("nni_node")
}

/// The job with which the README begins.
fn hello_world() -> String {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let (_, job) = readme.split_once("```json\n").unwrap();
    job.split_once("```").unwrap().0.to_owned()
}

#[test]
fn openpais_library_does_all_that_it_knows() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(&Place::new(folder.path(), "place"));
    let mut node = alone("node");
    node.arg(library().join("sdk.cjs")).args([program.address(), "admin", PASSWORD]);
    assert_eq!(run(&mut node), "well\n");
}

#[test]
fn what_openpais_own_tests_ask_for_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(&Place::new(folder.path(), "place"));
    let mut node = alone("node");
    node.arg(library().join("sdk_asked.cjs")).args([program.address(), "admin", PASSWORD]);
    assert_eq!(run(&mut node), "well\n");
}

#[test]
fn openpais_command_line_submits_shows_and_finds_the_way_in() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(&Place::new(folder.path(), "place"));
    let mut node = alone("node");
    node.arg(library().join("pai.cjs")).args([program.address(), "admin", &program.token()]);
    assert_eq!(run(node.arg(folder.path())), "well\n");
}

#[test]
fn nni_runs_its_trials_and_stops_them() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(&Place::new(folder.path(), "place"));
    let token = program.token();
    let storage = json!({ "source": { "nfs": { "server": "10.0.0.9", "path": "/export" } } });
    let put = agent().put(format!("{}/api/v2/storages/team", program.address()));
    let put = put.header("authorization", format!("Bearer {token}")).send_json(storage).unwrap();
    assert_eq!(put.status(), 202);
    let mut node = alone("node");
    node.arg(clients().join("nni.cjs")).arg(nni());
    node.args([program.address(), "admin", &token, "team"]);
    assert_eq!(run(&mut node), "well\n");
}

#[test]
fn a_client_that_is_made_from_the_document_runs_the_readmes_job() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(&Place::new(folder.path(), "place"));
    let at = |name: &str| folder.path().join(name);
    let document = agent().get(format!("{}/api/openapi.json", program.address())).call();
    let document = document.unwrap().body_mut().read_to_string().unwrap();
    std::fs::write(at("openapi.json"), document).unwrap();
    std::fs::write(at("job.json"), hello_world()).unwrap();
    // Else it would put what it has written in order, which nobody reads here.
    std::fs::write(at("config.yml"), "post_hooks: []\n").unwrap();
    let mut generator = alone(python());
    generator.current_dir(folder.path()).args(["-m", "openapi_python_client", "generate"]);
    generator.args(["--meta", "none", "--config", "config.yml", "--path", "openapi.json"]);
    let said = run(generator.args(["--output-path", "berth_client"]));
    let mut client = alone(python());
    client.current_dir(folder.path()).env("PYTHONPATH", folder.path());
    client.arg(clients().join("generated.py"));
    client.args([program.address(), "admin", PASSWORD, "job.json"]);
    assert_eq!(run(&mut client), "well\n", "{said}");
}
