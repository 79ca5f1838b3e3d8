//! Addresses of pages that people and programs have kept: those of OpenPAI's portal, and ours with a
//! slash at their end. Each leads to a page of ours, whatever else the address says.

use axum::http::Uri;
use protocol::ids::{JobKey, JobName, UserName};
use protocol::state::State;

/// Pages of the old portal that say nothing more, and where they lead.
const PLAIN: [(&str, &str); 23] = [
    ("/index.html", "/"),
    ("/home.html", "/"),
    ("/dashboard.html", "/"),
    ("/login.html", "/sign-in"),
    ("/register.html", "/sign-in"),
    ("/virtual-clusters.html", "/clusters"),
    ("/cluster-view/hardware.html", "/nodes"),
    ("/cluster-view/services.html", "/nodes"),
    ("/cluster-view/k8s.html", "/nodes"),
    ("/hardware.html", "/nodes"),
    ("/hardware-detail.html", "/nodes"),
    ("/services.html", "/nodes"),
    ("/k8s.html", "/nodes"),
    ("/user-profile.html", "/profile"),
    ("/change-password.html", "/profile"),
    ("/user-view.html", "/admin"),
    ("/user-edit.html", "/admin"),
    ("/user-management.html", "/admin"),
    ("/batch-register.html", "/admin"),
    ("/group-view.html", "/admin/groups"),
    ("/template-list.html", "/submit"),
    ("/template-view.html", "/submit"),
    ("/template-detail.html", "/submit"),
];

/// Pages of one job, and the part of ours that has what they showed.
const OF_JOB: [(&str, &str); 5] = [
    ("/job-detail.html", ""),
    ("/view.html", ""),
    ("/job-retry.html", ""),
    ("/job-event.html", "/events"),
    ("/task-attempt.html", "/tasks"),
];

/// Pages on which a job is written.
const SUBMIT: [&str; 3] = ["/submit.html", "/submit_v1.html", "/submit_demo.html"];

/// The page of the list of jobs.
const LIST: &str = "/job-list.html";

/// What our pages begin with.
const OURS: [&str; 10] = [
    "/jobs",
    "/submit",
    "/files",
    "/clusters",
    "/nodes",
    "/usage",
    "/admin",
    "/profile",
    "/reference",
    "/sign-in",
];

/// The page of ours that an old address leads to.
pub(crate) fn lead(uri: &Uri) -> Option<String> {
    let path = uri.path();
    if let Some((_, ours)) = PLAIN.iter().find(|(old, _)| *old == path) {
        return Some((*ours).to_owned());
    }
    let asked = || Asked::read(uri.query().unwrap_or_default());
    if let Some((_, part)) = OF_JOB.iter().find(|(old, _)| *old == path) {
        let page = |key: JobKey| format!("/jobs/{}/{}{part}", key.user, key.name);
        return Some(asked().key().map_or_else(|| "/jobs".to_owned(), page));
    }
    if SUBMIT.contains(&path) {
        let clone = |key: JobKey| format!("/submit?clone={key}");
        return Some(asked().key().map_or_else(|| "/submit".to_owned(), clone));
    }
    if path == LIST {
        return Some(asked().list());
    }
    without_slash(uri)
}

/// The same page of ours without the slash at its end.
fn without_slash(uri: &Uri) -> Option<String> {
    let path = uri.path().strip_suffix('/')?;
    let is_ours = |page: &&str| {
        path.strip_prefix(*page).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    OURS.iter().any(is_ours).then(|| match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    })
}

/// What an old address says.
struct Asked(Vec<(String, String)>);

impl Asked {
    fn read(query: &str) -> Self {
        Self(serde_urlencoded::from_str(query).unwrap_or_default())
    }

    /// The first value that has one of these names.
    fn text(&self, names: &[&str]) -> &str {
        let found = self.0.iter().find(|(name, _)| names.contains(&name.as_str()));
        found.map_or("", |(_, value)| value.as_str())
    }

    fn user(&self) -> &str {
        self.text(&["username", "userName", "user"])
    }

    /// The job by both names, or by `user~name` in the place of its own. Names that nothing can
    /// have are as good as none.
    fn key(&self) -> Option<JobKey> {
        let (user, name) = (self.user(), self.text(&["jobName", "jobname"]));
        if user.is_empty() {
            return name.parse().ok();
        }
        let (user, name) = (user.parse::<UserName>().ok()?, name.parse::<JobName>().ok()?);
        Some(JobKey { user, name })
    }

    /// The list, of a state and of a user's jobs where the old one was.
    fn list(&self) -> String {
        let state = State::from_word(&self.text(&["status"]).to_ascii_uppercase());
        let state = state.map(|state| format!("state:{}", state.as_str().to_ascii_lowercase()));
        let user = self.user().parse::<UserName>().ok().map(|user| format!("user:{user}"));
        let words: Vec<_> = state.into_iter().chain(user).collect();
        match words.is_empty() {
            true => "/jobs".to_owned(),
            false => format!("/jobs?q={}", words.join("+")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn led(address: &str) -> Option<String> {
        lead(&address.parse().unwrap())
    }

    #[test]
    fn old_addresses_lead_to_the_same_page_of_ours() {
        for (old, ours) in [
            ("/job-detail.html?username=alice&jobName=train", "/jobs/alice/train"),
            ("/job-detail.html?jobName=alice~train", "/jobs/alice/train"),
            ("/view.html?username=alice&jobName=train&x=1", "/jobs/alice/train"),
            ("/job-event.html?userName=alice&jobName=train", "/jobs/alice/train/events"),
            ("/job-detail.html", "/jobs"),
            ("/job-list.html", "/jobs"),
            ("/job-list.html?status=Running&user=bob", "/jobs?q=state:running+user:bob"),
            ("/job-list.html?status=Odd", "/jobs"),
            ("/submit.html", "/submit"),
            ("/submit.html?op=resubmit&type=job&user=a&jobname=b#/", "/submit?clone=a~b"),
            ("/index.html", "/"),
            ("/cluster-view/hardware.html", "/nodes"),
            ("/jobs/?q=state:failed", "/jobs?q=state:failed"),
            ("/jobs/alice/train/logs/", "/jobs/alice/train/logs"),
        ] {
            assert_eq!(led(old).as_deref(), Some(ours), "{old}");
        }
        for none in ["/", "/jobs", "/jobsx/", "/other.html", "/proxy/a/", "/pkg/"] {
            assert_eq!(led(none), None, "{none}");
        }
    }

    #[test]
    fn an_old_address_leads_to_no_other_site() {
        for (address, ours) in [
            ("/job-detail.html?username=..&jobName=%2F%2Fevil.example", Some("/jobs")),
            ("/job-detail.html?username=%2F%2Fevil.example&jobName=x", Some("/jobs")),
            ("/job-detail.html?username=a%0d%0aLocation:x&jobName=x", Some("/jobs")),
            ("/job-list.html?user=%22%3E%3Cscript%3E&status=//evil.example", Some("/jobs")),
            ("/submit.html?user=a&jobName=b%26text=c", Some("/submit")),
            ("//evil.example/jobs/", None),
            ("//evil.example/job-detail.html", None),
            ("/evil.example/", None),
        ] {
            assert_eq!(led(address).as_deref(), ours, "{address}");
        }
    }
}
