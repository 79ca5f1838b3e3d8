CREATE INDEX attempts_by_completed ON attempts (completed_at) WHERE completed_at IS NOT NULL

CREATE INDEX jobs_submitted_by ON jobs (user_name, submitted_at)
