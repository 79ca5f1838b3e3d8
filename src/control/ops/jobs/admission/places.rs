//! Where in a job's file stands what it is refused for.

use protocol::amount::Amount;
use protocol::fields::{HIVED, JobField, Notation, RoleField, STORAGES};
use protocol::ids::GpuType;
use protocol::spec::{Dialect, JobSpec, TaskRole};
use protocol::wait::{ResourceKind, WaitReason};

/// What a file has where its notation has no word of its own.
const BERTH: &str = "extras.berth";
const ROLES: &str = "taskRoles";

/// The paths at which a job's file may say something, the likeliest first.
pub(super) struct Places<'s> {
    spec: &'s JobSpec,
    notation: Notation,
}

impl<'s> Places<'s> {
    pub(super) fn of(spec: &'s JobSpec) -> Self {
        let notation = match spec.dialect {
            Dialect::Earliest | Dialect::Pai | Dialect::Scm => Notation::V1,
            Dialect::V2 => Notation::V2,
        };
        Self { spec, notation }
    }

    /// A field of the whole job.
    pub(super) fn job(&self, field: JobField) -> Vec<String> {
        let own = field.path(self.notation);
        let key = own.rsplit('.').next().unwrap_or(&own);
        let added = format!("{BERTH}.{key}");
        vec![own, added]
    }

    /// The image of a role.
    pub(super) fn image(&self, role: usize) -> Vec<String> {
        let added = self.spec.roles.get(role).map(|role| format!("{}.image", added(role)));
        let own = match self.notation {
            Notation::V1 => "image".to_owned(),
            Notation::V2 => format!("{}.dockerImage", self.role(role)),
        };
        added.into_iter().chain([own]).collect()
    }

    /// The runtime plugins.
    pub(super) fn plugins(&self) -> Vec<String> {
        vec!["extras".to_owned()]
    }

    /// The storages, by either word for them.
    pub(super) fn storages(&self) -> Vec<String> {
        vec![format!("extras.{STORAGES}"), "extras".to_owned()]
    }

    /// What can never be had.
    pub(super) fn never(&self, reason: &WaitReason) -> Vec<String> {
        let mut paths = match reason {
            WaitReason::NodesAbsent { wanted } if wanted.names.is_empty() => {
                self.job(JobField::NodeLabels)
            }
            WaitReason::NodesAbsent { .. } => self.job(JobField::Nodes),
            WaitReason::TypeAbsent { wanted, .. } => self.types(wanted),
            WaitReason::Impossible { virtual_cluster: None, resource, needs, .. } => {
                self.resource(*resource, |role| amount(role, *resource) == Some(*needs))
            }
            WaitReason::GpusNotShared { .. } => {
                self.resource(ResourceKind::Gpu, |role| role.resources.gpu_part().is_some())
            }
            WaitReason::PortsOutside { first, .. } => self.ports(*first),
            WaitReason::LevelTooSmall { .. } => self.job(JobField::TopologyRequired),
            WaitReason::Impossible { .. }
            | WaitReason::ShareElsewhere { .. }
            | WaitReason::StorageAbsent { .. }
            | WaitReason::LevelFull { .. }
            | WaitReason::Queued
            | WaitReason::QuotaVc { .. }
            | WaitReason::Fragmented { .. }
            | WaitReason::Behind { .. }
            | WaitReason::Gang { .. }
            | WaitReason::Short { .. }
            | WaitReason::NodeDown { .. }
            | WaitReason::Hold { .. }
            | WaitReason::Backoff { .. }
            | WaitReason::GaveWay { .. }
            | WaitReason::Preempting { .. }
            | WaitReason::UserLimit { .. }
            | WaitReason::NoNodes => Vec::new(),
        };
        paths.push(ROLES.to_owned());
        paths
    }

    /// GPU types of a role, or of the whole job.
    fn types(&self, wanted: &[GpuType]) -> Vec<String> {
        let mut paths = Vec::new();
        for role in self.spec.roles.iter().filter(|role| role.gpu_types == wanted) {
            paths.push(format!("{}.gpuType", added(role)));
            for part in HIVED {
                for key in ["skuType", "gpuType"] {
                    paths.push(format!("extras.{part}.{ROLES}.{}.{key}", role.name));
                }
            }
        }
        paths.extend(self.job(JobField::GpuType));
        paths
    }

    /// A resource of the first role that asks for it so.
    fn resource(&self, kind: ResourceKind, asks: impl Fn(&TaskRole) -> bool) -> Vec<String> {
        let field = match kind {
            ResourceKind::Cpu => RoleField::Cpus,
            ResourceKind::Memory => RoleField::Memory,
            ResourceKind::Disk => RoleField::Disk,
            ResourceKind::Gpu => RoleField::Gpus,
            ResourceKind::Port => return Vec::new(),
        };
        let Some(at) = self.spec.roles.iter().position(asks) else { return Vec::new() };
        let name = self.spec.roles[at].name.as_str();
        field.path(self.notation, &self.role(at), name).into_iter().chain([self.role(at)]).collect()
    }

    /// The ports of the first role that asks for some from a number on.
    fn ports(&self, first: u32) -> Vec<String> {
        let asks =
            |role: &TaskRole| role.ports.iter().any(|port| u32::from(port.begin_at) == first);
        let Some(at) = self.spec.roles.iter().position(asks) else { return Vec::new() };
        let added = format!("{}.portList", added(&self.spec.roles[at]));
        vec![added, format!("{}.portList", self.role(at)), self.role(at)]
    }

    /// A role itself.
    fn role(&self, at: usize) -> String {
        match (self.notation, self.spec.roles.get(at)) {
            (Notation::V2, Some(role)) => format!("{ROLES}.{}", role.name),
            (Notation::V1 | Notation::V2, _) => format!("{ROLES}[{at}]"),
        }
    }
}

/// What is added to a role under `extras.berth`.
fn added(role: &TaskRole) -> String {
    format!("{BERTH}.{ROLES}.{}", role.name)
}

/// How much of a resource each task of a role asks for.
fn amount(role: &TaskRole, kind: ResourceKind) -> Option<Amount> {
    match kind {
        ResourceKind::Cpu => Some(Amount::whole(role.resources.cpus.into())),
        ResourceKind::Memory => Some(Amount::whole(role.resources.memory_mb)),
        ResourceKind::Disk => Some(Amount::whole(role.resources.disk_gb)),
        ResourceKind::Gpu => Some(role.resources.gpus),
        ResourceKind::Port => None,
    }
}

#[cfg(test)]
mod tests {
    use protocol::document::Document;
    use protocol::parse::parse;

    use super::*;

    const V1: &str = r#"{"jobName": "a", "image": "i", "gpuType": "A100", "taskRoles": [
        {"name": "ps", "taskNumber": 1, "cpuNumber": 2, "memoryMB": 100, "gpuNumber": 0, "command": "x"},
        {"name": "worker", "taskNumber": 1, "cpuNumber": 900, "memoryMB": 100, "gpuNumber": 0.5,
            "command": "x"}]}"#;

    fn found(text: &str, reason: &WaitReason) -> String {
        let spec = parse(text).unwrap().spec;
        let document = Document::read(text).unwrap();
        let paths = Places::of(&spec).never(reason);
        paths.into_iter().find(|path| document.position(path).is_some()).unwrap()
    }

    #[test]
    fn what_is_refused_is_found_in_either_notation() {
        let spec = parse(V1).unwrap().spec;
        let v2 = protocol::render::to_yaml(&spec);
        let types = |name: &str| WaitReason::TypeAbsent {
            wanted: vec![name.parse().unwrap()],
            existing: Vec::new(),
        };
        let cpus = WaitReason::Impossible {
            resource: ResourceKind::Cpu,
            needs: Amount::whole(900),
            largest: Amount::whole(8),
            virtual_cluster: None,
        };
        let part = WaitReason::GpusNotShared { wanted: Vec::new() };
        assert_eq!(found(V1, &types("A100")), "gpuType");
        assert_eq!(found(&v2, &types("A100")), "extras.berth.gpuType");
        assert_eq!(found(V1, &cpus), "taskRoles[1].cpuNumber");
        assert_eq!(found(&v2, &cpus), "taskRoles.worker.resourcePerInstance.cpu");
        assert_eq!(found(V1, &part), "taskRoles[1].gpuNumber");
        assert_eq!(found(V1, &WaitReason::NoNodes), "taskRoles");
        let of_role =
            v2.replace("extras:", "extras:\n  hivedScheduler: {taskRoles: {ps: {skuType: K80}}}");
        let path = "extras.hivedScheduler.taskRoles.ps.skuType";
        assert_eq!(found(&of_role, &types("K80")), path);
        let level = protocol::spec::TopologyLevel::Rack;
        let too_small = WaitReason::LevelTooSmall { level, tasks: 2, fit: 1 };
        let berth = r#""extras": {"berth": {"topology": {"required": "rack"}}}, "image""#;
        let required = V1.replacen(r#""image""#, berth, 1);
        assert_eq!(found(&required, &too_small), "extras.berth.topology.required");
    }
}
