//! The command line beside a server, in the language of whoever reads it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use protocol::cluster::{NodeCondition, NodeSettings};

use crate::fakes::World;
use crate::hall::{Hall, actor};
use crate::server::Server;

/// A terminal that says nothing of a language, and where nobody has signed in before.
fn terminal(folder: &Path, server: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_berth"));
    for variable in ["LC_ALL", "LC_MESSAGES", "BERTH_LANGUAGE", "BERTH_TOKEN"] {
        command.env_remove(variable);
    }
    command.env("LANG", "C").env("XDG_CONFIG_HOME", folder).env("BERTH_SERVER", server);
    command.stdin(Stdio::null());
    command
}

/// Whether a command did what it should, and what it said.
async fn said(mut command: Command) -> (bool, String) {
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_listed_in_the_readers_language() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let address = format!("http://{}", server.address);
    let list = || {
        let mut command = terminal(folder.path(), &address);
        command.env("BERTH_TOKEN", "token-of-alice").arg("jobs");
        command
    };
    let mut by_flag = list();
    by_flag.args(["--language", "zh"]);
    let (mut by_variable, mut by_locale) = (list(), list());
    by_variable.env("BERTH_LANGUAGE", "zh");
    by_locale.env("LC_ALL", "zh_CN.UTF-8");
    for command in [by_flag, by_variable, by_locale] {
        let (done, told) = said(command).await;
        assert!(done && told.starts_with("名称"), "{told}");
        for word in ["虚拟集群", "提交时间", "train", "运行中", "天前"] {
            assert!(told.contains(word), "{word}: {told}");
        }
        assert!(!told.contains("RUNNING") && !told.contains("ago"), "{told}");
    }
    let mut chosen = list();
    chosen.env("LC_ALL", "zh_CN.UTF-8").args(["--language", "en"]);
    for command in [list(), chosen] {
        let (done, told) = said(command).await;
        assert!(done && told.starts_with("NAME") && told.contains("RUNNING"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_is_said_in_the_readers_language() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let address = format!("http://{}", server.address);
    let mut nobody = terminal(folder.path(), &address);
    nobody.args(["jobs", "--language", "zh"]);
    let (done, told) = said(nobody).await;
    assert!(!done && told.contains(&format!("尚未登录 {address}")), "{told}");
    let mut refused = terminal(folder.path(), &address);
    refused.env("BERTH_TOKEN", "of-nobody").args(["jobs", "--language", "zh"]);
    let (done, told) = said(refused).await;
    let is_chinese = |letter: char| ('\u{4e00}'..='\u{9fff}').contains(&letter);
    assert!(!done && told.contains(is_chinese), "{told}");
    let mut foreign = terminal(folder.path(), &address);
    foreign.args(["jobs", "--language", "tlh"]);
    let (done, told) = said(foreign).await;
    assert!(!done && told.contains("allowed are en and zh"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_tries_a_simulated_node_and_says_what_it_cannot_pull() {
    let hall = Hall::open().await;
    let node = NodeSettings::new("sick".parse().unwrap(), "10.0.0.1", "sim://doctor-1");
    let (nodes, admin) = (&hall.control.backend.nodes, actor("admin"));
    nodes.save(&admin, node.clone()).await.unwrap();
    let ready = async {
        while nodes.get(&admin, &node.name).await.unwrap().condition != NodeCondition::Ready {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ready).await.unwrap();
    let doctor = |arguments: &[&str]| {
        let mut command = terminal(hall.folder.path(), &hall.client.base);
        command.env("BERTH_TOKEN", hall.token("admin")).args(["doctor", "sick"]).args(arguments);
        said(command)
    };
    let (well, told) = doctor(&["--image", "team/torch:1"]).await;
    assert!(well && told == "sick: well\n", "{told}");
    let (well, told) = doctor(&["--image", "no/missing"]).await;
    assert!(!well && told.contains("sick cannot pull no/missing"), "{told}");
    assert!(told.contains("a task that was tried there failed"), "{told}");
    let (_, told) = doctor(&["--image", "no/missing", "--no-pull", "--language", "zh"]).await;
    assert!(!told.contains("无法拉取镜像：") && told.contains("试运行的任务失败"), "{told}");
    hall.control.shutdown().await;
}
