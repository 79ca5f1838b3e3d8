//! What accounts are guaranteed, as sums. The cells say in which shapes it is to be had; the sums
//! bound CPUs and memory where a share names them, and say who uses how much.

use protocol::ids::GpuType;
use protocol::wait::ResourceKind;

use crate::gpus::{Bits, positions};
use crate::model::{VirtualCluster, WHOLE_GPU};
use crate::names::Names;
use crate::want::{Class, RoleWant};

/// The accounts of all virtual clusters, and last that of the commons.
#[derive(Debug, Default, Clone)]
pub(crate) struct Shares {
    accounts: Vec<Account>,
}

/// What one account is guaranteed and uses; `None`: as much as there is.
#[derive(Debug, Default, Clone)]
struct Account {
    cpus: Option<Line>,
    memory: Option<Line>,
    /// By GPU type, in thousandths.
    gpus: Option<Vec<Line>>,
}

/// One bounded amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Line {
    share: i64,
    free: i64,
}

impl Line {
    fn new(share: i64) -> Self {
        Self { share, free: share }
    }

    fn have(self, whole: bool) -> i64 {
        if whole { self.share } else { self.free.max(0) }
    }
}

/// Which line of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    Cpus,
    Memory,
    /// GPUs of these types together.
    Gpus(Bits),
}

impl Which {
    pub(crate) fn kind(self) -> ResourceKind {
        match self {
            Which::Cpus => ResourceKind::Cpu,
            Which::Memory => ResourceKind::Memory,
            Which::Gpus(_) => ResourceKind::Gpu,
        }
    }
}

/// A share that does not suffice for a job: thousandths of cores, MiB, thousandths of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lack {
    pub(crate) which: Which,
    pub(crate) needs: i64,
    pub(crate) free: i64,
    pub(crate) share: i64,
}

/// An amount used by a task.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) cpus: i64,
    pub(crate) memory: i64,
    /// Thousandths of GPUs of a type.
    pub(crate) gpus: (u8, i64),
}

impl Shares {
    pub(crate) fn new(clusters: &[VirtualCluster], names: &Names) -> Self {
        let signed = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        let account = |cluster: &VirtualCluster| {
            let share = &cluster.share;
            let of_type = |gpu_type: &GpuType| {
                let shapes = cluster.shapes.iter().filter(|shape| shape.gpu_type == *gpu_type);
                let shapes: u64 = shapes.map(|s| u64::from(s.gpus) * u64::from(s.count)).sum();
                let gpus = share.gpus.get(gpu_type).copied().unwrap_or(0).saturating_add(shapes);
                Line::new(signed(gpus).min(1 << 40) * i64::from(WHOLE_GPU))
            };
            let named = !share.gpus.is_empty() || !cluster.shapes.is_empty();
            Account {
                cpus: share.cpus.map(|cpus| Line::new(signed(cpus).min(1 << 40) * 1000)),
                memory: share.memory_mb.map(|memory| Line::new(signed(memory))),
                gpus: named.then(|| names.types.iter().map(of_type).collect()),
            }
        };
        let commons = Account::default();
        Self { accounts: clusters.iter().map(account).chain([commons]).collect() }
    }

    /// Takes (`sign` 1) or gives back (`sign` -1).
    pub(crate) fn charge(&mut self, account: usize, usage: &Usage, sign: i64) {
        let Some(account) = self.accounts.get_mut(account) else { return };
        if let Some(line) = &mut account.cpus {
            line.free -= sign * usage.cpus;
        }
        if let Some(line) = &mut account.memory {
            line.free -= sign * usage.memory;
        }
        let (gpu_type, gpus) = usage.gpus;
        if gpus > 0
            && let Some(lines) = &mut account.gpus
            && let Some(line) = lines.get_mut(usize::from(gpu_type))
        {
            line.free -= sign * gpus;
        }
    }

    /// Whether an account's sums bound nothing.
    pub(crate) fn is_unbounded(&self, account: usize) -> bool {
        let unbounded = |a: &Account| a.cpus.is_none() && a.memory.is_none() && a.gpus.is_none();
        self.accounts.get(account).is_none_or(unbounded)
    }

    /// Whether more is used of an account's share than there is.
    pub(crate) fn is_overdrawn(&self, account: usize) -> bool {
        self.accounts.get(account).is_some_and(|account| {
            let gpus = account.gpus.iter().flatten();
            gpus.chain(&account.cpus).chain(&account.memory).any(|line| line.free < 0)
        })
    }

    /// The shares that do not suffice for the whole job, were there nodes enough. `whole`: the
    /// shares themselves instead of what is left of them.
    pub(crate) fn lacks(&self, account: usize, class: &Class, whole: bool) -> Vec<Lack> {
        let Some(account) = self.accounts.get(account) else { return Vec::new() };
        let total = |each: fn(&RoleWant) -> i64| -> i64 {
            let of_role = |r: &RoleWant| i64::from(r.count).saturating_mul(each(r));
            class.roles.iter().map(of_role).fold(0, i64::saturating_add)
        };
        let lack = |which, line: Option<Line>, needs: i64| {
            let line = line.filter(|line| needs > line.have(whole))?;
            Some(Lack { which, needs, free: line.have(whole), share: line.share })
        };
        let cpus = lack(Which::Cpus, account.cpus, total(|role| role.ask.each.cpus));
        let memory = lack(Which::Memory, account.memory, total(|role| role.ask.each.memory));
        gpu_lack(account, class, whole).into_iter().chain(cpus).chain(memory).collect()
    }
}

/// Tasks go to one type after the other, those of roles with the fewest choices first.
fn gpu_lack(account: &Account, class: &Class, whole: bool) -> Option<Lack> {
    let lines = account.gpus.as_ref()?;
    let mut free: Vec<i64> = lines.iter().map(|line| line.have(whole)).collect();
    let mut roles: Vec<_> = class.roles.iter().filter(|role| role.ask.gpus > 0).collect();
    roles.sort_by_key(|role| role.ask.types.count_ones());
    for role in &roles {
        let each = role.ask.gpu_milli();
        let mut remaining = i64::from(role.count);
        for gpu_type in positions(role.ask.types) {
            let tasks = (free[gpu_type] / each).min(remaining);
            free[gpu_type] -= tasks * each;
            remaining -= tasks;
        }
        if remaining > 0 {
            let types = role.ask.types;
            let competes = |other: &&&RoleWant| other.ask.types & types != 0;
            let of_role = |other: &&RoleWant| i64::from(other.count) * other.ask.gpu_milli();
            let needs: i64 = roles.iter().filter(competes).map(of_role).sum();
            let free: i64 = positions(types).map(|number| lines[number].have(whole)).sum();
            let share: i64 = positions(types).map(|number| lines[number].share).sum();
            return Some(Lack { which: Which::Gpus(types), needs, free, share });
        }
    }
    None
}
