CREATE TABLE group_settings (
    name {text} PRIMARY KEY,
    admin BOOLEAN NOT NULL,
    settings TEXT NOT NULL
)

CREATE TABLE user_profiles (
    user_name {text} PRIMARY KEY REFERENCES users (name) ON DELETE CASCADE,
    profile TEXT NOT NULL
)

CREATE TABLE job_tags (
    job BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    tag {text} NOT NULL,
    PRIMARY KEY (job, tag)
)

CREATE INDEX job_tags_by_tag ON job_tags (tag, job)

ALTER TABLE virtual_clusters ADD COLUMN stopped BOOLEAN NOT NULL DEFAULT FALSE
