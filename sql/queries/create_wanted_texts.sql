-- Which of the texts that these snapshots need have a vector, and which snapshot is the first to need each?
create temp table wanted_texts as
with
final as (
    select
        text_hash,
        min(position) as first_position,
        min(origin) as origin,
        max(token_count) as token_count,
        text_hash in (select text_hash from embedded_hashes) as is_embedded,
    from needed_texts
    group by text_hash
)

select
    text_hash,
    first_position,
    origin.filename as filename,
    origin.file_row_number as file_row_number,
    origin.label as label,
    origin.language as language,
    token_count,
    is_embedded,
from final;
