-- The tables of the published database. Rows come from the lake; nothing is ever edited.
create table repositories (
    repository varchar primary key,
    location varchar not null,
    remote_url varchar,
    default_ref varchar not null,
    indexed_at timestamptz not null
);

create table snapshots (
    snapshot_id varchar primary key,
    repository varchar not null,
    ref varchar not null,
    commit varchar not null,
    tree varchar,
    committed_at timestamptz,
    indexed_at timestamptz not null,
    run_id varchar not null,
    is_current boolean not null
);

create table files (
    snapshot_id varchar not null,
    path varchar not null,
    blob varchar not null,
    size_bytes bigint not null,
    line_count integer,
    language varchar not null,
    kind varchar not null,
    encoding varchar,
    has_syntax_error boolean not null,
    last_commit_at timestamptz,
    last_author varchar,
    primary key (snapshot_id, path)
);

create table skipped_files (
    snapshot_id varchar not null,
    path varchar not null,
    size_bytes bigint,
    skip_reason varchar not null,
    skip_rule varchar,
    primary key (snapshot_id, path)
);

create table unreadable_files (
    snapshot_id varchar not null,
    path varchar not null,
    size_bytes bigint,
    error varchar not null,
    primary key (snapshot_id, path)
);

create table chunks (
    chunk_id bigint primary key,
    repository varchar not null,
    path varchar not null,
    symbol varchar not null,
    symbol_kind varchar,
    signature varchar,
    signature_token_count integer,
    token_count integer,
    text varchar not null,
    text_hash varchar not null
);

create table snapshot_chunks (
    snapshot_id varchar not null,
    chunk_id bigint not null,
    blob varchar not null,
    start_line integer not null,
    end_line integer not null,
    start_byte bigint not null,
    end_byte bigint not null
);

create table current_chunks (
    entry uinteger not null,
    ordinal uinteger not null,
    chunk_id bigint not null,
    embedding_row bigint,
    snapshot_id varchar not null,
    repository varchar not null,
    ref varchar not null,
    is_default_ref boolean not null,
    path varchar not null,
    language varchar not null,
    kind varchar not null,
    symbol varchar not null,
    symbol_key bigint,
    start_line integer not null,
    end_line integer not null
);

create table chunk_words (
    chunk_id bigint not null,
    words varchar not null
);

create table words (
    word_key bigint not null,
    word varchar not null,
    chunk_count uinteger not null
);

create table postings (
    word_key bigint not null,
    ordinal uinteger not null,
    impact usmallint not null
);

create table embeddings (
    text_hash varchar not null,
    embedding float[dimension] not null
);

create table models (
    model_id varchar primary key,
    name varchar not null,
    revision varchar,
    fingerprint varchar not null,
    dimension integer not null,
    max_tokens integer,
    pooling varchar,
    query_prompt varchar,
    document_prompt varchar
);

create table runs (
    run_id varchar primary key,
    sequence integer not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    state varchar not null,
    version varchar not null,
    chunking_fingerprint varchar not null,
    model_id varchar,
    config varchar not null
);

create table run_stages (
    run_id varchar not null,
    repository varchar,
    stage varchar not null,
    seconds double,
    counts map(varchar, double)
);

create table failures (
    run_id varchar not null,
    repository varchar not null,
    path varchar not null,
    stage varchar not null,
    error varchar not null
);

create table evaluations (
    evaluation_id varchar not null,
    evaluated_at timestamptz not null,
    queries varchar not null,
    query_count integer not null,
    model_id varchar,
    chunker varchar,
    chunk_tokens integer,
    kind varchar,
    mode varchar not null,
    metric varchar not null,
    value double
);

create table index_facts (
    name varchar primary key,
    value varchar not null
);
