-- Which neighbouring characters do scripts without blanks hold? 世界中: 世界 界中.
create macro main.character_pairs(folded) as
    case
        when regexp_matches(folded, '[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]{2}')
        then array_to_string(
            flatten(list_transform(
                regexp_extract_all(folded, '[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]{2,}'),
                lambda run: list_transform(range(1, length(run)), lambda i: substr(run, i, 2))
            )),
            ' '
        )
    end;
comment on macro main.character_pairs is 'Pairs of neighbouring characters in text of scripts that use no blanks.';
