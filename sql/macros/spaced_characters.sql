-- Where are the words in scripts without blanks? Each character stands alone; its pairs come from character_pairs.
create macro main.spaced_characters(identifiers) as
    case
        when regexp_matches(identifiers, '[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]')
        then regexp_replace(identifiers, '([\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}])', ' \1 ', 'g')
        else identifiers
    end;
comment on macro main.spaced_characters is 'Identifiers with blanks around each character of scripts that use no blanks.';
