use crate::i18n::words_quarantine::Quarantine;

pub(super) const QUARANTINE: Quarantine = Quarantine {
    title: "Containers in quarantine",
    what: "These containers say that they are of this cluster, and its database never gave them: they \
           are of a time of which a restored backup knows nothing, or of a second server with a copy of \
           the database. Nothing is done to them, and nobody else gets what they hold. Let them end by \
           themselves, or stop those that nobody needs. Where no backup was restored, look for that \
           second server first. Containers of other clusters are listed with them and are theirs alone.",
    container: "Container",
    says: "Says it is of",
    holds: "Holds",
    amounts: |cpus, memory| format!("CPU {cpus}, {memory}"),
    gpus: |indices| format!("GPU {indices}"),
    of_cluster: |cluster| format!("Cluster {cluster}"),
    not_ours: "Not of this cluster",
    created: "Never started",
    runs: "Running",
    ended: "Ended",
    stop: "Stop",
    stop_title: |container| format!("Stop {container}"),
    stop_text: "What runs in it ends, and what it has not saved is lost. It stays, with its log, until \
                you remove it.",
    remove_title: |container| format!("Remove {container}"),
    remove_text: "Its log and the files in it are lost.",
    done: "Done",
    was_stopped: "stopped a container in quarantine",
    was_removed: "removed a container in quarantine",
};
