-- Which texts do these snapshots need vectors of?
select distinct text_hash from needed_texts;
