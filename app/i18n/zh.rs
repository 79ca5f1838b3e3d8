//! 简体中文。

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
mod said;
mod spans;
mod storages;
mod submit;
mod viewer;
mod waits;

#[cfg(test)]
mod known;
#[cfg(test)]
mod style;

use protocol::state::State;

use crate::edge;
use crate::i18n::words::Texts;

// Sentences of the server are more than half of the Chinese words, and most pages show none of them: browsers
// fetch what says them for the first. So the catalogue knows them by `edge` alone.
pub(crate) use said::said;
pub(crate) use viewer::VIEWER;

/// The Chinese catalogue.
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
    limit: spans::limit,
    span: spans::span,
    ago: spans::ago,
    ahead: spans::ahead,
    wait: waits::wait,
    wait_remedy: waits::remedy,
    cause: |cause| causes::cause(cause, edge::said_in_chinese),
    remedy: causes::remedy,
    said: edge::said_in_chinese,
};

fn state(state: State) -> &'static str {
    match state {
        State::Waiting => "排队中",
        State::Preparing => "准备中",
        State::Running => "运行中",
        State::Stopping => "停止中",
        State::Succeeded => "成功",
        State::Failed => "失败",
        State::Stopped => "已停止",
        State::Unknown => "未知",
    }
}
