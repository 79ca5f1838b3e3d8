//! English.

mod accounts;
mod admin;
mod audit;
mod causes;
mod connect;
mod declared;
mod files;
mod images;
mod keys;
mod lists;
mod metrics;
mod notifications;
mod outage;
mod pages;
mod quarantine;
mod queue;
mod spans;
mod storages;
mod submit;
mod waits;

use protocol::state::State;

use crate::i18n::words::Texts;

/// The English catalogue. Catalogues are large, and a reader needs one: browsers fetch it.
pub(crate) static TEXTS: Texts = Texts {
    common: pages::COMMON,
    nav: pages::NAV,
    sign_in: pages::SIGN_IN,
    home: pages::HOME,
    jobs: pages::JOBS,
    job: pages::JOB,
    log: pages::LOG,
    terminal: pages::TERMINAL,
    cluster: pages::CLUSTER,
    admin: admin::ADMIN,
    profile: pages::PROFILE,
    submit: submit::SUBMIT,
    connect: connect::CONNECT,
    public_keys: connect::PUBLIC_KEYS,
    notifications: notifications::NOTIFICATIONS,
    reference: connect::REFERENCE,
    files: files::FILES,
    queue: queue::QUEUE,
    images: images::IMAGES,
    audit: audit::AUDIT,
    accounts: accounts::ACCOUNTS,
    keys: keys::KEYS,
    finding: lists::FINDING,
    many: lists::MANY,
    views: lists::VIEWS,
    compare: lists::COMPARE,
    map: lists::MAP,
    metrics: metrics::METRICS,
    usage: metrics::USAGE,
    outage: outage::OUTAGE,
    quarantine: quarantine::QUARANTINE,
    storages: storages::STORAGES,
    state,
    limit: |limit| limit.to_string(),
    span: spans::span,
    ago: spans::ago,
    ahead: spans::ahead,
    wait: waits::wait,
    wait_remedy: waits::remedy,
    cause: causes::cause,
    remedy: causes::remedy,
    said: str::to_owned,
};

fn state(state: State) -> &'static str {
    match state {
        State::Waiting => "Waiting",
        State::Preparing => "Preparing",
        State::Running => "Running",
        State::Stopping => "Stopping",
        State::Succeeded => "Succeeded",
        State::Failed => "Failed",
        State::Stopped => "Stopped",
        State::Unknown => "Unknown",
    }
}
