//! A private PostgreSQL for this test process.
//!
//! A shell holds it: it starts the server, and stops it and removes its files as soon as its
//! standard input closes, which happens when the test process ends in whatever way.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use database::{ConnectionTrait as _, Database};

const MISSING: &str = "PostgreSQL's initdb, pg_ctl and postgres were found neither in PATH nor in \
    /usr/lib/postgresql/*/bin; install them: apt-get install postgresql (or: cargo xtask setup)";

const SCRIPT: &str = r#"
set -e
cd "$DIR"
trap 'pg_ctl -D data -m immediate stop >/dev/null 2>&1; rm -rf "$DIR"' EXIT
initdb -D data -A trust -U postgres -E UTF8 --locale=C --no-sync >initdb.log 2>&1 ||
    { cat initdb.log; exit 1; }
pg_ctl -D data -l server.log -w -t 60 \
    -o "-F -h 127.0.0.1 -p $PORT -k $DIR -c max_connections=300" start >start.log 2>&1 ||
    { cat start.log server.log; exit 1; }
echo ready
read -r _ || true
"#;

struct Server {
    port: u16,
    /// Its standard input is what keeps the server running.
    _holder: Child,
}

/// The URL of a new, empty database on this process's server.
pub(crate) async fn new_database() -> Result<String> {
    static SERVER: OnceLock<Result<Server>> = OnceLock::new();
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let started = tokio::task::spawn_blocking(|| SERVER.get_or_init(start)).await?;
    let server = started.as_ref().map_err(|error| anyhow!("{error:#}"))?;
    let base = format!("postgres://postgres@127.0.0.1:{}", server.port);
    let name = format!("t{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let admin = Database::open(&format!("{base}/postgres")).await?;
    admin.read().execute_unprepared(&format!("CREATE DATABASE {name}")).await?;
    admin.close().await?;
    Ok(format!("{base}/{name}"))
}

fn start() -> Result<Server> {
    let bin = binaries().context(MISSING)?;
    let folder = tempfile::Builder::new().prefix("berth-pg-").tempdir()?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", SCRIPT]).env("DIR", folder.path()).env("PORT", port.to_string());
    shell.env("PATH", path).env_remove("PGDATA").stdin(Stdio::piped()).stdout(Stdio::piped());
    shell.process_group(0);
    if folder.path().metadata()?.uid() == 0 {
        let (user, group) = unprivileged()?;
        chown(folder.path(), Some(user), Some(group))?;
        shell.uid(user).gid(group);
    }
    let mut holder = shell.spawn()?;
    // From here on the shell removes the folder.
    let folder = folder.keep();
    let mut said = String::new();
    let output = holder.stdout.take().context("the shell has an output")?;
    for line in BufReader::new(output).lines() {
        let line = line?;
        if line == "ready" {
            return Ok(Server { port, _holder: holder });
        }
        said.push_str(&line);
        said.push('\n');
    }
    bail!("PostgreSQL did not start in {}:\n{said}", folder.display())
}

/// The folder with all three programs.
fn binaries() -> Option<PathBuf> {
    let whole = |folder: &Path| {
        ["initdb", "pg_ctl", "postgres"].iter().all(|program| folder.join(program).is_file())
    };
    let path = std::env::var_os("PATH")?;
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    folders.into_iter().find(|folder| whole(folder))
}

/// PostgreSQL refuses to run as root.
fn unprivileged() -> Result<(u32, u32)> {
    let users = std::fs::read_to_string("/etc/passwd")?;
    ["postgres", "nobody"]
        .into_iter()
        .find_map(|wanted| users.lines().find_map(|line| ids_of(line, wanted)))
        .context("there is no user postgres or nobody to run PostgreSQL as")
}

fn ids_of(line: &str, wanted: &str) -> Option<(u32, u32)> {
    let mut fields = line.split(':');
    (fields.next()? == wanted).then_some(())?;
    let mut numbers = fields.skip(1).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
