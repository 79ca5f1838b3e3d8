ALTER TABLE attempts ADD COLUMN weighed_milli BIGINT
