//! Guarantees that hold in shapes, not only in numbers (after HiveD, OSDI '20).
//!
//! Each account's share is cut into cells: whole nodes, and aligned groups of 1, 2, 4, … GPUs of
//! one. Its guaranteed tasks run inside its cells only, each of which is bound to a block of a
//! real node when it is first used and let go when it is empty; so what they can hold is what a
//! private cluster of these cells could hold. A block is cut from the smallest piece that will do
//! (buddy allocation), and never so that what is not bound could not be any more: whatever lies
//! scattered over the nodes is then either somebody's own or borrowed, which gives way.

use protocol::cluster::{Preempts, Share};
use protocol::shares::beyond_shapes;

use crate::model::VirtualCluster;
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{Bits, lowest};
use crate::numbers::indices::{AccountIndex, By, ClusterIndex, PoolIndex};
use crate::numbers::kind::Kind;
use crate::numbers::names::Names;

/// Nodes with the same GPUs, CPUs and memory, on which the same virtual cluster's share lies.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    /// GPUs of each node.
    pub(crate) size: u32,
    /// Their types.
    pub(crate) types: Bits,
    pub(crate) nodes: i64,
    /// Whose share lies there before any other does.
    pinned: Option<AccountIndex>,
    /// What a node has in all.
    total: Amounts,
    /// Sizes of cells, falling: the node, then the powers of two below it.
    pub(crate) levels: Vec<u32>,
    /// By account and level: cells it has, and those that are not bound.
    rights: By<AccountIndex, Vec<i64>>,
    unbound: By<AccountIndex, Vec<i64>>,
    /// By level: pieces of ready nodes that nobody's cell is bound to, each as large as it can be.
    open: Vec<i64>,
    /// Nobody else has a cell here: no blocks are needed.
    pub(crate) only: Option<AccountIndex>,
}

/// Who has which cells.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    pub(crate) pools: By<PoolIndex, Pool>,
    /// By virtual cluster: the accounts its guaranteed work may count on, its own first.
    pub(crate) chains: By<ClusterIndex, Vec<AccountIndex>>,
    /// By account: whose cells its work runs in. Who is guaranteed no GPUs has none of its own.
    owners: By<AccountIndex, AccountIndex>,
    /// By virtual cluster: whether its work may run on what others do not use.
    pub(crate) borrows: By<ClusterIndex, bool>,
    /// By virtual cluster: which of its classes take the places of lower ones.
    pub(crate) preempts: By<ClusterIndex, Preempts>,
    /// By virtual cluster: whether deadlines come before what others are owed.
    deadlines: By<ClusterIndex, bool>,
    /// The account of what is guaranteed to nobody.
    pub(crate) commons: AccountIndex,
    /// The chain of those who have nothing else.
    pub(crate) everybody: Vec<AccountIndex>,
}

impl Pool {
    fn new(size: u32, types: Bits, total: Amounts) -> Self {
        let below = (0..7).rev().map(|power| 1 << power).filter(|level| *level < size);
        let levels: Vec<u32> = (size > 0).then_some(size).into_iter().chain(below).collect();
        let open = vec![0; levels.len()];
        Self {
            size,
            types,
            nodes: 0,
            pinned: None,
            total,
            levels,
            rights: By::default(),
            unbound: By::default(),
            open,
            only: None,
        }
    }

    /// Whether the account's tasks may use all of the pool's nodes: nobody else has a right there.
    pub(crate) fn is_free_to(&self, account: AccountIndex) -> bool {
        self.size == 0 || self.only == Some(account)
    }

    /// The unbound cells of an account at a level.
    pub(crate) fn unbound(&self, account: AccountIndex, level: usize) -> i64 {
        self.unbound.get(account).map_or(0, |levels| levels[level])
    }

    /// The cells of an account at a level, bound or not.
    pub(crate) fn cells(&self, account: AccountIndex, level: usize) -> i64 {
        self.rights.get(account).map_or(0, |levels| levels[level])
    }

    /// What of a node's CPUs and memory goes with a cell of a level.
    pub(crate) fn part(&self, level: usize) -> Amounts {
        self.total.part(self.levels[level], self.size)
    }

    /// The aligned pieces of a node at a level.
    pub(crate) fn pieces(&self, level: usize) -> impl Iterator<Item = Bits> + use<> {
        let (size, node) = (self.levels[level], self.size);
        let whole = move |piece: &Bits| *piece & !lowest(Bits::MAX, node) == 0;
        (0..node / size.max(1)).map(move |at| lowest(Bits::MAX, size) << (at * size)).filter(whole)
    }

    /// The level of the largest aligned piece of `free` that holds `piece`.
    pub(crate) fn largest(&self, free: Bits, piece: Bits) -> usize {
        let holds = |level: &usize| {
            self.pieces(*level).any(|larger| larger & piece == piece && larger & !free == 0)
        };
        (0..self.levels.len()).find(holds).unwrap_or(self.levels.len())
    }

    /// Adds (`sign` 1) or takes away (`sign` -1) the pieces that `free` falls into.
    pub(crate) fn count_open(&mut self, mut free: Bits, sign: i64) {
        for level in 0..self.levels.len() {
            for piece in self.pieces(level) {
                if piece & !free == 0 {
                    free &= !piece;
                    self.open[level] += sign;
                }
            }
        }
    }

    /// GPUs in unbound cells that could not be bound any more if all wanted theirs.
    pub(crate) fn deficit(&self) -> i64 {
        let (mut spare, mut deficit) = (0, 0);
        for (level, size) in self.levels.iter().enumerate() {
            let size = i64::from(*size);
            let need: i64 = self.unbound.iter().map(|levels| levels[level]).sum();
            let have = self.open[level] + spare / size;
            deficit += (need - have).max(0) * size;
            spare += (self.open[level] - need.min(have)) * size;
        }
        deficit
    }

    /// Binds (`sign` 1) or lets go (`sign` -1) a cell.
    pub(crate) fn bind(&mut self, account: AccountIndex, level: usize, sign: i64) {
        self.unbound[account][level] -= sign;
    }
}

#[cfg(test)]
impl Pool {
    /// Whether the pieces of all that is free, and no others, are counted.
    pub(crate) fn counts(&self, free: impl Iterator<Item = Bits>) -> bool {
        let mut counted = Self { open: vec![0; self.levels.len()], ..self.clone() };
        free.for_each(|free| counted.count_open(free, 1));
        counted.open == self.open
    }
}

/// What of a share has not been cut into cells yet.
struct Rest {
    account: AccountIndex,
    /// The account, and those out of whose shares it is cut.
    line: Vec<AccountIndex>,
    types: Bits,
    gpus: u32,
    /// Cells of just this size.
    exactly: bool,
}

/// Which nodes are cut from.
#[derive(Debug, Clone, Copy)]
enum Among {
    /// Those on which the share is said to lie, or one that it is a part of.
    Pinned,
    /// Those on which nobody's is.
    Open,
    /// What is left of all.
    Any,
}

impl Among {
    fn allows(self, pool: &Pool, rest: &Rest) -> bool {
        match self {
            Among::Pinned => pool.pinned.is_some_and(|of| rest.line.contains(&of)),
            Among::Open => pool.pinned.is_none(),
            Among::Any => true,
        }
    }
}

impl Cells {
    /// Whose cells work that counts on an account runs in.
    pub(crate) fn owner(&self, account: AccountIndex) -> AccountIndex {
        self.owners.get(account).copied().unwrap_or(self.commons)
    }

    /// Whether in a virtual cluster who has to start soon for his deadline goes before others.
    pub(crate) fn heeds_deadlines(&self, cluster: Option<ClusterIndex>) -> bool {
        cluster.and_then(|at| self.deadlines.get(at)).is_some_and(|heeds| *heeds)
    }

    pub(crate) fn new(clusters: &[VirtualCluster], kinds: &mut [Kind], names: &Names) -> Self {
        let commons = AccountIndex::from(clusters.len());
        let borrows = clusters.iter().map(|cluster| cluster.borrows).collect();
        let preempts = clusters.iter().map(|cluster| cluster.preempts).collect();
        let deadlines = clusters.iter().map(|cluster| cluster.deadlines).collect();
        let chains = chains(clusters, names);
        let owners = owners(clusters, names);
        let mut cells = Self {
            pools: By::default(),
            chains,
            owners,
            borrows,
            preempts,
            deadlines,
            commons,
            everybody: vec![commons],
        };
        let mut keys = Vec::new();
        for kind in kinds.iter_mut() {
            let all: Vec<_> = kind.types.clone();
            let key = (kind.size, all, kind.total, kind.pinned);
            kind.pool = match keys.iter().position(|known| *known == key) {
                Some(known) => PoolIndex::from(known),
                None => {
                    keys.push(key);
                    let pool = Pool::new(kind.size, kind.type_mask(), kind.total);
                    cells.pools.push(Pool { pinned: kind.pinned, ..pool })
                }
            };
        }
        cells
    }

    /// Cuts the shares into cells, from the nodes that they name before all others and the largest
    /// first; the commons get what is left.
    pub(crate) fn cut(&mut self, clusters: &[VirtualCluster], names: &Names) {
        let accounts = clusters.len() + 1;
        let mut left: By<PoolIndex, Vec<i64>> = By::default();
        for pool in self.pools.iter_mut() {
            pool.rights = By::from(vec![vec![0; pool.levels.len()]; accounts]);
            left.push(
                (0..pool.levels.len()).map(|l| if l == 0 { pool.nodes } else { 0 }).collect(),
            );
        }
        let mut rests = rests(clusters, names);
        let mut sizes: Vec<_> = self.pools.iter().flat_map(|p| p.levels.iter().copied()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for among in [Among::Pinned, Among::Open, Among::Any] {
            for size in sizes.iter().copied().rev() {
                for rest in &mut rests {
                    while rest.gpus >= size
                        && (!rest.exactly || rest.gpus == size)
                        && self.cut_one(rest, size, among, &mut left)
                    {
                        rest.gpus -= size;
                    }
                }
            }
        }
        for (pool, left) in self.pools.iter_mut().zip(left) {
            pool.rights[self.commons] = left;
            pool.unbound.clone_from(&pool.rights);
            let has_any = |levels: &[i64]| levels.iter().any(|count| *count > 0);
            let with = pool.rights.numbered().filter(|(_, levels)| has_any(levels));
            let mut with = with.map(|(account, _)| account);
            pool.only = with.next().filter(|_| with.next().is_none());
        }
    }

    /// One cell of `size` from the smallest piece that will do.
    fn cut_one(
        &mut self,
        rest: &Rest,
        size: u32,
        among: Among,
        left: &mut By<PoolIndex, Vec<i64>>,
    ) -> bool {
        let piece = |at: PoolIndex, pool: &Pool| -> Option<(u32, PoolIndex, usize, usize)> {
            let level = pool.levels.iter().position(|level| *level == size)?;
            let from = (0..=level).rev().find(|from| left[at][*from] > 0)?;
            Some((pool.levels[from], at, from, level))
        };
        let alone = |pool: &Pool| pool.types.count_ones() == 1 && pool.types & rest.types != 0;
        let allowed = |pool: &Pool| alone(pool) && among.allows(pool, rest);
        let pools = self.pools.numbered().filter(|(_, pool)| allowed(pool));
        let Some((_, at, from, level)) = pools.filter_map(|(at, pool)| piece(at, pool)).min()
        else {
            return false;
        };
        left[at][from] -= 1;
        let mut over = self.pools[at].levels[from] - size;
        let smaller = self.pools[at].levels.iter().zip(&mut left[at]).skip(from + 1);
        for (size, left) in smaller {
            *left += i64::from(over / size);
            over %= size;
        }
        self.pools[at].rights[rest.account][level] += 1;
        true
    }
}

/// Whether a virtual cluster is guaranteed GPUs of its own.
pub(crate) fn has_gpus(cluster: &VirtualCluster) -> bool {
    !cluster.share.gpus.is_empty() || !cluster.shapes.is_empty()
}

/// A virtual cluster and all out of whose shares its is cut, the nearest first. Where they go in a
/// circle there is no whole, and each stands for itself.
pub(crate) fn line(
    clusters: &[VirtualCluster],
    names: &Names,
    of: ClusterIndex,
) -> Vec<ClusterIndex> {
    let parent = |at: &ClusterIndex| {
        let parent = clusters[usize::from(*at)].parent.as_ref()?;
        names.clusters.get(parent).copied()
    };
    let mut line = vec![of];
    while let Some(next) = line.last().and_then(parent) {
        if line.contains(&next) {
            return vec![of];
        }
        line.push(next);
    }
    line
}

/// By virtual cluster, on whose share its work may count: its own and those that it is a part of, or
/// the commons.
fn chains(clusters: &[VirtualCluster], names: &Names) -> By<ClusterIndex, Vec<AccountIndex>> {
    let named = |at: &ClusterIndex| {
        let cluster = &clusters[usize::from(*at)];
        let Share { cpus, memory_mb, .. } = &cluster.share;
        has_gpus(cluster) || cpus.is_some() || memory_mb.is_some()
    };
    let chain = |at: usize| {
        let line = line(clusters, names, at.into()).into_iter();
        let mut chain: Vec<_> = line.filter(&named).map(ClusterIndex::account).collect();
        if chain.is_empty() {
            chain.push(AccountIndex::from(clusters.len()));
        }
        chain
    };
    (0..clusters.len()).map(chain).collect()
}

/// By account, whose cells it uses: its own, else those of the nearest that it is a part of, else those
/// of the commons.
fn owners(clusters: &[VirtualCluster], names: &Names) -> By<AccountIndex, AccountIndex> {
    let commons = AccountIndex::from(clusters.len());
    let owner = |at: usize| {
        let mut line = line(clusters, names, at.into()).into_iter();
        let owner = line.find(|at| has_gpus(&clusters[usize::from(*at)]));
        owner.map_or(commons, ClusterIndex::account)
    };
    (0..clusters.len()).map(owner).chain([commons]).collect()
}

fn rests(clusters: &[VirtualCluster], names: &Names) -> Vec<Rest> {
    let mut rests = Vec::new();
    for (at, cluster) in (0_usize..).map(ClusterIndex::from).zip(clusters) {
        let children = || clusters.iter().filter(|c| c.parent.as_ref() == Some(&cluster.name));
        let line = line(clusters, names, at).into_iter().map(ClusterIndex::account);
        let (account, line) = (at.account(), line.collect::<Vec<_>>());
        for shape in &cluster.shapes {
            let given = |child: &VirtualCluster| -> u32 {
                let same =
                    |s: &&crate::model::Shape| s.gpu_type == shape.gpu_type && s.gpus == shape.gpus;
                child.shapes.iter().filter(same).map(|s| s.count).sum()
            };
            let count = shape.count.saturating_sub(children().map(given).sum());
            let types = names.type_number(&shape.gpu_type).map_or(0, |number| 1 << number);
            for _ in 0..count {
                let (line, gpus) = (line.clone(), shape.gpus);
                rests.push(Rest { account, line, types, gpus, exactly: true });
            }
        }
        let shapes = beyond_shapes(&cluster.shapes, children().flat_map(|c| &c.shapes));
        for (gpu_type, count) in &cluster.share.gpus {
            let given = children().filter_map(|c| c.share.gpus.get(gpu_type).copied());
            let given = given.chain(shapes.get(gpu_type).copied()).fold(0, u64::saturating_add);
            let gpus = u32::try_from(count.saturating_sub(given)).unwrap_or(u32::MAX);
            let types = names.type_number(gpu_type).map_or(0, |number| 1 << number);
            rests.push(Rest { account, line: line.clone(), types, gpus, exactly: false });
        }
    }
    rests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_scattered_is_missed() {
        let mut pool = Pool::new(8, 1, Amounts::default());
        pool.rights = By::from(vec![vec![1, 0, 0, 0], vec![0, 2, 0, 0]]);
        let second = AccountIndex::from(1_usize);
        pool.unbound.clone_from(&pool.rights);
        pool.count_open(0xff, 1);
        pool.count_open(0xff, 1);
        assert_eq!(pool.deficit(), 0);
        pool.count_open(0xff, -1);
        pool.count_open(0xf0, 1);
        pool.bind(second, 1, 1);
        assert_eq!(pool.deficit(), 0, "half a node and a whole one are left for one of each");
        pool.count_open(0xff, -1);
        pool.count_open(0x0f, 1);
        pool.bind(second, 1, 1);
        assert_eq!(pool.deficit(), 8, "both halves were cut from different nodes");
    }
}
