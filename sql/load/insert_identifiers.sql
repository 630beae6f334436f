-- Which words do the identifiers that this batch brings for the first time split into?
insert into identifiers
select
    identifier,
    main.split_identifiers(identifier) as words,
from (select distinct identifier from batch)
where identifier not in (select identifiers.identifier from identifiers);
