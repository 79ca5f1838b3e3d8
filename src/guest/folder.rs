//! The guest's folder in the container and the files in it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use protocol::guest::{
    AUTHORIZED_KEYS, BEGUN, CONFIG, EXIT, FOLDER, GuestConfig, GuestExit, GuestSsh, VARIABLE,
};

/// The running program, also where its file has gone.
const ITSELF: &str = "/proc/self/exe";

/// The folder of programs in ours.
const BIN: &str = "bin";

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// There is none, or it may not be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what it should be.
    #[error("{from} is no configuration: {source}")]
    Invalid {
        /// The file, or the variable.
        from: String,
        /// Why.
        source: serde_json::Error,
    },
}

/// The folder, whose configuration may have another name than usual.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The file of the configuration; without one it is in the [`VARIABLE`].
    config: Option<PathBuf>,
}

impl Folder {
    /// Where it is in every container.
    pub(crate) fn usual() -> Self {
        Self::at(FOLDER.into())
    }

    fn at(path: PathBuf) -> Self {
        let told = std::env::var_os(VARIABLE).is_some();
        Self { config: (!told).then(|| path.join(CONFIG)), path }
    }

    /// The folder that a configuration lies in.
    pub(crate) fn of_config(config: PathBuf) -> Self {
        let path = std::path::absolute(&config).unwrap_or_else(|_| config.clone());
        Self { path: path.parent().unwrap_or(Path::new("/")).to_owned(), config: Some(config) }
    }

    /// The folder of the running program: how the clients find it.
    pub(crate) fn of_program() -> Self {
        let program = fs::read_link(ITSELF).ok();
        let folder = program.as_deref().and_then(Path::parent).and_then(Path::parent);
        Self::at(folder.map_or(FOLDER.into(), Path::to_owned))
    }

    /// Reads the configuration.
    pub(crate) fn config(&self) -> Result<GuestConfig, ConfigError> {
        let (text, from) = match self.config.clone() {
            None => {
                (std::env::var_os(VARIABLE).unwrap_or_default().into_vec(), VARIABLE.to_owned())
            }
            Some(path) => match fs::read(&path) {
                Ok(text) => (text, path.display().to_string()),
                Err(source) => return Err(ConfigError::Unreadable { path, source }),
            },
        };
        serde_json::from_slice(&text).map_err(|source| ConfigError::Invalid { from, source })
    }

    /// Writes down where the other tasks are, for the clients; not the command, which may hold
    /// secrets.
    pub(crate) fn keep(&self, ssh: &GuestSsh) -> io::Result<()> {
        if self.config.is_some() {
            return Ok(());
        }
        let config = GuestConfig {
            command: String::new(),
            run: None,
            start_in: None,
            code_name: None,
            keep_on_failure_secs: None,
            ports: Vec::new(),
            own_network: false,
            ssh: Some(ssh.clone()),
            lease: None,
        };
        write(&self.path.join(CONFIG), &serde_json::to_vec(&config)?, 0o600)
    }

    /// Writes down who may enter, unless somebody has done so already.
    pub(crate) fn admit(&self, keys: &[String]) -> io::Result<()> {
        let path = self.authorized_keys();
        if keys.is_empty() || path.exists() {
            return Ok(());
        }
        write(&path, (keys.join("\n") + "\n").as_bytes(), 0o600)
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The public keys that may enter.
    pub(crate) fn authorized_keys(&self) -> PathBuf {
        self.path.join(AUTHORIZED_KEYS)
    }

    /// The private key for the other tasks.
    pub(crate) fn key(&self) -> PathBuf {
        self.path.join("key")
    }

    /// The public key that all tasks of the job show.
    pub(crate) fn known_hosts(&self) -> PathBuf {
        self.path.join("known_hosts")
    }

    /// The other tasks, as an OpenSSH client wants to be told.
    pub(crate) fn ssh_config(&self) -> PathBuf {
        self.path.join("ssh_config")
    }

    /// The folder at the end of the `PATH`.
    pub(crate) fn programs(&self) -> PathBuf {
        self.path.join(BIN)
    }

    /// The program's file, by whichever name leads to it.
    pub(crate) fn program(&self) -> PathBuf {
        let itself = Path::new(ITSELF);
        if itself.exists() { itself.to_owned() } else { self.programs().join("guest") }
    }

    /// Makes the clients' names where they are missing.
    pub(crate) fn link_clients(&self) -> io::Result<()> {
        let programs = self.programs();
        fs::create_dir_all(&programs)?;
        let beside = programs.join("guest").exists();
        let target = if beside { "guest".into() } else { std::env::current_exe()? };
        for name in ["ssh", "scp"] {
            match symlink(&target, programs.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Notes that the run of this name begins; `false`: it has begun here before. Where nothing can be written
    /// that is never known.
    pub(crate) fn begin(&self, run: &str) -> bool {
        let path = self.path.join(BEGUN);
        if fs::read(&path).is_ok_and(|begun| begun == run.as_bytes()) {
            return false;
        }
        let _noted = write(&path, run.as_bytes(), 0o644);
        true
    }

    /// Tells how the command ended.
    pub(crate) fn write_exit(&self, exit: &GuestExit) -> io::Result<()> {
        write(&self.path.join(EXIT), &serde_json::to_vec(exit)?, 0o644)
    }
}

/// Writes a whole file with these permissions, so that nobody ever sees half of it or more of it
/// than he may.
pub(crate) fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let fresh = path.with_file_name(name);
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&fresh)?;
    file.write_all(content)?;
    fs::rename(&fresh, path)
}
