-- How is a file named to the model, if its folders count? By the end of its path, at most 48 characters.
create or replace temp macro file_label(path) as
    case when length(path) > 48 then '…' || right(path, 47) else path end;
