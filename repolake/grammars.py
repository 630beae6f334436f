"""Which grammar reads a language, and what its node types mean to a chunker.

Names are node types and field names of each grammar's node-types.json. A new language is one more entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from repolake.grammar import Grammar


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


def _kinds(**types: str) -> dict[str, str]:
    """Return node type → kind from kind → node types; a last `_` keeps a kind from being a keyword."""
    return {name: kind.rstrip("_") for kind, names in types.items() for name in names.split()}


_PYTHON_BLOCKS = _set(
    "if_statement elif_clause else_clause try_statement except_clause except_group_clause finally_clause"
    " with_statement for_statement while_statement match_statement case_clause"
)
PYTHON = Grammar(
    package="tree_sitter_python",
    definitions=_kinds(function="function_definition", class_="class_definition"),
    wrappers=_set("decorated_definition expression_statement"),
    bodies=_set("module block"),
    blocks=_PYTHON_BLOCKS,
    bindings={"assignment": ("left", "right")},
    function_values=_set("lambda"),
)

_SCRIPT_BLOCKS = _set(
    "if_statement else_clause try_statement catch_clause finally_clause for_statement for_in_statement"
    " while_statement do_statement labeled_statement switch_statement switch_body switch_case"
)
_SCRIPT_DEFINITIONS = _kinds(
    function="function_declaration generator_function_declaration",
    class_="class_declaration",
    method="method_definition",
)
_SCRIPT_VALUES = _set("arrow_function function_expression generator_function class object")
_SCRIPT_BINDINGS = {
    "variable_declarator": ("name", "value"),
    "assignment_expression": ("left", "right"),
    "pair": ("key", "value"),
}
_SCRIPT_TESTS = _kinds(suite="describe suite context", test="it test specify")
_SCRIPT_CALLS = {"call_expression": "function"}
_SCRIPT_WRAPPERS = _set("export_statement lexical_declaration variable_declaration expression_statement")
JAVASCRIPT = Grammar(
    package="tree_sitter_javascript",
    definitions=_SCRIPT_DEFINITIONS,
    wrappers=_SCRIPT_WRAPPERS,
    bodies=_set("program statement_block class_body object"),
    blocks=_SCRIPT_BLOCKS,
    attached=_set("decorator"),
    bindings={**_SCRIPT_BINDINGS, "field_definition": ("property", "value")},
    function_values=_SCRIPT_VALUES,
    decorating_calls=_set("call_expression"),
    calls=_SCRIPT_TESTS,
    call_types=_SCRIPT_CALLS,
)
TYPESCRIPT = Grammar(
    package="tree_sitter_typescript",
    function="language_typescript",
    definitions={
        **_SCRIPT_DEFINITIONS,
        **_kinds(
            function="function_signature",
            class_="abstract_class_declaration",
            interface="interface_declaration",
            enum="enum_declaration",
            type_="type_alias_declaration",
            namespace="internal_module module",
            method="method_signature abstract_method_signature",
        ),
    },
    namespaces=_set("internal_module module"),
    wrappers=_SCRIPT_WRAPPERS | _set("ambient_declaration"),
    bodies=_set("program statement_block class_body interface_body object_type enum_body object"),
    blocks=_SCRIPT_BLOCKS,
    attached=_set("decorator"),
    bindings={**_SCRIPT_BINDINGS, "public_field_definition": ("name", "value")},
    function_values=_SCRIPT_VALUES,
    decorating_calls=_set("call_expression"),
    calls=_SCRIPT_TESTS,
    call_types=_SCRIPT_CALLS,
)
TSX = replace(TYPESCRIPT, function="language_tsx")

JAVA = Grammar(
    package="tree_sitter_java",
    definitions=_kinds(
        class_="class_declaration",
        interface="interface_declaration annotation_type_declaration",
        enum="enum_declaration",
        record="record_declaration",
        method="method_declaration constructor_declaration compact_constructor_declaration",
    ),
    bodies=_set(
        "program class_body interface_body enum_body enum_body_declarations annotation_type_body block"
        " constructor_body"
    ),
    comments=_set("line_comment block_comment"),
)

GO = Grammar(
    package="tree_sitter_go",
    definitions=_kinds(
        function="function_declaration", method="method_declaration", type_="type_spec type_alias"
    ),
    wrappers=_set("type_declaration var_declaration"),
    bodies=_set("source_file block statement_list field_declaration_list interface_type"),
    blocks=_set("type_declaration"),
    bindings={"var_spec": ("name", "value")},
    function_values=_set("func_literal"),
    owner_paths={"method_declaration": ("receiver",)},
)

RUST = Grammar(
    package="tree_sitter_rust",
    definitions=_kinds(
        function="function_item function_signature_item",
        struct="struct_item",
        enum="enum_item",
        union="union_item",
        trait="trait_item",
        impl="impl_item",
        namespace="mod_item",
        macro="macro_definition",
        type_="type_item",
    ),
    namespaces=_set("mod_item"),
    bodies=_set("source_file block declaration_list field_declaration_list enum_variant_list"),
    blocks=_set("foreign_mod_item"),
    comments=_set("line_comment block_comment"),
    attached=_set("attribute_item"),
    name_paths={"impl_item": ("type",)},
)

_C_BLOCKS = _set("preproc_ifdef preproc_if preproc_else preproc_elif preproc_elifdef linkage_specification")
C = Grammar(
    package="tree_sitter_c",
    definitions=_kinds(
        function="function_definition",
        struct="struct_specifier type_definition",
        union="union_specifier",
        enum="enum_specifier",
        macro="preproc_function_def",
    ),
    wrappers=_set("declaration"),
    bodies=_set(
        "translation_unit compound_statement field_declaration_list enumerator_list declaration_list"
    ),
    blocks=_C_BLOCKS,
    has_macros=True,
    need_body=_set("struct_specifier union_specifier enum_specifier type_definition"),
    name_paths={"function_definition": ("declarator",), "type_definition": ("declarator",)},
)
CPP = Grammar(
    package="tree_sitter_cpp",
    definitions={
        **C.definitions,
        **_kinds(class_="class_specifier", namespace="namespace_definition", concept="concept_definition"),
    },
    namespaces=_set("namespace_definition"),
    wrappers=_set("template_declaration declaration field_declaration"),
    bodies=C.bodies,
    blocks=_C_BLOCKS | _set("namespace_definition"),
    has_macros=True,
    attached=_set("attribute_declaration"),
    bindings={"init_declarator": ("declarator", "value")},
    function_values=_set("lambda_expression"),
    need_body=C.need_body | _set("class_specifier"),
    name_paths=C.name_paths,
)

CSHARP = Grammar(
    package="tree_sitter_c_sharp",
    definitions=_kinds(
        class_="class_declaration",
        interface="interface_declaration",
        struct="struct_declaration",
        record="record_declaration record_struct_declaration",
        enum="enum_declaration",
        delegate="delegate_declaration",
        method="method_declaration constructor_declaration destructor_declaration operator_declaration"
        " conversion_operator_declaration indexer_declaration",
        function="local_function_statement",
    ),
    bodies=_set("compilation_unit declaration_list block enum_member_declaration_list accessor_list"),
    blocks=_set(
        "namespace_declaration file_scoped_namespace_declaration preproc_if preproc_else preproc_elif"
    ),
    fixed_names={
        "operator_declaration": "operator",
        "conversion_operator_declaration": "operator",
        "indexer_declaration": "this",
    },
)

RUBY = Grammar(
    package="tree_sitter_ruby",
    definitions=_kinds(method="method singleton_method", class_="class", module="module"),
    bodies=_set("program body_statement block_body do_block block"),
    blocks=_set("singleton_class if unless then else elsif begin rescue ensure"),
    bindings={"assignment": ("left", "right")},
    function_values=_set("lambda"),
    calls=_kinds(
        suite="describe context feature shared_examples shared_context", test="it specify test scenario"
    ),
    call_types={"call": "method"},
)
PHP = Grammar(
    package="tree_sitter_php",
    function="language_php",
    definitions=_kinds(
        function="function_definition",
        method="method_declaration",
        class_="class_declaration",
        interface="interface_declaration",
        trait="trait_declaration",
        enum="enum_declaration",
    ),
    wrappers=_set("expression_statement"),
    bodies=_set("program declaration_list compound_statement enum_declaration_list"),
    blocks=_set("namespace_definition if_statement else_clause else_if_clause"),
    bindings={"assignment_expression": ("left", "right")},
    function_values=_set("anonymous_function arrow_function"),
)
BASH = Grammar(
    package="tree_sitter_bash",
    definitions=_kinds(function="function_definition"),
    bodies=_set("program compound_statement"),
    blocks=_set("if_statement else_clause elif_clause"),
)
KOTLIN = Grammar(
    package="tree_sitter_kotlin",
    definitions=_kinds(
        class_="class_declaration",
        object="object_declaration",
        function="function_declaration",
        method="secondary_constructor",
        type_="type_alias",
    ),
    bodies=_set("source_file class_body enum_class_body function_body block"),
    blocks=_set("companion_object"),
    comments=_set("line_comment block_comment"),
    name_paths={"type_alias": ("type",)},
    fixed_names={"secondary_constructor": "constructor"},
)
SCALA = Grammar(
    package="tree_sitter_scala",
    definitions=_kinds(
        class_="class_definition",
        object="object_definition package_object",
        trait="trait_definition",
        enum="enum_definition",
        function="function_definition function_declaration",
        type_="type_definition",
    ),
    bodies=_set("compilation_unit template_body block indented_block enum_body"),
    blocks=_set("extension_definition package_clause"),
    comments=_set("comment block_comment"),
    bindings={"val_definition": ("pattern", "value")},
    function_values=_set("lambda_expression"),
)
SWIFT = Grammar(
    package="tree_sitter_swift",
    definitions=_kinds(
        class_="class_declaration",
        protocol="protocol_declaration",
        function="function_declaration protocol_function_declaration",
        method="init_declaration deinit_declaration subscript_declaration",
        type_="typealias_declaration",
    ),
    bodies=_set("source_file class_body enum_class_body protocol_body function_body statements"),
    comments=_set("comment multiline_comment"),
    fixed_names={
        "init_declaration": "init",
        "deinit_declaration": "deinit",
        "subscript_declaration": "subscript",
    },
)
LUA = Grammar(
    package="tree_sitter_lua",
    definitions=_kinds(function="function_declaration"),
    wrappers=_set("variable_declaration"),
    bodies=_set("chunk block table_constructor"),
    blocks=_set("if_statement do_statement return_statement expression_list"),
    bindings={"assignment_statement": ("variable_list", "expression_list"), "field": ("name", "value")},
    function_values=_set("function_definition table_constructor"),
)
ELIXIR = Grammar(
    package="tree_sitter_elixir",
    bodies=_set("source do_block"),
    attached=_set("unary_operator"),
    calls=_kinds(
        module="defmodule",
        protocol="defprotocol",
        impl="defimpl",
        function="def defp defdelegate defguard defguardp",
        macro="defmacro defmacrop",
        suite="describe",
        test="test",
    ),
    call_types={"call": "target"},
    has_clauses=True,
)
HASKELL = Grammar(
    package="tree_sitter_haskell",
    definitions=_kinds(
        function="function bind signature",
        type_="data_type newtype type_synonym type_family",
        class_="class",
        instance="instance",
    ),
    bodies=_set("haskell imports declarations class_declarations instance_declarations"),
    lists=_set("imports"),
    comments=_set("comment haddock pragma"),
    has_clauses=True,
)
ZIG = Grammar(
    package="tree_sitter_zig",
    definitions=_kinds(function="function_declaration"),
    bodies=_set("source_file block struct_declaration enum_declaration union_declaration"),
    bindings={"variable_declaration": ("identifier", "")},
    function_values=_set("struct_declaration enum_declaration union_declaration opaque_declaration"),
)
SQL = Grammar(
    package="tree_sitter_sql",
    definitions=_kinds(
        table="create_table",
        view="create_view create_materialized_view",
        function="create_function",
        procedure="create_procedure",
        trigger="create_trigger",
        type_="create_type",
    ),
    wrappers=_set("statement"),
    bodies=_set("program column_definitions create_query function_body procedure_body"),
    comments=_set("comment marginalia"),
    name_paths=dict.fromkeys(
        _set(
            "create_table create_view create_materialized_view create_function create_procedure"
            " create_trigger create_type"
        ),
        ("object_reference",),
    ),
)

GRAMMARS: Mapping[str, Grammar] = {
    "python": PYTHON,
    "starlark": PYTHON,
    "javascript": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "tsx": TSX,
    "java": JAVA,
    "go": GO,
    "rust": RUST,
    "c": C,
    "cpp": CPP,
    "csharp": CSHARP,
    "ruby": RUBY,
    "php": PHP,
    "bash": BASH,
    "kotlin": KOTLIN,
    "scala": SCALA,
    "swift": SWIFT,
    "lua": LUA,
    "elixir": ELIXIR,
    "haskell": HASKELL,
    "zig": ZIG,
    "sql": SQL,
    # Data and pages define nothing: their elements are packed as statements are.
    "html": Grammar("tree_sitter_html"),
    "css": Grammar("tree_sitter_css"),
    "json": Grammar("tree_sitter_json"),
    "yaml": Grammar("tree_sitter_yaml"),
    "toml": Grammar("tree_sitter_toml"),
}
