UPDATE jobs SET gpus = gpus * 1000

ALTER TABLE jobs RENAME COLUMN gpus TO gpu_milli

UPDATE tasks SET gpus = gpus * 1000

ALTER TABLE tasks RENAME COLUMN gpus TO gpu_milli
