-- How much does each word weigh in each chunk, before its rarity? And what do the field weights rest on?
create temp table word_weights (word_key bigint, ordinal uinteger, weight float);
