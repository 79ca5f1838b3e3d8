//! How volumes of a simulated node are filled and removed.

use async_trait::async_trait;
use bytes::Bytes;
use futures::TryStreamExt;
use futures::stream::BoxStream;

use super::Simulated;
use super::faults::Call;
use super::node::State;
use super::volumes::SimVolume;
use crate::filling::{Labels, Shelf};
use crate::model::{EngineError, Result};

impl State {
    /// Removes a volume that no container has.
    fn remove_volume(&mut self, volume: &str) {
        if !self.volumes.fillers.contains(volume) && !self.has_volume(volume) {
            self.volumes.all.remove(volume);
        }
    }

    /// Removes all volumes that no container has.
    pub(super) fn prune(&mut self) {
        for volume in self.volumes.names() {
            self.remove_volume(&volume);
        }
    }

    fn make_filler(&mut self, volume: &str, labels: Labels, image: &str) -> Result<()> {
        if !self.has_image(image) {
            let message = format!("No such image: {image}");
            return Err(EngineError::NoImage { image: image.to_owned(), message });
        }
        if !self.volumes.fillers.insert(volume.to_owned()) {
            return Err(EngineError::Failed(format!("the name {volume} is already in use")));
        }
        self.volumes.ensure(volume, labels);
        Ok(())
    }

    fn pour(&mut self, volume: &str) -> Result<()> {
        let filler = self.volumes.fillers.contains(volume);
        let filled = self.volumes.all.get_mut(volume).filter(|_| filler);
        let filled = filled.ok_or_else(|| EngineError::NoContainer(volume.to_owned()))?;
        filled.is_full = true;
        Ok(())
    }
}

#[async_trait]
impl Shelf for Simulated {
    async fn labels(&self, volume: &str) -> Result<Option<Labels>> {
        let labels = |state: &mut State| Ok(state.volumes.all.get(volume).map(SimVolume::labels));
        self.node.call(Call::Fill, labels).await
    }

    async fn labelled(&self, label: &str, value: &str) -> Result<Vec<(String, Labels)>> {
        self.node.call(Call::Fill, |state| Ok(state.volumes.labelled(label, value))).await
    }

    async fn make_volume(&self, volume: &str, labels: Labels) -> Result<()> {
        let make = |state: &mut State| {
            state.volumes.ensure(volume, labels);
            Ok(())
        };
        self.node.call(Call::Fill, make).await
    }

    async fn remove_volume(&self, volume: &str) -> Result<()> {
        let remove = |state: &mut State| {
            state.remove_volume(volume);
            Ok(())
        };
        self.node.call(Call::Fill, remove).await
    }

    async fn make_filler(&self, volume: &str, labels: Labels, image: &str) -> Result<()> {
        self.node.call(Call::Fill, |state| state.make_filler(volume, labels, image)).await
    }

    async fn pour(&self, volume: &str, mut tar: BoxStream<'static, Result<Bytes>>) -> Result<()> {
        // It is read to its end, so that what is wrong with it is wrong here as well.
        while tar.try_next().await?.is_some() {}
        self.node.call(Call::Fill, |state| state.pour(volume)).await
    }

    async fn remove_filler(&self, volume: &str) -> Result<()> {
        let remove = |state: &mut State| {
            state.volumes.fillers.remove(volume);
            Ok(())
        };
        self.node.call(Call::Fill, remove).await
    }
}
