-- What is a file called, without folders and endings?
create macro main.file_stem(path) as regexp_replace(list_last(string_split(path, '/')), '(.)\..*$', '\1');
comment on macro main.file_stem is 'A file''s name without folders and endings.';
