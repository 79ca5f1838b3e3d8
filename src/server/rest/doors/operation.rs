use schemars::{JsonSchema, Schema, SchemaGenerator};

/// Makes the schema of a type.
pub(crate) type Make = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a type, for who keeps how it is made.
pub(crate) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// What a body is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// JSON.
    Json(Make),
    /// JSON of a thing whose name the address says in place of the body.
    Unnamed(Make),
    /// Bytes of this media type.
    Raw(&'static str),
}

/// One method of one route, as its handler's types say it.
#[derive(Debug)]
pub(crate) struct Operation {
    /// In small letters.
    pub(crate) method: &'static str,
    /// The path of the function in the code.
    pub(crate) handler: &'static str,
    /// Whether somebody has to be signed in.
    pub(crate) signed: bool,
    /// The parameters of its path, in their order.
    pub(crate) path: Option<Make>,
    /// The parameters of its query.
    pub(crate) query: Vec<Make>,
    /// What its body may be; nothing: it has none.
    pub(crate) takes: Vec<Content>,
    /// What it answers when it does what was asked, by status; nothing: no body.
    pub(crate) answers: Vec<(u16, Option<Content>)>,
}
