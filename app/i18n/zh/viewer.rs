//! Swagger UI's own words: it shows the API reference, and knows English alone. `app/js/reference/words.ts` puts
//! these in their places. The page of the reference alone names them, so that they come with no other one.

use crate::i18n::said::sayings;

/// All of them.
pub(crate) const VIEWER: &str = sayings![
    // The document.
    ("Skip to operations", "跳到操作"),
    ("Servers", "服务器"),
    ("Filter by tag", "按标签筛选"),
    ("Expand operation", "展开操作"),
    ("Collapse operation", "收起操作"),
    ("No API definition provided.", "没有 API 定义。"),
    ("Failed to load API definition.", "无法加载 API 定义。"),
    ("Errors", "错误"),
    ("Hide", "隐藏"),
    ("Show", "显示"),
    ("Fetch error", "获取失败"),
    ("Parser error", "解析失败"),
    ("Resolver error", "引用解析失败"),
    ("Failed to fetch {}", "无法获取 {0}"),
    ("response status is {} {}", "{1} 的响应状态为 {0}"),
    ("response status is {}", "响应状态为 {0}"),
    // An operation.
    ("Copy path to clipboard", "复制路径"),
    ("Warning: Deprecated", "警告：已弃用"),
    ("deprecated", "已弃用"),
    ("Parameters", "参数"),
    ("No parameters", "没有参数"),
    ("Name", "名称"),
    ("Description", "说明"),
    ("Available values", "可用值"),
    ("Default value", "默认值"),
    ("Send empty value", "发送空值"),
    ("Add", "添加"),
    ("item", "项"),
    ("Request body", "请求体"),
    ("Request content type", "请求内容类型"),
    ("Responses", "响应"),
    ("Code", "状态码"),
    ("Links", "链接"),
    ("No links", "没有链接"),
    ("Media type", "媒体类型"),
    ("Media Type", "媒体类型"),
    ("Controls", "决定"),
    ("header.", "请求头。"),
    ("Example Value", "示例值"),
    ("Edit Value", "编辑值"),
    ("Example values are not available for", "媒体类型"),
    ("media types.", "没有示例值。"),
    ("Schema", "结构"),
    // What is tried.
    ("Try it out", "试用"),
    ("Execute", "执行"),
    ("Clear", "清除"),
    ("Cancel", "取消"),
    ("Reset", "重置"),
    ("Please correct the following validation errors and try again.", "请更正以下错误后重试。"),
    ("For '{}': {}.", "“{0}”：{1}。"),
    ("Required field is not provided", "必填项未填写"),
    ("Value must be a number", "值必须是数字"),
    ("Value must be an integer", "值必须是整数"),
    ("Value must be a boolean", "值必须是布尔值"),
    ("Value must be a string", "值必须是字符串"),
    ("Parameter string value must be valid JSON", "参数值必须是有效的 JSON"),
    ("Copy cURL command to clipboard", "复制 cURL 命令"),
    ("Copy code to clipboard", "复制代码"),
    ("Request URL", "请求地址"),
    ("Server response", "服务器的响应"),
    ("Details", "详情"),
    ("Undocumented", "文档中没有"),
    ("Response body", "响应体"),
    ("Response headers", "响应头"),
    ("Request duration", "请求用时"),
    ("Download", "下载"),
    ("Download file", "下载文件"),
    ("Unrecognized response type; displaying content as text.", "无法识别响应类型，按文本显示。"),
    ("Unrecognized response type; unable to display.", "无法识别响应类型，不能显示。"),
    ("Error: {}", "错误：{0}"),
    ("Failed to fetch.", "无法连接。"),
    ("Possible Reasons:", "可能的原因："),
    ("Network Failure", "网络故障"),
    (
        "URL scheme must be \"http\" or \"https\" for CORS request.",
        "CORS 请求的地址必须以 http 或 https 开头。",
    ),
    // Schemas.
    ("Expand all", "全部展开"),
    ("Collapse all", "全部收起"),
    ("Items", "元素"),
    ("Prefix items", "最前面的元素"),
    ("Additional properties", "其他属性"),
    ("allowed", "允许"),
    ("forbidden", "不允许"),
    ("All of", "全部满足"),
    ("Any of", "至少满足一项"),
    ("One of", "满足其中一项"),
    ("Enum", "枚举值"),
    ("Const", "固定值"),
    ("Default", "默认值"),
    ("Examples", "示例"),
    ("read-only", "只读"),
    ("write-only", "只写"),
    ("unique", "不重复"),
    ("{} unique items", "{0} 个不重复的元素"),
    ("{} items", "{0} 个元素"),
    ("{} properties", "{0} 个属性"),
    ("{} characters", "{0} 个字符"),
    ("matches {}", "匹配 {0}"),
    // Who asks.
    ("Authorize", "授权"),
    ("authorization button locked", "授权（已授权）"),
    ("authorization button unlocked", "授权（未授权）"),
    ("Available authorizations", "可用的授权方式"),
    ("Basic authorization", "基本授权"),
    ("Authorized", "已授权"),
    ("Value:", "值："),
    ("Username:", "用户名："),
    ("Password:", "密码："),
    ("auth-bearer-value", "令牌"),
    ("auth-basic-username", "用户名"),
    ("auth-basic-password", "密码"),
    ("Apply credentials", "使用所填凭据授权"),
    ("Remove authorization", "取消授权"),
    ("Logout", "取消授权"),
    ("Close", "关闭"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::i18n::said::each;

    #[test]
    fn each_text_is_said_in_one_way() {
        let mut texts = BTreeSet::new();
        for (english, _) in each(VIEWER) {
            assert!(texts.insert(english), "{english}");
        }
        assert_eq!(texts.len(), VIEWER.lines().count());
    }
}
