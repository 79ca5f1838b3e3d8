//! Job files and what they mean.

use protocol::amount::Amount;
use protocol::document::Syntax;
use protocol::ids::{JobKey, JobName};
use protocol::resources::Resources;
use protocol::spec::{JobSpec, Priority};
use protocol::time::Timestamp;

use database::jobs::NewJob;

use crate::cast::{self, Rack};

/// What people do here: the beginning of the job's name, its image and its command.
pub(crate) const KINDS: [(&str, &str, &str); 12] = [
    ("resnet50", "demo/pytorch:2.7", "python -m train --model resnet50 --epochs 90"),
    ("bert-large", "demo/pytorch:2.7", "python run_mlm.py --model bert-large-cased --fp16"),
    ("gpt2-medium", "demo/megatron:25.04", "torchrun pretrain_gpt.py --num-layers 24"),
    ("yolo-v8", "demo/pytorch:2.7", "yolo detect train data=coco.yaml epochs=300"),
    ("unet-3d", "demo/tensorflow:2.19", "python train_unet.py --dataset kits23"),
    ("whisper-ft", "demo/pytorch:2.7", "python finetune_whisper.py --language zh"),
    ("vit-b16", "demo/jax:0.6", "python train.py --config configs/vit_b16.py"),
    ("conformer", "demo/espnet:202412", "./run.sh --stage 11 --stop-stage 11"),
    ("dlrm", "demo/tensorflow:2.19", "python dlrm_main.py --batch-size 65536"),
    ("swin-det", "demo/mmdet:3.3", "python tools/train.py configs/swin.py --amp"),
    ("t5-distill", "demo/pytorch:2.7", "accelerate launch distill.py --teacher t5-11b"),
    ("sweep-lr", "demo/pytorch:2.7", "python sweep.py --lr 3e-4 --seed 7"),
];

/// A job to be written, without when and whose.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) user: &'static str,
    /// Its name.
    pub(crate) name: String,
    /// Which of [`KINDS`].
    pub(crate) kind: usize,
    pub(crate) cluster: &'static str,
    pub(crate) rack: &'static Rack,
    pub(crate) tasks: u32,
    /// Of each task, in thousandths.
    pub(crate) gpu_milli: u64,
    pub(crate) priority: &'static str,
    /// As it is written, `6h`.
    pub(crate) limit: Option<&'static str>,
}

impl Draft {
    pub(crate) fn key(&self) -> JobKey {
        let name =
            JobName::new(&self.name).expect("letters, digits and hyphens are a valid job name");
        JobKey { user: cast::user(self.user), name }
    }

    /// Its part of a node, by its GPUs.
    pub(crate) fn resources(&self) -> Resources {
        let gpus = Amount::from_milli(self.gpu_milli);
        let all = Amount::whole(self.rack.gpus.into()).milli();
        let share = |whole: u64| whole * self.gpu_milli / all * 3 / 4;
        Resources {
            cpus: u32::try_from(share(self.rack.cpus.into()).max(1)).unwrap_or(1),
            memory_mb: share(self.rack.memory_gb * 1024).max(1024),
            gpus,
            disk_gb: 0,
        }
    }

    fn shm_mb(&self) -> u64 {
        (self.resources().memory_mb / 2).min(16_384)
    }

    /// The job file, as somebody would have written it.
    pub(crate) fn text(&self) -> String {
        let (_, image, command) = KINDS[self.kind];
        let Resources { cpus, memory_mb, gpus, .. } = self.resources();
        let shm_mb = self.shm_mb();
        let Self { name, cluster, rack, tasks, priority, limit, .. } = self;
        let limit =
            limit.map_or_else(String::new, |limit| format!(",\n      \"timeLimit\": \"{limit}\""));
        let gpu_type = rack.gpu_type;
        format!(
            r#"{{
  "jobName": "{name}",
  "image": "{image}",
  "virtualCluster": "{cluster}",
  "gpuType": "{gpu_type}",
  "taskRoles": [
    {{
      "name": "worker",
      "taskNumber": {tasks},
      "cpuNumber": {cpus},
      "memoryMB": {memory_mb},
      "shmMB": {shm_mb},
      "gpuNumber": {gpus},
      "command": "{command}"
    }}
  ],
  "extras": {{
    "berth": {{
      "priority": "{priority}"{limit}
    }}
  }}
}}
"#
        )
    }

    fn priority(&self) -> Priority {
        Priority::of_class(self.priority).unwrap_or_default()
    }
}

/// What the files mean. Thousands of them are read by changing the meaning of a first one.
#[derive(Debug)]
pub(crate) struct Reader {
    first: Vec<Option<JobSpec>>,
}

impl Reader {
    pub(crate) fn new() -> Self {
        Self { first: KINDS.map(|_| None).to_vec() }
    }

    pub(crate) fn job(&mut self, draft: &Draft, submitted_at: Timestamp) -> NewJob {
        let text = draft.text();
        let first = self.first[draft.kind].get_or_insert_with(|| {
            protocol::parse::parse(&text).expect("our own files are right").spec
        });
        let mut spec = first.clone();
        spec.name = draft.key().name;
        spec.virtual_cluster = cast::cluster(draft.cluster);
        spec.priority = draft.priority();
        spec.gpu_types = vec![cast::gpu_type(draft.rack.gpu_type)];
        spec.time_limit = draft.limit.and_then(|limit| limit.parse().ok());
        for role in &mut spec.roles {
            role.count = draft.tasks;
            role.resources = draft.resources();
            role.shm_mb = draft.shm_mb();
        }
        NewJob { key: draft.key(), spec, text, syntax: Syntax::Json, submitted_at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_mean_what_is_stored() {
        let mut reader = Reader::new();
        for (kind, gpu_milli, limit, priority) in
            [(0, 4000, None, "test"), (0, 250, Some("6h"), "oppo"), (1, 1000, Some("2d"), "prod")]
        {
            let draft = Draft {
                user: "demo-ada",
                name: format!("a-job-{gpu_milli}"),
                kind,
                cluster: "vision",
                rack: &cast::RACKS[2],
                tasks: 3,
                gpu_milli,
                priority,
                limit,
            };
            let stored = reader.job(&draft, Timestamp(0));
            let read = protocol::parse::parse(&stored.text).unwrap();
            assert_eq!(stored.spec, read.spec);
            assert_eq!(read.warnings, Vec::<String>::new());
        }
    }
}
