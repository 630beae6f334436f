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
    entry uinteger primary key,
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
    file_words varchar not null,
    parent_words varchar,
    last_commit_at timestamptz,
    start_line integer not null,
    end_line integer not null,
    start_byte bigint not null,
    end_byte bigint not null,
    text_key ubigint not null,
    copy_count uinteger
);

create table symbols (
    snapshot_id varchar not null,
    path varchar not null,
    name varchar not null,
    symbol varchar not null,
    symbol_kind varchar not null,
    start_line integer not null,
    end_line integer not null,
    chunk_id bigint not null
);

create table imports (
    snapshot_id varchar not null,
    path varchar not null,
    line integer not null,
    module varchar not null,
    name varchar,
    local_name varchar,
    target_path varchar
);

create table symbol_references (
    snapshot_id varchar not null,
    path varchar not null,
    line integer not null,
    chunk_id bigint not null,
    symbol varchar not null,
    kind varchar not null,
    name varchar not null,
    qualifier varchar,
    tier varchar not null,
    target_path varchar,
    target_symbol varchar,
    target_chunk_id bigint
);

create table file_ranks (
    snapshot_id varchar not null,
    path varchar not null,
    score double not null
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
    header varchar not null,
    reranker varchar,
    mode varchar not null,
    metric varchar not null,
    value double
);

create table index_facts (
    name varchar primary key,
    value varchar not null
);

comment on table repositories is 'One row per repository of the index.';
comment on column repositories.repository is 'Name: --name, else owner/name of the remote, else the folder.';
comment on column repositories.location is 'Path or URL that was indexed.';
comment on column repositories.remote_url is 'URL of the remote, null for a plain folder.';
comment on column repositories.default_ref is 'The ref that searches see unless another is asked for.';
comment on column repositories.indexed_at is 'When the repository was last read, UTC.';
comment on table snapshots is 'One row per retained snapshot: one ref of one repository as indexed.';
comment on column snapshots.snapshot_id is 'Key: md5 of repository, ref, commit or content, rules and chunking.';
comment on column snapshots.repository is 'Repository of the snapshot.';
comment on column snapshots.ref is 'Branch, tag or other name.';
comment on column snapshots.commit is 'Commit id, or content hash of a folder.';
comment on column snapshots.tree is 'Tree id of the commit, null for a folder.';
comment on column snapshots.committed_at is 'When the commit was made, UTC.';
comment on column snapshots.indexed_at is 'When the snapshot was taken, UTC.';
comment on column snapshots.run_id is 'Run that took the snapshot.';
comment on column snapshots.is_current is 'Whether searches see it; older snapshots serve comparisons.';
comment on table files is 'One row per indexed file of a retained snapshot.';
comment on column files.snapshot_id is 'Snapshot of the file.';
comment on column files.path is 'POSIX path relative to the root.';
comment on column files.blob is 'Git object id of the content.';
comment on column files.size_bytes is 'Size in bytes.';
comment on column files.line_count is 'Lines, counted by line feeds; a last line without one counts.';
comment on column files.language is 'Language by name or content.';
comment on column files.kind is 'What the file is for: source, test, docs, config, example, other, generated or vendored.';
comment on column files.encoding is 'Encoding it was read in.';
comment on column files.has_syntax_error is 'Whether the parser met an error.';
comment on column files.last_commit_at is 'When a commit last touched the file, UTC; of an uncommitted file, when it was written.';
comment on column files.last_author is 'Who made that commit; null for an uncommitted file.';
comment on table skipped_files is 'One row per path of a retained snapshot that a rule left out.';
comment on column skipped_files.snapshot_id is 'Snapshot of the path.';
comment on column skipped_files.path is 'POSIX path relative to the root.';
comment on column skipped_files.size_bytes is 'Size in bytes, null if unknown.';
comment on column skipped_files.skip_reason is 'Why it was left out.';
comment on column skipped_files.skip_rule is 'The very rule that fired.';
comment on table unreadable_files is 'One row per path of a retained snapshot that could not be read.';
comment on column unreadable_files.snapshot_id is 'Snapshot of the path.';
comment on column unreadable_files.path is 'POSIX path relative to the root.';
comment on column unreadable_files.size_bytes is 'Size in bytes, null if unknown.';
comment on column unreadable_files.error is 'What went wrong.';
comment on table chunks is 'One row per different chunk of all retained snapshots.';
comment on column chunks.chunk_id is 'Stable positive key from repository, path, symbol, text and occurrence; a string in JSON.';
comment on column chunks.repository is 'Repository of the chunk.';
comment on column chunks.path is 'POSIX path relative to the root.';
comment on column chunks.symbol is 'Dotted path of the definition around the chunk, or <module>.';
comment on column chunks.symbol_kind is 'What the symbol is, such as function or class.';
comment on column chunks.signature is 'Signature of the definition.';
comment on column chunks.signature_token_count is 'Tokens of the signature.';
comment on column chunks.token_count is 'Tokens of the embedded text, header included, at most.';
comment on column chunks.text is 'Source text, exactly as in the file.';
comment on column chunks.text_hash is 'md5 of the embedded text: the key of its vector.';
comment on table snapshot_chunks is 'Where each chunk stands in each retained snapshot.';
comment on column snapshot_chunks.snapshot_id is 'Snapshot.';
comment on column snapshot_chunks.chunk_id is 'Chunk.';
comment on column snapshot_chunks.blob is 'Content it was cut from.';
comment on column snapshot_chunks.start_line is 'First line, from 1.';
comment on column snapshot_chunks.end_line is 'Last line, inclusive.';
comment on column snapshot_chunks.start_byte is 'First byte of the decoded text as UTF-8.';
comment on column snapshot_chunks.end_byte is 'Byte after the last.';
comment on table current_chunks is 'What searches filter by: one row per chunk and ref of a current snapshot.';
comment on column current_chunks.entry is 'Key; default refs come first.';
comment on column current_chunks.ordinal is 'Number of the chunk in postings.';
comment on column current_chunks.chunk_id is 'Chunk.';
comment on column current_chunks.embedding_row is 'rowid of its vector in embeddings, null without one.';
comment on column current_chunks.snapshot_id is 'Snapshot.';
comment on column current_chunks.repository is 'Repository.';
comment on column current_chunks.ref is 'Ref.';
comment on column current_chunks.is_default_ref is 'Whether it is the repository''s default ref.';
comment on column current_chunks.path is 'POSIX path relative to the root.';
comment on column current_chunks.language is 'Language of the file.';
comment on column current_chunks.kind is 'Kind of the file.';
comment on column current_chunks.symbol is 'Symbol of the chunk.';
comment on column current_chunks.symbol_key is 'word_key of the defined name in lower case, null if the chunk defines nothing.';
comment on column current_chunks.file_words is 'Words of the file''s name, as BM25 sees them, separated by blanks.';
comment on column current_chunks.parent_words is 'Words of the symbol around the chunk''s own, such as its class, as BM25 sees them; null for none.';
comment on column current_chunks.last_commit_at is 'When the file was last changed, as in files.';
comment on column current_chunks.start_line is 'First line, from 1.';
comment on column current_chunks.end_line is 'Last line, inclusive.';
comment on column current_chunks.start_byte is 'First byte, as in snapshot_chunks.';
comment on column current_chunks.end_byte is 'Byte after the last.';
comment on column current_chunks.text_key is 'Equal for copies: chunks of the same symbol and text.';
comment on column current_chunks.copy_count is 'How many more chunks of default refs are copies; null for none.';
comment on table symbols is 'One row per definition in a Python, JavaScript, TypeScript, Go or Java file of a current snapshot.';
comment on column symbols.snapshot_id is 'Snapshot.';
comment on column symbols.path is 'POSIX path relative to the root.';
comment on column symbols.name is 'Last name of the symbol.';
comment on column symbols.symbol is 'Dotted path.';
comment on column symbols.symbol_kind is 'What it is, such as function, method or class.';
comment on column symbols.start_line is 'First line, from 1, decorators not included.';
comment on column symbols.end_line is 'Last line, inclusive.';
comment on column symbols.chunk_id is 'Chunk in which the definition begins.';
comment on table imports is 'One row per imported name of a file of a current snapshot; languages as in symbols.';
comment on column imports.snapshot_id is 'Snapshot.';
comment on column imports.path is 'File that imports.';
comment on column imports.line is 'Line, from 1.';
comment on column imports.module is 'Module or package, as written.';
comment on column imports.name is 'Imported name, * for all; null for the module itself.';
comment on column imports.local_name is 'What the file calls it, null without a name.';
comment on column imports.target_path is 'File or, ending in /, folder of the repository that is meant; null if outside.';
comment on table symbol_references is 'One row per use of a name that may mean something of the repository; languages as in symbols.';
comment on column symbol_references.snapshot_id is 'Snapshot.';
comment on column symbol_references.path is 'File of the use.';
comment on column symbol_references.line is 'Line of the use, from 1.';
comment on column symbol_references.chunk_id is 'Chunk of the use.';
comment on column symbol_references.symbol is 'Definition around the use, empty outside of definitions.';
comment on column symbol_references.kind is 'call, inherit, or name for any other use.';
comment on column symbol_references.name is 'Name that is used.';
comment on column symbol_references.qualifier is 'What stands before the name; … for an expression.';
comment on column symbol_references.tier is 'How sure the target is: same file, imported, same package, unique in repository, ambiguous or external.';
comment on column symbol_references.target_path is 'File that defines the name, if there is one answer.';
comment on column symbol_references.target_symbol is 'Definition that is meant, if there is one answer.';
comment on column symbol_references.target_chunk_id is 'Chunk in which that definition begins.';
comment on table file_ranks is 'How central each file of a current snapshot is: PageRank over symbol_references.';
comment on column file_ranks.snapshot_id is 'Snapshot.';
comment on column file_ranks.path is 'File.';
comment on column file_ranks.score is 'Score, as a share of the most central file''s.';
comment on table chunk_words is 'The words that BM25 indexes, by chunk.';
comment on column chunk_words.chunk_id is 'Chunk.';
comment on column chunk_words.words is 'Words of its different identifiers, separated by blanks.';
comment on table words is 'Each indexed word.';
comment on column words.word_key is 'Key in postings.';
comment on column words.word is 'The word.';
comment on column words.chunk_count is 'Chunks that hold it.';
comment on table postings is 'Which word speaks how much for which chunk.';
comment on column postings.word_key is 'Word.';
comment on column postings.ordinal is 'Chunk, by its ordinal in current_chunks.';
comment on column postings.impact is 'BM25 weight of the word in the chunk, in thousandths.';
comment on table embeddings is 'One vector per different text of current snapshots.';
comment on column embeddings.text_hash is 'md5 of the embedded text.';
comment on column embeddings.embedding is 'Vector of unit length.';
comment on table models is 'The model that made the vectors: one row.';
comment on column models.model_id is 'Short name and start of the fingerprint.';
comment on column models.name is 'Name or path as given.';
comment on column models.revision is 'Revision on the hub.';
comment on column models.fingerprint is 'Hash of everything that decides the vectors.';
comment on column models.dimension is 'Numbers in a vector.';
comment on column models.max_tokens is 'Most tokens the model reads, null for no limit.';
comment on column models.pooling is 'How token vectors become one.';
comment on column models.query_prompt is 'Text put before queries.';
comment on column models.document_prompt is 'Text put before chunks.';
comment on table runs is 'One row per run up to this one.';
comment on column runs.run_id is 'Key, sorts by time.';
comment on column runs.sequence is 'Number of the run in the lake.';
comment on column runs.started_at is 'Start, UTC.';
comment on column runs.finished_at is 'End, UTC; null for the run that built this database.';
comment on column runs.state is 'complete, partial or failed.';
comment on column runs.version is 'Version of repolake.';
comment on column runs.chunking_fingerprint is 'Fingerprint of the chunking.';
comment on column runs.model_id is 'Model of the run.';
comment on column runs.config is 'Settings of the run, as JSON text.';
comment on table run_stages is 'Seconds and counts by run, repository and stage.';
comment on column run_stages.run_id is 'Run.';
comment on column run_stages.repository is 'Repository, null for the whole run.';
comment on column run_stages.stage is 'scan, chunk, embed or load.';
comment on column run_stages.seconds is 'Seconds it took.';
comment on column run_stages.counts is 'Counts by name.';
comment on table failures is 'What could not be read, chunked or embedded, by run; tried again by the next.';
comment on column failures.run_id is 'Run.';
comment on column failures.repository is 'Repository.';
comment on column failures.path is 'Path.';
comment on column failures.stage is 'Stage that failed.';
comment on column failures.error is 'What went wrong.';
comment on table evaluations is 'Results of evaluations, one row per metric.';
comment on column evaluations.evaluation_id is 'Key of the evaluation.';
comment on column evaluations.evaluated_at is 'When, UTC.';
comment on column evaluations.queries is 'File of labelled queries.';
comment on column evaluations.query_count is 'Number of queries.';
comment on column evaluations.model_id is 'Model.';
comment on column evaluations.chunker is 'Chunker.';
comment on column evaluations.chunk_tokens is 'Budget of a chunk in tokens.';
comment on column evaluations.kind is 'Kind of file that the search was limited to; null: all.';
comment on column evaluations.header is 'How the header of embedded texts names the file: name or folders.';
comment on column evaluations.reranker is 'The cross-encoder that ordered the hybrid; null without one.';
comment on column evaluations.mode is 'Search mode.';
comment on column evaluations.metric is 'Metric, such as ndcg@10.';
comment on column evaluations.value is 'Its mean.';
comment on table index_facts is 'Facts about this file.';
comment on column index_facts.name is 'Name of the fact.';
comment on column index_facts.value is 'Its value.';
