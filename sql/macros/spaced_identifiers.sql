-- Which runs of letters, digits and underscores does a text hold? Characters of scripts without blanks stand alone.
create macro main.spaced_identifiers(folded) as
    regexp_replace(
        case
            when regexp_matches(folded, '[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]')
            then regexp_replace(folded, '([\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}])', ' \1 ', 'g')
            else folded
        end,
        '[^\p{L}\p{M}\p{N}_]+', ' ', 'g'
    );
comment on macro main.spaced_identifiers is 'The identifiers of a folded text, separated by blanks.';
