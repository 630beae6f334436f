-- Vectors whose length is not 1.
select text_hash
from main.embeddings
where not coalesce(abs(array_inner_product(embedding, embedding) - 1) < 0.001, false);
