-- How often does each word stand in each chunk?
create temp table word_counts (word_key bigint, ordinal uinteger, occurrence_count usmallint);
