-- Which of these identifiers have parts, so that the whole is one more word?
create macro main.compound_identifiers(identifiers) as
    array_to_string(
        regexp_extract_all(
            identifiers,
            '[^ ]*(?:[^ _]_+[^ _]|[0-9' || main.lower_letters() || '][' || main.upper_letters() || ']|'
            || '[' || main.upper_letters() || ']{2}[' || main.lower_letters() || '])[^ ]*'
        ),
        ' '
    );
comment on macro main.compound_identifiers is 'The identifiers that identifier_parts would cut, whole.';
