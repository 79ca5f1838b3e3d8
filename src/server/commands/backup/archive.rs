//! The file itself: a tar archive, compressed by gzip, so that every machine can look into it. Its
//! first entry says what the others are to be, down to their digests; nothing of it is used before
//! all of it was looked at.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use database::copies::Contents;
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::staging::Staging;

/// The database, as a SQLite file.
pub(crate) const DATABASE: &str = "berth.db";
/// What seals secrets; it is called so in the data folder as well.
pub(crate) const KEY: &str = "secret.key";
/// The configuration file.
pub(crate) const CONFIGURATION: &str = "berth.toml";
/// The list of the users' files.
pub(crate) const FILES: &str = "files.tsv";
/// Everything that there may be.
const PARTS: [&str; 4] = [DATABASE, KEY, CONFIGURATION, FILES];
/// What says of the others what they are to be.
const MANIFEST: &str = "manifest.json";
/// More than it ever has, in bytes.
const LONGEST_MANIFEST: u64 = 1 << 20;
/// The form that this version writes, and the latest that it reads.
const FORMAT: u32 = 1;

/// What there is to be said of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: u32,
    /// The version that made it.
    pub(crate) berth: String,
    /// When, in UTC.
    pub(crate) made_at: String,
    /// What the database was.
    database: String,
    /// The last step of its tables' history.
    pub(crate) tables: String,
    /// How many rows each table has.
    rows: BTreeMap<String, u64>,
    parts: BTreeMap<String, Part>,
}

/// What an entry is to be.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    bytes: u64,
    sha256: String,
}

/// What a manifest cannot find out by itself.
pub(crate) struct Made {
    /// Of which kind the database is.
    pub(crate) kind: &'static str,
    pub(crate) contents: Contents,
}

impl Manifest {
    /// Whether there is a configuration file in it, or a list of files.
    pub(crate) fn has(&self, part: &str) -> bool {
        self.parts.contains_key(part)
    }
}

/// For people.
impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { berth, made_at, database, tables, .. } = self;
        let rows = |table: &str| self.rows.get(table).copied().unwrap_or_default();
        let (jobs, users) = (rows("jobs"), rows("users"));
        let size = self.parts.get(DATABASE).map_or(0, |part| part.bytes).div_ceil(1_000_000);
        write!(
            f,
            "made {made_at} by Berth {berth} from {database}: {jobs} jobs and {users} users in \
             {size} MB, tables as of {tables}"
        )
    }
}

/// Writes all parts that are staged, and waits for the disk.
pub(crate) fn write(staging: &Staging, made: Made, to: &Path) -> anyhow::Result<Manifest> {
    let mut parts = BTreeMap::new();
    for name in PARTS {
        let path = staging.path(name);
        if path.exists() {
            parts.insert(name.to_owned(), measure(&path)?);
        }
    }
    let Made { kind, contents: Contents { tables, rows } } = made;
    let manifest = Manifest {
        format: FORMAT,
        berth: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: moment(OffsetDateTime::now_utc()),
        database: kind.to_owned(),
        tables,
        rows,
        parts,
    };
    let file = File::options().create(true).truncate(true).write(true).mode(0o600).open(to)?;
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::fast()));
    let text = serde_json::to_vec_pretty(&manifest)?;
    archive.append_data(&mut header(text.len() as u64), MANIFEST, text.as_slice())?;
    for (name, part) in &manifest.parts {
        let content = File::open(staging.path(name))?.take(part.bytes);
        archive.append_data(&mut header(part.bytes), name, content)?;
    }
    archive.into_inner()?.finish()?.sync_all()?;
    Ok(manifest)
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o600);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(OffsetDateTime::now_utc().unix_timestamp().unsigned_abs());
    header
}

fn moment(at: OffsetDateTime) -> String {
    let (hour, minute, second) = at.to_hms();
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", at.date())
}

fn measure(path: &Path) -> anyhow::Result<Part> {
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(pass(&mut BufReader::new(file), &mut io::sink())?)
}

/// Reads a file to its end, and says what it is.
pub(crate) fn read(file: &Path, staging: &Staging) -> anyhow::Result<Manifest> {
    let source = File::open(file)?;
    let mut archive = tar::Archive::new(GzDecoder::new(BufReader::new(source)));
    let mut entries = archive.entries()?;
    let first = entries.next().context("it is empty")?.context(FOREIGN)?;
    let manifest = manifest(first)?;
    let mut seen = BTreeMap::new();
    for entry in entries {
        let mut entry = entry.context(DAMAGED)?;
        let name = entry.path()?.to_string_lossy().into_owned();
        ensure!(PARTS.contains(&name.as_str()), "{DAMAGED}: nothing is called {name:?} in it");
        let path = staging.path(&name);
        let mut to = File::options().create_new(true).write(true).mode(0o600).open(path)?;
        seen.insert(name, pass(&mut entry, &mut to).map_err(not_unpacked)?);
    }
    // The checksum of the whole stands at its end.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(not_unpacked)?;
    ensure!(seen == manifest.parts, "{DAMAGED}: its parts are not what they were");
    ensure!(manifest.has(DATABASE) && manifest.has(KEY), "{DAMAGED}: it lacks database or key");
    Ok(manifest)
}

const DAMAGED: &str = "it is damaged";
const FOREIGN: &str = "it is damaged, or no file that `berth backup` has made";

/// What the system says is a matter of disks, and all else one of what was read.
fn not_unpacked(error: io::Error) -> anyhow::Error {
    let is_of_system = error.raw_os_error().is_some();
    let why = if is_of_system { "it cannot be unpacked" } else { DAMAGED };
    anyhow::Error::new(error).context(why)
}

/// The form alone, which every version can read.
#[derive(Deserialize)]
struct Form {
    format: u32,
    berth: String,
}

fn manifest(first: tar::Entry<'_, impl Read>) -> anyhow::Result<Manifest> {
    ensure!(first.path()?.as_os_str() == MANIFEST, "{FOREIGN}");
    let mut text = Vec::new();
    first.take(LONGEST_MANIFEST).read_to_end(&mut text).context(DAMAGED)?;
    let Form { format, berth } = serde_json::from_slice(&text).context(FOREIGN)?;
    if format > FORMAT {
        bail!(
            "it was made by Berth {berth}, which is newer than this one, {}",
            env!("CARGO_PKG_VERSION")
        );
    }
    serde_json::from_slice(&text).context(FOREIGN)
}

/// Passes everything on, and measures it.
fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<Part> {
    let (mut digest, mut bytes) = (Sha256::new(), 0);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        digest.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
        bytes += read as u64;
    }
    Ok(Part { bytes, sha256: hex::encode(digest.finalize()) })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn staged(folder: &Path) -> Staging {
        let staging = Staging::new(folder.join("staging")).unwrap();
        for (name, text) in [(DATABASE, "rows ".repeat(20_000)), (KEY, "k".repeat(32))] {
            fs::write(staging.path(name), text).unwrap();
        }
        staging
    }

    fn write_to(folder: &Path) -> PathBuf {
        let file = folder.join("backup");
        let rows = BTreeMap::from([("jobs".to_owned(), 7)]);
        let contents = Contents { tables: "m1".to_owned(), rows };
        write(&staged(folder), Made { kind: "SQLite", contents }, &file).unwrap();
        file
    }

    fn read_from(file: &Path) -> anyhow::Result<(Manifest, String)> {
        let folder = tempfile::tempdir()?;
        let staging = Staging::new(folder.path().join("read"))?;
        let manifest = read(file, &staging)?;
        Ok((manifest, fs::read_to_string(staging.path(DATABASE))?))
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = write_to(folder.path());
        let (manifest, database) = read_from(&file).unwrap();
        assert_eq!(database, "rows ".repeat(20_000));
        assert!(manifest.has(KEY) && !manifest.has(CONFIGURATION));
        let said = manifest.to_string();
        assert!(said.contains("7 jobs") && said.contains("tables as of m1"), "{said}");
    }

    #[test]
    fn whatever_is_damaged_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = write_to(folder.path());
        let whole = fs::read(&file).unwrap();
        let (manifest, database) = read_from(&file).unwrap();
        let same = (manifest.to_string(), database);
        // Of the first ten bytes some mean nothing: what made it, and when. The last bits before
        // the checksum mean nothing either, and what repeats itself has more than one packed form.
        let places: Vec<usize> = (10..whole.len()).step_by(5).collect();
        let mut accepted = 0;
        for &place in &places {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x10;
            fs::write(&file, &damaged).unwrap();
            if let Ok((manifest, database)) = read_from(&file) {
                assert!((manifest.to_string(), database) == same, "byte {place} is taken as it is");
                accepted += 1;
            }
        }
        assert!(accepted * 10 < places.len(), "{accepted} of {} change nothing", places.len());
        for length in (0..whole.len()).step_by(17) {
            fs::write(&file, &whole[..length]).unwrap();
            assert!(read_from(&file).is_err(), "the first {length} of {}", whole.len());
        }
    }

    #[test]
    fn what_is_of_a_newer_form_or_no_backup_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        let pack = |name: &str, text: &str| {
            let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
            archive.append_data(&mut header(text.len() as u64), name, text.as_bytes()).unwrap();
            fs::write(&file, archive.into_inner().unwrap().finish().unwrap()).unwrap();
            format!("{:#}", read_from(&file).unwrap_err())
        };
        let newer = pack(MANIFEST, r#"{"format": 2, "berth": "9.0.0"}"#);
        assert!(newer.contains("Berth 9.0.0, which is newer"), "{newer}");
        assert!(pack("holiday.jpg", "x").contains("no file that `berth backup`"));
        fs::write(&file, "these are my notes").unwrap();
        assert!(read_from(&file).is_err());
    }
}
