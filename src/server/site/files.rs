use std::fmt;
use std::path::PathBuf;

use bytes::Bytes;

/// Where the files are.
#[derive(Debug, Default)]
pub(super) enum Files {
    /// Nowhere.
    #[default]
    None,
    /// In a folder.
    Folder(PathBuf),
    /// In the binary.
    #[cfg(feature = "embed")]
    Embedded,
}

impl Files {
    /// A folder that is named wins over what the binary has.
    pub(super) fn open(folder: Option<PathBuf>) -> Self {
        match folder {
            Some(folder) => Files::Folder(folder),
            None => Self::built_in(),
        }
    }

    #[cfg(feature = "embed")]
    fn built_in() -> Self {
        Files::Embedded
    }

    #[cfg(not(feature = "embed"))]
    fn built_in() -> Self {
        Files::None
    }

    /// Reads a file without waiting for others: only while starting.
    pub(super) fn read_now(&self, path: &str) -> Option<Bytes> {
        match self {
            Files::None => None,
            Files::Folder(folder) => std::fs::read(folder.join(path)).ok().map(Bytes::from),
            #[cfg(feature = "embed")]
            Files::Embedded => embedded::read(path),
        }
    }

    /// Reads a file. The path has been checked: it leads nowhere else.
    pub(super) async fn read(&self, path: &str) -> Option<Bytes> {
        match self {
            Files::None => None,
            Files::Folder(folder) => tokio::fs::read(folder.join(path)).await.ok().map(Bytes::from),
            #[cfg(feature = "embed")]
            Files::Embedded => embedded::read(path),
        }
    }
}

impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Files::None => f.write_str("nowhere"),
            Files::Folder(folder) => folder.display().fmt(f),
            #[cfg(feature = "embed")]
            Files::Embedded => f.write_str("the binary"),
        }
    }
}

#[cfg(feature = "embed")]
mod embedded {
    use std::borrow::Cow;

    use bytes::Bytes;
    use rust_embed::RustEmbed;

    /// The site folder as it was when the binary was compiled.
    #[derive(RustEmbed)]
    #[folder = "$BERTH_SITE"]
    struct Folder;

    pub(super) fn read(path: &str) -> Option<Bytes> {
        let file = Folder::get(path)?;
        Some(match file.data {
            Cow::Borrowed(bytes) => Bytes::from_static(bytes),
            Cow::Owned(bytes) => Bytes::from(bytes),
        })
    }
}
