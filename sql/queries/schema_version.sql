-- Which version of the schema is this database?
select value::integer as schema_version
from main.index_facts
where name = 'schema_version';
