ALTER TABLE tokens ADD COLUMN made_by BIGINT REFERENCES tokens (id) ON DELETE CASCADE

ALTER TABLE tokens ADD COLUMN by_sign_in BOOLEAN NOT NULL DEFAULT FALSE

CREATE INDEX tokens_made_by ON tokens (made_by)

CREATE TABLE user_names (
    folded {text} PRIMARY KEY,
    name {text} NOT NULL,
    removed_at BIGINT
)

INSERT INTO user_names (folded, name) SELECT lower(name), min(name) FROM users GROUP BY lower(name)

INSERT INTO user_names (folded, name, removed_at) SELECT lower(user_name), min(user_name), 0 FROM jobs WHERE lower(user_name) NOT IN (SELECT folded FROM user_names) GROUP BY lower(user_name)
