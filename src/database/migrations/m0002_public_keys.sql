CREATE TABLE public_keys (
    id {key},
    user_name {text} NOT NULL REFERENCES users (name) ON DELETE CASCADE,
    fingerprint {text} NOT NULL,
    line {text} NOT NULL,
    label {text} NOT NULL,
    created_at BIGINT NOT NULL
)

CREATE UNIQUE INDEX public_keys_of_user ON public_keys (user_name, fingerprint)
