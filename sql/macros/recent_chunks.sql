-- What changed since a time? Chunks of the files that a commit touched since, or that are not committed yet, newest
-- first. The score is the time of the change in seconds since 1970.
create macro main.recent_chunks(
    since, k := 10, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null
) as table
with
changed as (
    select
        f.chunk_id,
        f.entry,
        round(epoch(c.last_commit_at)) as score,
    from main.searchable_chunks(
        repository, ref, language, kind, path, path_glob, symbol, since
    ) as f
    inner join main.current_chunks as c on c.entry = f.entry
    where c.last_commit_at is not null
),

ranked as (
    select
        c.entry,
        c.score,
        row_number() over (order by c.score desc, c.chunk_id) as rank,
    from changed as c
    order by c.score desc, c.chunk_id
    limit k
)

select
    n.rank,
    n.score,
    p.* exclude (entry),
    null::bigint as text_rank,
    null::double as text_score,
    null::bigint as vector_rank,
    null::double as vector_score,
from ranked as n
inner join main.shown_chunks((select list(x.entry) from ranked as x)) as p on p.entry = n.entry
order by n.rank;
comment on macro table main.recent_chunks is
    'The k chunks of the files changed last, since a time; filters apply before k.';
