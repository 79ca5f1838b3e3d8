use sea_orm::DatabaseConnection;

/// Connections to one database, each kind for what it is named after.
pub(super) struct Connections {
    pub(super) writer: DatabaseConnection,
    pub(super) reader: DatabaseConnection,
    /// Who only looks.
    pub(super) looker: DatabaseConnection,
}
