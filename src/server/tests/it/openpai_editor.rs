//! What OpenPAI's extension for VS Code asks for, which no registry has: in our words, in its order.

use serde_json::Value;

use crate::hall::Hall;
use crate::server::FORM;

const FILE: &str = r#"protocolVersion: 2
name: sorter
type: job
prerequisites:
  - name: image
    type: dockerimage
    uri: aiplatform/pai.build.base
taskRoles:
  train:
    instances: 1
    dockerImage: image
    resourcePerInstance: {cpu: 1, memoryMB: 16384, gpu: 0}
    commands:
      - python $PAI_JOB_NAME/sorter.py
extras:
  com.microsoft.pai.runtimeplugin:
    - plugin: ssh
      parameters:
        jobssh: true
"#;

/// As its program for requests writes what is nested.
const OLDER: &str = "jobName=older&image=aiplatform%2Fpai.build.base&taskRoles%5B0%5D%5Bname%5D=task\
    &taskRoles%5B0%5D%5BtaskNumber%5D=1&taskRoles%5B0%5D%5BcpuNumber%5D=1\
    &taskRoles%5B0%5D%5BgpuNumber%5D=0&taskRoles%5B0%5D%5BmemoryMB%5D=1000\
    &taskRoles%5B0%5D%5Bcommand%5D=python%20older%2Fsorter.py";

#[tokio::test]
async fn the_extension_for_vs_code_finds_a_server_of_version_2() {
    let hall = Hall::open().await;
    let client = &hall.client;
    assert_eq!(client.get("/healthz", &[]).await.status, 200, "else it asks other ports");
    // With `NoApiError`, or what is no JSON, it would take the server for one of version 1.
    let probe = client.get("/rest-server/api/v2/jobs/protocolversion/config", &[]).await.json();
    assert_eq!(probe["code"], "UnauthorizedUserError");
    let info = client.get("/rest-server/api/v2/info", &[]).await.json();
    assert_eq!(info["authnMethod"], "basic", "with OIDC it would open a browser");
    for (old, page) in [
        ("/view.html", "/jobs"),
        ("/view.html?username=alice&jobName=sorter", "/jobs/alice/sorter"),
    ] {
        let led = client.get(old, &[]).await;
        assert_eq!((led.status, led.header("location")), (307, page), "{old}");
    }
    // It says a name alone, which anybody may say.
    let files = "/webhdfs/api/v1/alice?op=LISTSTATUS&user.name=alice";
    assert_eq!(client.get(files, &[]).await.status, 401);
    hall.control.shutdown().await;
}

#[tokio::test]
async fn the_extension_for_vs_code_submits_in_both_versions() {
    let hall = Hall::open().await;
    let client = &hall.client;
    let form = "username=alice&password=correct%20horse&expiration=4000";
    let entered = client.send("POST", "/rest-server/api/v1/token", &[FORM], form).await;
    assert_eq!(entered.status, 200, "{}", entered.text);
    let bearer = format!("Bearer {}", entered.json()["token"].as_str().unwrap());
    let who = ("authorization", bearer.as_str());
    let yaml = ("content-type", "text/yaml");
    let jobs = "/rest-server/api/v1/user/alice/jobs";
    for (name, path, kind, text) in
        [("sorter", "/rest-server/api/v2/jobs", yaml, FILE), ("older", jobs, FORM, OLDER)]
    {
        let known = format!("{jobs}/{name}");
        let free = client.get(&known, &[who]).await;
        assert_eq!((free.status, &free.json()["code"]), (404, &"NoJobError".into()), "{name}");
        let sent = client.send("POST", path, &[who, kind], text).await;
        assert_eq!(sent.status, 202, "{}", sent.text);
        assert_eq!(client.get(&known, &[who]).await.status, 200, "{name} is taken now");
    }
    let listed = client.get("/rest-server/api/v2/jobs", &[who]).await.json();
    let rows = listed.as_array().unwrap().iter();
    let row = |job: &Value| ["name", "username", "state"].map(|key| job[key].to_string());
    let mut rows: Vec<_> = rows.map(row).collect();
    rows.sort();
    let wanted = |name: &str| [name, "\"alice\"", "\"WAITING\""].map(str::to_owned);
    assert_eq!(rows, [wanted("\"older\""), wanted("\"sorter\"")]);
    hall.control.shutdown().await;
}
