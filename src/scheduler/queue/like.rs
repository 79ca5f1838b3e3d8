//! What makes jobs alike.

use protocol::amount::Amount;
use protocol::ids::{JobName, UserName, VirtualClusterName};

use crate::model::{Request, RoleRequest};

/// What makes runs alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Like {
    /// Where they counted.
    pub virtual_cluster: VirtualClusterName,
    /// Whose they were.
    pub user: UserName,
    /// GPUs of all tasks.
    pub gpus: Amount,
    /// What they were called; `None`: nobody says.
    pub name: Option<JobName>,
    /// Their image; likewise.
    pub image: Option<String>,
}

impl From<&Request> for Like {
    fn from(request: &Request) -> Self {
        let (virtual_cluster, user) = (request.virtual_cluster.clone(), request.user.clone());
        Self { virtual_cluster, user, gpus: gpus(request), name: None, image: None }
    }
}

fn gpus(request: &Request) -> Amount {
    let of = |role: &RoleRequest| {
        Amount::from_milli(role.demand.all_gpu_milli()).times(role.count.into())
    };
    request.roles.iter().map(of).sum()
}

/// A name without the number or date at its end, or the six letters and digits of a clone: what runs
/// again and again has another each time.
pub(super) fn stem(name: &str) -> &str {
    let of_clone = |ending: &str| {
        let mut bytes = ending.bytes();
        ending.len() == 6 && bytes.all(|b| b.is_ascii_digit() || b.is_ascii_lowercase())
    };
    let named = name.rsplit_once('_').filter(|(_, ending)| of_clone(ending));
    let name = named.map_or(name, |(before, _)| before);
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || "-_.~".contains(c));
    if stem.is_empty() { name } else { stem }
}

/// An image without its tag or digest: what is built again and again has another each time.
pub(super) fn repository(image: &str) -> &str {
    let image = image.split_once('@').map_or(image, |(name, _)| name);
    match image.rsplit_once(':') {
        // What follows the colon of a registry's port has a slash.
        Some((name, tag)) if !tag.contains('/') => name,
        Some(_) | None => image,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_images_are_alike_whatever_their_numbers() {
        for name in ["train", "train-7", "train_20261122", "train-7_1a2b3c", "train.3~"] {
            assert_eq!(stem(name), "train");
        }
        assert_eq!(stem("2026"), "2026");
        for image in
            ["hub:5000/lab/torch", "hub:5000/lab/torch:2.4", "hub:5000/lab/torch@sha256:0a"]
        {
            assert_eq!(repository(image), "hub:5000/lab/torch");
        }
        assert_eq!(repository("torch:2.4@sha256:0a"), "torch");
    }
}
