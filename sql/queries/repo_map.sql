-- What should a newcomer to a repository read first?
select
    rank,
    path,
    start_line,
    symbol,
    signature,
    tokens,
from main.repo_map($repository, token_budget := $token_budget)
order by rank, start_line, symbol;
