//! The users' files, listed: what there was, to be compared with what there is after a restore. The
//! files themselves, and the logs of ended tasks, are the storage's to keep.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use storage::{EntryKind, Storage, StoragePath};

/// Entries that are asked for at a time.
const PAGE: usize = 1_000;

/// What has become of the files of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    /// So many were listed.
    pub(crate) listed: u64,
    /// So many are not there, or of another size.
    pub(crate) missing: u64,
    /// The first of them.
    pub(crate) examples: Vec<String>,
}

/// So many examples are told.
const EXAMPLES: usize = 10;

/// Writes size, time of the last change and path of each file, a line each.
pub(crate) async fn list(storage: &Storage, list: &Path) -> anyhow::Result<()> {
    let mut list = BufWriter::new(File::create(list)?);
    let mut folders = vec![storage.resolve("/")?];
    while let Some(folder) = folders.pop() {
        let mut after: Option<String> = None;
        loop {
            let page = storage.list(&folder, after.as_deref(), PAGE).await?;
            for entry in &page.entries {
                // What cannot be named is nobody's file.
                let Some(path) = folder.child(&entry.name) else { continue };
                match entry.kind {
                    EntryKind::Folder => folders.push(path),
                    EntryKind::File => {
                        let changed = entry.modified.map(|at| at.to_string()).unwrap_or_default();
                        writeln!(list, "{}\t{changed}\t{path}", entry.size)?;
                    }
                    EntryKind::Link => {}
                }
            }
            match page.entries.last() {
                Some(last) if page.more => after = Some(last.name.clone()),
                Some(_) | None => break,
            }
        }
    }
    Ok(list.into_inner()?.sync_all()?)
}

/// Looks whether the files of a list are there, each as large as it was.
pub(crate) async fn compare(storage: &Storage, list: &Path) -> anyhow::Result<Compared> {
    let mut compared = Compared::default();
    for line in BufReader::new(File::open(list)?).lines() {
        let line = line?;
        let (size, path) = read(storage, &line).with_context(|| format!("the line {line:?}"))?;
        compared.listed += 1;
        let is_there = storage.find(&path).await?.is_some_and(|entry| entry.size == size);
        if !is_there {
            compared.missing += 1;
            if compared.examples.len() < EXAMPLES {
                compared.examples.push(path.to_string());
            }
        }
    }
    Ok(compared)
}

fn read(storage: &Storage, line: &str) -> anyhow::Result<(u64, StoragePath)> {
    let mut fields = line.splitn(3, '\t');
    let size = fields.next().context("a size")?.parse()?;
    let path = fields.nth(1).context("a path")?;
    Ok((size, storage.resolve(path)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_that_are_gone_or_have_shrunk_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("storage");
        std::fs::create_dir_all(place.join("alice/deep er/x")).unwrap();
        std::fs::create_dir_all(place.join("bob")).unwrap();
        for (name, text) in [("alice/deep er/x/y", "1234"), ("alice/z", ""), ("bob/a", "12")] {
            std::fs::write(place.join(name), text).unwrap();
        }
        let storage = Storage::open(place.to_str().unwrap()).unwrap();
        let listed = folder.path().join("list");
        list(&storage, &listed).await.unwrap();
        let found = compare(&storage, &listed).await.unwrap();
        assert_eq!(found, Compared { listed: 3, ..Compared::default() });
        std::fs::remove_file(place.join("alice/deep er/x/y")).unwrap();
        std::fs::write(place.join("bob/a"), "1").unwrap();
        let mut found = compare(&storage, &listed).await.unwrap();
        found.examples.sort();
        assert_eq!(found.examples, ["/alice/deep er/x/y", "/bob/a"]);
        assert_eq!((found.listed, found.missing), (3, 2));
    }
}
