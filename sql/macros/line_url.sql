-- Where does the host show these lines at this commit? Null for a host whose links are unknown, or without commit.
create macro main.line_url(remote_url, commit, path, start_line, end_line) as
    list_transform(
        [regexp_extract(
            remote_url,
            '^(?:https?://|ssh://|git://)?(?:[^@/]+@)?([^/:]+)(?::\d+/|[:/])(.+?)(?:\.git)?/*$',
            ['host', 'name']
        )],
        lambda remote:
            case
                when not regexp_full_match(commit, '[0-9a-f]{40,64}') or remote.name = '' then null
                when contains(remote.host, 'github')
                then 'https://' || remote.host || '/' || remote.name || '/blob/' || commit || '/'
                    || main.url_path(path) || '#L' || start_line || '-L' || end_line
                when contains(remote.host, 'gitlab')
                then 'https://' || remote.host || '/' || remote.name || '/-/blob/' || commit || '/'
                    || main.url_path(path) || '#L' || start_line || '-' || end_line
                when contains(remote.host, 'bitbucket')
                then 'https://' || remote.host || '/' || remote.name || '/src/' || commit || '/'
                    || main.url_path(path) || '#lines-' || start_line || ':' || end_line
                when contains(remote.host, 'codeberg') or contains(remote.host, 'gitea')
                then 'https://' || remote.host || '/' || remote.name || '/src/commit/' || commit || '/'
                    || main.url_path(path) || '#L' || start_line || '-L' || end_line
            end
    )[1];
comment on macro main.line_url is 'Link to lines of a file at a commit on its host; null for an unknown host.';
