CREATE TABLE user_groups (
    user_name {text} NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    source {text} NOT NULL,
    name {text} NOT NULL,
    PRIMARY KEY (user_name, source, name)
)

CREATE TABLE provider_accounts (
    user_name {text} PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE,
    provider {text} NOT NULL,
    issuer {text} NOT NULL,
    subject {text} NOT NULL,
    mail {text},
    confirmed_at BIGINT
)

CREATE UNIQUE INDEX provider_accounts_by_subject ON provider_accounts (issuer, subject)

CREATE INDEX provider_accounts_of_provider ON provider_accounts (provider, user_name)
