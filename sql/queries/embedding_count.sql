-- How many vectors are loaded?
select count(*) as embedding_count
from main.embeddings;
