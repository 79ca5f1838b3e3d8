use api::Error;
use protocol::limits::{Limit, Limits};

use crate::forms::{ClusterForm, LimitForm};
use crate::settings::text::{invalid, name, number};

/// What each user and each group may have, and who has limits of his own by name.
pub(super) fn limits(form: &ClusterForm) -> Result<Limits, Error> {
    let user = [&form.user_gpus, &form.user_jobs, &form.user_waiting, &form.user_submissions];
    let group = [&form.group_gpus, &form.group_jobs, &form.group_waiting, &form.group_submissions];
    let (user, group) = (limit(user)?, limit(group)?);
    let mut limits = Limits { user, group, ..Limits::default() };
    for row in form.named.values() {
        let LimitForm { of_group, name: who, gpus, jobs, waiting, submissions } = row;
        let own = limit([gpus, jobs, waiting, submissions])?;
        match who.trim() {
            "" if own.is_none() => {}
            "" => return Err(invalid("limits by name need the name".to_owned())),
            who if *of_group => {
                limits.groups.insert(name(who)?, own);
            }
            who => {
                limits.users.insert(name(who)?, own);
            }
        }
    }
    Ok(limits)
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

    fn row(of_group: bool, name: &str, jobs: &str) -> LimitForm {
        LimitForm { of_group, name: name.into(), jobs: jobs.into(), ..LimitForm::default() }
    }

    fn named(rows: &[LimitForm]) -> ClusterForm {
        let rows = rows.iter().enumerate();
        let named = rows.map(|(number, row)| (format!("n{number}"), row.clone())).collect();
        ClusterForm { name: "lab".into(), named, ..ClusterForm::default() }
    }

    #[test]
    fn limits_are_read_also_those_by_name() {
        let rows = [row(false, " ada", "2"), row(true, "ada", ""), row(false, "", " ")];
        let form = ClusterForm {
            user_gpus: "8".into(),
            user_submissions: " 30 ".into(),
            group_waiting: "100".into(),
            ..named(&rows)
        };
        let read = limits(&form).unwrap();
        let user =
            Limit { running_gpus: Some(8), submissions_per_minute: Some(30), ..Limit::default() };
        assert_eq!(read.user, user);
        assert_eq!(read.group, Limit { waiting_jobs: Some(100), ..Limit::default() });
        assert_eq!((read.users.len(), read.groups.len()), (1, 1), "an empty row says nothing");
        assert_eq!(read.users[&"ada".parse().unwrap()].running_jobs, Some(2));
        assert!(read.groups[&"ada".parse().unwrap()].is_none(), "it is not limited");
        assert!(limits(&ClusterForm::default()).unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_with_limits_is_said() {
        for (bad, said) in [
            (ClusterForm { user_jobs: "few".into(), ..named(&[]) }, "running jobs: \"few\""),
            (named(&[row(false, "ada", "few")]), "running jobs: \"few\""),
            (named(&[row(true, "", "3")]), "limits by name need the name"),
            (named(&[row(false, "a b", "3")]), "\"a b\" is not"),
        ] {
            let message = limits(&bad).unwrap_err().message;
            assert!(message.contains(said), "{message}");
            assert_ne!(crate::i18n::Language::Chinese.told(&message), message);
        }
    }
}
