CREATE TABLE settings (
    name {text} PRIMARY KEY,
    value {text} NOT NULL
)

CREATE TABLE users (
    name {text} PRIMARY KEY,
    password_hash {text} NOT NULL,
    admin BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    password_changed_at BIGINT NOT NULL
)

CREATE TABLE tokens (
    id {key},
    hash {text} NOT NULL UNIQUE,
    user_name {text} NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    label {text} NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT
)

CREATE INDEX tokens_of_user ON tokens (user_name, id)

CREATE TABLE sessions (
    id {text} PRIMARY KEY,
    data {bytes} NOT NULL,
    expires_at BIGINT NOT NULL,
    user_name {text}
)

CREATE INDEX sessions_of_user ON sessions (user_name)

CREATE INDEX sessions_by_end ON sessions (expires_at)

CREATE TABLE nodes (
    name {text} PRIMARY KEY,
    settings {text} NOT NULL,
    from_file BOOLEAN NOT NULL,
    draining BOOLEAN NOT NULL,
    reachable BOOLEAN,
    problem {text},
    last_seen BIGINT,
    engine {text},
    capacity {text}
)

CREATE TABLE virtual_clusters (
    name {text} PRIMARY KEY,
    settings {text} NOT NULL
)

CREATE TABLE jobs (
    id {key},
    user_name {text} NOT NULL,
    name {text} NOT NULL,
    state {text} NOT NULL,
    stop_by {text},
    stop_at BIGINT,
    virtual_cluster {text} NOT NULL,
    priority BIGINT NOT NULL,
    tasks BIGINT NOT NULL,
    roles BIGINT NOT NULL,
    gpus BIGINT NOT NULL,
    gpu_types {text} NOT NULL,
    user_retries BIGINT NOT NULL,
    platform_retries BIGINT NOT NULL,
    submitted_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    waiting {text},
    exit {text},
    attempt BIGINT,
    not_before BIGINT,
    avoid {text} NOT NULL,
    UNIQUE (user_name, name)
)

CREATE INDEX jobs_by_submitted ON jobs (submitted_at, id)

CREATE INDEX jobs_by_completed ON jobs ((coalesce(completed_at, 9223372036854775807)), id)

CREATE INDEX jobs_by_name ON jobs (name, id)

CREATE INDEX jobs_by_user ON jobs (user_name, submitted_at, id)

CREATE INDEX jobs_by_virtual_cluster ON jobs (virtual_cluster, submitted_at, id)

CREATE INDEX jobs_by_state ON jobs (state, submitted_at, id)

CREATE INDEX jobs_by_gpus ON jobs (gpus, id)

CREATE INDEX jobs_by_tasks ON jobs (tasks, id)

CREATE INDEX jobs_by_retries ON jobs ((user_retries + platform_retries), id)

CREATE TABLE job_files (
    job BIGINT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    spec {text} NOT NULL,
    text {text} NOT NULL,
    syntax {text} NOT NULL
)

CREATE TABLE attempts (
    job BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    state {text} NOT NULL,
    placed_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    exit {text},
    PRIMARY KEY (job, number)
)

CREATE TABLE tasks (
    job BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    attempt BIGINT NOT NULL,
    role BIGINT NOT NULL,
    task_index BIGINT NOT NULL,
    retry BIGINT NOT NULL,
    role_name {text} NOT NULL,
    state {text} NOT NULL,
    node {text} NOT NULL,
    address {text} NOT NULL,
    gpu_indices {text} NOT NULL,
    ports {text} NOT NULL,
    cpus BIGINT NOT NULL,
    memory_mb BIGINT NOT NULL,
    gpus BIGINT NOT NULL,
    disk_gb BIGINT NOT NULL,
    container {text},
    progress {text},
    intent {text},
    started_at BIGINT,
    completed_at BIGINT,
    exit {text},
    PRIMARY KEY (job, attempt, role, task_index, retry)
)

CREATE INDEX tasks_active ON tasks (job) WHERE state NOT IN ('SUCCEEDED', 'FAILED', 'STOPPED')

CREATE INDEX tasks_of_node ON tasks (node) WHERE state NOT IN ('SUCCEEDED', 'FAILED', 'STOPPED')

CREATE TABLE secrets (
    job BIGINT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    name {text} NOT NULL,
    ciphertext {bytes} NOT NULL,
    PRIMARY KEY (job, name)
)

CREATE TABLE events (
    id {key},
    job BIGINT REFERENCES jobs (id) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    kind {text} NOT NULL,
    message {text} NOT NULL,
    attempt BIGINT,
    warning BOOLEAN NOT NULL,
    actor {text}
)

CREATE INDEX events_of_job ON events (job, id)

CREATE INDEX events_by_time ON events (at)
