//! What virtual clusters may still use: upper bounds over all that their jobs hold.

use protocol::cluster::VirtualClusterSettings;
use protocol::ids::GpuType;
use protocol::wait::ResourceKind;

use crate::gpus::{Bits, positions};
use crate::state::{Names, View};
use crate::want::{RoleWant, Want};

/// The accounts of all virtual clusters.
#[derive(Debug, Default)]
pub(crate) struct Shares {
    accounts: Vec<Account>,
}

/// What one virtual cluster may use; `None`: as much as there is.
#[derive(Debug, Default)]
struct Account {
    cpus: Option<Line>,
    memory: Option<Line>,
    /// By GPU type.
    gpus: Option<Vec<Line>>,
}

/// One bounded amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Line {
    pub(crate) share: i64,
    pub(crate) free: i64,
    /// So much is kept for the job with the reservation.
    held: i64,
    /// A job ahead waits for it: nobody behind it takes any.
    frozen: bool,
}

impl Line {
    fn new(share: u64) -> Self {
        let share = i64::try_from(share).unwrap_or(i64::MAX / 4);
        Self { share, free: share, ..Self::default() }
    }

    /// The share, or what nobody uses of it.
    fn have(&self, whole: bool) -> i64 {
        if whole { self.share } else { self.left(View::Real) }
    }

    fn left(&self, view: View) -> i64 {
        match view {
            View::Outside if self.frozen => 0,
            View::Outside => (self.free - self.held).max(0),
            View::Real => self.free.max(0),
        }
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

/// A share that does not suffice for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lack {
    pub(crate) which: Which,
    pub(crate) needs: i64,
    pub(crate) free: i64,
    pub(crate) share: i64,
}

/// An amount used by or kept for tasks of one account.
#[derive(Debug, Clone, Default)]
pub(crate) struct Usage {
    pub(crate) cpus: i64,
    pub(crate) memory: i64,
    /// GPUs by type.
    pub(crate) gpus: Vec<(u8, i64)>,
}

impl Usage {
    /// Adds (`sign` 1) or subtracts (`sign` -1).
    pub(crate) fn add(&mut self, other: &Usage, sign: i64) {
        self.cpus += sign * other.cpus;
        self.memory += sign * other.memory;
        for (gpu_type, count) in &other.gpus {
            match self.gpus.iter_mut().find(|(number, _)| number == gpu_type) {
                Some((_, sum)) => *sum += sign * count,
                None => self.gpus.push((*gpu_type, sign * count)),
            }
        }
    }
}

impl Shares {
    pub(crate) fn new(settings: &[VirtualClusterSettings], names: &Names) -> Self {
        let account = |settings: &VirtualClusterSettings| {
            let share = &settings.share;
            let of_type =
                |gpu_type: &&GpuType| Line::new(share.gpus.get(*gpu_type).copied().unwrap_or(0));
            Account {
                cpus: share.cpus.map(Line::new),
                memory: share.memory_mb.map(Line::new),
                gpus: (!share.gpus.is_empty()).then(|| names.types.iter().map(of_type).collect()),
            }
        };
        Self { accounts: settings.iter().map(account).collect() }
    }

    /// Takes (`sign` 1) or gives back (`sign` -1).
    pub(crate) fn charge(&mut self, account: Option<usize>, usage: &Usage, sign: i64) {
        self.change(account, usage, |line, amount| line.free -= sign * amount);
    }

    /// Keeps amounts for the job with the reservation.
    pub(crate) fn hold(&mut self, account: Option<usize>, usage: &Usage) {
        self.change(account, usage, |line, amount| line.held += amount.max(0));
    }

    fn change(&mut self, account: Option<usize>, usage: &Usage, f: impl Fn(&mut Line, i64)) {
        let Some(account) = account.map(|account| &mut self.accounts[account]) else { return };
        if let Some(line) = &mut account.cpus {
            f(line, usage.cpus);
        }
        if let Some(line) = &mut account.memory {
            f(line, usage.memory);
        }
        if let Some(lines) = &mut account.gpus {
            for (gpu_type, count) in &usage.gpus {
                f(&mut lines[usize::from(*gpu_type)], *count);
            }
        }
    }

    /// How many tasks of the role the account could take, its GPUs not counted.
    pub(crate) fn tasks(&self, account: Option<usize>, role: &RoleWant, view: View) -> i64 {
        let Some(account) = account.map(|account| &self.accounts[account]) else {
            return i64::MAX;
        };
        let of = |line: &Option<Line>, each: i64| match line {
            Some(line) if each > 0 => line.left(view) / each,
            Some(_) | None => i64::MAX,
        };
        of(&account.cpus, role.cpus).min(of(&account.memory, role.memory))
    }

    /// GPUs of a type that the account may still take.
    pub(crate) fn gpus_left(&self, account: Option<usize>, gpu_type: u8, view: View) -> i64 {
        let lines = account.and_then(|account| self.accounts[account].gpus.as_ref());
        lines.map_or(i64::MAX, |lines| lines[usize::from(gpu_type)].left(view))
    }

    /// The GPU types among those a role may use that have enough left for one of its tasks.
    pub(crate) fn types_left(&self, account: Option<usize>, role: &RoleWant, view: View) -> Bits {
        let enough = |gpu_type: &usize| {
            let gpu_type = u8::try_from(*gpu_type).expect("types are numbered below 128");
            self.gpus_left(account, gpu_type, view) >= role.gpus.into()
        };
        positions(role.types).filter(enough).fold(0, |bits, gpu_type| bits | 1 << gpu_type)
    }

    /// The shares that do not suffice for the whole job, were there nodes enough. `whole`: the
    /// shares themselves instead of what is left of them.
    pub(crate) fn lacks(&self, want: &Want, whole: bool) -> Vec<Lack> {
        let Some(account) = want.account.map(|account| &self.accounts[account]) else {
            return Vec::new();
        };
        let total = |each: fn(&RoleWant) -> i64| -> i64 {
            let of_role = |r: &RoleWant| i64::from(r.count).saturating_mul(each(r));
            want.roles.iter().map(of_role).fold(0, i64::saturating_add)
        };
        let lack = |which, line: Option<Line>, needs| {
            let line = line.filter(|line| needs > line.have(whole))?;
            Some(Lack { which, needs, free: line.have(whole), share: line.share })
        };
        let cpus = lack(Which::Cpus, account.cpus, total(|role| role.cpus));
        let memory = lack(Which::Memory, account.memory, total(|role| role.memory));
        gpu_lack(account, want, whole).into_iter().chain(cpus).chain(memory).collect()
    }

    /// Keeps everybody behind a job from taking what it is short of.
    pub(crate) fn freeze(&mut self, account: Option<usize>, which: Which) {
        let Some(account) = account.map(|account| &mut self.accounts[account]) else { return };
        match which {
            Which::Cpus => account.cpus.iter_mut().for_each(|line| line.frozen = true),
            Which::Memory => account.memory.iter_mut().for_each(|line| line.frozen = true),
            Which::Gpus(types) => {
                if let Some(lines) = &mut account.gpus {
                    positions(types).for_each(|gpu_type| lines[gpu_type].frozen = true);
                }
            }
        }
    }
}

/// Tasks go to one type after the other, those of roles with the fewest choices first.
fn gpu_lack(account: &Account, want: &Want, whole: bool) -> Option<Lack> {
    let lines = account.gpus.as_ref()?;
    let mut free: Vec<i64> = lines.iter().map(|line| line.have(whole)).collect();
    let mut roles: Vec<_> = want.roles.iter().filter(|role| role.gpus > 0).collect();
    roles.sort_by_key(|role| role.types.count_ones());
    for role in &roles {
        let each = i64::from(role.gpus);
        let mut remaining = i64::from(role.count);
        for gpu_type in positions(role.types) {
            let tasks = (free[gpu_type] / each).min(remaining);
            free[gpu_type] -= tasks * each;
            remaining -= tasks;
        }
        if remaining > 0 {
            let competes = |other: &&&RoleWant| other.types & role.types != 0;
            let of_role = |other: &&RoleWant| i64::from(other.count) * i64::from(other.gpus);
            return Some(Lack {
                which: Which::Gpus(role.types),
                needs: roles.iter().filter(competes).map(of_role).sum(),
                free: positions(role.types).map(|number| lines[number].have(whole)).sum(),
                share: positions(role.types).map(|number| lines[number].share).sum(),
            });
        }
    }
    None
}
