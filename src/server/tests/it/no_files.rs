use api::files::{
    FileContent, FilePart, FilePath, FileStream, FileUsage, FileView, Files, FolderPage,
    FolderQuery, FolderSize, Upload, Writing,
};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;

/// A storage without files.
pub(crate) struct NoFiles;

fn nothing<T>() -> Result<T> {
    Err(Error::new(ErrorCode::NoFileError, "there are no files"))
}

#[async_trait]
impl Files for NoFiles {
    async fn home(&self, _: &Actor) -> Result<FilePath> {
        nothing()
    }
    async fn stat(&self, _: &Actor, _: &FilePath) -> Result<FileView> {
        nothing()
    }
    async fn list(&self, _: &Actor, _: &FilePath, _: &FolderQuery) -> Result<FolderPage> {
        nothing()
    }
    async fn measure(&self, _: &Actor, _: &FilePath) -> Result<FolderSize> {
        nothing()
    }
    async fn read(&self, _: &Actor, _: &FilePath, _: FilePart) -> Result<FileContent> {
        nothing()
    }
    async fn may_write(&self, _: &Actor, _: &FilePath, _: Writing) -> Result<()> {
        nothing()
    }
    async fn write(&self, _: &Actor, _: &FilePath, _: Writing, _: FileStream) -> Result<()> {
        nothing()
    }
    async fn arrived(&self, _: &Actor, _: &FilePath, _: &Upload) -> Result<u64> {
        nothing()
    }
    async fn upload(
        &self,
        _: &Actor,
        _: &FilePath,
        _: &Upload,
        _: u64,
        _: FileStream,
    ) -> Result<u64> {
        nothing()
    }
    async fn make_folder(&self, _: &Actor, _: &FilePath) -> Result<()> {
        nothing()
    }
    async fn rename(&self, _: &Actor, _: &FilePath, _: &FilePath) -> Result<()> {
        nothing()
    }
    async fn remove(&self, _: &Actor, _: &FilePath, _: bool) -> Result<bool> {
        nothing()
    }
    async fn usage(&self, _: &Actor) -> Result<FileUsage> {
        nothing()
    }
}
