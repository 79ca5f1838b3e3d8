//! How good a node is for tasks of a role: a function of the node's state alone, so that it is
//! worked out once for all nodes in the same state.

use crate::cluster::node::NodeState;
use crate::cluster::workload::Losses;
use crate::cluster::workload::prices::Goods;
use crate::model::WHOLE_GPU;
use crate::numbers::amounts::Amounts;
use crate::numbers::gpus::{self, Bits, positions};
use crate::numbers::indices::{AccountIndex, PoolIndex};
use crate::numbers::kind::Kind;
use crate::numbers::request::TaskRequest;
use crate::share::cells::Pool;

/// What of a node a task may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Mode {
    /// All that is free: it borrows.
    Borrow,
    /// All that is free and not kept for a reservation: it borrows.
    Lend,
    /// The account's blocks; all nodes of pools where only it has cells.
    Own(AccountIndex),
    /// A block that is to be bound for a cell of this level, in this pool.
    Open(PoolIndex, usize),
}

/// A part of a node that a task may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) amounts: Amounts,
    /// Its wholly free GPUs, and all of its GPUs.
    free: Bits,
    mask: Bits,
    /// What is kept for reservations is none of it.
    keeps: bool,
    /// The block it is, by its GPUs.
    pub(crate) block: Option<Bits>,
    /// How large a piece it is cut from, 0 the largest.
    cut_from: usize,
    /// So many of its GPUs are lent.
    lent: u32,
}

/// Smaller is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Score {
    /// Something is wrong with the node: anywhere else is better.
    doubtful: bool,
    /// A task without GPUs on a node with GPUs.
    wastes_gpus: bool,
    /// So many of the tasks find no room there.
    pub(crate) missing: u32,
    /// Binding the block breaks a larger piece than needed.
    breaks: u32,
    /// So many GPUs of the block are lent: who has them has to leave as soon as the block is used.
    lent: u32,
    /// A task's GPUs are not of one group.
    apart: bool,
    /// What the node's free GPUs lose by it, and the price of those that are taken.
    loss: i64,
    gpus_left: i64,
    cpus_left: i64,
    memory_left: i64,
}

/// Where tasks go on a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot {
    pub(crate) score: Score,
    pub(crate) room: Room,
    pub(crate) gpu_type: Option<u8>,
    pub(crate) tasks: i64,
}

/// What scores depend on beside the state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measure<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) pool: &'a Pool,
    pub(crate) losses: &'a Losses,
}

impl Measure<'_> {
    /// The best spot of a node in this state for up to `remaining` tasks; `None` when not one fits.
    pub(crate) fn spot(
        &self,
        state: &NodeState,
        request: &TaskRequest,
        mode: Mode,
        remaining: u32,
    ) -> Option<Spot> {
        if !self.kind.ready || !self.kind.admits(request) || request.gpus > self.kind.size {
            return None;
        }
        let mut best: Option<Spot> = None;
        self.rooms(state, mode, |room| {
            if let Some(spot) = self.spot_in(state, request, room, remaining)
                && best.is_none_or(|best| spot.score < best.score)
            {
                best = Some(spot);
            }
        });
        best
    }

    fn rooms(&self, state: &NodeState, mode: Mode, mut each: impl FnMut(Room)) {
        let all = self.kind.healthy;
        let whole = |keeps: bool| Room {
            amounts: if keeps { state.free.plus(-1, state.held) } else { state.free },
            free: if keeps { state.free_gpus & state.not_held() } else { state.free_gpus },
            mask: all,
            keeps,
            block: None,
            cut_from: 0,
            lent: 0,
        };
        match mode {
            Mode::Borrow => each(whole(false)),
            // Who borrows is in the way least where nobody has a cell.
            Mode::Lend => each(Room { cut_from: state.blocks.len(), ..whole(true) }),
            Mode::Own(account) if self.pool.is_free_to(account) => each(whole(true)),
            Mode::Own(account) => {
                let room = whole(true);
                for block in state.blocks.iter().filter(|block| block.account == account) {
                    let part = self.part(block.bits).plus(-1, block.used);
                    each(Room {
                        amounts: room.amounts.min(part),
                        free: room.free & block.bits,
                        mask: block.bits & all,
                        keeps: true,
                        block: Some(block.bits),
                        cut_from: 0,
                        lent: 0,
                    });
                }
            }
            Mode::Open(_, level) => self.open_rooms(state, level, whole(true), each),
        }
    }

    /// The pieces that might be bound; one of the smallest, with the most free, comes first.
    fn open_rooms(&self, state: &NodeState, level: usize, room: Room, mut each: impl FnMut(Room)) {
        let unbound = state.unbound(self.kind.healthy);
        if unbound.count_ones() < self.pool.levels[level] {
            return;
        }
        for piece in self.pool.pieces(level).filter(|piece| piece & !unbound == 0) {
            each(Room {
                amounts: room.amounts.min(self.part(piece)),
                free: room.free & piece,
                mask: piece,
                keeps: true,
                block: Some(piece),
                cut_from: level - self.pool.largest(unbound, piece).min(level),
                // Guaranteed work is nowhere but in blocks.
                lent: (piece & !state.free_gpus).count_ones(),
            });
        }
    }

    /// What of a node's CPUs and memory goes with some of its GPUs.
    pub(crate) fn part(&self, bits: Bits) -> Amounts {
        self.kind.total.part(bits.count_ones(), self.kind.size)
    }

    fn spot_in(
        &self,
        state: &NodeState,
        request: &TaskRequest,
        room: Room,
        remaining: u32,
    ) -> Option<Spot> {
        if !room.amounts.covers(request.each) {
            return None;
        }
        let (gpu_type, by_gpus) = self.best_type(state, request, &room)?;
        let most = room.amounts.times(request.each).min(by_gpus).min(remaining.into());
        let tasks = u32::try_from(most).ok().filter(|tasks| *tasks > 0)?;
        let left = state.free.plus(-i64::from(tasks), request.each);
        let (loss, gpus_left) = self.loss(state, request, (&room, gpu_type), tasks, left);
        let score = Score {
            doubtful: self.kind.doubtful,
            wastes_gpus: request.gpus == 0 && self.kind.size > 0,
            missing: remaining - tasks,
            breaks: u32::try_from(room.cut_from).unwrap_or(u32::MAX),
            lent: room.lent,
            apart: request.gpus > 1 && gpus::is_apart(self.free_of(&room, gpu_type), request.gpus),
            loss,
            gpus_left,
            cpus_left: left.cpus,
            memory_left: left.memory,
        };
        Some(Spot { score, room, gpu_type, tasks: most })
    }

    pub(crate) fn free_of(&self, room: &Room, gpu_type: Option<u8>) -> Bits {
        room.free & gpu_type.map_or(0, |number| self.kind.of_type(number))
    }

    /// The type of which the room can give to the most tasks, and the fewest would be left.
    fn best_type(
        &self,
        state: &NodeState,
        request: &TaskRequest,
        room: &Room,
    ) -> Option<(Option<u8>, i64)> {
        if request.gpus == 0 {
            return Some((None, i64::MAX));
        }
        let mut best: Option<(i64, i64, u8)> = None;
        for (number, bits) in &self.kind.types {
            if request.types >> number & 1 == 0 {
                continue;
            }
            let free = i64::from((room.free & bits).count_ones());
            let tasks = if request.shares() {
                let of = |left: u32| i64::from(left / request.milli);
                let shared = shared(state, room).filter(|(at, _)| bits >> at & 1 == 1);
                free * of(WHOLE_GPU) + shared.map(|(_, left)| of(left)).sum::<i64>()
            } else {
                free / i64::from(request.gpus)
            };
            if tasks > 0 && best.is_none_or(|(most, least, _)| (-tasks, free) < (-most, least)) {
                best = Some((tasks, free, *number));
            }
        }
        best.map(|(tasks, _, number)| (Some(number), tasks))
    }

    /// What the node's free GPUs lose by `tasks` tasks, with the price of what these take, and what is
    /// left of them.
    fn loss(
        &self,
        state: &NodeState,
        request: &TaskRequest,
        (room, gpu_type): (&Room, Option<u8>),
        tasks: u32,
        left: Amounts,
    ) -> (i64, i64) {
        if self.kind.size == 0 {
            return (self.losses.uneven(left) - self.losses.uneven(state.free), 0);
        }
        let before = self.value(state, state.free, state.free_gpus.count_ones(), None);
        let whole = state.free_gpus.count_ones();
        let taken = i64::from(tasks) * request.gpu_milli();
        let after = if request.gpus == 0 {
            self.value(state, left, whole, None)
        } else if !request.shares() {
            self.value(state, left, whole - tasks * request.gpus, None)
        } else if tasks == 1 {
            let (after, _) = self.part_of(state, request, (room, gpu_type), left);
            after
        } else {
            let whole_taken = u32::try_from(taken.unsigned_abs() / 1000).unwrap_or(0);
            self.value(state, left, whole.saturating_sub(whole_taken), None)
        };
        let price = self.price(gpu_type, Goods::asked(request, tasks));
        ((after - before).saturating_add(price), state.gpu_milli() - taken)
    }

    /// What it costs to take so much; without GPU it is that of the dearest type.
    fn price(&self, gpu_type: Option<u8>, taken: Goods) -> i64 {
        let of_type = |number: u8| self.losses.price(number, taken);
        let dearest = || self.kind.types.iter().map(|(number, _)| of_type(*number)).max();
        gpu_type.map(of_type).or_else(dearest).unwrap_or(0)
    }

    /// Which GPU a task that takes a part of one gets, and the node's loss with that.
    pub(crate) fn part_of(
        &self,
        state: &NodeState,
        request: &TaskRequest,
        (room, gpu_type): (&Room, Option<u8>),
        left: Amounts,
    ) -> (i64, Option<usize>) {
        let of_type = gpu_type.map_or(0, |number| self.kind.of_type(number));
        let whole = state.free_gpus.count_ones();
        let mut best: Option<(i64, u32, usize)> = None;
        for (position, has) in shared(state, room) {
            let at = usize::from(position);
            if has < request.milli || of_type >> at & 1 == 0 {
                continue;
            }
            let rest = state.left_of(at) - request.milli;
            let loss = self.value(state, left, whole, Some((Some(position), rest)));
            if best.is_none_or(|(least, least_has, _)| (loss, has) < (least, least_has)) {
                best = Some((loss, has, at));
            }
        }
        if let Some(at) =
            gpus::choose(room.free & of_type, 1).and_then(|bits| positions(bits).next())
        {
            let rest = Some((None, WHOLE_GPU - request.milli));
            let loss = self.value(state, left, whole - 1, rest);
            if best.is_none_or(|(least, least_has, _)| (loss, WHOLE_GPU) < (least, least_has)) {
                best = Some((loss, WHOLE_GPU, at));
            }
        }
        best.map_or((i64::MAX, None), |(loss, _, at)| (loss, Some(at)))
    }

    /// The losses of a node with so much free; `part`: a GPU of which this is left, one of the
    /// partly used or another.
    fn value(
        &self,
        state: &NodeState,
        free: Amounts,
        whole: u32,
        part: Option<(Option<u8>, u32)>,
    ) -> i64 {
        let changed = part.and_then(|(position, _)| position);
        let others = state.shared.iter().filter(move |(p, _)| Some(*p) != changed);
        let parts = others.map(|(_, left)| *left).chain(part.map(|(_, left)| left));
        self.losses.of(self.kind.type_mask(), (free.cpus, free.memory), whole, parts)
    }
}

/// The partly used GPUs of a room, and what of each may be used.
fn shared(state: &NodeState, room: &Room) -> impl Iterator<Item = (u8, u32)> {
    let (mask, keeps) = (room.mask, room.keeps);
    let inside = state.shared.iter().filter(move |(position, _)| mask >> *position & 1 == 1);
    inside.map(move |(position, left)| {
        let held = if keeps { state.held_part(*position) } else { 0 };
        (*position, left.saturating_sub(held))
    })
}
