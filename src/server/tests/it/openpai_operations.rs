//! What there is of OpenPAI's interface, operation by operation: each is described and answered.

use server::limits::Limits;
use server::state::StateOptions;

use crate::contract::find;
use crate::fakes::World;
use crate::server::{JSON, Server};

/// What OpenPAI 1.8 says of itself in its description of version 2.
const SECOND: [&str; 44] = [
    "GET /api/v2/info",
    "GET /api/v2/tokens",
    "DELETE /api/v2/tokens/7",
    "POST /api/v2/tokens/application",
    "GET /api/v2/authn/oidc/login",
    "GET /api/v2/authn/oidc/logout",
    "POST /api/v2/authn/basic/login",
    "DELETE /api/v2/authn/basic/logout",
    "POST /api/v2/users",
    "GET /api/v2/users",
    "PUT /api/v2/users",
    "PUT /api/v2/users/me",
    "GET /api/v2/users/ada",
    "DELETE /api/v2/users/ada",
    "PUT /api/v2/users/ada/group",
    "DELETE /api/v2/users/ada/group",
    "PUT /api/v2/users/ada/grouplist",
    "GET /api/v2/groups",
    "POST /api/v2/groups",
    "PUT /api/v2/groups",
    "GET /api/v2/groups/vision",
    "DELETE /api/v2/groups/vision",
    "GET /api/v2/groups/vision/userlist",
    "GET /api/v2/virtual-clusters",
    "GET /api/v2/virtual-clusters/default",
    "GET /api/v2/storages",
    "GET /api/v2/storages/team",
    "POST /api/v2/jobs",
    "GET /api/v2/jobs",
    "GET /api/v2/jobs/ada~train",
    "GET /api/v2/jobs/ada~train/attempts/0",
    "GET /api/v2/jobs/ada~train/config",
    "PUT /api/v2/jobs/ada~train/executionType",
    "PUT /api/v2/jobs/ada~train/tag",
    "DELETE /api/v2/jobs/ada~train/tag",
    "GET /api/v2/jobs/ada~train/events",
    "GET /api/v2/jobs/ada~train/job-attempts/healthz",
    "GET /api/v2/jobs/ada~train/job-attempts",
    "GET /api/v2/jobs/ada~train/job-attempts/0",
    "GET /api/v2/jobs/ada~train/attempts/0/taskRoles/worker/taskIndex/0/attempts",
    "GET /api/v2/jobs/ada~train/attempts/0/taskRoles/worker/taskIndex/0/attempts/0/logs",
    "GET /api/v2/kubernetes/nodes",
    "GET /api/v2/alerts",
    "GET /api/v2/kubernetes/pods",
];

/// What its servers answered in version 2 beside that.
const UNSAID: [&str; 28] = [
    "GET /api/v2",
    "POST /api/v2/tokens",
    "GET /api/v2/tokens/check",
    "GET /api/v2/authn/info",
    "GET /api/v2/authn/oidc/return",
    "POST /api/v2/authn/oidc/return",
    "GET /api/v2/user",
    "GET /api/v2/user/ada",
    "PUT /api/v2/users/ada/extension",
    "PUT /api/v2/users/ada/virtualcluster",
    "PUT /api/v2/users/ada/password",
    "PUT /api/v2/users/ada/email",
    "PUT /api/v2/users/ada/admin",
    "GET /api/v2/group",
    "PUT /api/v2/groups/vision/extension",
    "PUT /api/v2/groups/vision/extension/acls/admin",
    "PUT /api/v2/groups/vision/description",
    "PUT /api/v2/groups/vision/externalname",
    "PUT /api/v2/virtual-clusters/default",
    "DELETE /api/v2/virtual-clusters/default",
    "PUT /api/v2/virtual-clusters/default/status",
    "GET /api/v2/cluster/sku-types",
    "GET /api/v2/storage/config",
    "GET /api/v2/storage/config/team",
    "GET /api/v2/storage/server",
    "GET /api/v2/storage/server/team",
    "GET /api/v2/jobs/ada~train/ssh",
    "DELETE /api/v2/user/ada/group",
];

/// Version 1, of all of OpenPAI's versions before 1.0.
const FIRST: [&str; 37] = [
    "GET /api/v1",
    "POST /api/v1/token",
    "GET /api/v1/authn/info",
    "POST /api/v1/authn/basic/login",
    "GET /api/v1/authn/oidc/login",
    "GET /api/v1/authn/oidc/logout",
    "GET /api/v1/authn/oidc/return",
    "POST /api/v1/authn/oidc/return",
    "GET /api/v1/user",
    "PUT /api/v1/user",
    "DELETE /api/v1/user",
    "GET /api/v1/user/ada",
    "PUT /api/v1/user/ada/virtualClusters",
    "PUT /api/v1/user/ada/githubPAT",
    "GET /api/v1/jobs",
    "POST /api/v1/jobs",
    "GET /api/v1/jobs/train",
    "PUT /api/v1/jobs/train",
    "DELETE /api/v1/jobs/train",
    "PUT /api/v1/jobs/train/executionType",
    "GET /api/v1/jobs/train/config",
    "GET /api/v1/jobs/train/ssh",
    "GET /api/v1/user/ada/jobs",
    "POST /api/v1/user/ada/jobs",
    "GET /api/v1/user/ada/jobs/train",
    "PUT /api/v1/user/ada/jobs/train",
    "DELETE /api/v1/user/ada/jobs/train",
    "PUT /api/v1/user/ada/jobs/train/executionType",
    "GET /api/v1/user/ada/jobs/train/config",
    "GET /api/v1/user/ada/jobs/train/ssh",
    "GET /api/v1/virtual-clusters",
    "GET /api/v1/virtual-clusters/default",
    "PUT /api/v1/virtual-clusters/default",
    "DELETE /api/v1/virtual-clusters/default",
    "PUT /api/v1/virtual-clusters/default/status",
    "GET /api/v1/kubernetes/nodes",
    "GET /api/v1/kubernetes/pods",
];

/// What version 1 was given by 1.x.
const LATER: [&str; 5] = [
    "GET /api/v1/token",
    "GET /api/v1/token/check",
    "POST /api/v1/token/application",
    "DELETE /api/v1/token/7",
    "DELETE /api/v1/authn/basic/logout",
];

#[tokio::test(flavor = "multi_thread")]
async fn each_operation_of_openpais_is_described_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { guest_requests_per_second: 0, ..Limits::default() };
    let options = StateOptions { limits, ..StateOptions::default() };
    let server = Server::with(folder.path(), World::new().backend(), options).await;
    let client = server.client();
    let all = [&SECOND[..], &UNSAID, &FIRST, &LATER].concat();
    let mut missing = Vec::new();
    for operation in all {
        let (method, path) = operation.split_once(' ').unwrap();
        // At all the addresses that OpenPAI's clients put before it and behind it.
        for address in [path.to_owned(), format!("{path}/"), format!("/rest-server{path}")] {
            let answer = client.send(method, &address, &[JSON], "").await;
            let nowhere = answer.status == 404 && answer.text.contains("API /");
            if nowhere || answer.status == 405 || find(method, path).is_none() {
                missing.push(format!("{method} {address}: {}", answer.status));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    server.stop().await;
}
