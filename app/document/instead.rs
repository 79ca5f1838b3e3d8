//! What would start at once instead, as a change of the text.

use api::queue::Instead;
use protocol::fields::{JobField, RoleField};

use crate::document::{Edit, Role, Tree};

/// The changes of the text.
pub(crate) fn edits(tree: &Tree, instead: &Instead) -> Vec<Edit> {
    let job = |field, value: String| vec![Edit::Set(tree.job_path(field), value.into())];
    match instead {
        Instead::GpuType { gpu_type } => job(JobField::GpuType, gpu_type.to_string()),
        Instead::VirtualCluster { virtual_cluster } => {
            job(JobField::VirtualCluster, virtual_cluster.to_string())
        }
        Instead::TimeLimit { time_limit } => job(JobField::TimeLimit, time_limit.to_string()),
        Instead::Split { tasks, gpus } => {
            let roles = tree.roles();
            let Some(role) = roles.iter().find(|role| has_gpus(tree, role)) else {
                return Vec::new();
            };
            let set = |(field, value): (RoleField, u32)| {
                Some(Edit::Set(tree.role_path(role, field)?, value.into()))
            };
            [(RoleField::Tasks, *tasks), (RoleField::Gpus, *gpus)]
                .into_iter()
                .filter_map(set)
                .collect()
        }
    }
}

fn has_gpus(tree: &Tree, role: &Role) -> bool {
    let gpus = tree.role_path(role, RoleField::Gpus).map(|path| tree.text(&path));
    // A number above zero, however it is written, has a digit that is none.
    gpus.is_some_and(|gpus| gpus.contains(|digit| matches!(digit, '1'..='9')))
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = r#"{
  "jobName": "job", // as it was
  "gpuType": "A100",
  "taskRoles": [
    { "name": "ps", "taskNumber": 1, "gpuNumber": 0 },
    { "name": "worker", "taskNumber": 1, "gpuNumber": 8 }
  ]
}"#;
    const V2: &str = "protocolVersion: 2\nname: job\ntaskRoles:\n  worker:\n    instances: 1\n    \
                      resourcePerInstance:\n      gpu: 8 # all\n";

    fn change(text: &str, instead: &str) -> String {
        let Ok(tree) = Tree::read(text) else { return text.to_owned() };
        let edits = edits(&tree, &instead.parse().unwrap());
        edits.iter().fold(text.to_owned(), |text, edit| edit.apply(&text).unwrap())
    }

    #[test]
    fn only_what_is_different_changes() {
        let split = change(V1, "split:2x4");
        assert_eq!(
            split,
            V1.replace(r#""taskNumber": 1, "gpuNumber": 8"#, r#""taskNumber": 2, "gpuNumber": 4"#)
        );
        assert_eq!(change(V1, "type:V100"), V1.replace("A100", "V100"));
        let elsewhere = Tree::read(&change(V1, "vc:nlp")).unwrap();
        assert_eq!(elsewhere.text("virtualCluster"), "nlp");
        let split = change(V2, "split:4x2");
        assert_eq!(split, V2.replace("instances: 1", "instances: 4").replace("gpu: 8", "gpu: 2"));
        let elsewhere = Tree::read(&change(V2, "vc:nlp")).unwrap();
        assert_eq!(elsewhere.text("defaults.virtualCluster"), "nlp");
        for text in [V1, V2] {
            let limited = Tree::read(&change(text, "limit:2h")).unwrap();
            assert_eq!(limited.text("extras.berth.timeLimit"), "2h");
        }
    }
}
