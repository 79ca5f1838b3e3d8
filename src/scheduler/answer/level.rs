//! A level of topology that a job requires: whether one place of it is large enough, and what is said
//! where none has room.

use protocol::spec::TopologyLevel;
use protocol::wait::WaitReason;

use crate::answer::explain::capacity;
use crate::cluster::Cluster;
use crate::model::WHOLE_GPU;
use crate::numbers::gpus::Bits;
use crate::numbers::indices::NodeIndex;
use crate::numbers::kind::Kind;
use crate::numbers::request::{Class, ClassRole};

/// Which GPUs of a node count; `None`: the node does not.
type Usable = fn(&Kind) -> Option<Bits>;

/// Why a job could never start, whatever runs; `None` when some place of the level that it requires
/// may be large enough.
pub(crate) fn too_small(cluster: &Cluster, class: &Class) -> Option<WaitReason> {
    let level = class.required_level()?;
    let (tasks, fit) = (class.tasks(), most(cluster, class, level, |_| Some(Bits::MAX)));
    (fit < tasks).then_some(WaitReason::LevelTooSmall { level, tasks, fit })
}

/// Why a job waits whose tasks find room, but so many at most in one place of the level that it requires.
pub(crate) fn full(
    cluster: &Cluster,
    class: &Class,
    (level, fit): (TopologyLevel, u32),
) -> WaitReason {
    let up = most(cluster, class, level, |kind| kind.ready.then_some(kind.healthy));
    if up < class.tasks() {
        return WaitReason::NodeDown { nodes: down(cluster, class) };
    }
    WaitReason::LevelFull { level, tasks: class.tasks(), fit }
}

/// Nodes that take nothing now, or have GPUs that do not.
fn down(cluster: &Cluster, class: &Class) -> u32 {
    let whole = |kind: &Kind| kind.types.iter().fold(0, |all: Bits, (_, bits)| all | bits);
    let is_down = |kind: &Kind| !kind.ready || whole(kind) & !kind.healthy != 0;
    let down = cluster.alike(class).filter(|(kind, _)| is_down(kind)).map(|(_, count)| count);
    u32::try_from(down.sum::<i64>()).unwrap_or(u32::MAX)
}

/// The most tasks that one place of a level could hold if nothing ran there, at least.
fn most(cluster: &Cluster, class: &Class, level: TopologyLevel, usable: Usable) -> u32 {
    let places = cluster.places(level);
    let most = places.iter().map(|nodes| held(cluster, class, nodes, usable)).max().unwrap_or(0);
    u32::try_from(most).unwrap_or(u32::MAX)
}

/// No fewer tasks than a place could hold: by each role alone, and by all that its nodes have.
fn held(cluster: &Cluster, class: &Class, nodes: &[NodeIndex], usable: Usable) -> i64 {
    let allowed = nodes.iter().filter(|node| class.allows(**node));
    let kinds = allowed.map(|node| cluster.kind_of(*node)).filter(|kind| class.may_use(kind));
    let kinds: Vec<_> = kinds.filter_map(|kind| Some((kind, usable(kind)?))).collect();
    let of_role = |role: &ClassRole| {
        let room = kinds.iter().map(|(kind, gpus)| capacity(kind, role, *gpus));
        room.fold(0, i64::saturating_add).min(role.count.into())
    };
    let by_roles = class.roles.iter().map(of_role).fold(0, i64::saturating_add);
    let types = class.roles.iter().fold(0, |types, role| types | role.request.types);
    let gpus = kinds.iter().map(|(kind, usable)| {
        let wanted = kind.types.iter().filter(|(number, _)| types >> number & 1 == 1);
        let wanted = wanted.fold(0, |all: Bits, (_, bits)| all | bits) & usable;
        i64::from(wanted.count_ones()) * i64::from(WHOLE_GPU)
    });
    let cpus = kinds.iter().map(|(kind, _)| kind.total.cpus);
    let memory = kinds.iter().map(|(kind, _)| kind.total.memory);
    [
        by_roles,
        so_many(class, gpus.sum(), |role| role.request.gpu_milli()),
        so_many(class, cpus.sum(), |role| role.request.each.cpus),
        so_many(class, memory.sum(), |role| role.request.each.memory),
    ]
    .into_iter()
    .min()
    .unwrap_or(by_roles)
}

/// How many tasks so much is enough for, those first that need least of it.
fn so_many(class: &Class, mut left: i64, each: fn(&ClassRole) -> i64) -> i64 {
    let mut asked: Vec<_> =
        class.roles.iter().map(|role| (each(role), i64::from(role.count))).collect();
    asked.sort_unstable();
    let mut tasks = 0;
    for (each, count) in asked {
        let some = if each > 0 { (left / each).min(count) } else { count };
        left -= some * each;
        tasks += some;
    }
    tasks
}
