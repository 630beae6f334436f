-- Write out the vectors as they are, then let DuckDB choose again.
checkpoint;
set force_compression = 'auto';
