use crate::i18n::words_outage::Outage;

pub(super) const OUTAGE: Outage = Outage {
    unanswered: "服务器没有响应。恢复后会自动重试。",
    since: "服务器无响应已持续",
    stays: "页面内容会保留，但可能已过时。",
    opens_later: |page| format!("服务器恢复后会自动打开“{page}”。"),
    read_at: "未能重新读取，以下内容读取于",
};
