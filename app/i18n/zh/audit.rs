use crate::i18n::words_audit::AuditWords;

pub(super) const AUDIT: AuditWords = AuditWords {
    user_added: "添加用户",
    user_removed: "删除用户",
    user_promoted: "设为管理员",
    user_demoted: "取消管理员",
    password_changed: "修改密码",
    password_reset: "设置他人密码",
    access_ended: "结束全部会话和令牌",
    token_made: "创建令牌",
    token_revoked: "撤销令牌",
    public_key_added: "添加公钥",
    public_key_removed: "删除公钥",
    signed_in: "登录",
    signed_out: "退出登录",
    sign_in_failed: "登录失败",
    key_read: "读取作业密钥",
    log_read: "读取作业日志",
    files_read: "读取他人文件",
    files_changed: "更改他人文件",
    job_stopped: "停止作业",
    refused: "被拒绝",
};
