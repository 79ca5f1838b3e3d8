use std::collections::BTreeMap;
use std::io::Read;

use bytes::Bytes;

use crate::model::{EngineError, Result};

/// The files put into a simulated container, by absolute path.
#[derive(Debug, Clone, Default)]
pub(super) struct Files(BTreeMap<String, File>);

/// The files of saved images, by explicit name.
pub(super) type Saved = BTreeMap<String, Files>;

#[derive(Debug, Clone)]
struct File {
    mode: u32,
    content: Vec<u8>,
}

impl Files {
    pub(super) fn unpack(&mut self, folder: &str, tar: &[u8]) -> Result<()> {
        let refuse = |error: std::io::Error| EngineError::Refused(format!("not a tar: {error}"));
        let mut archive = tar::Archive::new(tar);
        for entry in archive.entries().map_err(refuse)? {
            let mut entry = entry.map_err(refuse)?;
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let path = entry.path().map_err(refuse)?.to_string_lossy().into_owned();
            let mode = entry.header().mode().map_err(refuse)?;
            let mut content = Vec::new();
            entry.read_to_end(&mut content).map_err(refuse)?;
            let path =
                format!("{}/{}", folder.trim_end_matches('/'), path.trim_start_matches("./"));
            self.0.insert(path, File { mode, content });
        }
        Ok(())
    }

    pub(super) fn put(&mut self, path: &str, content: Vec<u8>) {
        self.0.insert(path.to_owned(), File { mode: 0o644, content });
    }

    /// What they take.
    pub(super) fn bytes(&self) -> u64 {
        self.0.values().map(|file| file.content.len() as u64).sum()
    }

    /// All of them.
    pub(super) fn pack_all(&self) -> Result<Bytes> {
        if self.0.is_empty() {
            return tar::Builder::new(Vec::new()).into_inner().map(Bytes::from).map_err(failed);
        }
        self.pack("/")
    }

    /// A file, or a folder with what is in it, under its last name.
    pub(super) fn pack(&self, path: &str) -> Result<Bytes> {
        let path = path.trim_end_matches('/');
        let parent = path.rfind('/').map_or(0, |slash| slash + 1);
        let mut builder = tar::Builder::new(Vec::new());
        let mut count = 0;
        for (name, file) in &self.0 {
            let inside = name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
            if name != path && !inside {
                continue;
            }
            let mut header = tar::Header::new_gnu();
            header.set_size(file.content.len() as u64);
            header.set_mode(file.mode);
            let shown = name[parent..].trim_start_matches('/');
            builder.append_data(&mut header, shown, file.content.as_slice()).map_err(failed)?;
            count += 1;
        }
        if count == 0 {
            return Err(EngineError::Refused(format!("no {path} in the container")));
        }
        builder.into_inner().map(Bytes::from).map_err(failed)
    }
}

fn failed(error: std::io::Error) -> EngineError {
    EngineError::Failed(error.to_string())
}
