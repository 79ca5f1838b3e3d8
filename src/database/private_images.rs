//! The images that nodes have because somebody showed a registry his credentials, and who else has
//! shown that he may have them.

use protocol::ids::{NodeName, UserName};
use protocol::time::Timestamp;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};

use crate::convert::{Row, readable};
use crate::{ConnectionTrait, Result};

mod row {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "private_images")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub node: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        /// Empty while it is not known.
        #[sea_orm(primary_key, auto_increment = false)]
        pub image: String,
        pub at: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

mod proof {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "image_proofs")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub user_name: String,
        #[sea_orm(primary_key, auto_increment = false)]
        pub image: String,
        pub at: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// An image that was pulled with somebody's credentials, or is being pulled so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateImage {
    /// The node that has it.
    pub node: NodeName,
    /// The name it was pulled by, in its one way of writing.
    pub name: String,
    /// The engine's id of it; `None`: not known yet.
    pub image: Option<String>,
}

/// All of them, of all nodes. One of what is no node's name is left out: no node has it.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<PrivateImage>> {
    let rows = row::Entity::find().all(conn).await?;
    let images = rows.into_iter().map(|model| {
        let node = Row::new("private_images", &model.name).name(&model.node)?;
        let image = (!model.image.is_empty()).then_some(model.image);
        Ok(PrivateImage { node, name: model.name, image })
    });
    Ok(readable(images))
}

/// Remembers one; twice is the same as once.
///
/// # Errors
/// See [`crate::Error`].
pub async fn add(conn: &impl ConnectionTrait, image: &PrivateImage, at: Timestamp) -> Result<()> {
    let row = row::ActiveModel {
        node: Set(image.node.to_string()),
        name: Set(image.name.clone()),
        image: Set(image.image.clone().unwrap_or_default()),
        at: Set(at.0),
    };
    let again = OnConflict::columns([row::Column::Node, row::Column::Name, row::Column::Image])
        .update_column(row::Column::At)
        .to_owned();
    row::Entity::insert(row).on_conflict(again).exec_without_returning(conn).await?;
    Ok(())
}

/// Forgets one.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, image: &PrivateImage) -> Result<()> {
    row::Entity::delete_many()
        .filter(row::Column::Node.eq(image.node.as_str()))
        .filter(row::Column::Name.eq(image.name.as_str()))
        .filter(row::Column::Image.eq(image.image.as_deref().unwrap_or_default()))
        .exec(conn)
        .await?;
    Ok(())
}

/// Remembers that a registry has just let a user have an image, and forgets what was remembered so
/// before `since`.
///
/// # Errors
/// See [`crate::Error`].
pub async fn prove(
    conn: &impl ConnectionTrait,
    user: &UserName,
    image: &str,
    (at, since): (Timestamp, Timestamp),
) -> Result<()> {
    proof::Entity::delete_many().filter(proof::Column::At.lt(since.0)).exec(conn).await?;
    let row = proof::ActiveModel {
        user_name: Set(user.to_string()),
        image: Set(image.to_owned()),
        at: Set(at.0),
    };
    let again = OnConflict::columns([proof::Column::UserName, proof::Column::Image])
        .update_column(proof::Column::At)
        .to_owned();
    proof::Entity::insert(row).on_conflict(again).exec_without_returning(conn).await?;
    Ok(())
}

/// When a registry let a user have an image for the last time.
///
/// # Errors
/// See [`crate::Error`].
pub async fn proved(
    conn: &impl ConnectionTrait,
    user: &UserName,
    image: &str,
) -> Result<Option<Timestamp>> {
    let key = (user.to_string(), image.to_owned());
    let row = proof::Entity::find_by_id(key).one(conn).await?;
    Ok(row.map(|row| Timestamp(row.at)))
}
