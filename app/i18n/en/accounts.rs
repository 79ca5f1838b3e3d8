use crate::i18n::words_accounts::Accounts;

pub(crate) const ACCOUNTS: Accounts = Accounts {
    sign_in_by: |provider| format!("Sign in with {provider}"),
    or_password: "Or with name and password:",
    administrators: "Administrators sign in with a password of this server",
    signed_out: |provider| format!("You are signed out here. {provider} still knows this browser."),
    sign_out_of: |provider| format!("Sign out of {provider} as well"),
    lost: "This sign-in was not begun in this browser, or it took too long. Begin again.",
    unavailable: "The provider does not answer. Try again in a while.",
    refused: "The provider did not sign you in. Try again, or ask there.",
    not_allowed: "Your account is not among those that may sign in here. Ask an administrator.",
    unsaid: "The provider leaves out what is needed here. The log tells an administrator what it is.",
    taken: "There is another account of your name here, and it stays its owner's. Ask an administrator \
            to give you a different name at the provider, or to settle whose the account is.",
    bad_name: "Your name at the provider cannot be the name of an account here: allowed are 1 to 64 of \
               A-Z a-z 0-9 _ . -",
    for_administrators: "You may not sign in this way. Use your provider, or ask an administrator.",
    account: "Account",
    of_provider: |provider| format!("You sign in with {provider}, which has your password."),
    of_here: "You sign in with a password of this server.",
    mail: "Mail",
    groups: "Groups",
    no_groups: "You are in no group.",
    lapsed: "gives no rights until the next sign-in",
    source: "From",
    here: "this server",
    groups_hint: "Groups whose members may use it, separated by commas",
    groups_of: |user| format!("Groups of {user}"),
    groups_of_hint: "Separated by commas. Groups that a provider names stay as they are.",
    groups_set: "Groups saved.",
    put_into_groups: "Put into groups",
    provided: "Account made at sign-in",
};
