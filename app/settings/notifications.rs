use protocol::notifications::{Occasion, Wishes};

use crate::forms::WishesForm;

/// What somebody wants to be told.
pub(crate) fn wishes(form: WishesForm) -> Wishes {
    let WishesForm { started, succeeded, failed, stopped, .. } = form;
    let WishesForm { retried, preempted, waiting, idle, mail, webhook, language, .. } = form;
    let chosen = [started, succeeded, failed, stopped, retried, preempted, waiting, idle];
    let occasions = Occasion::ALL.into_iter().zip(chosen);
    let occasions = occasions.filter(|(_, chosen)| *chosen).map(|(occasion, _)| occasion);
    let webhook = Some(webhook).filter(|webhook| !webhook.is_empty());
    Wishes { occasions: occasions.collect(), mail, webhook, language }
}

#[cfg(test)]
mod tests {
    use protocol::notifications::Tongue;

    use super::*;

    #[test]
    fn each_field_of_the_form_is_its_occasion() {
        for (field, occasion) in WishesForm::FIELDS.into_iter().zip(Occasion::ALL) {
            let name = field.trim_start_matches("wishes[").trim_end_matches(']');
            let form = serde_json::json!({ name: true, "language": "zh" });
            let form: WishesForm = serde_json::from_value(form).unwrap();
            let language = Tongue::Chinese;
            let wanted = Wishes { occasions: [occasion].into(), language, ..Wishes::default() };
            assert_eq!(wishes(form), wanted, "{field}");
        }
    }
}
