-- How many threads may answer this session?
set threads = $threads;
