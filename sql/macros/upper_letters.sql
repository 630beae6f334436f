-- Which letters begin a new word inside an identifier? Those of the scripts with capitals, after fold_text.
create macro main.upper_letters() as 'A-Z\x{C0}-\x{D6}\x{D8}-\x{DE}\x{391}-\x{3A9}\x{400}-\x{42F}\x{531}-\x{556}';
comment on macro main.upper_letters is 'Capital letters, as the inside of a class of a regular expression.';
