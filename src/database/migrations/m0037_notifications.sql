CREATE TABLE notification_wishes (
    user_name {text} PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE,
    wishes TEXT NOT NULL
)

CREATE TABLE outbox (
    id {key},
    user_name {text} NOT NULL,
    way TEXT NOT NULL,
    notice TEXT NOT NULL,
    at BIGINT NOT NULL,
    due BIGINT NOT NULL,
    tries BIGINT NOT NULL
)

CREATE INDEX outbox_by_due ON outbox (due, id)
