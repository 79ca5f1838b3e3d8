use crate::i18n::words_notifications::Notifications;

pub(super) const NOTIFICATIONS: Notifications = Notifications {
    title: "Notifications",
    hint: "What you are told of your jobs while you are not looking.",
    occasions: [
        "A job starts",
        "A job succeeds",
        "A job fails",
        "A job is stopped",
        "A job is tried again",
        "A job gives way to other work",
        "A job has been waiting for long",
        "A job does not use its GPUs",
    ],
    how: "How you are told",
    by_mail: "By mail",
    by_mail_to: |address| format!("By mail to {address}"),
    no_mail: "This installation sends no mail: its administrator has set up none.",
    webhook: "Webhook",
    webhook_hint: "An https:// address that is sent what happened, as JSON.",
    signing_key: "Signing key",
    signing_hint: "X-Berth-Signature is the HMAC-SHA256 of the body with this key.",
    test: "Send a test",
    tested: "The test is done.",
    nothing_chosen: "Nothing is sent: choose mail or a webhook, and save.",
    sent: "sent",
};
