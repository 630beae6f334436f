-- What should a newcomer to a repository read first? Signatures of its source files, the most central file first, as
-- many as the budget holds: those that most other files use, in central files; names that begin with `_` come last, and
-- each further signature of a file counts a tenth less.
create macro main.repo_map(repository, token_budget := 2000) as table
with
shown as (
    select s.snapshot_id
    from main.repositories as r
    inner join main.snapshots as s
        on s.repository = r.repository
        and s.ref = r.default_ref
        and s.is_current
    where r.repository = repository
),

signatures as (
    select
        p.snapshot_id,
        p.path,
        p.start_line,
        p.symbol,
        h.symbol_kind,
        h.signature,
        h.signature_token_count,
        p.chunk_id,
    from main.current_chunks as p
    inner join main.chunks as h on h.chunk_id = p.chunk_id
    where p.snapshot_id in (select s.snapshot_id from shown as s)
        and p.kind = 'source'
        and p.symbol_key is not null
        and h.signature is not null
    qualify row_number() over (partition by p.path, p.symbol order by p.start_line) = 1
),

used as (
    select
        u.target_path,
        u.target_symbol,
        count(distinct u.path) as file_count,
    from main.symbol_references as u
    where u.snapshot_id in (select s.snapshot_id from shown as s)
        and u.path <> u.target_path
        and u.target_symbol is not null
    group by u.target_path, u.target_symbol
),

weighed as (
    select
        g.*,
        f.score as file_score,
        f.score * (1 + coalesce(u.file_count, 0)) * if(regexp_matches(g.symbol, '(^|\.)_'), 0.1, 1) as importance,
        importance * power(
            0.9, row_number() over (partition by g.path order by importance desc, g.start_line) - 1
        ) as weight,
    from signatures as g
    inner join main.file_ranks as f
        on f.snapshot_id = g.snapshot_id
        and f.path = g.path
    left join used as u
        on u.target_path = g.path
        and u.target_symbol = g.symbol
),

-- The first signature of a file pays for its path, four characters a token.
priced as (
    select
        *,
        signature_token_count
        + if(
            row_number() over (partition by path order by weight desc, start_line) = 1, ceil(length(path) / 4)::bigint, 0
        ) as tokens,
    from weighed
),

afforded as (
    select
        *,
        sum(tokens) over (order by weight desc, path, start_line rows unbounded preceding) as total,
    from priced
)

select
    dense_rank() over (order by a.file_score desc, a.path) as rank,
    a.path,
    a.start_line,
    a.symbol,
    a.symbol_kind,
    a.signature,
    a.tokens::bigint as tokens,
    a.file_score as score,
    a.chunk_id,
from afforded as a
where a.total <= token_budget
order by rank, a.start_line, a.symbol;
comment on macro table main.repo_map is
    'Signatures of a repository''s source files, the most central file first, within a budget of tokens.';
