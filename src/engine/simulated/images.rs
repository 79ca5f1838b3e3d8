//! Images saved from simulated containers: their files, and a size that follows from them.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use protocol::architecture::Architecture;
use protocol::image::{SavedImage, canonical, explicit, repository};
use protocol::spec::RegistryAuth;

use super::Simulated;
use super::container::WRITTEN;
use super::faults::Call;
use super::files::Files;
use super::node::State;
use super::streams::refusal;
use crate::images::{ImageSize, Images};
use crate::model::{EngineError, Result};

/// What every simulated image takes, in bytes.
const BASE: u64 = 64_000_000;

impl State {
    /// Whether a saved image is here; `None`: it is none.
    pub(super) fn has_saved(&self, image: &str) -> Option<bool> {
        let there = self.images.contains_key(&explicit(image));
        (there || SavedImage::read(image).is_some()).then_some(there)
    }

    fn saved(&self, image: &str) -> Result<&Files> {
        self.images.get(&explicit(image)).ok_or_else(|| no_image(image))
    }
}

fn no_image(image: &str) -> EngineError {
    EngineError::NoImage { image: image.to_owned(), message: format!("No such image: {image}") }
}

#[async_trait]
impl Images for Simulated {
    async fn container_size(&self, name: &str) -> Result<ImageSize> {
        let own = self.node.reach(|state| Ok(WRITTEN + state.find(name)?.files.bytes()))?;
        Ok(ImageSize { own, whole: BASE + own })
    }

    async fn image_size(&self, image: &str) -> Result<u64> {
        self.node.reach(|state| Ok(BASE + WRITTEN + state.saved(image)?.bytes()))
    }

    async fn image_id(&self, image: &str) -> Result<String> {
        self.node.reach(|state| match state.has_image(image) {
            true => Ok(format!("simulated:{}", repository(&canonical(image)))),
            false => Err(no_image(image)),
        })
    }

    async fn image_architecture(&self, image: &str) -> Result<Option<Architecture>> {
        self.node.reach(|state| match state.has_image(image) {
            true => Ok(state.image_architectures.get(&canonical(image)).cloned()),
            false => Err(no_image(image)),
        })
    }

    async fn may_pull(&self, image: &str, auth: Option<&RegistryAuth>) -> Result<()> {
        self.node.reach(|_| refusal(image, auth).map_or(Ok(()), Err))
    }

    async fn commit(&self, name: &str, image: &str) -> Result<()> {
        tokio::time::sleep(self.node.look(|state| state.commit_time)).await;
        self.node.reach(|state| {
            let files = state.find(name)?.files.clone();
            state.images.insert(explicit(image), files);
            Ok(())
        })
    }

    async fn remove_image(&self, image: &str) -> Result<()> {
        let remove = |state: &mut State| {
            state.images.remove(&explicit(image));
            Ok(())
        };
        self.node.call(Call::RemoveImage, remove).await
    }

    async fn export(&self, image: &str) -> Result<BoxStream<'static, Result<Bytes>>> {
        let tar = self.node.reach(|state| state.saved(image)?.pack_all())?;
        let name = Bytes::from(format!("{}\n", explicit(image)));
        Ok(stream::iter([Ok(name), Ok(tar)]).boxed())
    }

    async fn import(&self, tar: BoxStream<'static, Result<Bytes>>) -> Result<()> {
        let pieces: Vec<Bytes> = tar.try_collect().await?;
        let [name, tar] = pieces.as_slice() else {
            return Err(EngineError::Refused("this is no simulated image".to_owned()));
        };
        let name = String::from_utf8_lossy(name).trim().to_owned();
        let mut files = Files::default();
        files.unpack("", tar)?;
        self.node.reach(|state| {
            state.images.insert(name, files);
            Ok(())
        })
    }

    async fn push(
        &self,
        image: &str,
        target: &str,
        _auth: Option<&RegistryAuth>,
    ) -> Result<BoxStream<'static, Result<String>>> {
        let node = Arc::clone(&self.node);
        node.reach(|state| {
            let files = state.saved(image)?.clone();
            state.images.insert(explicit(target), files);
            Ok(())
        })?;
        let last = if target.contains("denied") {
            Err(EngineError::Denied(target.to_owned()))
        } else {
            Ok("Pushed".to_owned())
        };
        Ok(stream::iter([Ok("Preparing".to_owned()), last]).boxed())
    }
}
