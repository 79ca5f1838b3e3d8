use crate::i18n::words_storages::Storages;

pub(crate) const STORAGES: Storages = Storages {
    title: "Storages",
    none: "There are no storages yet",
    none_hint: "Add folders that tasks may have beside the users' own files: of the nodes, or of a file \
                server.",
    add: "Add storage",
    edit: |name| format!("Change storage {name}"),
    saved: "Storage saved. Tasks that begin from now on have it so.",
    remove: |name| format!("Remove storage {name}"),
    remove_text: "What is in it stays where it is. Tasks that have it keep it; jobs that still wait and \
                  ask for it will not start.",
    place: "Where it is",
    place_hint: "A folder that every node has, such as /mnt/data; nfs://server/folder; or \
                 smb://server/share. What nodes mount by themselves, S3 for example, is a folder of theirs.",
    mount: "Path in tasks",
    mount_hint: "/mnt/ and the name if not given. A job may choose another path.",
    user: "Account",
    user_hint: "For smb:// only; entered as a guest if not given",
    password: "Password",
    password_kept: "One is kept; it stays if not given.",
    options: "Mount options",
    options_hint: "For nfs:// and smb://, separated by commas: nfsvers=4.1",
    rights: "Rights",
    read_only: "read-only",
    writable: "read and write",
    default: "by default",
    own_folders: "own folders",
    make_read_only: "Tasks change nothing in it",
    make_default: "Jobs that ask for storages without naming any have it",
    make_own_folders: "Each user has only the folder in it that is named after the user; you make these \
                       folders",
    was_saved: "saved a storage",
    was_removed: "removed a storage",
    asked_hint: "Folders that administrators have set up; tasks have them at the path shown.",
    defaults: |names| format!("Those by default: {names}"),
    of_job_hint: "Folders beside your own files, in every task of this job",
    variable: "Variable",
};
