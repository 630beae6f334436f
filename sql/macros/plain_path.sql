-- How does the index write this path? Without a leading `./`.
create macro main.plain_path(path) as regexp_replace(path, '^(\./+)+', '');
comment on macro main.plain_path is 'A path as the index writes it: relative, without a leading ./';
