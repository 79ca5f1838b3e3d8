//! What one types to find jobs: `user:ada state:failed,stopped gpu:>=4 since:7d resnet`. One grammar
//! for the pages, the REST doors and the command line. A word that cannot be read is named, never
//! left out of account: a list that shows everything where somebody asked for little misleads. White
//! space within quotes after a colon is part of a word: `tag:"best run"`.

use std::fmt;

use protocol::ids::{Tag, UserName};
use protocol::spec::Priority;
use protocol::state::State;
use protocol::time::{Moment, Timestamp};
use time::{Date, Month, Time};

use crate::jobs::JobQuery;

/// What stands before the colon of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Key {
    /// Owner; `me` is who asks.
    User,
    /// State.
    State,
    /// Virtual cluster.
    VirtualCluster,
    /// GPUs in all: `4`, `>=4`, `<8`.
    Gpu,
    /// GPU type asked for.
    Type,
    /// A node that a task of it is or was on.
    Node,
    /// Priority, as a word or a number.
    Priority,
    /// Submitted since then: `7d` ago, or `2026-11-21` UTC.
    Since,
    /// Submitted until then; a day counts whole.
    Until,
    /// Ended since then.
    Ended,
    /// What people call it beside its name.
    Tag,
    /// Part of the job's name alone.
    Name,
}

impl Key {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Key; 12] = [
        Key::State,
        Key::User,
        Key::VirtualCluster,
        Key::Gpu,
        Key::Type,
        Key::Node,
        Key::Priority,
        Key::Since,
        Key::Until,
        Key::Ended,
        Key::Tag,
        Key::Name,
    ];

    /// The word before the colon.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Key::User => "user",
            Key::State => "state",
            Key::VirtualCluster => "vc",
            Key::Gpu => "gpu",
            Key::Type => "type",
            Key::Node => "node",
            Key::Priority => "priority",
            Key::Since => "since",
            Key::Until => "until",
            Key::Ended => "ended",
            Key::Tag => "tag",
            Key::Name => "name",
        }
    }

    /// Reads [`Key::as_str`] back; `status` is another word for `state`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let word = if word == "status" { "state" } else { word };
        Self::ALL.into_iter().find(|key| key.as_str() == word)
    }
}

/// A word of a filter that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread {
    /// The whole word, as typed.
    pub word: String,
    /// The key, where that much is known.
    pub key: Option<Key>,
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = &self.word;
        match self.key {
            None => {
                let keys = Key::ALL.map(|key| format!("{}:", key.as_str())).join(" ");
                write!(f, "{word:?} is no filter: allowed are {keys}")
            }
            Some(key) => write!(f, "{word:?} cannot be read: allowed is {}", allowed(key)),
        }
    }
}

/// What may stand after the colon, by example.
#[must_use]
pub fn allowed(key: Key) -> String {
    match key {
        Key::User => "a user name, or me".to_owned(),
        Key::State => State::ALL.map(|state| state.as_str().to_ascii_lowercase()).join(", "),
        Key::VirtualCluster => "the name of a virtual cluster".to_owned(),
        Key::Gpu => "4, >=4, >4, <=4 or <4".to_owned(),
        Key::Type => "a GPU type such as A100".to_owned(),
        Key::Node => "the name of a node".to_owned(),
        Key::Priority => "oppo, test, prod, crit or a number".to_owned(),
        Key::Since | Key::Until | Key::Ended => "30m, 24h, 7d, 2w or 2026-11-21".to_owned(),
        Key::Tag => "a tag, in quotes where it has spaces".to_owned(),
        Key::Name => "part of a name".to_owned(),
    }
}

/// The word of a filter that finds what has a tag; `None`: none can say it.
#[must_use]
pub fn tag_word(tag: &Tag) -> Option<String> {
    let (key, tag) = (Key::Tag.as_str(), tag.as_str());
    if tag.contains('"') {
        return None;
    }
    let quotes = if tag.contains(char::is_whitespace) { "\"" } else { "" };
    Some(format!("{key}:{quotes}{tag}{quotes}"))
}

/// The words of a filter.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text.trim_start();
    std::iter::from_fn(move || {
        let (word, after) = rest.split_at(end_of_word(rest));
        rest = after.trim_start();
        (!word.is_empty()).then_some(word)
    })
}

/// Where the first word ends. A quote that nothing closes is a letter like any other.
fn end_of_word(text: &str) -> usize {
    let end = |from: usize| {
        text[from..].find(char::is_whitespace).map_or(text.len(), |length| from + length)
    };
    let first = end(0);
    let Some(quoted) = text[..first].find(":\"").map(|at| at + 2) else { return first };
    text[quoted..].find('"').map_or(first, |length| end(quoted + length + 1))
}

/// The query that a filter asks for. Words without a colon are the keyword; what is said twice of a
/// key means either, except for numbers, of which all hold, and times, of which the last does. `me`
/// is who asks.
///
/// # Errors
/// All words that cannot be read.
pub fn read(text: &str, me: Option<&UserName>) -> Result<JobQuery, Vec<Misread>> {
    let (mut query, mut keywords, mut misread) = (JobQuery::default(), Vec::new(), Vec::new());
    for word in words(text) {
        let Some((key, value)) = word.split_once(':') else {
            keywords.push(word);
            continue;
        };
        let key = Key::from_word(key);
        let understood = key.and_then(|key| apply(&mut query, key, value, me));
        if understood.is_none() {
            misread.push(Misread { word: word.to_owned(), key });
        }
    }
    query.keyword = keywords.join(" ");
    if misread.is_empty() { Ok(query) } else { Err(misread) }
}

fn apply(query: &mut JobQuery, key: Key, value: &str, me: Option<&UserName>) -> Option<()> {
    match key {
        Key::User => query.users.extend(each(value, |user| match (user, me) {
            ("me", Some(me)) => Some(me.clone()),
            (user, _) => user.parse().ok(),
        })?),
        Key::State => {
            let state = |word: &str| State::from_word(&word.to_ascii_uppercase());
            query.states.extend(each(value, state)?);
        }
        Key::VirtualCluster => {
            query.virtual_clusters.extend(each(value, |name| name.parse().ok())?);
        }
        Key::Gpu => {
            let (least, most) = bounds(value)?;
            query.least_gpus = query.least_gpus.max(least);
            query.most_gpus = [query.most_gpus, most].into_iter().flatten().min();
        }
        Key::Type => query.gpu_types.extend(each(value, |name| name.parse().ok())?),
        Key::Node => query.nodes.extend(each(value, |name| name.parse().ok())?),
        Key::Priority => query.priorities.extend(each(value, priority)?),
        Key::Since => query.since = Some(moment(value, false)?),
        Key::Until => query.until = Some(moment(value, true)?),
        Key::Ended => query.ended_since = Some(moment(value, false)?),
        Key::Tag => query.tags.extend(each(value, |tag| unquoted(tag)?.parse().ok())?),
        Key::Name => query.names.extend(each(value, |part| Some(part.to_owned()))?),
    }
    Some(())
}

/// Values with commas between them; none of them may be empty.
fn each<T>(value: &str, read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    value.split(',').map(|one| if one.is_empty() { None } else { read(one) }).collect()
}

/// A value without the quotes around it; none are in it.
fn unquoted(value: &str) -> Option<&str> {
    let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Some(inner.unwrap_or(value)).filter(|value| !value.contains('"'))
}

fn priority(word: &str) -> Option<Priority> {
    Priority::of_class(word).or_else(|| word.parse().ok().map(Priority))
}

/// The least and the most, in thousandths, of `4`, `>=4`, `>4`, `<=4` and `<4`.
fn bounds(value: &str) -> Option<(Option<u64>, Option<u64>)> {
    let digits = value.trim_start_matches(['<', '>', '=']);
    let milli = thousandths(digits)?;
    match &value[..value.len() - digits.len()] {
        "" | "=" => Some((Some(milli), Some(milli))),
        ">=" => Some((Some(milli), None)),
        ">" => Some((Some(milli + 1), None)),
        "<=" => Some((None, Some(milli))),
        "<" => Some((None, Some(milli.checked_sub(1)?))),
        _ => None,
    }
}

/// Thousandths of a number as people write it: `2`, `0.25`. To read it as one of floating point would take
/// more code, which pages load, than all else here.
fn thousandths(number: &str) -> Option<u64> {
    let (units, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = [units, part].concat();
    let is_number = !digits.is_empty() && digits.bytes().all(|letter| letter.is_ascii_digit());
    if !is_number || units.len() > 12 {
        return None;
    }
    let part: String = part.chars().chain("000".chars()).take(3).collect();
    format!("{units}{part}").parse().ok()
}

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// Reads `7d`, `2026-11-21` and `2026-11-21T14:05:09.250Z`; a day means its first millisecond, or
/// its last one.
fn moment(text: &str, last: bool) -> Option<Moment> {
    if let Some(millis) = instant(text) {
        return Some(Moment::At(Timestamp(millis)));
    }
    if let Some(day) = day(text) {
        let start = day.checked_mul(DAY)?;
        return Some(Moment::At(Timestamp(if last { start + DAY - 1 } else { start })));
    }
    let unit = text.chars().last()?;
    let millis = match unit {
        'm' => MINUTE,
        'h' => 60 * MINUTE,
        'd' => DAY,
        'w' => 7 * DAY,
        _ => return None,
    };
    let number: i64 = text[..text.len() - unit.len_utf8()].parse().ok()?;
    (0..=100_000).contains(&number).then(|| Moment::Ago(number * millis))
}

/// The day of `2026-11-21` counted from 1970-01-01, which is the first one.
pub(crate) fn day(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, '-');
    let year = parts.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let month = Month::try_from(parts.next()?.parse::<u8>().ok()?).ok()?;
    let day = Date::from_calendar_date(year, month, parts.next()?.parse().ok()?).ok()?;
    Some(day.midnight().assume_utc().unix_timestamp() * 1_000 / DAY)
}

/// The millisecond of `2026-11-21T14:05:09Z` or `2026-11-21T14:05:09.250Z`, counted from 1970-01-01.
fn instant(text: &str) -> Option<i64> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let (clock, millis) = clock.split_once('.').unwrap_or((clock, "000"));
    let millis: u16 = millis.parse().ok().filter(|_| millis.len() == 3)?;
    let mut parts = clock.splitn(3, ':').map(|part| part.parse::<u8>().ok());
    let time = Time::from_hms_milli(parts.next()??, parts.next()??, parts.next()??, millis).ok()?;
    let (hour, minute, second, millis) = time.as_hms_milli();
    let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    day(date)?.checked_mul(DAY)?.checked_add(seconds * 1_000 + i64::from(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ada() -> UserName {
        "ada".parse().unwrap()
    }

    fn good(text: &str) -> JobQuery {
        read(text, Some(&ada())).unwrap()
    }

    #[test]
    fn each_key_is_a_condition() {
        let query = good(
            "user:me,bo status:failed,stopped vc:vision gpu:>=2 gpu:<9 type:A100 node:a100-01 \
             priority:prod,7 tag:\"best run\",new name:resnet big model",
        );
        assert_eq!(query.users, [ada(), "bo".parse().unwrap()]);
        assert_eq!(query.states, [State::Failed, State::Stopped]);
        assert_eq!(query.virtual_clusters, ["vision".parse().unwrap()]);
        assert_eq!((query.least_gpus, query.most_gpus), (Some(2000), Some(8999)));
        assert_eq!(query.gpu_types, ["A100".parse().unwrap()]);
        assert_eq!(query.nodes, ["a100-01".parse().unwrap()]);
        assert_eq!(query.priorities, [Priority::PRODUCTION, Priority(7)]);
        let tags: Vec<_> = query.tags.iter().map(Tag::as_str).collect();
        assert_eq!(tags, ["best run", "new"]);
        assert_eq!(query.names, ["resnet"]);
        assert_eq!(query.keyword, "big model");
    }

    #[test]
    fn what_cannot_be_read_is_named_and_nothing_is_asked() {
        for (text, bad) in [
            ("sate:failed a user:x", "sate:failed"),
            ("state:done", "state:done"),
            ("state:failed,", "state:failed,"),
            ("gpu:many", "gpu:many"),
            ("gpu:=>4", "gpu:=>4"),
            ("gpu:<0", "gpu:<0"),
            ("gpu:-1", "gpu:-1"),
            ("gpu:>=.", "gpu:>=."),
            ("gpu:1.2.3", "gpu:1.2.3"),
            ("gpu:9999999999999", "gpu:9999999999999"),
            ("since:yesterday", "since:yesterday"),
            ("since:2026-02-30", "since:2026-02-30"),
            ("until:7", "until:7"),
            ("ended:2026-03-01T25:00:00Z", "ended:2026-03-01T25:00:00Z"),
            ("ended:2026-03-01T14:05:09.25Z", "ended:2026-03-01T14:05:09.25Z"),
            ("since:天", "since:天"),
            ("user:", "user:"),
            ("priority:high", "priority:high"),
            ("tag:", "tag:"),
            ("tag:\"a,b\"", "tag:\"a,b\""),
            ("tag:\"a", "tag:\"a"),
            (":x", ":x"),
        ] {
            let misread = read(text, None).unwrap_err();
            assert_eq!(misread.len(), 1, "{text}");
            assert_eq!(misread[0].word, bad);
            assert!(misread[0].to_string().contains("allowed"), "{}", misread[0]);
        }
    }

    #[test]
    fn every_tag_that_a_filter_can_say_is_found_by_its_word() {
        for tag in ["new", "best run", "最好 的", "a:b", "x\u{3000}y", "50%"] {
            let tag: Tag = tag.parse().unwrap();
            let word = tag_word(&tag).unwrap();
            let query = good(&format!("user:bo {word} state:failed"));
            assert_eq!((query.tags, query.states.len()), (vec![tag], 1), "{word}");
        }
        assert_eq!(tag_word(&"say \"a\"".parse().unwrap()), None);
    }

    #[test]
    fn words_end_at_white_space_outside_of_quotes() {
        let of = |text: &'static str| words(text).collect::<Vec<_>>();
        assert_eq!(of("  a\u{3000}b  "), ["a", "b"]);
        assert_eq!(of("tag:\"a b\",c d"), ["tag:\"a b\",c", "d"]);
        assert_eq!(of("tag:\"a b"), ["tag:\"a", "b"], "nothing closes it");
        assert_eq!(of("say \"a b\""), ["say", "\"a", "b\""], "it stands after no colon");
        assert!(of(" ").is_empty());
    }

    #[test]
    fn parts_of_gpus_are_counted() {
        for (text, milli) in [("0.25", 250), (".5", 500), ("2", 2000), ("1.", 1000), ("8.0", 8000)]
        {
            assert_eq!(good(&format!("gpu:{text}")).least_gpus, Some(milli), "{text}");
        }
    }

    #[test]
    fn moments_are_days_or_so_long_ago() {
        let now = Timestamp(1_000 * DAY);
        let at = |text: &str| good(text).since.unwrap().at(now).0;
        assert_eq!(at("since:7d"), 993 * DAY);
        assert_eq!(at("since:90m"), 1_000 * DAY - 90 * MINUTE);
        assert_eq!(at("since:1970-01-01"), 0);
        assert_eq!(at("since:2000-02-29"), 951_782_400_000);
        let until = good("until:2026-03-01").until.unwrap().at(now).0;
        assert_eq!(until, 1_772_323_200_000 + DAY - 1);
        let ended = |text: &str| good(text).ended_since.unwrap().at(now).0;
        assert_eq!(ended("ended:7d"), 993 * DAY);
        assert_eq!(ended("ended:2026-03-01T14:05:09Z"), 1_772_373_909_000);
        assert_eq!(ended("ended:2026-03-01T14:05:09.250Z"), 1_772_373_909_250);
    }
}
