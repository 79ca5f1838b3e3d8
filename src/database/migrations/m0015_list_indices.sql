DROP INDEX IF EXISTS jobs_by_submitted

DROP INDEX IF EXISTS jobs_by_completed

DROP INDEX IF EXISTS jobs_by_name

DROP INDEX IF EXISTS jobs_by_user

DROP INDEX IF EXISTS jobs_by_virtual_cluster

DROP INDEX IF EXISTS jobs_by_gpus

DROP INDEX IF EXISTS jobs_by_tasks

DROP INDEX IF EXISTS jobs_by_retries
