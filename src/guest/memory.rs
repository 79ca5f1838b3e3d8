//! For whose memory the kernel has ended processes of this container.

use std::fs;

/// Where the kernel counts what became of the container's processes for memory.
const EVENTS: &str = "/sys/fs/cgroup/memory.events";

/// Whether processes of this container were ended for the memory of the node, while the container never
/// reached its own limit. Where the kernel does not tell, nobody is blamed for it.
pub(crate) fn ran_out_on_node() -> bool {
    fs::read_to_string(EVENTS).is_ok_and(|events| is_of_node(&events))
}

/// The kernel counts with `oom_kill` whom it has ended, for whatever memory, and with `oom` how often
/// the limit of the container was why.
fn is_of_node(events: &str) -> bool {
    let count = |name: &str| {
        let mut words = events.lines().filter_map(|line| line.split_once(' '));
        words.find(|(word, _)| *word == name)?.1.trim().parse::<u64>().ok()
    };
    count("oom") == Some(0) && count("oom_kill").is_some_and(|ended| ended > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_tells_whose_memory_it_was() {
        let events = |oom: u64, oom_kill: u64| {
            format!("low 0\nhigh 0\nmax 17\noom {oom}\noom_kill {oom_kill}\noom_group_kill 0\n")
        };
        for (oom, oom_kill, of_node) in
            [(0, 0, false), (0, 1, true), (1, 1, false), (2, 1, false), (1, 0, false)]
        {
            assert_eq!(is_of_node(&events(oom, oom_kill)), of_node, "{oom} {oom_kill}");
        }
        assert!(!is_of_node(""), "an older kernel tells nothing");
    }
}
