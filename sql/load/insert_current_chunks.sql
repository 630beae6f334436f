-- Which chunks do searches see, where, and with which properties to filter by? Default refs come first.
-- `ordinal` numbers the different chunks (postings name them by it), `entry` their places in refs, `symbol_key` what they define.
insert into current_chunks
with
definitions as (
    select distinct chunk_id
    from version_chunks
    where not is_continuation
),

places as (
    select
        chunks.rowid as position,
        chunks.chunk_id,
        chunks.text_hash,
        chunks.symbol,
        nullif(regexp_replace(chunks.symbol, '\.?[^.]*$', ''), '') as parent,
        hash(chunks.symbol, chunks.text) as text_key,
        snapshots.snapshot_id,
        snapshots.repository,
        snapshots.ref,
        snapshots.ref = repositories.default_ref as is_default_ref,
        files.path,
        files.language,
        files.kind,
        files.last_commit_at,
        snapshot_chunks.start_line,
        snapshot_chunks.end_line,
        snapshot_chunks.start_byte,
        snapshot_chunks.end_byte,
    from snapshot_chunks
    inner join snapshots using (snapshot_id)
    inner join repositories using (repository)
    inner join chunks using (chunk_id)
    inner join files
        on files.snapshot_id = snapshot_chunks.snapshot_id
        and files.path = chunks.path
    where snapshots.is_current
),

named_files as (
    select
        path,
        trim(regexp_replace(main.split_words(main.file_stem(path)), ' +', ' ', 'g')) as file_words,
    from (select distinct path from places)
),

named_parents as (
    select
        parent,
        trim(regexp_replace(main.split_words(parent), ' +', ' ', 'g')) as parent_words,
    from (select distinct parent from places where parent is not null)
),

copies as (
    select
        text_key,
        count(*) - 1 as copy_count,
    from places
    where is_default_ref
    group by text_key
    having copy_count > 0
),

final as (
    select
        row_number() over (order by not is_default_ref, ref, position) - 1 as entry,
        dense_rank() over (order by position) - 1 as ordinal,
        *,
    from places
)

select
    final.entry,
    final.ordinal,
    final.chunk_id,
    embedded_hashes.embedding_row,
    final.snapshot_id,
    final.repository,
    final.ref,
    final.is_default_ref,
    final.path,
    final.language,
    final.kind,
    final.symbol,
    case
        when final.symbol <> '<module>' and definitions.chunk_id is not null
        then main.word_key(lower(list_last(string_split(final.symbol, '.'))))
    end as symbol_key,
    named_files.file_words,
    named_parents.parent_words,
    final.last_commit_at,
    final.start_line,
    final.end_line,
    final.start_byte,
    final.end_byte,
    final.text_key,
    copies.copy_count,
from final
inner join named_files using (path)
left join named_parents using (parent)
left join embedded_hashes using (text_hash)
left join copies using (text_key)
left join definitions on definitions.chunk_id = final.chunk_id
order by final.entry;
