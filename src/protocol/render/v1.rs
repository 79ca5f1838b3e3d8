//! A job in the words of version 1.

use super::berth::{self, Kept};
use super::tree::{Map, Tree};
use crate::fields::Notation;
use crate::spec::{JobSpec, RetryLimit, TaskRole};

pub(super) fn tree(spec: &JobSpec) -> Tree {
    let keys = berth::role_keys(spec, |name| !name.contains('-'));
    let image = spec.roles.first().map_or("", |role| &role.image);
    let mut map = Map::default();
    map.put("jobName", Tree::text(&spec.name));
    map.put("image", Tree::text(image));
    map.put_text("authFile", spec.auth_file.as_ref());
    map.put_text("dataDir", spec.data_dir.as_ref());
    map.put_text("outputDir", spec.output_dir.as_ref());
    map.put_text("codeDir", spec.code_dir.as_ref());
    map.put("virtualCluster", Tree::text(&spec.virtual_cluster));
    if !spec.gpu_types.is_empty() {
        map.put("gpuType", Tree::Text(berth::joined(&spec.gpu_types)));
    }
    if let Some(count) = spec.kill_all_on_completed {
        map.put("killAllOnCompletedTaskNumber", Tree::number(count));
    }
    map.put("retryCount", berth::retries(spec.retries));
    let roles = spec.roles.iter().zip(&keys).map(|(of_job, key)| role(of_job, key));
    map.put("taskRoles", Tree::List(roles.collect()));
    map.put_filled("jobEnvs", berth::environment(spec));
    let additions = additions(spec, image, &keys);
    let mut extras = Map::default();
    extras.put_filled("berth", additions);
    map.put_filled("extras", berth::extras(spec, &keys, extras.into_entries(), &str::to_owned));
    map.done()
}

fn role(role: &TaskRole, key: &str) -> Tree {
    let limit = |limit: Option<u32>| limit.map_or(Tree::Null, Tree::number);
    let mut map = Map::default();
    map.put("name", Tree::text(key));
    map.put("taskNumber", Tree::number(role.count));
    map.put("cpuNumber", Tree::number(role.resources.cpus));
    map.put("memoryMB", Tree::number(role.resources.memory_mb));
    map.put("shmMB", Tree::number(role.shm_mb));
    map.put("gpuNumber", Tree::number(role.resources.gpus));
    if role.resources.disk_gb > 0 {
        map.put("storageGB", Tree::number(role.resources.disk_gb));
    }
    map.put("minFailedTaskCount", limit(role.completion.min_failed));
    map.put("minSucceededTaskCount", limit(role.completion.min_succeeded));
    map.put_filled("portList", berth::ports(&role.ports));
    map.put("command", Tree::text(&role.command));
    map.done()
}

/// What version 1 has no word for.
fn additions(spec: &JobSpec, image: &str, keys: &[String]) -> Tree {
    let kept = Kept::of(spec);
    let mut map = Map::default();
    berth::put_fields(spec, Notation::V1, &kept, &mut map);
    let mut roles = Map::default();
    for (role, key) in spec.roles.iter().zip(keys) {
        let name = role.name.as_str();
        let mut own = Map::default();
        if name != key {
            own.put("name", Tree::text(name));
        }
        if role.image != image {
            own.put("image", Tree::text(&role.image));
        }
        if let Some(auth) = &role.registry {
            own.put("auth", berth::auth(auth, str::to_owned));
        }
        if role.gpu_types != kept.types(name) {
            own.put("gpuType", berth::types(&role.gpu_types));
        }
        if role.task_retries != RetryLimit::Times(0) {
            own.put("taskRetryCount", berth::retries(role.task_retries));
        }
        if role.infiniband {
            own.put("infiniband", Tree::Bool(true));
        }
        roles.put_filled(key, own.done());
    }
    map.put_filled("taskRoles", roles.done());
    map.done()
}
