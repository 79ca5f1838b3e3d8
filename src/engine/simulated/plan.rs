use std::time::Duration;

/// What a container will do, read from its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) duration: Duration,
    pub(super) code: i32,
    pub(super) oom_killed: bool,
    pub(super) ignores_term: bool,
    /// It says something each time so much has gone by.
    pub(super) speaks_every: Option<Duration>,
}

/// Nobody speaks more often.
const SHORTEST: Duration = Duration::from_millis(10);

impl Plan {
    /// Reads a command; `default` is how long one runs that does not say.
    pub(super) fn of(command: &str, default: Duration) -> Self {
        let words: Vec<&str> = command
            .split(|c: char| c.is_whitespace() || ";&|()'\"`{}".contains(c))
            .filter(|word| !word.is_empty())
            .collect();
        let mut sleeps = words.windows(2).filter(|pair| pair[0] == "sleep").filter_map(seconds);
        let duration = sleeps.next().map(|first| sleeps.fold(first, Duration::saturating_add));
        let oom_killed = words.windows(2).any(|pair| pair == ["tail", "/dev/zero"]);
        let code = if oom_killed { 137 } else { code(&words) };
        let mut watches = words.windows(3).filter(|three| three[..2] == ["watch", "-n"]);
        let speaks_every = watches.find_map(|three| seconds(&three[1..]));
        Self {
            duration: duration.unwrap_or(default),
            code,
            oom_killed,
            ignores_term: command.contains("trap ''"),
            speaks_every: speaks_every.map(|every| every.max(SHORTEST)),
        }
    }
}

fn seconds(pair: &[&str]) -> Option<Duration> {
    Duration::try_from_secs_f64(pair[1].parse().ok()?).ok()
}

fn code(words: &[&str]) -> i32 {
    let exit = words
        .windows(2)
        .filter(|pair| pair[0] == "exit")
        .find_map(|pair| pair[1].parse::<u8>().ok().map(i32::from));
    let kill =
        words.windows(3).filter(|three| three[0] == "kill" && three[2] == "$$").find_map(|three| {
            three[1].strip_prefix('-')?.parse::<u8>().ok().map(|signal| 128 + i32::from(signal))
        });
    exit.or(kill).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_say_what_happens() {
        let plan = |command| Plan::of(command, Duration::from_secs(9));
        assert_eq!(plan("python train.py").duration, Duration::from_secs(9));
        assert_eq!(plan("sleep 0").duration, Duration::ZERO);
        assert_eq!(plan("echo a; sleep 1.5 && (sleep 2); exit 3").duration.as_millis(), 3500);
        assert_eq!(plan("echo a; sleep 1 && exit 3").code, 3);
        assert_eq!(plan("bash -c 'exit 7'").code, 7);
        assert_eq!(plan("exit").code, 0);
        assert_eq!(plan("kill -9 $$").code, 137);
        assert_eq!((plan("tail /dev/zero").code, plan("tail /dev/zero").oom_killed), (137, true));
        assert!(plan("trap '' TERM; sleep 100").ignores_term);
        let watches = plan("watch -n 0.2 date & sleep 60");
        assert_eq!(watches.speaks_every, Some(Duration::from_millis(200)));
        assert_eq!(watches.duration, Duration::from_secs(60));
        assert_eq!(plan("watch -n 0 date").speaks_every, Some(SHORTEST));
        assert_eq!(plan("sleep 1").speaks_every, None);
        assert_eq!(plan("sleep forever").duration, Duration::from_secs(9));
    }
}
