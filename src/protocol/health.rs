//! How well a node is: what is wrong with it and with its GPUs, as what is measured and an administrator's
//! checks say, what was wrong before, and of which errors an administrator has taken note.
//!
//! What has failed takes nothing new, until an administrator says that it is well, or a check passes often
//! enough. What is only a warning makes its node the last choice, and goes with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gpus::GpuReport;
use crate::ids::UserName;
use crate::time::Timestamp;

mod check;

pub use check::{Check, When};

/// So much of what was wrong before is remembered.
const REMEMBERED: usize = 50;
/// From so many degrees Celsius on GPUs slow down.
const HOT: u32 = 90;
/// Below so many they do not any more.
const COOL: u32 = 85;
/// Why a GPU's clocks are low that tell of its machine and not of its work, as bits of NVML's: slowed by the
/// hardware (8), for heat (32, 64), for want of power (128).
const SLOWED: u32 = 8 | 32 | 64 | 128;
/// What comes and goes is over once it has been known for so long and is not seen any more, in milliseconds.
const A_WHILE: i64 = 600_000;
/// Where a disk has less left than both, a tenth and so many bytes, that is a warning.
const LITTLE: (u64, u64) = (10, 50 << 30);
/// Where it has less than both, a fiftieth and so many bytes, it is full: images and what tasks write find no
/// room.
const NOTHING: (u64, u64) = (50, 5 << 30);
/// Errors of NVIDIA's driver (Xid) after which a GPU does nothing right until it is reset, or is to be
/// replaced: memory (48, 64, 95, 140), microcontrollers (62, 119, 120), links (74, 136), and the GPU as a
/// whole (79, 143). See NVIDIA's "XID Errors".
const FATAL: [u32; 11] = [48, 62, 64, 74, 79, 95, 119, 120, 136, 140, 143];
/// Those after which it still works, but should be looked at: memory that was replaced by spare rows or
/// kept from spreading (63, 92, 94), and what asks for a reset (61, 154).
const WORRYING: [u32; 5] = [61, 63, 92, 94, 154];

/// How bad something is.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// It is the last choice.
    Warning,
    /// It takes nothing new.
    #[default]
    Failed,
}

/// How well a node is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Health {
    /// What is wrong.
    pub ailments: Vec<Ailment>,
    /// What was wrong and is not any more, the last at the end.
    pub history: Vec<Episode>,
    /// Errors of GPUs, by index, that count no more.
    pub noted: BTreeMap<u32, Noted>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ailment {
    /// With which GPU; none: with the node.
    #[serde(default)]
    pub gpu: Option<u32>,
    /// How bad it is.
    pub grade: Grade,
    /// By what it shows.
    pub sign: Sign,
    /// Since when it is known.
    pub since: Timestamp,
}

/// By what it shows that something is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// The driver tells of this error.
    Xid(u32),
    /// So many errors of the memory could not be corrected.
    Memory(u64),
    /// It is too hot.
    Hot,
    /// Its machine slows it down.
    Slowed,
    /// GPUs that were linked are not any more.
    Links,
    /// The disk beneath its containers has only so many GiB left.
    Disk(u64),
    /// A check fails.
    Check {
        /// Its name.
        name: String,
        /// The last that it said.
        words: String,
    },
}

/// Something that was wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Episode {
    /// What it was.
    pub ailment: Ailment,
    /// Until when.
    pub until: Timestamp,
    /// Who said that it is over; none: it showed.
    #[serde(default)]
    pub ended_by: Option<UserName>,
}

/// Errors of a GPU that count no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Noted {
    /// The error that its driver told of.
    pub xid: Option<u32>,
    /// How many errors its memory had.
    pub errors: u64,
}

/// What is measured of a GPU that tells how well it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GpuSigns {
    /// Which.
    pub index: u32,
    /// The last error that its driver tells of; 0: none.
    pub xid: Option<u32>,
    /// Errors of its memory that could not be corrected.
    pub errors: Option<u64>,
    /// Degrees Celsius.
    pub degrees: Option<u32>,
    /// Why its clocks are low, as bits of NVML's.
    pub throttle: Option<u32>,
}

impl Sign {
    /// Whether both say the same of something, however much of it there is.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Check { name, .. }, Self::Check { name: other, .. }) => name == other,
            (Self::Xid(_), Self::Xid(_))
            | (Self::Memory(_), Self::Memory(_))
            | (Self::Hot, Self::Hot)
            | (Self::Slowed, Self::Slowed)
            | (Self::Links, Self::Links)
            | (Self::Disk(_), Self::Disk(_)) => true,
            (
                Self::Xid(_)
                | Self::Memory(_)
                | Self::Hot
                | Self::Slowed
                | Self::Links
                | Self::Disk(_)
                | Self::Check { .. },
                _,
            ) => false,
        }
    }
}

/// In words.
impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Xid(xid) => write!(f, "its driver tells of error {xid} (Xid)"),
            Self::Memory(_) => f.write_str("its memory has errors that cannot be corrected"),
            Self::Hot => f.write_str("it is so hot that it slows down"),
            Self::Slowed => f.write_str("its machine slows it down, for heat or want of power"),
            Self::Links => f.write_str("GPUs that were linked are not linked any more"),
            Self::Disk(left) => write!(f, "its disk has only {left} GiB left"),
            Self::Check { name, words } => write!(f, "the check {name} fails: {words}"),
        }
    }
}

/// In words, with the GPU where it is one.
impl fmt::Display for Ailment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gpu {
            Some(gpu) => write!(f, "GPU {gpu}: {}", self.sign),
            None => self.sign.fmt(f),
        }
    }
}

impl Health {
    /// Whether the node takes nothing new.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failed().any(|ailment| ailment.gpu.is_none())
    }

    /// Whether nobody gets this GPU.
    #[must_use]
    pub fn has_failed_gpu(&self, gpu: u32) -> bool {
        self.failed().any(|ailment| ailment.gpu == Some(gpu))
    }

    /// Whether the node is the last choice.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.ailments.iter().any(|ailment| ailment.grade == Grade::Warning)
    }

    /// What has failed of the node itself or of one of these GPUs.
    #[must_use]
    pub fn failure(&self, gpus: &[u32]) -> Option<&Ailment> {
        self.failed().find(|ailment| ailment.gpu.is_none_or(|gpu| gpus.contains(&gpu)))
    }

    fn failed(&self) -> impl Iterator<Item = &Ailment> {
        self.ailments.iter().filter(|ailment| ailment.grade == Grade::Failed)
    }

    /// What is known once this was measured. A GPU of which nothing is told stays as it is known.
    #[must_use]
    pub fn measured(&self, gpus: &[GpuSigns], at: Timestamp) -> Self {
        let mut after = self.clone();
        for gpu in gpus {
            let noted = after.still_noted(gpu);
            after.see_error(gpu, noted, at);
            after.see_memory(gpu, noted, at);
            after.see_heat(gpu, at);
            after.see_clocks(gpu, at);
        }
        after
    }

    /// What counts no more of what a GPU tells: what it does not tell any more counts when it comes again.
    fn still_noted(&mut self, gpu: &GpuSigns) -> Noted {
        let Some(noted) = self.noted.get_mut(&gpu.index) else { return Noted::default() };
        if gpu.xid == Some(0) {
            noted.xid = None;
        }
        noted.errors = noted.errors.min(gpu.errors.unwrap_or(noted.errors));
        let noted = *noted;
        if noted == Noted::default() {
            self.noted.remove(&gpu.index);
        }
        noted
    }

    fn see_error(&mut self, gpu: &GpuSigns, noted: Noted, at: Timestamp) {
        let Some(xid) = gpu.xid else { return };
        let grade = grade(xid).filter(|_| noted.xid != Some(xid));
        match grade {
            Some(grade) => self.begin((Some(gpu.index), grade, Sign::Xid(xid)), at),
            None => self.end((at, None), |known| {
                let is_error = matches!(known.sign, Sign::Xid(_));
                is_error && known.gpu == Some(gpu.index) && known.grade == Grade::Warning
            }),
        }
    }

    fn see_memory(&mut self, gpu: &GpuSigns, noted: Noted, at: Timestamp) {
        if let Some(errors) = gpu.errors.filter(|errors| *errors > noted.errors) {
            self.begin((Some(gpu.index), Grade::Failed, Sign::Memory(errors)), at);
        }
    }

    fn see_heat(&mut self, gpu: &GpuSigns, at: Timestamp) {
        match gpu.degrees {
            Some(HOT..) => self.begin((Some(gpu.index), Grade::Warning, Sign::Hot), at),
            Some(..COOL) => self
                .end((at, None), |known| known.sign == Sign::Hot && known.gpu == Some(gpu.index)),
            Some(_) | None => {}
        }
    }

    fn see_clocks(&mut self, gpu: &GpuSigns, at: Timestamp) {
        match gpu.throttle {
            Some(bits) if bits & SLOWED != 0 => {
                self.begin((Some(gpu.index), Grade::Warning, Sign::Slowed), at);
            }
            Some(_) => self.end((at, None), |known| {
                let is_so = known.sign == Sign::Slowed && known.gpu == Some(gpu.index);
                is_so && at.since(known.since) >= A_WHILE
            }),
            None => {}
        }
    }

    /// What is known once the drivers were asked again: GPUs that both are well and were linked should
    /// still be.
    #[must_use]
    pub fn looked_for(&self, (before, now): (&GpuReport, &GpuReport), at: Timestamp) -> Self {
        let mut after = self.clone();
        let (was, is) = (linked(before, now), linked(now, now));
        if !was.is_subset(&is) {
            after.begin((None, Grade::Warning, Sign::Links), at);
        } else if was != is {
            after.end((at, None), |known| known.sign == Sign::Links);
        }
        after
    }

    /// What is known once it was asked how many bytes of its disk are free, and how many there are. A disk
    /// that was full takes tasks again when there is no more reason for a warning.
    #[must_use]
    pub fn disk_seen(&self, (free, all): (u64, u64), at: Timestamp) -> Self {
        let less = |(part, bytes): (u64, u64)| free < all / part && free < bytes;
        let mut after = self.clone();
        if less(NOTHING) {
            after.begin((None, Grade::Failed, Sign::Disk(free >> 30)), at);
        } else if less(LITTLE) {
            after.begin((None, Grade::Warning, Sign::Disk(free >> 30)), at);
        } else {
            after.end((at, None), |known| matches!(known.sign, Sign::Disk(_)));
        }
        after
    }

    /// What is known once a check has failed.
    #[must_use]
    pub fn check_failed(&self, check: &Check, words: String, at: Timestamp) -> Self {
        let mut after = self.clone();
        let sign = Sign::Check { name: check.name.clone(), words };
        after.begin((None, check.grade, sign), at);
        after
    }

    /// What is known once a check has passed as often as it has to. One that is made with the GPUs says
    /// that they are well, too.
    #[must_use]
    pub fn check_passed(&self, check: &Check, at: Timestamp) -> Self {
        let mut after = self.clone();
        after.end((at, None), |known| match &known.sign {
            Sign::Check { name, .. } => *name == check.name,
            Sign::Xid(_) | Sign::Memory(_) => check.gpus && known.grade == Grade::Failed,
            Sign::Hot | Sign::Slowed | Sign::Links | Sign::Disk(_) => false,
        });
        after
    }

    /// Without what checks have said that are not made any more.
    #[must_use]
    pub fn with_checks(&self, is_made: impl Fn(&str) -> bool, at: Timestamp) -> Self {
        let mut after = self.clone();
        after.end((at, None), |known| match &known.sign {
            Sign::Check { name, .. } => !is_made(name),
            Sign::Xid(_)
            | Sign::Memory(_)
            | Sign::Hot
            | Sign::Slowed
            | Sign::Links
            | Sign::Disk(_) => false,
        });
        after
    }

    /// What is known once somebody has said that all is well.
    #[must_use]
    pub fn cleared(&self, by: &UserName, at: Timestamp) -> Self {
        let mut after = self.clone();
        after.end((at, Some(by)), |_| true);
        after
    }

    fn begin(&mut self, (gpu, grade, sign): (Option<u32>, Grade, Sign), at: Timestamp) {
        let same = |known: &&mut Ailment| known.gpu == gpu && known.sign.is_like(&sign);
        match self.ailments.iter_mut().find(same) {
            Some(known) if grade >= known.grade => (known.grade, known.sign) = (grade, sign),
            Some(_) => {}
            None => self.ailments.push(Ailment { gpu, grade, sign, since: at }),
        }
    }

    fn end(
        &mut self,
        (until, ended_by): (Timestamp, Option<&UserName>),
        is_over: impl Fn(&Ailment) -> bool,
    ) {
        let (over, left) = self.ailments.drain(..).partition::<Vec<_>, _>(is_over);
        self.ailments = left;
        for ailment in over {
            // A warning whose reason has gone counts anew when that comes again.
            if let Some(gpu) = ailment.gpu
                && (ended_by.is_some() || ailment.grade == Grade::Failed)
            {
                self.take_note(gpu, &ailment.sign);
            }
            self.history.push(Episode { ailment, until, ended_by: ended_by.cloned() });
        }
        let more = self.history.len().saturating_sub(REMEMBERED);
        self.history.drain(..more);
    }

    fn take_note(&mut self, gpu: u32, sign: &Sign) {
        match sign {
            Sign::Xid(xid) => self.noted.entry(gpu).or_default().xid = Some(*xid),
            Sign::Memory(errors) => self.noted.entry(gpu).or_default().errors = *errors,
            Sign::Hot | Sign::Slowed | Sign::Links | Sign::Disk(_) | Sign::Check { .. } => {}
        }
    }
}

/// How bad it is that a driver tells of this error; none: a program may have made it.
fn grade(xid: u32) -> Option<Grade> {
    if FATAL.contains(&xid) {
        return Some(Grade::Failed);
    }
    WORRYING.contains(&xid).then_some(Grade::Warning)
}

/// Pairs of GPUs that one report says are linked, and that are well by another.
fn linked(said: &GpuReport, well: &GpuReport) -> BTreeSet<(u32, u32)> {
    let is_well = |index: u32| well.gpus.iter().any(|f| f.gpu.index == index && f.gpu.healthy);
    let mut pairs = BTreeSet::new();
    for group in &said.links {
        let group: BTreeSet<u32> = group.iter().copied().filter(|gpu| is_well(*gpu)).collect();
        for one in &group {
            pairs.extend(group.iter().filter(|other| one < *other).map(|other| (*one, *other)));
        }
    }
    pairs
}

#[cfg(test)]
mod tests;
