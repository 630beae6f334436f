-- Which characters stand in words? The inside of a character class: letters, marks and numbers of every script, and _.
-- Ranges, exact for the scripts of living languages: \p{L}\p{M}\p{N} says the same, but a search waited 3 ms for each
-- of its patterns to be compiled.
create macro main.word_characters() as
    '0-9A-Z_a-z\x{AA}\x{B2}\x{B3}\x{B5}\x{B9}\x{BA}\x{BC}-\x{BE}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2C1}\x{300}-\x{374}'
    '\x{376}-\x{37D}\x{37F}-\x{383}\x{386}\x{388}-\x{3F5}\x{3F7}-\x{481}\x{483}-\x{559}\x{560}-\x{588}\x{591}-\x{5BD}'
    '\x{5BF}\x{5C1}\x{5C2}\x{5C4}\x{5C5}\x{5C7}-\x{5F2}\x{610}-\x{61A}\x{620}-\x{669}\x{66E}-\x{6D3}\x{6D5}-\x{6DC}'
    '\x{6DF}-\x{6E8}\x{6EA}-\x{6FC}\x{6FF}\x{710}-\x{7F5}\x{7FA}-\x{7FD}\x{800}-\x{963}\x{966}-\x{96F}\x{971}-\x{E3E}'
    '\x{E40}-\x{E4E}\x{E50}-\x{E59}\x{E81}-\x{F00}\x{F18}-\x{1049}\x{1050}-\x{135F}\x{1369}-\x{17D3}\x{17D7}-\x{17FF}'
    '\x{180B}-\x{1FFF}\x{2070}-\x{209C}\x{20D0}-\x{20F0}\x{2150}-\x{2189}\x{2460}-\x{249B}\x{2C00}-\x{2DFF}'
    '\x{3005}-\x{3007}\x{3021}-\x{302F}\x{3031}-\x{3035}\x{3038}-\x{303C}\x{3041}-\x{309A}\x{309D}-\x{309F}'
    '\x{30A1}-\x{30FA}\x{30FC}-\x{318F}\x{31A0}-\x{31BF}\x{31F0}-\x{31FF}\x{3400}-\x{4DBF}\x{4E00}-\x{A48C}'
    '\x{A4D0}-\x{A4FD}\x{A500}-\x{D7FF}\x{F900}-\x{FD3D}\x{FD50}-\x{FDFB}\x{FE20}-\x{FE2F}\x{FE70}-\x{FEFC}'
    '\x{10000}-\x{1CFFF}\x{1D400}-\x{1D7FF}\x{1E000}-\x{1EFFF}\x{20000}-\x{3FFFF}';
comment on macro main.word_characters is 'The characters that stand in words, as the inside of a class of a regular expression.';
