//! A request in the pass's own numbers: types and nodes as small integers, ports summed up.

use std::cmp::Reverse;

use protocol::ids::{GpuType, JobId};
use protocol::spec::PortRequest;

use crate::gpus::Bits;
use crate::model::{Request, RoleRequest};
use crate::state::Names;

/// What a job wants.
#[derive(Debug)]
pub(crate) struct Want<'a> {
    pub(crate) request: &'a Request,
    /// The account it counts on; `None`: a virtual cluster that nobody bounds.
    pub(crate) account: Option<usize>,
    /// Nodes to avoid, by position.
    pub(crate) avoid: Vec<usize>,
    /// Its roles, the hardest to place first.
    pub(crate) roles: Vec<RoleWant<'a>>,
    /// Ports that tasks of the job ask for by number: the others are chosen around them.
    pub(crate) numbered: Vec<Span>,
}

/// What each task of a role wants.
#[derive(Debug, Clone)]
pub(crate) struct RoleWant<'a> {
    /// Position in the job.
    pub(crate) role: u32,
    pub(crate) count: u32,
    pub(crate) cpus: i64,
    pub(crate) memory: i64,
    pub(crate) disk: i64,
    pub(crate) gpus: u32,
    /// GPU types that will do and exist; all of them when the role names none.
    pub(crate) types: Bits,
    /// How many ports with any number.
    pub(crate) any_ports: u32,
    /// Ports by number.
    pub(crate) numbered: Vec<Span>,
    pub(crate) ports: &'a [PortRequest],
    pub(crate) asked: &'a RoleRequest,
}

/// Ports `first` to `last`, both included; `last` may lie beyond 65535, where no port is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Span {
    pub(crate) fn contains(self, port: u16) -> bool {
        (self.first..=self.last).contains(&u32::from(port))
    }

    /// How many ports both have.
    pub(crate) fn shared(self, first: u16, last: u16) -> i64 {
        let from = self.first.max(u32::from(first));
        let to = self.last.min(u32::from(last));
        if from > to { 0 } else { i64::from(to - from) + 1 }
    }
}

impl<'a> Want<'a> {
    pub(crate) fn new(request: &'a Request, names: &Names<'a>) -> Self {
        let mut roles: Vec<_> = request
            .roles
            .iter()
            .enumerate()
            .filter(|(_, role)| role.count > 0)
            .map(|(position, role)| RoleWant::new(position, role, names))
            .collect();
        roles.sort_by_key(|role| Reverse((role.gpus, role.cpus, role.memory)));
        let mut avoid: Vec<_> =
            request.avoid.iter().filter_map(|name| names.nodes.get(name).copied()).collect();
        avoid.sort_unstable();
        let numbered = roles.iter().flat_map(|role| role.numbered.iter().copied()).collect();
        let account = names.accounts.get(&request.virtual_cluster).copied();
        Self { request, account, avoid, roles, numbered }
    }

    pub(crate) fn job(&self) -> JobId {
        self.request.job
    }

    pub(crate) fn tasks(&self) -> u32 {
        self.roles.iter().map(|role| role.count).fold(0, u32::saturating_add)
    }

    /// Requests of one class have the same answer at the same moment.
    pub(crate) fn class(&self) -> Class<'a> {
        let mut words = vec![self.account.map_or(u64::MAX, |a| a as u64)];
        words.push(self.avoid.len() as u64);
        words.extend(self.avoid.iter().map(|node| *node as u64));
        for role in &self.roles {
            words.extend([
                u64::from(role.count),
                role.cpus as u64,
                role.memory as u64,
                role.disk as u64,
                u64::from(role.gpus),
                role.types as u64,
                (role.types >> 64) as u64,
                u64::from(role.any_ports),
                role.numbered.len() as u64,
            ]);
            words
                .extend(role.numbered.iter().flat_map(|s| [u64::from(s.first), u64::from(s.last)]));
        }
        let absent = self.roles.iter().filter(|role| role.gpus > 0 && role.types == 0);
        Class(words, absent.flat_map(|role| &role.asked.gpu_types).collect())
    }
}

impl<'a> RoleWant<'a> {
    fn new(position: usize, asked: &'a RoleRequest, names: &Names<'a>) -> Self {
        let amount = |value: u64| i64::try_from(value).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        let (any, numbered): (Vec<&PortRequest>, Vec<_>) =
            asked.ports.iter().partition(|ports| ports.begin_at == 0);
        let span = |ports: &PortRequest| Span {
            first: ports.begin_at.into(),
            last: u32::from(ports.begin_at).saturating_add(ports.count).saturating_sub(1),
        };
        Self {
            role: u32::try_from(position).unwrap_or(u32::MAX),
            count: asked.count,
            cpus: asked.resources.cpus.into(),
            memory: amount(asked.resources.memory_mb),
            disk: amount(asked.resources.disk_gb),
            gpus: asked.resources.gpus,
            types: names.type_bits(&asked.gpu_types),
            any_ports: any.iter().map(|ports| ports.count).fold(0, u32::saturating_add),
            numbered: numbered.into_iter().filter(|p| p.count > 0).map(span).collect(),
            ports: &asked.ports,
            asked,
        }
    }

    /// Whether two of its tasks can never share an address.
    pub(crate) fn alone_on_address(&self) -> bool {
        !self.numbered.is_empty()
    }
}

/// What two requests share when one answer does for both.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Class<'a>(Vec<u64>, Vec<&'a GpuType>);
