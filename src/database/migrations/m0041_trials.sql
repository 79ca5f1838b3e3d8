CREATE TABLE trials (
    user_name {text} NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    job_name {text} NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (user_name, job_name)
)
