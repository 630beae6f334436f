-- How is a file named to the model? By its name without folders, at most 24 characters, shortened from the left.
create or replace temp macro file_label(path) as
    case
        when length(list_last(string_split(path, '/'))) > 24
        then '…' || right(list_last(string_split(path, '/')), 23)
        else list_last(string_split(path, '/'))
    end;
