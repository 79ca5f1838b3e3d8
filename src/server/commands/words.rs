//! What the command line says to people, in each language. What the server says to it comes in that language already.
//! A word that is missing in one does not compile.

mod catalogue;
mod chinese;
mod doctor;
mod english;
mod import;
mod word;

use app::i18n::Language;

pub(super) use self::catalogue::Words;
pub(super) use self::doctor::Doctor;
pub(super) use self::import::Import;
pub(super) use self::word::{Counted, Named};

/// The catalogue of a language.
pub(super) fn words(language: Language) -> &'static Words {
    match language {
        Language::English => &english::WORDS,
        Language::Chinese => &chinese::WORDS,
    }
}

/// The language that somebody names: a word such as `zh`, or a locale such as `zh_CN.UTF-8`. Whoever names none has
/// that of the terminal.
pub(super) fn named(name: &str) -> Result<Language, String> {
    if name.is_empty() {
        return Ok(of_terminal());
    }
    known(name).ok_or_else(|| "allowed are en and zh".to_owned())
}

/// The language of the terminal, as its locale says.
pub(super) fn of_terminal() -> Language {
    let variables = ["LC_ALL", "LC_MESSAGES", "LANG"].map(|name| std::env::var(name).ok());
    of_locale(variables.into_iter().flatten().find(|locale| !locale.is_empty()))
}

/// The language of a locale such as `zh_CN.UTF-8`; English where it is another one.
fn of_locale(locale: Option<String>) -> Language {
    locale.as_deref().and_then(known).unwrap_or_default()
}

fn known(name: &str) -> Option<Language> {
    let word = name.split(['_', '-', '.', '@']).next().unwrap_or_default();
    Language::from_word(&word.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use protocol::cluster::NodeCondition;
    use protocol::state::State;
    use protocol::wait::WaitReason;

    use super::*;

    const STATES: [State; 8] = [
        State::Waiting,
        State::Preparing,
        State::Running,
        State::Stopping,
        State::Succeeded,
        State::Failed,
        State::Stopped,
        State::Unknown,
    ];

    /// All that a catalogue says, with something filled in.
    fn all(words: &Words) -> Vec<String> {
        let Words {
            state,
            wait,
            condition,
            ago,
            yes,
            no,
            jobs_heading,
            tasks_heading,
            nodes_heading,
            clusters_heading,
            users_heading,
            cluster,
            waits,
            place,
            ended,
            last_attempt,
            stopping,
            not_stopped,
            deleted,
            not_deleted,
            simulated,
            probing,
            signed_in,
            nobody_signed_in,
            password_of,
            new_password_of,
            password_for,
            added,
            silent,
            other_answer,
            not_understood,
            in_request,
            no_such_task,
            task_absent,
            port_absent,
            forwards,
            no_path_in_task,
            paths_in_tasks,
            no_program,
            doctor,
            import,
        } = words;
        let conditions =
            [NodeCondition::Ready, NodeCondition::Draining, NodeCondition::Unreachable];
        let headings = jobs_heading.iter().chain(tasks_heading).chain(nodes_heading);
        let plain = headings.chain(clusters_heading).chain(users_heading).copied();
        let plain = plain.chain([*yes, *no, *cluster, *waits, *place, *ended, *last_attempt]);
        let plain = plain.chain([*simulated, *no_path_in_task, *paths_in_tasks]);
        let plain = plain.chain(STATES.map(state)).chain(conditions.map(condition));
        let named = [stopping, deleted, probing, nobody_signed_in, password_of, new_password_of];
        let named = named.into_iter().chain([password_for, added, no_such_task, no_program]);
        let paired = [signed_in, silent, not_understood, in_request, port_absent];
        let mut all: Vec<String> = plain.map(str::to_owned).collect();
        all.extend(named.map(|said| said("A1")));
        all.extend(paired.into_iter().map(|said| said("A1", "B2")));
        all.extend([other_answer, task_absent].map(|said| said("A1", "B2", "C3")));
        all.extend([not_stopped, not_deleted].map(|said| said(2)));
        all.extend([1_000, 61_000, 7_200_000, 864_000_000].map(ago));
        all.extend([forwards(1, "A1", "B2"), wait(&WaitReason::Queued)]);
        all.extend(of_doctor(doctor));
        all.extend(of_import(import));
        all
    }

    /// The same of what is said of nodes.
    fn of_doctor(words: &Doctor) -> Vec<String> {
        let Doctor {
            well,
            finding,
            sick,
            silent,
            nothing_known,
            engine_old,
            pull_failed,
            ports_closed,
            closed,
            drained,
            gpu_broken,
            warning,
            failed,
            task_failed,
            task_waits,
            nobody_knows,
            task_late,
            clock_behind,
            clock_ahead,
            disk_full,
            gpus_seen,
        } = words;
        let plain = [*nothing_known, *closed, *drained, *nobody_knows, *task_late];
        let named = [well, silent, pull_failed, warning, failed, task_failed, task_waits];
        let mut all: Vec<String> = plain.map(str::to_owned).to_vec();
        all.extend(named.map(|said| said("A1")));
        all.extend([clock_behind, clock_ahead, disk_full, gpus_seen].map(|said| said(9)));
        // What is found is said in a sentence of its own language.
        let found = finding("A1", nothing_known);
        all.extend([found, sick(1, 2)]);
        all.extend([gpu_broken, engine_old, ports_closed].map(|said| said("A1", "B2")));
        all
    }

    /// The same of what is said of what comes from elsewhere.
    fn of_import(words: &Import) -> Vec<String> {
        let Import {
            parts,
            became,
            administrators_only,
            passwords_in,
            some_failed,
            admin_members,
            administrator,
            nobody_may,
            guaranteed,
            no_share,
            no_password,
            not_mounted,
            known_as,
            member_of,
            also_in,
            in_no_group,
            no_job_file,
            to_be_changed,
        } = words;
        let plain = parts.iter().chain(became).copied();
        let plain = plain.chain([*administrators_only, *admin_members, *administrator]);
        let plain = plain.chain([*nobody_may, *no_password, *no_job_file]);
        let named = [passwords_in, not_mounted, known_as, member_of, also_in, in_no_group];
        let mut all: Vec<String> = plain.map(str::to_owned).collect();
        all.extend(named.map(|said| said("A1")));
        all.extend([some_failed(2), guaranteed(4, "A1"), no_share(4), to_be_changed("A1", "B2")]);
        all
    }

    fn is_han(letter: char) -> bool {
        ('\u{4e00}'..='\u{9fff}').contains(&letter)
    }

    #[test]
    fn each_word_is_said_in_both_languages() {
        let [english, chinese] = Language::ALL.map(|language| all(words(language)));
        assert_eq!(english.len(), chinese.len());
        for (english, chinese) in english.iter().zip(&chinese) {
            assert!(!english.is_empty() && !english.contains(is_han), "{english}");
            assert!(chinese.contains(is_han), "{english}: {chinese}");
            for filled in ["A1", "B2", "C3"] {
                assert_eq!(english.contains(filled), chinese.contains(filled), "{chinese}");
            }
        }
    }

    #[test]
    fn chinese_has_wide_marks_and_spaces_beside_latin() {
        for text in all(words(Language::Chinese)) {
            let letters: Vec<char> = text.chars().collect();
            for pair in letters.windows(2) {
                let [one, other] = [pair[0], pair[1]];
                let narrow = is_han(one) && ",;:!?()".contains(other);
                let close = is_han(one) && other.is_ascii_alphanumeric()
                    || one.is_ascii_alphanumeric() && is_han(other);
                assert!(!narrow && !close, "{one}{other} in {text}");
            }
        }
    }

    #[test]
    fn a_waiting_job_says_why_in_the_readers_language() {
        let reason = WaitReason::Behind { ahead: 3 };
        assert_eq!((words(Language::English).wait)(&reason), reason.to_string());
        assert!((words(Language::Chinese).wait)(&reason).contains("前面还有 3 个"));
    }

    #[test]
    fn one_of_a_thing_is_said_in_the_singular() {
        let words = words(Language::English);
        assert_eq!((words.not_stopped)(1), "1 job could not be stopped");
        assert_eq!((words.not_deleted)(2), "2 jobs could not be deleted");
        assert_eq!((words.doctor.sick)(1, 3), "1 of 3 nodes is not well");
        let nothing = (words.import.no_share)(1);
        assert_eq!(nothing, "is guaranteed nothing yet, there 1 GPU: give it a share");
    }

    #[test]
    fn a_language_is_named_by_its_word_or_a_locale() {
        for name in ["zh", "ZH", "zh-CN", "zh_CN.UTF-8"] {
            assert_eq!(named(name), Ok(Language::Chinese), "{name}");
        }
        assert_eq!(named("en_GB"), Ok(Language::English));
        for other in ["de", "C", "chinese"] {
            assert!(named(other).is_err(), "{other}");
        }
    }

    #[test]
    fn a_locale_says_the_language() {
        let of = |locale: &str| of_locale(Some(locale.to_owned()));
        assert_eq!((of("zh_CN.UTF-8"), of("zh")), (Language::Chinese, Language::Chinese));
        for other in ["", "C.UTF-8", "en_GB.UTF-8", "de_DE@euro"] {
            assert_eq!(of(other), Language::English, "{other}");
        }
        assert_eq!(of_locale(None), Language::English);
    }
}
