use crate::i18n::words_outage::Outage;

pub(super) const OUTAGE: Outage = Outage {
    unanswered: "The server does not answer. This is tried again by itself as soon as it does.",
    since: "The server has not answered for",
    stays: "What you see stays, but may be old.",
    opens_later: |page| format!("“{page}” opens as soon as it answers."),
    read_at: "This could not be read anew. You see how it was",
};
