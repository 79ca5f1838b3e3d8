//! The images that users have saved from their containers.

use protocol::ids::{JobKey, NodeName, TaskKey, UserName};
use protocol::image::ImageState;
use protocol::time::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveValue, ColumnTrait, EntityTrait, Insert, QueryFilter, QueryOrder, QueryTrait, Set,
};

use crate::convert::{amount, readable, to_json};
use crate::error::named;
use crate::{ConnectionTrait, Error, Result};

mod row;

/// A saved image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRecord {
    /// Database key; of one to be stored it says nothing.
    pub id: i64,
    /// Whose it is.
    pub owner: UserName,
    /// What it is called, as [`protocol::image::SavedImage`] writes it.
    pub image: String,
    /// Where it is made.
    pub node: NodeName,
    /// What it takes; 0: not known.
    pub bytes: u64,
    /// The job that it came from.
    pub job: JobKey,
    /// The task, as people call it: `<role>-<index>`.
    pub task: String,
    /// The container.
    pub container: TaskKey,
    /// Who saved it.
    pub made_by: UserName,
    /// When.
    pub created_at: Timestamp,
    /// How far it is.
    pub state: ImageState,
    /// Why it failed.
    pub problem: Option<String>,
    /// Where it is pushed to.
    pub registry: Option<String>,
    /// The file with the registry's password.
    pub auth_file: Option<String>,
}

/// Stores an image and returns its database key.
///
/// # Errors
/// [`Error::Conflict`] when there is one of that name.
pub async fn insert(conn: &impl ConnectionTrait, image: &ImageRecord) -> Result<i64> {
    let row = row::ActiveModel {
        id: ActiveValue::NotSet,
        owner: Set(image.owner.to_string()),
        image: Set(image.image.clone()),
        node: Set(image.node.to_string()),
        bytes: Set(amount(image.bytes)),
        job_name: Set(image.job.to_string()),
        task: Set(image.task.clone()),
        container: Set(to_json(&image.container)),
        made_by: Set(image.made_by.to_string()),
        created_at: Set(image.created_at.0),
        state: Set(image.state.as_str().to_owned()),
        problem: Set(image.problem.clone()),
        registry: Set(image.registry.clone()),
        auth_file: Set(image.auth_file.clone()),
    };
    let mut statement = Insert::one(row).into_query();
    statement.returning_col(row::Column::Id);
    let stored = conn.query_one(&statement).await.map_err(named(&image.image))?;
    let stored = stored.ok_or_else(|| Error::unavailable("a stored image has no key"))?;
    Ok(stored.try_get("", "id")?)
}

/// All images, or those of one owner, newest first.
///
/// # Errors
/// See [`Error`].
pub async fn list(
    conn: &impl ConnectionTrait,
    owner: Option<&UserName>,
) -> Result<Vec<ImageRecord>> {
    let mut query = row::Entity::find().order_by_desc(row::Column::Id);
    if let Some(owner) = owner {
        query = query.filter(row::Column::Owner.eq(owner.as_str()));
    }
    query.all(conn).await?.into_iter().map(row::Model::into_record).collect()
}

/// Those with which something is to be done, oldest first. What cannot be read is left out.
///
/// # Errors
/// See [`Error`].
pub async fn under_way(conn: &impl ConnectionTrait) -> Result<Vec<ImageRecord>> {
    let states = ImageState::ALL.into_iter().filter(|state| state.is_under_way());
    let query = row::Entity::find()
        .filter(row::Column::State.is_in(states.map(ImageState::as_str)))
        .order_by_asc(row::Column::Id);
    Ok(readable(query.all(conn).await?.into_iter().map(row::Model::into_record)))
}

/// One image.
///
/// # Errors
/// See [`Error`].
pub async fn get(conn: &impl ConnectionTrait, id: i64) -> Result<Option<ImageRecord>> {
    row::Entity::find_by_id(id).one(conn).await?.map(row::Model::into_record).transpose()
}

/// The image of a name.
///
/// # Errors
/// See [`Error`].
pub async fn find(conn: &impl ConnectionTrait, image: &str) -> Result<Option<ImageRecord>> {
    let query = row::Entity::find().filter(row::Column::Image.eq(image));
    query.one(conn).await?.map(row::Model::into_record).transpose()
}

/// What changes of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageUpdate {
    /// How far it is now.
    pub state: ImageState,
    /// What it takes, where that is known now.
    pub bytes: Option<u64>,
    /// Why it failed.
    pub problem: Option<String>,
}

/// Takes an image a step further. `false`: it is in another state than `from` by now.
///
/// # Errors
/// See [`Error`].
pub async fn update(
    conn: &impl ConnectionTrait,
    id: i64,
    from: ImageState,
    update: &ImageUpdate,
) -> Result<bool> {
    let mut statement = row::Entity::update_many()
        .col_expr(row::Column::State, Expr::value(update.state.as_str()))
        .col_expr(row::Column::Problem, Expr::value(update.problem.clone()))
        .filter(row::Column::Id.eq(id))
        .filter(row::Column::State.eq(from.as_str()));
    if let Some(bytes) = update.bytes {
        statement = statement.col_expr(row::Column::Bytes, Expr::value(amount(bytes)));
    }
    Ok(statement.exec(conn).await?.rows_affected == 1)
}

/// Asks for the removal of all images of a user.
///
/// # Errors
/// See [`Error`].
pub async fn remove_all_of(conn: &impl ConnectionTrait, owner: &UserName) -> Result<()> {
    row::Entity::update_many()
        .col_expr(row::Column::State, Expr::value(ImageState::Removing.as_str()))
        .filter(row::Column::Owner.eq(owner.as_str()))
        .exec(conn)
        .await?;
    Ok(())
}

/// Forgets an image.
///
/// # Errors
/// See [`Error`].
pub async fn forget(conn: &impl ConnectionTrait, id: i64) -> Result<()> {
    row::Entity::delete_by_id(id).exec(conn).await?;
    Ok(())
}
