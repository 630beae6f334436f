-- Which letters and numbers stand in words that mix them? utf8: utf 8; the mixed word itself is a part already.
-- A single letter says nothing without its number: k8s gives 8.
create macro main.digit_parts(parts) as
    regexp_replace(
        regexp_replace(
            regexp_replace(
                array_to_string(regexp_extract_all(parts, '[^ ]*(?:[^ 0-9][0-9]|[0-9][^ 0-9])[^ ]*'), ' '),
                '([^ 0-9])([0-9])', '\1 \2', 'g'
            ),
            '([0-9])([^ 0-9])', '\1 \2', 'g'
        ),
        '\b[A-Za-z]\b', '', 'g'
    );
comment on macro main.digit_parts is 'Words that mix letters and digits, cut between them.';
