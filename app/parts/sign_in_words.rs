use crate::i18n::Texts;

/// What went wrong, by the server's word for it.
pub(crate) fn words(texts: &'static Texts, code: &str) -> &'static str {
    match code {
        "IncorrectPasswordError" | "InvalidParametersError" => texts.sign_in.wrong,
        "TooManyRequestsError" => texts.sign_in.limited,
        "UnauthorizedUserError" => texts.sign_in.ended,
        "ForbiddenUserError" => texts.accounts.for_administrators,
        "ConflictUserError" => texts.accounts.taken,
        "TemporaryPasswordError" => texts.sign_in.temporary,
        _unforeseen => texts.sign_in.unavailable,
    }
}
