-- Nothing has been embedded yet: there is no shard to read.
create temp table embedded_hashes (
    text_hash varchar,
    filename varchar,
    file_row_number bigint,
    embedding_row bigint
);
