//! What a catalogue must say about entering a job's tasks.

type Word = &'static str;
type Named = fn(&str) -> String;

/// The ways into a job's tasks.
#[derive(Debug)]
pub(crate) struct Connect {
    pub(crate) tab: Word,
    pub(crate) not_placed: Word,
    pub(crate) not_placed_hint: Word,
    pub(crate) not_running: Word,
    pub(crate) task: Word,
    pub(crate) pages: Word,
    pub(crate) pages_hint: Word,
    pub(crate) open_port: Named,
    pub(crate) key: Word,
    pub(crate) key_hint: Word,
    pub(crate) own_keys: Word,
    pub(crate) download: Named,
    pub(crate) for_putty: Word,
    pub(crate) put_away: Word,
    pub(crate) on_windows: Word,
    pub(crate) terminal: Word,
    pub(crate) command: Word,
    pub(crate) copy_files: Word,
    pub(crate) between: Named,
    pub(crate) editors: Word,
    pub(crate) editors_hint: Word,
    pub(crate) config: Word,
    pub(crate) open_in: Named,
    pub(crate) pycharm: Word,
    pub(crate) pycharm_hint: Word,
    pub(crate) field: Word,
    pub(crate) value: Word,
    /// Of the dialogs Deployment and SSH Interpreter: type, host, port, user name, authentication,
    /// private key file, root path, deployment path, interpreter.
    pub(crate) fields: [Word; 9],
    pub(crate) authentication: Word,
}

/// What programs can ask for.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) title: Word,
    pub(crate) about: Word,
    pub(crate) document: Word,
    pub(crate) missing: Word,
}

/// One's own public keys.
#[derive(Debug)]
pub(crate) struct PublicKeys {
    pub(crate) title: Word,
    pub(crate) hint: Word,
    pub(crate) none: Word,
    pub(crate) name: Word,
    pub(crate) name_hint: Word,
    pub(crate) key: Word,
    pub(crate) key_hint: Word,
    pub(crate) fingerprint: Word,
    pub(crate) add: Word,
    pub(crate) added: Word,
    pub(crate) remove_title: Named,
    pub(crate) remove_text: Word,
}
