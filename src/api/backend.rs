use std::fmt;
use std::sync::Arc;

use crate::audit::Audit;
use crate::changes::Changes;
use crate::cluster::{Nodes, VirtualClusters};
use crate::files::Files;
use crate::groups::Groups;
use crate::images::Images;
use crate::jobs::Jobs;
use crate::logs::Logs;
use crate::metrics::Metrics;
use crate::notifications::Notifications;
use crate::proxy::Proxy;
use crate::quarantine::Quarantine;
use crate::queue::Queue;
use crate::saved_views::SavedViews;
use crate::servers::Servers;
use crate::sign_ins::SignIns;
use crate::ssh::Ssh;
use crate::storages::Storages;
use crate::task_files::TaskFiles;
use crate::templates::Templates;
use crate::terminals::Terminals;
use crate::users::Users;

/// All operations. Pages, server functions and REST handlers get the same one.
#[derive(Clone)]
pub struct Backend {
    /// Jobs.
    pub jobs: Arc<dyn Jobs>,
    /// Their turn while they wait.
    pub queue: Arc<dyn Queue>,
    /// Logs of tasks.
    pub logs: Arc<dyn Logs>,
    /// What tasks use over time.
    pub metrics: Arc<dyn Metrics>,
    /// Nodes.
    pub nodes: Arc<dyn Nodes>,
    /// Containers that are not touched.
    pub quarantine: Arc<dyn Quarantine>,
    /// Servers of the cluster.
    pub servers: Arc<dyn Servers>,
    /// Virtual clusters.
    pub virtual_clusters: Arc<dyn VirtualClusters>,
    /// Ports of tasks.
    pub proxy: Arc<dyn Proxy>,
    /// Ways into containers.
    pub ssh: Arc<dyn Ssh>,
    /// Shells in containers.
    pub terminals: Arc<dyn Terminals>,
    /// Files in containers.
    pub task_files: Arc<dyn TaskFiles>,
    /// Who entered what.
    pub audit: Arc<dyn Audit>,
    /// Users, passwords, tokens.
    pub users: Arc<dyn Users>,
    /// Groups of users.
    pub groups: Arc<dyn Groups>,
    /// Signing in by a company's accounts.
    pub sign_ins: Arc<dyn SignIns>,
    /// What people are told when they are not looking.
    pub notifications: Arc<dyn Notifications>,
    /// Users' files.
    pub files: Arc<dyn Files>,
    /// Storages beside them.
    pub storages: Arc<dyn Storages>,
    /// Lists of jobs with names.
    pub saved_views: Arc<dyn SavedViews>,
    /// Job files that people share.
    pub templates: Arc<dyn Templates>,
    /// Images saved from containers.
    pub images: Arc<dyn Images>,
    /// What changes, as it changes.
    pub changes: Arc<dyn Changes>,
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Backend").finish_non_exhaustive()
    }
}
