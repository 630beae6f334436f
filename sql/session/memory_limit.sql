-- How much memory may this session use?
set memory_limit = $memory_limit;
