-- How does a path stand in a link? Each part percent-encoded, the slashes kept.
create macro main.url_path(path) as replace(url_encode(path), '%2F', '/');
comment on macro main.url_path is 'A path, percent-encoded for a link.';
