//! Who lives in the cluster: users who submit and stop jobs and look at them, and nodes that come, go and are
//! emptied.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use crate::bench::berth::Berth;
use crate::bench::random::Random;
use crate::progress::note;

/// Users.
const USERS: u64 = 100;
/// Nodes of eight GPUs that the configuration names, and those that come and go.
const FIXED: usize = 48;
const CHANGING: usize = 16;
/// Nodes that take nothing at the same time, at most.
const MOST_AWAY: usize = 8;
/// Jobs that come in a minute.
const JOBS_A_MINUTE: u32 = 8;
/// While so many wait nobody submits.
const MOST_WAITING: u64 = 200;
/// One of so many minutes something happens to a node.
const BETWEEN_TURNS: u64 = 6;
/// How long jobs run, in minutes: most are short, a few are long.
const MINUTES: [u32; 8] = [1, 2, 5, 5, 10, 20, 45, 180];
/// GPUs of a job.
const GPUS: [u32; 8] = [0, 1, 1, 1, 2, 2, 4, 8];
/// Two are guaranteed half of what is always there, each a little less; jobs of the third give way to them.
const VIRTUAL_CLUSTERS: [&str; 3] = ["vision", "language", "default"];

/// How a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    There,
    Drained,
    /// It is emptied to be removed.
    Leaving,
    Gone,
}

/// Users and nodes.
#[derive(Debug)]
pub(super) struct Town {
    random: Random,
    /// So long is a minute.
    minute: Duration,
    /// What each user signs in with.
    users: Vec<String>,
    nodes: Vec<Node>,
    submitted: u64,
}

/// The server's configuration.
pub(super) fn settings() -> Result<String> {
    let mut text =
        "[retention]\njobs = \"1d\"\nlogs = \"1d\"\nevents = \"1d\"\naudit = \"1d\"\n".to_owned();
    for name in &VIRTUAL_CLUSTERS[..2] {
        let share = FIXED * 8 / 2 - 32;
        write!(
            text,
            "\n[[virtual_clusters]]\nname = \"{name}\"\nshare = {{ gpus = {{ A100 = {share} }} }}\n"
        )?;
    }
    for node in 0..FIXED {
        let (name, address, endpoint) = (name(node), address(node), endpoint(node));
        write!(
            text,
            "\n[[nodes]]\nname = \"{name}\"\naddress = \"{address}\"\nendpoint = \"{endpoint}\"\n"
        )?;
    }
    Ok(text)
}

fn name(node: usize) -> String {
    format!("life-{node}")
}

fn address(node: usize) -> String {
    format!("10.0.9.{}", node + 1)
}

fn endpoint(node: usize) -> String {
    format!("sim://life-{node}?cpus=96&memory_mb=1048576&disk_gb=10000&gpus=8xA100")
}

impl Town {
    /// Adds the users.
    pub(super) fn found(berth: &Berth, random: Random, minute: Duration) -> Result<Self> {
        let users = (0..USERS).map(|number| berth.add_user(&format!("user-{number}")));
        let users = users.collect::<Result<_>>()?;
        let there = |node| if node < FIXED { Node::There } else { Node::Gone };
        let nodes = (0..FIXED + CHANGING).map(there).collect();
        Ok(Self { random, minute, users, nodes, submitted: 0 })
    }

    /// Lives for a minute.
    pub(super) fn live(&mut self, berth: &Berth) -> Result<()> {
        let begun = Instant::now();
        self.act(berth)?;
        thread::sleep(self.minute.saturating_sub(begun.elapsed()));
        Ok(())
    }

    /// What happens in a minute.
    fn act(&mut self, berth: &Berth) -> Result<()> {
        if berth.count("WAITING")? < MOST_WAITING {
            for _ in 0..JOBS_A_MINUTE {
                self.submit(berth)?;
            }
        }
        berth.get("/api/v2/jobs?limit=20&withTotalCount=true")?;
        berth.get("/api/v2/virtual-clusters")?;
        if let Some(job) = self.recent(berth) {
            // It may be over, or not have begun: then there is nothing to stop or to read.
            let _ended = berth.find(&format!("{job}/logs"));
            if self.random.is_one_in(4) {
                let _ended = berth.put(&format!("{job}/executionType"), &json!({"value": "STOP"}));
            }
        }
        if self.random.is_one_in(BETWEEN_TURNS) {
            self.turn(berth)?;
        }
        Ok(())
    }

    /// All nodes that are there take tasks again.
    pub(super) fn rest(&mut self, berth: &Berth) -> Result<()> {
        for node in 0..self.nodes.len() {
            if self.nodes[node] == Node::Drained || self.nodes[node] == Node::Leaving {
                Self::drain(berth, node, &json!({ "value": false }))?;
                self.nodes[node] = Node::There;
            }
        }
        Ok(())
    }

    fn submit(&mut self, berth: &Berth) -> Result<()> {
        let user = self.random.below(USERS);
        let token = usize::try_from(user).ok().and_then(|user| self.users.get(user));
        let token = token.map(String::as_str).unwrap_or_default();
        let job = job(&mut self.random, user, self.submitted, self.minute);
        berth.submit_as(token, &job)?;
        self.submitted += 1;
        Ok(())
    }

    /// The path of one of the last jobs.
    fn recent(&mut self, berth: &Berth) -> Option<String> {
        let number = self.submitted.checked_sub(1 + self.random.below(100))?;
        let listed = berth.get(&format!("/api/v2/jobs?keyword=job-{number}-&limit=1")).ok()?;
        let found = listed.as_array().or_else(|| listed["data"].as_array())?.first()?;
        let (user, name) = (found["username"].as_str()?, found["name"].as_str()?);
        Some(format!("/api/v2/jobs/{user}~{name}"))
    }

    /// Something happens to a node: it is emptied, or takes tasks again, leaves or comes.
    fn turn(&mut self, berth: &Berth) -> Result<()> {
        let away: Vec<usize> = (0..FIXED).filter(|node| self.nodes[*node] != Node::There).collect();
        let count = if away.len() < MOST_AWAY { self.nodes.len() } else { away.len() };
        let drawn = usize::try_from(self.random.below(count as u64))?;
        let node = if away.len() < MOST_AWAY { drawn } else { away[drawn] };
        let path = format!("/api/v2/nodes/{}", name(node));
        self.nodes[node] = match self.nodes[node] {
            Node::There => {
                let leaves = node >= FIXED;
                let now = leaves || self.random.is_one_in(2);
                Self::drain(berth, node, &json!({ "value": true, "now": now }))?;
                if leaves { Node::Leaving } else { Node::Drained }
            }
            Node::Drained => {
                Self::drain(berth, node, &json!({ "value": false }))?;
                Node::There
            }
            // It stays while a task of it is still ending.
            Node::Leaving if berth.delete(&path).is_err() => Node::Leaving,
            Node::Leaving => Node::Gone,
            Node::Gone => {
                let settings = json!({ "address": address(node), "endpoint": endpoint(node) });
                berth.put(&path, &settings)?;
                Node::There
            }
        };
        note(&format!("{} is {:?}", name(node), self.nodes[node]));
        Ok(())
    }

    fn drain(berth: &Berth, node: usize, how: &Value) -> Result<()> {
        berth.put(&format!("/api/v2/nodes/{}/drain", name(node)), how)
    }
}

/// A job of some user: one in ten fails.
fn job(random: &mut Random, user: u64, number: u64, minute: Duration) -> Value {
    let mut one_of = |all: [u32; 8]| all[usize::try_from(random.below(8)).unwrap_or(0)];
    let (minutes, gpus) = (one_of(MINUTES), one_of(GPUS));
    let seconds = (minute * minutes).as_secs_f64();
    let end = if random.is_one_in(10) { "exit 3" } else { "exit 0" };
    let cluster = VIRTUAL_CLUSTERS[usize::try_from(random.below(3)).unwrap_or(0)];
    json!({
        "jobName": format!("job-{number}-of-{user}"),
        "image": "any:latest",
        "virtualCluster": cluster,
        "retryCount": 0,
        "taskRoles": [{
            "name": "main", "taskNumber": 1, "cpuNumber": 2, "memoryMB": 4096,
            "gpuNumber": gpus, "command": format!("sleep {seconds:.3}; {end}"),
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_come_again_with_their_seed() {
        let jobs = |seed| {
            let mut random = Random::new(seed);
            (0..100)
                .map(|number| job(&mut random, 1, number, Duration::from_secs(1)))
                .collect::<Vec<_>>()
        };
        assert_eq!(jobs(3), jobs(3));
        assert_ne!(jobs(3), jobs(4));
        let text = serde_json::to_string(&jobs(3)).unwrap();
        assert!(text.contains("exit 3") && text.contains("sleep 180.000"), "{text}");
    }

    #[test]
    fn nodes_have_names_and_addresses_of_their_own() {
        let text = settings().unwrap();
        assert_eq!(text.matches("[[nodes]]").count(), FIXED);
        assert!(text.contains("A100 = 160"), "{text}");
    }
}
