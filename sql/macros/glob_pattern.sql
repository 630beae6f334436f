-- Which regular expression does a path glob mean? `*` and `?` stay within a folder, `**` spans any or none;
-- every other character stands for itself, brackets and braces included.
create macro main.glob_pattern(path_glob) as
    replace(replace(replace(replace(replace(
        regexp_replace(
            regexp_replace(
                regexp_replace(path_glob, '([.+^$(){}|\[\]\\])', '\\\1', 'g'),
                '(\*\*/)+', '**/', 'g'
            ),
            '(^|/)\*\*/', '\1' || chr(1), 'g'
        ),
        '**', chr(2)),
        '*', '[^/]*'),
        '?', '[^/]'),
        chr(1), '(?:.*/)?'),
        chr(2), '.*');
comment on macro main.glob_pattern is 'The regular expression that a path glob means.';
