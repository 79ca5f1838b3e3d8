CREATE TABLE audit (
    id {key},
    at BIGINT NOT NULL,
    actor {text} NOT NULL,
    action {text} NOT NULL,
    object {text} NOT NULL,
    detail {text} NOT NULL,
    address {text}
)
