-- Which words make up these identifiers? getUserById: get user by id; HTTPServerError: http server error; a_b: a b.
-- `URLs` stays whole: an acronym followed by a plural s is no new word.
create macro main.identifier_parts(identifiers) as
    replace(
        regexp_replace(
            regexp_replace(
                identifiers, '([0-9' || main.lower_letters() || '])([' || main.upper_letters() || '])', '\1 \2', 'g'
            ),
            '([' || main.upper_letters() || '])'
            || '([' || main.upper_letters() || '](?:[' || main.lower_letters() || ']{2}|[a-rt-z]))',
            '\1 \2',
            'g'
        ),
        '_', ' '
    );
comment on macro main.identifier_parts is 'Identifiers cut at case changes and underscores.';
