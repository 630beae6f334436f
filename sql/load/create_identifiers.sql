-- Into which words does each different identifier split? Each is split once for the whole database.
create temp table identifiers (identifier varchar, words varchar);
