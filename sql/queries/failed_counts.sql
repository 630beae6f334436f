-- How many of these texts, which got no vector, did each snapshot need as the first one, and how many after another?
select
    needed_texts.position,
    count(*) filter (where position = first_position) as first_count,
    count(*) filter (where position > first_position) as later_count,
from needed_texts
inner join wanted_texts using (text_hash)
where text_hash in (select unnest($text_hashes))
group by needed_texts.position;
