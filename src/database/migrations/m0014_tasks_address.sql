ALTER TABLE nodes ADD COLUMN tasks_address TEXT
