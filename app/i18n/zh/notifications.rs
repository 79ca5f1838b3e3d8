use crate::i18n::words_notifications::Notifications;

pub(super) const NOTIFICATIONS: Notifications = Notifications {
    title: "通知",
    hint: "您不在页面上时，会收到哪些作业通知。",
    occasions: [
        "作业开始运行",
        "作业成功",
        "作业失败",
        "作业被停止",
        "作业重试",
        "作业被抢占",
        "作业等待时间过长",
        "作业未使用其 GPU",
    ],
    how: "通知方式",
    by_mail: "邮件",
    by_mail_to: |address| format!("发邮件至 {address}"),
    no_mail: "此处不发送邮件：管理员未设置邮件。",
    webhook: "Webhook",
    webhook_hint: "以 https:// 开头的地址，发生的事情会以 JSON 发送到此处。",
    signing_key: "签名密钥",
    signing_hint: "X-Berth-Signature 是用此密钥对正文计算的 HMAC-SHA256。",
    test: "发送测试",
    tested: "测试已完成。",
    nothing_chosen: "未发送任何内容：请选择邮件或 webhook 并保存。",
    sent: "已发送",
};
