CREATE TABLE storages (
    name {text} PRIMARY KEY,
    settings {text} NOT NULL,
    password {bytes}
)
