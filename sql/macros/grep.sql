-- On which lines does a regular expression (RE2) match? With the symbol around each line.
create macro main.grep(
    pattern, k := 100, repository := null, ref := null, language := null, kind := null, path := null,
    path_glob := null, symbol := null, since := null
) as table
with
chunks_with_matches as (
    select
        c.*,
        h.text,
    from main.searchable_chunks(repository, ref, language, kind, path, path_glob, symbol, since) as f
    inner join main.current_chunks as c on c.entry = f.entry
    inner join main.chunks as h on h.chunk_id = c.chunk_id
    where regexp_matches(h.text, pattern::varchar, 'm')
),

lines as (
    select
        c.*,
        unnest(string_split(c.text, chr(10))) as line_text,
        generate_subscripts(string_split(c.text, chr(10)), 1) as line_number,
    from chunks_with_matches as c
)

select
    l.repository,
    l.ref,
    l.path,
    l.start_line + l.line_number - 1 as line,
    l.line_text as text,
    l.symbol,
    l.kind,
    l.language,
    l.chunk_id,
from lines as l
where regexp_matches(l.line_text, pattern::varchar)
order by l.repository, l.ref, l.path, line
limit k;
comment on macro table main.grep is 'One row per line that a regular expression matches, with the symbol around it.';
