CREATE TABLE images (
    id {key},
    owner {text} NOT NULL,
    image {text} NOT NULL UNIQUE,
    node {text} NOT NULL,
    bytes BIGINT NOT NULL,
    job_name {text} NOT NULL,
    task {text} NOT NULL,
    container {text} NOT NULL,
    made_by {text} NOT NULL,
    created_at BIGINT NOT NULL,
    state {text} NOT NULL,
    problem {text},
    registry {text},
    auth_file {text}
)

CREATE INDEX images_of_owner ON images (owner, id)
