CREATE TABLE private_images (
    node {text} NOT NULL,
    name {text} NOT NULL,
    image {text} NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (node, name, image)
)

CREATE TABLE image_proofs (
    user_name {text} NOT NULL,
    image {text} NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (user_name, image)
)
