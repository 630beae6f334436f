-- Which texts have a vector already? Starts empty: a new model has no shards to read.
create temp table embedded_hashes (text_hash varchar);
