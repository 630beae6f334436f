-- What does the model read for a chunk? The one definition: embed encodes it, load hashes it to find the vector.
create or replace temp macro embedded_text(path, symbol, signature, is_continuation, text) as
    '# ' || file_label(path) || ' :: ' || symbol || chr(10)
    || case when is_continuation then signature || chr(10) else '' end
    || text;
