//! What is said when a request is not passed on or has no answer: why, and what to do.

use api::{Error, ErrorCode};
use app::i18n::Language;
use axum::Json;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde::Serialize;

/// Seconds after which a page that may work soon asks again.
const AGAIN: u64 = 5;

/// Why there is no answer of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// The request is one that two programs could read in two ways.
    Malformed,
    /// The path names no port of a task.
    NoAddress,
    /// The operation refused.
    Refused(Error),
    /// There is no grant, or it has ended.
    Expired,
    /// A page of another site asks.
    Foreign,
    /// A session opens pages here and does nothing else.
    OpenOnly,
    /// No host name can be made up for the task.
    NoHost,
    /// Too many requests of this user, or of all, are under way.
    Busy,
    /// Nobody listens at the port.
    NotListening(u16),
    /// The task cannot be entered.
    Unreachable,
    /// The task takes too long.
    Silent,
    /// The task does not speak HTTP, or broke off.
    Broken,
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// The store of the grants failed: nobody is let in by mistake.
impl From<tower_sessions::session_store::Error> for Reason {
    fn from(error: tower_sessions::session_store::Error) -> Self {
        tracing::error!(%error, "a grant cannot be read or written");
        Error::internal().into()
    }
}

/// One reason in two languages.
struct Words {
    title: [&'static str; 2],
    advice: [&'static str; 2],
}

impl Reason {
    fn status(&self) -> StatusCode {
        match self {
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::NoAddress => StatusCode::NOT_FOUND,
            Self::Refused(error) => StatusCode::from_u16(error.code.status())
                .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            Self::Expired => StatusCode::UNAUTHORIZED,
            Self::Foreign | Self::OpenOnly => StatusCode::FORBIDDEN,
            Self::NoHost => StatusCode::NOT_IMPLEMENTED,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotListening(_) | Self::Unreachable | Self::Broken => StatusCode::BAD_GATEWAY,
            Self::Silent => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::Malformed => ErrorCode::InvalidParametersError,
            Self::NoAddress => ErrorCode::NoApiError,
            Self::Refused(error) => error.code,
            Self::Expired => ErrorCode::UnauthorizedUserError,
            Self::Foreign | Self::OpenOnly => ErrorCode::ForbiddenUserError,
            Self::NoHost
            | Self::Busy
            | Self::NotListening(_)
            | Self::Unreachable
            | Self::Silent
            | Self::Broken => ErrorCode::UnavailableError,
        }
    }

    /// Whether the same request may be answered soon.
    fn may_pass(&self) -> bool {
        match self {
            Self::Refused(error) => error.code == ErrorCode::UnavailableError,
            Self::Busy | Self::NotListening(_) | Self::Unreachable => true,
            Self::Malformed
            | Self::NoAddress
            | Self::Expired
            | Self::Foreign
            | Self::OpenOnly
            | Self::NoHost
            | Self::Silent
            | Self::Broken => false,
        }
    }

    /// Whether the task itself was reached, where it was tried.
    fn reached(&self) -> Option<bool> {
        match self {
            Self::NotListening(_) | Self::Silent | Self::Broken => Some(true),
            Self::Unreachable => Some(false),
            Self::Malformed
            | Self::NoAddress
            | Self::Refused(_)
            | Self::Expired
            | Self::Foreign
            | Self::OpenOnly
            | Self::NoHost
            | Self::Busy => None,
        }
    }

    /// What is particular about it.
    fn detail(&self) -> Option<String> {
        match self {
            Self::Refused(error) => Some(error.message.clone()),
            Self::NotListening(port) => Some(format!("{port}")),
            Self::Malformed
            | Self::NoAddress
            | Self::Expired
            | Self::Foreign
            | Self::OpenOnly
            | Self::NoHost
            | Self::Busy
            | Self::Unreachable
            | Self::Silent
            | Self::Broken => None,
        }
    }

    fn words(&self) -> Words {
        let (title, advice) = match self {
            Self::Malformed => (
                ["This request cannot be passed on", "无法转发此请求"],
                [
                    "It could be read in more than one way. Use the task's address as a browser shows it.",
                    "该请求有歧义。请使用浏览器显示的任务地址。",
                ],
            ),
            Self::NoAddress => (
                ["There is nothing here", "此处没有内容"],
                [
                    "The address of a task's port is /proxy/<job>/<role>/<index>/<port>/.",
                    "任务端口的地址为 /proxy/<作业>/<角色>/<序号>/<端口>/。",
                ],
            ),
            Self::Refused(error) => return refused(error),
            Self::Expired => (
                ["This page is not open any more", "此页面已关闭"],
                [
                    "You have signed out, or it was opened long ago. Open it again from the job's page.",
                    "您已退出登录，或页面打开时间过长。请从作业页面重新打开。",
                ],
            ),
            Self::Foreign => (
                ["Another site asks for this", "请求来自其他网站"],
                [
                    "Only the task's own pages may ask for it. Open it from the job's page.",
                    "只有任务自身的页面可以发出此请求。请从作业页面打开。",
                ],
            ),
            Self::OpenOnly => (
                ["Pages are opened here, nothing else", "此地址只用于打开页面"],
                [
                    "Programs send a token: Authorization: Bearer TOKEN.",
                    "程序请使用令牌：Authorization: Bearer TOKEN。",
                ],
            ),
            Self::NoHost => (
                ["Pages of tasks have no address here yet", "尚未配置任务页面的地址"],
                [
                    "They need host names of their own, apart from this portal's. Ask the administrator to set \
                     proxy.url (as https://*.tasks.example.org). Until then: ssh -L, or a token with this address.",
                    "任务页面需要独立于本站的主机名。请管理员设置 proxy.url（如 https://*.tasks.example.org）。\
                     在此之前可使用 ssh -L，或用令牌访问此地址。",
                ],
            ),
            Self::Busy => (
                ["Too many requests are under way", "正在处理的请求过多"],
                ["This page asks again by itself.", "页面会自动重试。"],
            ),
            Self::NotListening(_) => (
                ["Nothing listens at this port yet", "该端口尚无服务监听"],
                [
                    "The task runs, but no program answers at the port. It may still be starting: this page asks \
                     again by itself. Programs must listen at the port the task was given ($PAI_PORT_LIST_…), \
                     see the job's log.",
                    "任务正在运行，但该端口没有程序应答。程序可能仍在启动，页面会自动重试。程序须监听分配给任务的端口\
                     （$PAI_PORT_LIST_…），详见作业日志。",
                ],
            ),
            Self::Unreachable => (
                ["The task cannot be entered yet", "暂时无法进入任务"],
                [
                    "What it serves is reached through its SSH server, which does not answer. It may still be \
                     starting: this page asks again by itself.",
                    "任务的页面经由其 SSH 服务访问，该服务没有应答。任务可能仍在启动，页面会自动重试。",
                ],
            ),
            Self::Silent => (
                ["The task did not answer in time", "任务未及时应答"],
                [
                    "It took the request and said nothing. See the job's log.",
                    "任务收到请求但没有回应。请查看作业日志。",
                ],
            ),
            Self::Broken => (
                ["The task's answer cannot be understood", "无法理解任务的应答"],
                [
                    "What listens at the port does not speak HTTP, or broke off. See the job's log.",
                    "该端口的程序不是 HTTP 服务，或中断了连接。请查看作业日志。",
                ],
            ),
        };
        Words { title, advice }
    }
}

fn refused(error: &Error) -> Words {
    match error.code {
        ErrorCode::ForbiddenUserError => Words {
            title: ["This is not yours", "无权访问"],
            advice: [
                "Only the job's owner and administrators reach its tasks.",
                "只有作业的用户和管理员可以访问其任务。",
            ],
        },
        ErrorCode::UnavailableError => Words {
            title: ["The task does not run", "任务未在运行"],
            advice: [
                "If it is about to start, this page opens by itself as soon as it does.",
                "若任务即将启动，启动后页面会自动打开。",
            ],
        },
        _ => Words {
            title: ["There is no such port", "没有这个端口"],
            advice: [
                "See the job's page for its tasks and their ports.",
                "请在作业页面查看各任务及其端口。",
            ],
        },
    }
}

/// Whether a person looks at the answer.
pub(super) fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

#[derive(Serialize)]
struct Body {
    code: ErrorCode,
    message: String,
    /// Whether the task was reached, and so its node's ports are.
    #[serde(skip_serializing_if = "Option::is_none")]
    reached: Option<bool>,
}

/// A page for people, JSON for programs.
pub(super) fn refusal(reason: &Reason, headers: &HeaderMap) -> Response {
    let language = app::language_of(headers);
    let mut response = if wants_html(headers) {
        Html(html(reason, language)).into_response()
    } else {
        let (code, message) = (reason.code(), message(reason, language));
        Json(Body { code, message, reached: reason.reached() }).into_response()
    };
    *response.status_mut() = reason.status();
    let headers = response.headers_mut();
    if reason.may_pass() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(AGAIN));
    }
    let fixed = [
        (header::CONTENT_LANGUAGE, language.tag()),
        (header::VARY, "accept, accept-language, cookie"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Where the words of a language stand.
fn place(language: Language) -> usize {
    match language {
        Language::English => 0,
        Language::Chinese => 1,
    }
}

/// The one sentence for programs.
fn message(reason: &Reason, language: Language) -> String {
    let title = reason.words().title[place(language)];
    match (reason, reason.detail()) {
        (Reason::Refused(_), Some(detail)) => language.told(&detail),
        (_, Some(detail)) => format!("{title}{}{detail}", [": ", "："][place(language)]),
        (_, None) => title.to_owned(),
    }
}

fn html(reason: &Reason, language: Language) -> String {
    let Words { title, advice } = reason.words();
    let (title, advice) = (title[place(language)], advice[place(language)]);
    let tag = language.tag();
    let again = match reason.may_pass() {
        true => format!("<meta http-equiv=\"refresh\" content=\"{AGAIN}\">"),
        false => String::new(),
    };
    let detail = reason.detail().map(|detail| escaped(&language.told(&detail)));
    let detail = detail.map(|detail| format!("<p><code>{detail}</code></p>"));
    let (detail, advice) = (detail.unwrap_or_default(), escaped(advice));
    format!(
        "<!doctype html><html lang=\"{tag}\"><head><meta charset=\"utf-8\">{again}\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
         <style>:root{{color-scheme:light dark}}body{{font:15px/1.5 system-ui,sans-serif;\
         max-width:40rem;margin:15vh auto;padding:0 1rem}}h1{{font-size:1.3rem}}</style></head>\
         <body><main><h1>{title}</h1>{detail}<p>{advice}</p></main></body></html>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
