"""Where a language's syntax tree shows definitions, references and imports: tree-sitter query patterns.

Captures: `definition` a node that may define something (those that the table of grammars names come by
themselves), `call`, `inherit`, `name` the expression that names what is called, inherited or used,
`invocation` a call that has the name in a field, `import` a whole import.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ReferencePatterns:
    """One language: its query, and names that are no references (as bytes, as the text has them).

    Where it has packages, files of one folder see one another's names without an import. `common_members` are
    those of the language's own types: of a receiver of unknown type they say nothing.
    """

    query: str
    ignored: frozenset[bytes]
    common_members: frozenset[bytes]
    has_packages: bool = False


def _names(text: str) -> frozenset[bytes]:
    return frozenset(text.encode().split())


PYTHON = ReferencePatterns(
    query="""
    (assignment right: (lambda)) @definition
    [(import_statement) (import_from_statement)] @import
    (call function: [(identifier) (attribute)] @call)
    (decorator [(identifier) (attribute)] @call)
    (class_definition superclasses: (argument_list [(identifier) (attribute)] @inherit))
    (class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @inherit)))
    (type [(identifier) (attribute)] @name)
    (generic_type . (identifier) @name)
    (argument_list (identifier) @name)
    (keyword_argument value: (identifier) @name)
    (except_clause [(identifier) (attribute)] @name)
    (except_clause (as_pattern . [(identifier) (attribute)] @name))
    (pair value: (identifier) @name)
    """,
    ignored=_names(" ".join(dir(builtins))),
    common_members=_names(" ".join(name for kind in (dict, list, str, bytes, set) for name in dir(kind))),
)

_SCRIPT = """
    (variable_declarator
      value: [(arrow_function) (function_expression) (generator_function) (class) (object)]) @definition
    (variable_declarator
      value: (call_expression arguments: (arguments [(arrow_function) (function_expression)]))) @definition
    (assignment_expression right: [(arrow_function) (function_expression) (class)]) @definition
    (pair value: [(arrow_function) (function_expression)]) @definition
    (import_statement) @import
    (export_statement source: (string)) @import
    (variable_declarator
      value: (call_expression function: (identifier) arguments: (arguments . (string)))) @import
    (call_expression function: [(identifier) (member_expression)] @call)
    (new_expression constructor: [(identifier) (member_expression)] @call)
    (decorator [(identifier) (member_expression)] @call)
    (arguments (identifier) @name)
    (pair value: (identifier) @name)
    (shorthand_property_identifier) @name
"""
_ELEMENTS = """
    (jsx_opening_element name: [(identifier) (member_expression)] @call)
    (jsx_self_closing_element name: [(identifier) (member_expression)] @call)
"""
_TYPES = """
    (public_field_definition value: [(arrow_function) (function_expression)]) @definition
    (class_heritage (extends_clause value: [(identifier) (member_expression)] @inherit))
    (implements_clause (type_identifier) @inherit)
    (implements_clause (generic_type name: (type_identifier) @inherit))
    (extends_type_clause (type_identifier) @inherit)
    (extends_type_clause (generic_type name: (type_identifier) @inherit))
    [(type_identifier) (nested_type_identifier)] @name
"""
_SCRIPT_GLOBALS = _names(
    "Array ArrayBuffer BigInt Boolean Date Error EvalError Function JSON Map Math Number Object Promise Proxy"
    " RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError TypeError URL WeakMap WeakSet"
    " clearInterval clearTimeout console decodeURIComponent document encodeURIComponent exports fetch global"
    " globalThis isFinite isNaN module parseFloat parseInt process queueMicrotask require setImmediate"
    " setInterval setTimeout structuredClone undefined window Record Partial Readonly Required Pick Omit"
    " Exclude Extract NonNullable ReturnType InstanceType Parameters Awaited"
)
_SCRIPT_MEMBERS = _names(
    "add apply at bind call catch charAt clear concat delete endsWith entries every filter finally"
    " find findIndex flat flatMap forEach get has includes indexOf join keys lastIndexOf map match"
    " padEnd padStart pop push reduce repeat replace replaceAll reverse set shift slice some sort"
    " splice split startsWith substring test then toFixed toLowerCase toString toUpperCase trim"
    " unshift valueOf values"
)
JAVASCRIPT = ReferencePatterns(
    query=f"""{_SCRIPT}{_ELEMENTS}
    (class_heritage [(identifier) (member_expression)] @inherit)
    (field_definition value: [(arrow_function) (function_expression)]) @definition
    """,
    ignored=_SCRIPT_GLOBALS,
    common_members=_SCRIPT_MEMBERS,
)
TYPESCRIPT = ReferencePatterns(_SCRIPT + _TYPES, _SCRIPT_GLOBALS, _SCRIPT_MEMBERS)
TSX = ReferencePatterns(_SCRIPT + _TYPES + _ELEMENTS, _SCRIPT_GLOBALS, _SCRIPT_MEMBERS)

GO = ReferencePatterns(
    query="""
    (var_spec value: (expression_list (func_literal))) @definition
    (import_spec) @import
    (call_expression function: [(identifier) (selector_expression)] @call)
    (field_declaration !name type: [(type_identifier) (qualified_type)] @inherit)
    (interface_type (type_elem . [(type_identifier) (qualified_type)] @inherit .))
    [(type_identifier) (qualified_type)] @name
    (argument_list [(identifier) (selector_expression)] @name)
    """,
    ignored=_names(
        "any append bool byte cap clear close comparable complex complex128 complex64 copy delete error false"
        " float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil panic print println"
        " real recover rune string true uint uint16 uint32 uint64 uint8 uintptr"
    ),
    common_members=_names("Error String Close Len"),
    has_packages=True,
)
JAVA = ReferencePatterns(
    query="""
    (import_declaration) @import
    (method_invocation) @invocation
    (object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @call)
    (object_creation_expression type: (generic_type . [(type_identifier) (scoped_type_identifier)] @call))
    (superclass (type_identifier) @inherit)
    (superclass (generic_type . (type_identifier) @inherit))
    (super_interfaces (type_list (type_identifier) @inherit))
    (super_interfaces (type_list (generic_type . (type_identifier) @inherit)))
    (extends_interfaces (type_list (type_identifier) @inherit))
    (extends_interfaces (type_list (generic_type . (type_identifier) @inherit)))
    (marker_annotation name: (identifier) @name)
    (annotation name: (identifier) @name)
    (type_identifier) @name
    """,
    ignored=_names(
        "Boolean Byte Character Class Deprecated Double Exception Float FunctionalInterface Integer Iterable"
        " Long Math Number Object Override RuntimeException SafeVarargs Short String StringBuilder"
        " SuppressWarnings System Thread Throwable Void var"
    ),
    common_members=_names(
        "add addAll append charAt clear close contains containsKey entrySet equals forEach get getClass"
        " hashCode isEmpty iterator keySet length next put remove size split stream substring toString trim"
        " values"
    ),
    has_packages=True,
)

REFERENCE_PATTERNS: Mapping[str, ReferencePatterns] = {
    "python": PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "tsx": TSX,
    "go": GO,
    "java": JAVA,
}
