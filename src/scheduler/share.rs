//! What accounts are guaranteed, as sums. The cells say in which shapes it is to be had; the sums
//! bound CPUs and memory where a share names them, and say who uses how much.

use protocol::ids::GpuType;
use protocol::wait::ResourceKind;

use crate::model::{VirtualCluster, WHOLE_GPU};
use crate::numbers::gpus::{Bits, positions};
use crate::numbers::indices::{AccountIndex, By, ClusterIndex, SumIndex};
use crate::numbers::names::Names;
use crate::numbers::request::{Class, ClassRole};
use crate::share::cells::has_gpus;

pub(crate) mod cells;
pub(crate) mod peers;
pub(crate) mod reserved;

/// The accounts of all virtual clusters, and last that of the commons.
#[derive(Debug, Default, Clone)]
pub(crate) struct Shares {
    accounts: By<AccountIndex, Account>,
    lines: By<SumIndex, Line>,
}

/// Which lines bound what one account uses; `None`: as much as there is.
#[derive(Debug, Default, Clone)]
struct Account {
    cpus: Option<SumIndex>,
    memory: Option<SumIndex>,
    /// By GPU type, in thousandths.
    gpus: Option<Vec<SumIndex>>,
}

/// One bounded amount. What the parts of a virtual cluster are guaranteed is never free here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Line {
    share: i64,
    /// Below 0: so much is used of the line beyond.
    free: i64,
    /// The line of the nearest whole that has one, on which a part goes on. CPUs and memory have no
    /// shape, so a job may use some of both, and it does not matter which job came first.
    beyond: Option<SumIndex>,
}

impl Line {
    fn new(share: i64, of_parts: i64) -> Self {
        Self { share, free: (share - of_parts).max(0), beyond: None }
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
        let mut shares = Self::default();
        let line_of = |at: usize| cells::line(clusters, names, ClusterIndex::from(at));
        let wholes: By<ClusterIndex, Vec<ClusterIndex>> =
            (0..clusters.len()).map(|at| line_of(at).split_off(1)).collect();
        for (at, cluster) in (0_usize..).map(ClusterIndex::from).zip(clusters) {
            let mut line = |amount: &dyn Fn(&VirtualCluster) -> Option<i64>| {
                let names_it =
                    |whole: &&ClusterIndex| amount(&clusters[usize::from(**whole)]).is_some();
                let parts = clusters.iter().zip(&wholes);
                let parts = parts.filter(|(_, wholes)| wholes.iter().find(names_it) == Some(&at));
                let of_parts = parts.filter_map(|(part, _)| amount(part));
                let of_parts = of_parts.fold(0, i64::saturating_add);
                Some(shares.lines.push(Line::new(amount(cluster)?, of_parts)))
            };
            let cpus = line(&|of| of.share.cpus.map(|cpus| signed(cpus, 1000)));
            let memory = line(&|of| of.share.memory_mb.map(|memory| signed(memory, 1)));
            let of_type = |gpu_type| line(&|of| Some(gpus(of, gpu_type)));
            let gpus = has_gpus(cluster).then(|| names.types.iter().filter_map(of_type).collect());
            shares.accounts.push(Account { cpus, memory, gpus });
        }
        shares.lean_on_wholes(clusters, &wholes);
        shares.accounts.push(Account::default());
        shares
    }

    /// Parts go on on what is the whole's. Who has no cells of its own runs in its whole's: what it
    /// does not name is the whole's too.
    fn lean_on_wholes(
        &mut self,
        clusters: &[VirtualCluster],
        wholes: &By<ClusterIndex, Vec<ClusterIndex>>,
    ) {
        let own = self.accounts.clone();
        for ((at, cluster), account) in wholes.numbers().zip(clusters).zip(self.accounts.iter_mut())
        {
            let mine = || wholes[at].iter().map(|whole| &own[whole.account()]);
            let cpus = mine().find_map(|whole| whole.cpus);
            let memory = mine().find_map(|whole| whole.memory);
            for (line, beyond) in [(account.cpus, cpus), (account.memory, memory)] {
                if let Some(line) = line {
                    self.lines[line].beyond = beyond;
                }
            }
            if !has_gpus(cluster) {
                account.cpus = account.cpus.or(cpus);
                account.memory = account.memory.or(memory);
                account.gpus = mine().find_map(|whole| whole.gpus.clone());
            }
        }
    }

    /// Takes (`sign` 1) or gives back (`sign` -1).
    pub(crate) fn charge(&mut self, account: AccountIndex, usage: &Usage, sign: i64) {
        for (line, amount) in self.lines_of(account, usage) {
            self.use_line(line, sign * amount);
        }
    }

    /// The lines that are used by an account's work, and how much of each.
    fn lines_of(
        &self,
        account: AccountIndex,
        usage: &Usage,
    ) -> impl Iterator<Item = (SumIndex, i64)> + use<> {
        let (gpu_type, gpus) = usage.gpus;
        let used = self.accounts.get(account).map(|account| {
            let lines = account.gpus.as_ref();
            let of_type = lines.and_then(|lines| lines.get(usize::from(gpu_type))).copied();
            [(account.cpus, usage.cpus), (account.memory, usage.memory), (of_type, gpus)]
        });
        used.into_iter().flatten().filter_map(|(line, amount)| Some((line?, amount)))
    }

    fn use_line(&mut self, line: SumIndex, amount: i64) {
        let Line { free, beyond, .. } = &mut self.lines[line];
        let before = (*free).min(0);
        *free -= amount;
        let more = before - (*free).min(0);
        if let Some(beyond) = *beyond {
            self.use_line(beyond, more);
        }
    }

    /// What a line gives; `whole`: if nothing of it were used.
    fn have(&self, line: SumIndex, whole: bool) -> i64 {
        let line = self.lines[line];
        match (line.beyond, whole) {
            (Some(beyond), true) => self.have(beyond, true).max(line.share),
            (Some(beyond), false) => line.have(false).saturating_add(self.have(beyond, false)),
            (None, _) => line.have(whole),
        }
    }

    /// Whether an account's sums bound nothing.
    pub(crate) fn is_unbounded(&self, account: AccountIndex) -> bool {
        let unbounded = |a: &Account| a.cpus.is_none() && a.memory.is_none() && a.gpus.is_none();
        self.accounts.get(account).is_none_or(unbounded)
    }

    /// Whether more is used of an account's share than there is.
    pub(crate) fn is_overdrawn(&self, account: AccountIndex) -> bool {
        self.accounts.get(account).is_some_and(|account| {
            let gpus = account.gpus.iter().flatten();
            let mut lines = gpus.chain(&account.cpus).chain(&account.memory);
            lines.any(|line| self.is_overdrawn_beyond(*line))
        })
    }

    fn is_overdrawn_beyond(&self, line: SumIndex) -> bool {
        let Line { free, beyond, .. } = self.lines[line];
        free < 0 && beyond.is_none_or(|beyond| self.is_overdrawn_beyond(beyond))
    }

    /// The shares that do not suffice for the whole job, were there nodes enough. `whole`: the
    /// shares themselves instead of what is left of them.
    pub(crate) fn lacks(&self, account: AccountIndex, class: &Class, whole: bool) -> Vec<Lack> {
        let Some(account) = self.accounts.get(account) else { return Vec::new() };
        let total = |each: fn(&ClassRole) -> i64| -> i64 {
            let of_role = |r: &ClassRole| i64::from(r.count).saturating_mul(each(r));
            class.roles.iter().map(of_role).fold(0, i64::saturating_add)
        };
        let lack = |which, line: Option<SumIndex>, needs: i64| {
            let line = line.filter(|line| needs > self.have(*line, whole))?;
            let (free, share) = (self.have(line, whole), self.have(line, true));
            Some(Lack { which, needs, free, share })
        };
        let cpus = lack(Which::Cpus, account.cpus, total(|role| role.request.each.cpus));
        let memory = lack(Which::Memory, account.memory, total(|role| role.request.each.memory));
        let gpus = account.gpus.as_ref().and_then(|lines| {
            let lines: Vec<_> = lines.iter().map(|line| self.lines[*line]).collect();
            gpu_lack(&lines, class, whole)
        });
        gpus.into_iter().chain(cpus).chain(memory).collect()
    }
}

/// An amount that does not overflow in sums.
fn signed(amount: u64, unit: i64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX).min(1 << 40) * unit
}

/// Thousandths of GPUs of a type that a virtual cluster is guaranteed.
fn gpus(cluster: &VirtualCluster, gpu_type: &GpuType) -> i64 {
    let shapes = cluster.shapes.iter().filter(|shape| shape.gpu_type == *gpu_type);
    let shapes: u64 = shapes.map(|s| u64::from(s.gpus) * u64::from(s.count)).sum();
    let others = cluster.share.gpus.get(gpu_type).copied().unwrap_or(0);
    signed(others.saturating_add(shapes), i64::from(WHOLE_GPU))
}

/// Of parts that are large a GPU holds few, and what is left of it is no use to them.
fn parts_lack(lines: &[Line], role: &ClassRole, whole: bool) -> Option<Lack> {
    if !whole || !role.request.shares() {
        return None;
    }
    let (one, types) = (i64::from(WHOLE_GPU), role.request.types);
    let of_types = |of: fn(&Line) -> i64| positions(types).map(|number| of(&lines[number])).sum();
    let on_each = one / role.request.gpu_milli();
    let needs = (i64::from(role.count) + on_each - 1) / on_each * one;
    let share: i64 = of_types(|line| line.share);
    let free = of_types(|line| line.have(true));
    (needs > share).then_some(Lack { which: Which::Gpus(types), needs, free, share })
}

/// Tasks go to one type after the other, those of roles with the fewest choices first.
fn gpu_lack(lines: &[Line], class: &Class, whole: bool) -> Option<Lack> {
    if let Some(lack) = class.roles.iter().find_map(|role| parts_lack(lines, role, whole)) {
        return Some(lack);
    }
    let mut free: Vec<i64> = lines.iter().map(|line| line.have(whole)).collect();
    let mut roles: Vec<_> = class.roles.iter().filter(|role| role.request.gpus > 0).collect();
    roles.sort_by_key(|role| role.request.types.count_ones());
    for role in &roles {
        let each = role.request.gpu_milli();
        let mut remaining = i64::from(role.count);
        for gpu_type in positions(role.request.types) {
            let tasks = (free[gpu_type] / each).min(remaining);
            free[gpu_type] -= tasks * each;
            remaining -= tasks;
        }
        if remaining > 0 {
            let types = role.request.types;
            let competes = |other: &&&ClassRole| other.request.types & types != 0;
            let of_role = |other: &&ClassRole| i64::from(other.count) * other.request.gpu_milli();
            let needs: i64 = roles.iter().filter(competes).map(of_role).sum();
            let free: i64 = positions(types).map(|number| lines[number].have(whole)).sum();
            let share: i64 = positions(types).map(|number| lines[number].share).sum();
            return Some(Lack { which: Which::Gpus(types), needs, free, share });
        }
    }
    None
}
