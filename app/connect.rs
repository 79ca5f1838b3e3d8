//! How a task is entered with each of the tools that people have, as texts to be copied and links
//! to be followed.

use api::ssh::SshTask;
use protocol::ids::JobKey;
use serde::{Deserialize, Serialize};

/// Where editors open: a folder that every image has.
const FOLDER: &str = "/root";

/// What the page is told: everything but the keys themselves, which are downloaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ways {
    pub(crate) job: JobKey,
    pub(crate) user: String,
    /// What the key's file is called.
    pub(crate) key_file: String,
    pub(crate) host_key: String,
    pub(crate) tasks: Vec<SshTask>,
}

impl Ways {
    /// What a task is called in one's own configuration of SSH.
    pub(crate) fn host(&self, task: &SshTask) -> String {
        format!("{}-{}", self.job.name, task.alias())
    }

    /// Where these texts expect the key.
    pub(crate) fn key_path(&self) -> String {
        format!("~/.ssh/{}", self.key_file)
    }

    /// Where these texts expect the key that the job's tasks show, so that nobody poses as one.
    fn known_path(&self) -> String {
        format!("~/.ssh/{}.known", self.key_file)
    }

    /// What that file says: all tasks of the job show the same key, wherever they run.
    fn known_line(&self) -> String {
        format!("{} {}", self.key_file, self.host_key)
    }

    /// How a client is told to take that key and no other.
    fn checks(&self) -> String {
        format!(
            "-o HostKeyAlias={} -o UserKnownHostsFile={} -o StrictHostKeyChecking=yes",
            self.key_file,
            self.known_path()
        )
    }

    /// After the download: where it belongs, and readable by nobody else, as `ssh` wants it; and the
    /// key by which the tasks are known.
    pub(crate) fn keep_key(&self) -> String {
        let path = self.key_path();
        format!(
            "mkdir -p ~/.ssh && mv ~/Downloads/{} {path} && chmod 600 {path} && echo '{}' > {}",
            self.key_file,
            self.known_line(),
            self.known_path()
        )
    }

    /// The same for PowerShell.
    pub(crate) fn keep_key_on_windows(&self) -> String {
        let path = format!("$HOME\\.ssh\\{}", self.key_file);
        format!(
            "Move-Item \"$HOME\\Downloads\\{}\" \"{path}\"; icacls \"{path}\" /inheritance:r /grant:r \"${{env:USERNAME}}:R\"; Set-Content -Encoding ascii \"{path}.known\" '{}'",
            self.key_file,
            self.known_line()
        )
    }

    /// The command for a terminal.
    pub(crate) fn command(&self, task: &SshTask) -> String {
        let (key, checks) = (self.key_path(), self.checks());
        format!("ssh -i {key} {checks} -p {} {}@{}", task.port, self.user, task.address)
    }

    /// A block of `~/.ssh/config` for every task.
    pub(crate) fn config(&self) -> String {
        let blocks = self.tasks.iter().map(|task| {
            format!(
                "Host {}\n    HostName {}\n    Port {}\n    User {}\n    IdentityFile {}\n    IdentitiesOnly yes\n    HostKeyAlias {}\n    UserKnownHostsFile {}\n    StrictHostKeyChecking yes\n",
                self.host(task),
                task.address,
                task.port,
                self.user,
                self.key_path(),
                self.key_file,
                self.known_path()
            )
        });
        blocks.collect::<Vec<_>>().join("\n")
    }

    /// Opens the task in VS Code or an editor made from it, by its name in `~/.ssh/config`.
    pub(crate) fn editor(&self, scheme: &str, task: &SshTask) -> String {
        format!("{scheme}://vscode-remote/ssh-remote+{}{FOLDER}", self.host(task))
    }

    /// Opens JetBrains Gateway with its form filled.
    pub(crate) fn gateway(&self, task: &SshTask) -> String {
        format!(
            "jetbrains-gateway://connect#type=ssh&deploy=true&host={}&port={}&user={}&projectPath={FOLDER}",
            task.address, task.port, self.user
        )
    }

    /// A copy of a file there and back.
    pub(crate) fn copy(&self, task: &SshTask) -> String {
        let (key, checks) = (self.key_path(), self.checks());
        format!("scp -i {key} {checks} -P {} FILE {}@{}:", task.port, self.user, task.address)
    }
}

#[cfg(test)]
mod tests {
    use protocol::state::State;

    use super::*;

    fn ways() -> Ways {
        let task = |index| SshTask {
            role: "worker".parse().unwrap(),
            index,
            container: format!("c{index}"),
            address: "10.0.0.7".into(),
            port: 20_022,
            state: State::Running,
        };
        Ways {
            job: "alice~tf1".parse().unwrap(),
            user: "root".into(),
            key_file: "alice~tf1".into(),
            host_key: "ssh-ed25519 AAAA".into(),
            tasks: vec![task(0), task(1)],
        }
    }

    #[test]
    fn texts_are_ready_to_be_pasted() {
        let ways = ways();
        let task = &ways.tasks[1];
        assert_eq!(
            ways.command(task),
            "ssh -i ~/.ssh/alice~tf1 -o HostKeyAlias=alice~tf1 \
             -o UserKnownHostsFile=~/.ssh/alice~tf1.known -o StrictHostKeyChecking=yes \
             -p 20022 root@10.0.0.7"
        );
        let config = ways.config();
        let second = config.split("\n\n").nth(1).unwrap();
        assert_eq!(
            second,
            "Host tf1-worker-1\n    HostName 10.0.0.7\n    Port 20022\n    User root\n    \
             IdentityFile ~/.ssh/alice~tf1\n    IdentitiesOnly yes\n    \
             HostKeyAlias alice~tf1\n    UserKnownHostsFile ~/.ssh/alice~tf1.known\n    \
             StrictHostKeyChecking yes\n"
        );
        let known = "&& echo 'alice~tf1 ssh-ed25519 AAAA' > ~/.ssh/alice~tf1.known";
        assert!(ways.keep_key().contains("&& chmod 600 ~/.ssh/alice~tf1 "));
        assert!(ways.keep_key().ends_with(known));
        let on_windows = ways.keep_key_on_windows();
        assert!(on_windows.contains("icacls \"$HOME\\.ssh\\alice~tf1\""));
        assert!(on_windows.ends_with("alice~tf1.known\" 'alice~tf1 ssh-ed25519 AAAA'"));
    }

    #[test]
    fn no_text_takes_whatever_key_is_shown() {
        let ways = ways();
        let task = &ways.tasks[0];
        for text in [ways.command(task), ways.copy(task), ways.config()] {
            assert!(text.contains("alice~tf1.known") && !text.contains("accept-new"), "{text}");
        }
    }

    #[test]
    fn links_open_the_task_in_an_editor() {
        let ways = ways();
        let task = &ways.tasks[0];
        assert_eq!(
            ways.editor("vscode", task),
            "vscode://vscode-remote/ssh-remote+tf1-worker-0/root"
        );
        assert!(ways.gateway(task).contains("host=10.0.0.7&port=20022&user=root"));
    }
}
