use api::Error;
use protocol::limits::{Limit, Limits};

use crate::server_fns::forms::ClusterForm;
use crate::settings::text::{invalid, number};

/// What each user and each group may have; who has limits of his own by name keeps them.
pub(super) fn limits(form: &ClusterForm) -> Result<Limits, Error> {
    let named: Limits = match form.own_limits.trim() {
        "" => Limits::default(),
        own => serde_json::from_str(own)
            .map_err(|_| invalid("the limits by name cannot be read".to_owned()))?,
    };
    let user = [&form.user_gpus, &form.user_jobs, &form.user_waiting, &form.user_submissions];
    let group = [&form.group_gpus, &form.group_jobs, &form.group_waiting, &form.group_submissions];
    Ok(Limits { user: limit(user)?, group: limit(group)?, ..named })
}

fn limit([gpus, jobs, waiting, submissions]: [&String; 4]) -> Result<Limit, Error> {
    Ok(Limit {
        running_gpus: number("running GPUs", gpus)?,
        running_jobs: number("running jobs", jobs)?,
        waiting_jobs: number("waiting jobs", waiting)?,
        submissions_per_minute: number("submissions a minute", submissions)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_names_keep_theirs() {
        let form = ClusterForm {
            name: "lab".into(),
            user_gpus: "8".into(),
            user_submissions: " 30 ".into(),
            group_waiting: "100".into(),
            own_limits: r#"{"users": {"ada": {"running_jobs": 2}}, "user": {"running_jobs": 1}}"#
                .into(),
            ..ClusterForm::default()
        };
        let read = limits(&form).unwrap();
        let user =
            Limit { running_gpus: Some(8), submissions_per_minute: Some(30), ..Limit::default() };
        assert_eq!(read.user, user, "the fields say it");
        assert_eq!(read.group, Limit { waiting_jobs: Some(100), ..Limit::default() });
        assert_eq!(read.users[&"ada".parse().unwrap()].running_jobs, Some(2));
        assert!(limits(&ClusterForm::default()).unwrap().is_empty());
        for (bad, said) in [
            (ClusterForm { user_jobs: "few".into(), ..form.clone() }, "running jobs: \"few\""),
            (ClusterForm { own_limits: "{".into(), ..form.clone() }, "the limits by name cannot"),
        ] {
            let message = limits(&bad).unwrap_err().message;
            assert!(message.starts_with(said), "{message}");
            assert_ne!(crate::i18n::Language::Chinese.told(&message), message);
        }
    }
}
