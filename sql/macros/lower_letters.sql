-- Which letters go on with a word inside an identifier? Those of the scripts with capitals, after fold_text.
create macro main.lower_letters() as 'a-z\x{DF}-\x{F6}\x{F8}-\x{FF}\x{3B1}-\x{3C9}\x{430}-\x{45F}\x{561}-\x{587}';
comment on macro main.lower_letters is 'Small letters, as the inside of a class of a regular expression.';
