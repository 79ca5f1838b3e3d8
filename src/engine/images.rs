use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::architecture::Architecture;
use protocol::spec::RegistryAuth;

use crate::model::Result;

/// A node's images: made from containers, moved, removed. Names are explicit, see
/// [`protocol::image::explicit`].
#[async_trait]
pub trait Images: Send + Sync + std::fmt::Debug {
    /// What an image of this container would take.
    async fn container_size(&self, name: &str) -> Result<ImageSize>;
    /// What an image takes, in bytes.
    async fn image_size(&self, image: &str) -> Result<u64>;
    /// The engine's id of an image: the same for all its names.
    async fn image_id(&self, image: &str) -> Result<String>;
    /// What processors an image of the node is made for, where the engine tells.
    async fn image_architecture(&self, image: &str) -> Result<Option<Architecture>>;
    /// Asks the image's registry whether these credentials, or none, may pull it. Nothing is pulled.
    async fn may_pull(&self, image: &str, auth: Option<&RegistryAuth>) -> Result<()>;
    /// Makes an image of a container, running or not: the configuration is that of the image it
    /// was made from, and nothing in it tells of the task, its variables, its command or its keys.
    /// A container that runs is paused meanwhile. An image of the same name is replaced.
    async fn commit(&self, name: &str, image: &str) -> Result<()>;
    /// Takes a name away, and the image with its last name.
    async fn remove_image(&self, image: &str) -> Result<()>;
    /// An image as a tar.
    async fn export(&self, image: &str) -> Result<BoxStream<'static, Result<Bytes>>>;
    /// Takes an image out of a tar. Where the tar's source fails, that is the error.
    async fn import(&self, tar: BoxStream<'static, Result<Bytes>>) -> Result<()>;
    /// Sends an image to a registry, under this name there; each item is a line of progress. The
    /// image keeps that name on the node until [`Images::remove_image`] takes it away; a node that
    /// has another image of that name refuses.
    async fn push(
        &self,
        image: &str,
        target: &str,
        auth: Option<&RegistryAuth>,
    ) -> Result<BoxStream<'static, Result<String>>>;
}

/// What an image takes, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImageSize {
    /// What the container has written: what is new on the node.
    pub own: u64,
    /// All of it, with the image that it was made from: what another node or a registry may need.
    pub whole: u64,
}
