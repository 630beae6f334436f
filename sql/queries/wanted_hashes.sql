-- Which texts do these snapshots need vectors of?
select text_hash from wanted_texts;
