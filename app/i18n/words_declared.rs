//! What the submit page says of what a job file declares once and refers to by name.

type Word = &'static str;
type Named = fn(&str) -> String;

/// Secrets, parameters and prerequisites.
#[derive(Debug)]
pub(crate) struct Declared {
    /// Of all three.
    pub(crate) title: Word,
    pub(crate) secrets: Word,
    pub(crate) secrets_hint: Word,
    pub(crate) secret_name: Word,
    pub(crate) secret_value: Word,
    /// Of a value that the server has from the job that this is a clone of.
    pub(crate) secret_kept: Word,
    /// Of a value that is not known any more.
    pub(crate) secret_wanted: Word,
    pub(crate) add_secret: Word,
    pub(crate) remove_secret: Named,
    pub(crate) parameters: Word,
    pub(crate) parameters_hint: Word,
    pub(crate) parameter_name: Word,
    pub(crate) parameter_value: Word,
    pub(crate) add_parameter: Word,
    pub(crate) remove_parameter: Named,
    /// Of what no field shows.
    pub(crate) several: Named,
    pub(crate) prerequisites: Word,
    pub(crate) prerequisites_hint: Word,
    pub(crate) prerequisite_name: Word,
    pub(crate) type_name: Word,
    pub(crate) types: [(Word, Word); 4],
    pub(crate) image_uri: Word,
    pub(crate) uri: Word,
    pub(crate) of_plugin: Word,
    pub(crate) login: Word,
    pub(crate) registry: Word,
    pub(crate) registry_hint: Word,
    pub(crate) login_user: Word,
    pub(crate) login_password: Word,
    pub(crate) login_password_hint: Word,
    pub(crate) add_prerequisite: Word,
    pub(crate) remove_prerequisite: Named,
    pub(crate) uses: Named,
    pub(crate) use_image: Word,
    pub(crate) use_data: Word,
    pub(crate) use_script: Word,
    pub(crate) use_output: Word,
    /// Nothing is chosen.
    pub(crate) none: Word,
}
