//! Job files that people share.

use protocol::ids::{TemplateName, UserName};
use protocol::time::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Set,
};

use crate::convert::Row;
use crate::error::named;
use crate::{ConnectionTrait, Result};

mod row {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, DeriveEntityModel)]
    #[sea_orm(table_name = "templates")]
    pub(crate) struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub name: String,
        pub author: String,
        pub description: String,
        pub job_file: String,
        pub changed_at: i64,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// What is said of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// What it is called.
    pub name: TemplateName,
    /// Who shared it.
    pub author: UserName,
    /// What it is good for.
    pub description: String,
    /// When it was changed last.
    pub changed_at: Timestamp,
}

/// A template as it is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// What is said of it.
    pub described: Described,
    /// Its job file, without secrets.
    pub text: String,
}

impl Described {
    fn read(
        (name, author, description, changed_at): (String, String, String, i64),
    ) -> Result<Self> {
        let known = Row::new("templates", &name).name(&name)?;
        let author = Row::new("templates", &name).name(&author)?;
        Ok(Self { name: known, author, description, changed_at: Timestamp(changed_at) })
    }
}

/// Stores a template, or another one of its author's in its place.
///
/// # Errors
/// [`crate::Error::Conflict`] when somebody else shares one of that name.
pub async fn save(conn: &impl ConnectionTrait, template: &Template) -> Result<()> {
    let Template { described, text } = template;
    let Described { name, author, description, changed_at } = described;
    let replaced = row::Entity::update_many()
        .col_expr(row::Column::Description, Expr::value(description.as_str()))
        .col_expr(row::Column::JobFile, Expr::value(text.as_str()))
        .col_expr(row::Column::ChangedAt, Expr::value(changed_at.0))
        .filter(row::Column::Name.eq(name.as_str()))
        .filter(row::Column::Author.eq(author.as_str()))
        .exec(conn)
        .await?;
    if replaced.rows_affected == 1 {
        return Ok(());
    }
    let row = row::ActiveModel {
        name: Set(name.to_string()),
        author: Set(author.to_string()),
        description: Set(description.clone()),
        job_file: Set(text.clone()),
        changed_at: Set(changed_at.0),
    };
    let stored = row::Entity::insert(row).exec_without_returning(conn).await;
    stored.map_err(named("this template"))?;
    Ok(())
}

/// What is said of all templates, by name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn list(conn: &impl ConnectionTrait) -> Result<Vec<Described>> {
    let query = row::Entity::find()
        .select_only()
        .column(row::Column::Name)
        .column(row::Column::Author)
        .column(row::Column::Description)
        .column(row::Column::ChangedAt)
        .order_by_asc(row::Column::Name);
    let rows: Vec<(String, String, String, i64)> = query.into_tuple().all(conn).await?;
    rows.into_iter().map(Described::read).collect()
}

/// The template of a name.
///
/// # Errors
/// See [`crate::Error`].
pub async fn get(conn: &impl ConnectionTrait, name: &TemplateName) -> Result<Option<Template>> {
    let Some(row) = row::Entity::find_by_id(name.as_str()).one(conn).await? else {
        return Ok(None);
    };
    let described = Described::read((row.name, row.author, row.description, row.changed_at))?;
    Ok(Some(Template { described, text: row.job_file }))
}

/// How many templates somebody shares.
///
/// # Errors
/// See [`crate::Error`].
pub async fn count(conn: &impl ConnectionTrait, author: &UserName) -> Result<u64> {
    let own = row::Entity::find().filter(row::Column::Author.eq(author.as_str()));
    Ok(own.count(conn).await?)
}

/// Forgets a template. `false`: there was none.
///
/// # Errors
/// See [`crate::Error`].
pub async fn remove(conn: &impl ConnectionTrait, name: &TemplateName) -> Result<bool> {
    let done = row::Entity::delete_by_id(name.as_str()).exec(conn).await?;
    Ok(done.rows_affected == 1)
}
