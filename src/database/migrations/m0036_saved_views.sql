CREATE TABLE saved_views (
    id {key},
    user_name {text} NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    name {text} NOT NULL,
    words {text} NOT NULL,
    everybody BOOLEAN NOT NULL,
    sort {text} NOT NULL
)

CREATE UNIQUE INDEX saved_views_of_user ON saved_views (user_name, name)
