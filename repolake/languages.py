"""File name, and where that is not enough the first bytes, → language name."""

from __future__ import annotations

import re

TEXT = "text"
NOTEBOOK_ENDING = ".ipynb"

_ENDINGS = {
    "python": ".py .pyi .pyw .pyx .pxd .pxi .bzl .star .wsgi .gyp .gypi .sage",
    "javascript": ".js .mjs .cjs .jsx .es6 .jsm .gs",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "java": ".java .jsh",
    "kotlin": ".kt .kts",
    "scala": ".scala .sc .sbt",
    "groovy": ".groovy .gradle .gvy .jenkinsfile",
    "clojure": ".clj .cljs .cljc .edn .bb",
    "go": ".go",
    "rust": ".rs",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .c++ .hpp .hh .hxx .h++ .ipp .inl .tpp .tcc .txx .ino .cu .cuh .cppm .ixx",
    "objective_c": ".m .mm",
    "csharp": ".cs .csx",
    "fsharp": ".fs .fsi .fsx",
    "visual_basic": ".vb .vbs .bas",
    "ruby": ".rb .rake .gemspec .ru .podspec .thor .rbi .rbs .jbuilder",
    "php": ".php .phtml .php3 .php4 .php5 .php7 .phps .inc",
    "perl": ".pl .pm .t .pod .psgi",
    "lua": ".lua .rockspec .luau",
    "elixir": ".ex .exs",
    "erlang": ".erl .hrl .escript",
    "haskell": ".hs .lhs .hsc",
    "ocaml": ".ml .mli .mll .mly",
    "elm": ".elm",
    "swift": ".swift",
    "dart": ".dart",
    "zig": ".zig .zon",
    "nim": ".nim .nims .nimble",
    "crystal": ".cr",
    "coffeescript": ".coffee",
    "reason": ".re .rei",
    "rescript": ".res .resi",
    "purescript": ".purs",
    "standard_ml": ".sml .fun",
    "gleam": ".gleam",
    "odin": ".odin",
    "haxe": ".hx",
    "lean": ".lean",
    "raku": ".raku .rakumod .p6",
    "d": ".d .di",
    "julia": ".jl",
    "r": ".r .rmd .rprofile",
    "matlab": ".mlx",
    "fortran": ".f .f77 .f90 .f95 .f03 .f08 .for",
    "pascal": ".pas .dpr .lpr",
    "ada": ".adb .ads",
    "cobol": ".cob .cbl .cpy",
    "lisp": ".lisp .lsp .cl .asd",
    "emacs_lisp": ".el",
    "scheme": ".scm .ss .rkt .sld",
    "assembly": ".s .asm .nasm",
    "verilog": ".v .sv .svh .vh",
    "vhdl": ".vhd .vhdl",
    "solidity": ".sol",
    "bash": ".sh .bash .zsh .zsh-theme .ksh .bats .ebuild .command",
    "fish": ".fish",
    "powershell": ".ps1 .psm1 .psd1",
    "batch": ".bat .cmd",
    "awk": ".awk",
    "tcl": ".tcl .tk .exp",
    "vim": ".vim .vimrc",
    "sql": ".sql .ddl .dml .psql .pgsql .mysql .pks .pkb .plsql .hql .cql",
    "graphql": ".graphql .gql .graphqls",
    "protobuf": ".proto",
    "thrift": ".thrift",
    "terraform": ".tf .hcl .nomad .tofu",
    "nix": ".nix",
    "html": ".html .htm .xhtml .shtml .xht",
    "vue": ".vue",
    "svelte": ".svelte",
    "astro": ".astro",
    "template": ".erb .haml .slim .ejs .hbs .handlebars .mustache .jinja .jinja2 .j2 .njk .twig .liquid "
    ".pug .jade .tmpl .tpl .gotmpl .blade .cshtml .razor .aspx .ascx .jsp .jspx .ftl .vm .heex .leex .eex "
    ".mako .latte .tt .pt .hamlet .twirl",
    "css": ".css",
    "scss": ".scss .sass",
    "less": ".less .styl",
    "json": ".json .json5 .jsonc .webmanifest .avsc .code-workspace .jsonld",
    "yaml": ".yaml .yml .clang-format .cff .sls",
    "toml": ".toml",
    "ini": ".ini .cfg .conf .properties .editorconfig .desktop .service .timer .socket .reg .cnf .prefs",
    "xml": ".xml .xsd .xsl .xslt .wsdl .csproj .fsproj .vbproj .vcxproj .props .targets .nuspec .plist "
    ".xaml .rng .pom .config .axml .dtd .ui .qrc .sln .slnx .xacro .urdf .launch .rss .atom .opf .iml",
    "markdown": ".md .markdown .mdx .mkd .mdown .mdc .qmd .livemd",
    "rst": ".rst .rest",
    "asciidoc": ".adoc .asciidoc",
    "org": ".org",
    "latex": ".tex .sty .cls .bib .ltx .dtx",
    "make": ".mk .mak .make",
    "cmake": ".cmake",
    "dockerfile": ".dockerfile .containerfile",
    "meson": ".meson",
    "starlark": ".bazel",
    "glsl": ".glsl .vert .frag .geom .comp .hlsl .wgsl .metal .shader .cginc .fx .fxh",
    "gdscript": ".gd",
    "prisma": ".prisma",
    "jsonnet": ".jsonnet .libsonnet",
    "rego": ".rego",
    "cue": ".cue",
    "bicep": ".bicep",
    "puppet": ".pp",
    "yacc": ".y .yy .ypp",
    "lex": ".l .lex",
    "antlr": ".g4 .g3",
    "abap": ".abap",
    "apex": ".apex .trigger",
    "gherkin": ".feature",
    "mermaid": ".mmd .mermaid .puml .plantuml .dot .gv",
    "sgml": ".sgml .docbook",
    "wat": ".wat .wast",
    "llvm": ".ll .mlir .td",
    TEXT: ".txt .text .rdoc .textile .wiki .mediawiki .man .1 .2 .3 .4 .5 .6 .7 .8 .texi .texinfo .in .am "
    ".ac .m4",
}
_BY_ENDING = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}

_NAMES = {
    "bash": ".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .zshenv PKGBUILD APKBUILD "
    "configure bash_completion .envrc.example .kshrc",
    "python": "SConstruct SConscript wscript BUCK Snakefile .pythonrc Tiltfile",
    "starlark": "BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel",
    "ruby": "Rakefile Gemfile Guardfile Capfile Podfile Fastfile Appfile Vagrantfile Brewfile Thorfile "
    "Berksfile Puppetfile Dangerfile Steepfile .irbrc .pryrc config.ru Appraisals Cheffile .simplecov",
    "groovy": "Jenkinsfile",
    "make": "Makefile makefile GNUmakefile BSDmakefile Kbuild Makefile.am Makefile.in justfile Justfile "
    ".justfile",
    "cmake": "CMakeLists.txt",
    "dockerfile": "Dockerfile Containerfile dockerfile",
    "meson": "meson.build meson_options.txt meson.options",
    "elixir": ".iex.exs",
    "json": ".babelrc .eslintrc .prettierrc .jshintrc .jscsrc .bowerrc .swcrc .stylelintrc .watchmanconfig "
    ".arcconfig composer.json .all-contributorsrc .nycrc .mocharc .releaserc",
    "yaml": ".clang-format .clang-tidy .clangd .gemrc CITATION.cff .yamllint .markdownlint .swiftlint",
    "toml": "Pipfile Cargo.toml Gopkg.toml .taplo",
    "ini": ".gitconfig .editorconfig .gitmodules .flake8 .coveragerc .pylintrc pylintrc .buckconfig .hgrc "
    ".isort.cfg .bumpversion.cfg .pdbrc",
    "vim": ".vimrc _vimrc .gvimrc",
    "perl": "cpanfile Makefile.PL Build.PL",
    "r": ".Rprofile",
    TEXT: "README LICENSE LICENCE COPYING NOTICE AUTHORS CONTRIBUTORS CHANGES CHANGELOG NEWS HISTORY TODO "
    "INSTALL MAINTAINERS OWNERS CODEOWNERS VERSION MANIFEST MANIFEST.in .gitignore .gitattributes "
    ".dockerignore .npmignore .prettierignore .eslintignore .mailmap go.mod go.work .nvmrc .python-version "
    ".ruby-version",
}
_BY_NAME = {name: language for language, names in _NAMES.items() for name in names.split()}

_SHEBANGS = (
    (re.compile(r"^(?:python|pypy|uv)[\d.]*$"), "python"),
    (re.compile(r"^(?:ba|da|z|k|a|)sh$|^bats$"), "bash"),
    (re.compile(r"^(?:node|nodejs|bun|qjs|gjs|osascript)$"), "javascript"),
    (re.compile(r"^(?:deno|ts-node|tsx)$"), "typescript"),
    (re.compile(r"^(?:ruby|jruby|macruby|rake)[\d.]*$"), "ruby"),
    (re.compile(r"^perl[\d.]*$"), "perl"),
    (re.compile(r"^php[\d.]*$"), "php"),
    (re.compile(r"^(?:lua|luajit|texlua)[\d.]*$"), "lua"),
    (re.compile(r"^(?:Rscript|R)$"), "r"),
    (re.compile(r"^elixir$"), "elixir"),
    (re.compile(r"^escript$"), "erlang"),
    (re.compile(r"^(?:runhaskell|runghc|stack)$"), "haskell"),
    (re.compile(r"^(?:groovy|kotlin|scala|swift|julia|fish|tcl|tclsh|make|pwsh)$"), ""),
    (re.compile(r"^[gmn]?awk$"), "awk"),
)
_SHEBANG = re.compile(
    rb"^#!\s*(?:\S*/)?env\s+(?:-\S+\s+|\w+=\S*\s+)*(?:\S*/)?([\w.+-]+)|^#!\s*(?:\S*/)?([\w.+-]+)"
)
_INTERPRETER_LANGUAGES = {"pwsh": "powershell", "tclsh": "tcl"}

# In a `.h` file these stand for C++ or Objective-C, in a `.m` file for Objective-C.
_CPP_MARKS = re.compile(
    rb"""^[ \t]*(?:class\s+[\w:()\[\]\s]{1,200}?[:{;] | enum\s+(?:class|struct)\s+\w+\s*[:{;]
    | virtual\s[^.\n]*\(
    | (?:inline\s+)?namespace\b[\w:\s]{0,200}\{ | template\s*<
    | using\s+(?:namespace\s+[\w:]+\s*;|\w+\s*=|[\w:]+\s*;) | (?:public|private|protected)\s*:
    | \#include\s*<\w+>)
    | ^[^/*\n"]*\bstd::\w""",
    re.MULTILINE | re.VERBOSE,
)
_OBJECTIVE_C_HEADER_MARKS = re.compile(rb"^[ \t]*(?:#import\b|@end\b|@interface\s+\w+\s*[:(])", re.MULTILINE)
_OBJECTIVE_C_MARKS = re.compile(
    rb"^[ \t]*(?:#import\b|@(?:interface|implementation|protocol|class|import)\b|#include\b)", re.MULTILINE
)
_LATEX_MARKS = re.compile(
    rb"^[ \t]*(?:%|\\(?:NeedsTeXFormat|Provides\w+|documentclass|def|input)\b)", re.MULTILINE
)
_VISUAL_BASIC_MARKS = re.compile(rb"^(?:\xef\xbb\xbf)?(?:VERSION \d|Attribute VB_)", re.MULTILINE)
_QT_TRANSLATION = re.compile(rb"^(?:\xef\xbb\xbf)?\s*<\?xml|<!DOCTYPE TS>")
_PREPROCESSOR_MARKS = re.compile(
    rb"^[ \t]*#[ \t]*(?:include|define|undef|if|ifdef|ifndef|endif|pragma)\b", re.MULTILINE
)
_PHP_MARK = re.compile(rb"<\?(?:php|=)")


def language_of(path: str, head: bytes = b"") -> str:
    """Return the language of a file, such as `python`, `tsx` or `markdown`; `text` when nothing tells.

    `head` is the beginning of the content (16 kB are enough, past any license): it decides for files without
    an ending (`#!` lines) and for endings that languages share. A notebook is `python` here; see `notebook`.
    """
    name = path.rpartition("/")[2]
    by_name = _BY_NAME.get(name)
    if by_name:
        return by_name
    if name.startswith(("Dockerfile.", "Containerfile.")):
        return "dockerfile"
    if name.startswith("Makefile."):
        return "make"
    lowered = name.lower()
    if lowered.endswith(".blade.php"):
        return "template"
    dot = lowered.rfind(".")
    ending = lowered[dot:] if dot >= 0 else ""
    if ending == NOTEBOOK_ENDING:
        return "python"
    language = _BY_ENDING.get(ending)
    if language is None or (language == TEXT and ending == ".in"):
        ending = lowered[:dot][lowered[:dot].rfind(".") :] if ending == ".in" and dot > 0 else ""
        inner = _BY_ENDING.get(ending)
        return (_by_content(ending, inner, head) if inner else None) or _by_shebang(head) or language or TEXT
    return _by_content(ending, language, head)


def _by_content(ending: str, language: str, head: bytes) -> str:
    if ending == ".h":
        if _OBJECTIVE_C_HEADER_MARKS.search(head):
            return "objective_c"
        return "cpp" if _CPP_MARKS.search(head) else language
    if ending == ".cls" and head and not _LATEX_MARKS.search(head):
        return "visual_basic" if _VISUAL_BASIC_MARKS.search(head) else "apex"
    if ending == ".m" and head and not _OBJECTIVE_C_MARKS.search(head):
        return "matlab"
    if ending == ".ts" and _QT_TRANSLATION.search(head):
        return "xml"
    if ending == ".inc" and not _PHP_MARK.search(head):
        return "cpp" if _PREPROCESSOR_MARKS.search(head) else TEXT
    if ending in (".t", ".pl") and head.startswith(b"#!") and b"perl" not in head[:80]:
        return _by_shebang(head) or language
    return language


def _by_shebang(head: bytes) -> str | None:
    match = _SHEBANG.match(head.removeprefix(b"\xef\xbb\xbf"))
    if match is None:
        return None
    interpreter = (match[1] or match[2]).decode("ascii", "replace")
    for pattern, language in _SHEBANGS:
        if pattern.match(interpreter):
            return language or _INTERPRETER_LANGUAGES.get(interpreter, interpreter)
    return None
