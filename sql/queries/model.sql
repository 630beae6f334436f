-- With which model were the vectors made?
select
    name,
    revision,
    fingerprint,
    dimension,
from main.models;
