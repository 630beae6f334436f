-- Which spelling do documents and queries share? Composed letters, ASCII instead of full-width forms, no accents.
create macro main.fold_text(text) as
    strip_accents(nfc_normalize(
        case
            when regexp_matches(text, '[\x{FF01}-\x{FF5E}]')
            then translate(
                text,
                '！＂＃＄％＆＇（）＊＋，－．／０１２３４５６７８９：；＜＝＞？＠ＡＢＣＤＥＦＧＨＩＪＫＬＭＮＯＰＱＲＳＴＵＶＷＸＹＺ［＼］＾＿｀ａｂｃｄｅｆｇｈｉｊｋｌｍｎｏｐｑｒｓｔｕｖｗｘｙｚ｛｜｝～',
                '!"#$%&''()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\]^_`abcdefghijklmnopqrstuvwxyz{|}~'
            )
            else text
        end
    ));
comment on macro main.fold_text is 'One spelling of a text: composed letters, ASCII for full-width forms, no accents; the case is kept.';
