CREATE TABLE templates (
    name {text} PRIMARY KEY,
    author {text} NOT NULL,
    description TEXT NOT NULL,
    job_file TEXT NOT NULL,
    changed_at BIGINT NOT NULL
)
