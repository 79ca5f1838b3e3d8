ALTER TABLE jobs ADD COLUMN counted BOOLEAN NOT NULL DEFAULT FALSE

CREATE INDEX jobs_to_count ON jobs (completed_at) WHERE NOT counted AND completed_at IS NOT NULL

CREATE TABLE usage_days (
    day BIGINT NOT NULL,
    user_name {text} NOT NULL,
    virtual_cluster {text} NOT NULL,
    gpu_type {text} NOT NULL,
    jobs BIGINT NOT NULL,
    gpu_ms BIGINT NOT NULL,
    PRIMARY KEY (day, user_name, virtual_cluster, gpu_type)
)
