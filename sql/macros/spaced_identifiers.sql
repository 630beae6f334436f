-- Which runs of letters, digits and underscores does a text hold?
create macro main.spaced_identifiers(folded) as
    trim(regexp_replace(folded, '[^' || main.word_characters() || ']+', ' ', 'g'));
comment on macro main.spaced_identifiers is 'The identifiers of a folded text, separated by blanks.';
