"""What a file is for, by the conventions of each language's ecosystem."""

from __future__ import annotations

import re

from repolake.records import Kind

_TEST_FOLDERS = frozenset(
    """
    test tests __tests__ spec specs e2e testdata test-data test_data fixtures __fixtures__ __mocks__ mocks
    integration-tests integration_tests integration-test unit-tests unit_tests functional-tests
    functional_tests
    acceptance androidTest commonTest jvmTest jsTest nativeTest testFixtures testing-utils test-utils
    test_utils
    cypress playwright bench benches benchmark benchmarks autotest testsuite testsuites conformance regress
    """.split()
)
_TEST_FOLDER_ENDINGS = re.compile(
    r"(?:[.\-_](?:tests?|specs?|e2e|benchmarks?)|(?<=[a-z0-9])(?:Tests?|Specs|UITests))$"
)
_TEST_NAMES = re.compile(
    r"""^(?:
      test_.*\.py | .*_test\.py | conftest\.py | tests?\.py                      # pytest, unittest
    | .*_test\.(?:go|dart|exs?|rb|cc|cpp|cxx|c|rs|clj|cljs|ml|php|lua|erl|zig|ts|js|cr)
    | .*_spec\.(?:rb|lua|cr|js|ts|coffee) | .*_SUITE\.erl | .*_unittest\.(?:cc|cpp|py)
    | .*(?:(?<=\w)(?:Tests?|TestCase|Spec|Suite|Benchmarks?)|(?<=[a-z0-9])(?:IT|ITCase))
      \.(?:java|kt|kts|scala|groovy|swift|php|m|mm|fs|vb|hs|dart)
    | .*(?<=\w)(?:Tests?|Specs?|Facts|Benchmarks?)\.cs
    | Test[A-Z].*\.(?:java|kt|scala|php|swift)
    | .*\.(?:test|tests|spec|specs|e2e|cy|stories|bench|test-d)\.(?:[cm]?[jt]sx?|vue|svelte|php|lua)
    | test[-_].*\.(?:[rR]|jl|js|ts|mjs|c|cpp|cc|sh|rb|lua) | tests?\.(?:rs|js|ts|rb|jl|c|cpp|hs) | .*\.t
    | .*\.bats
    | (?:jest|vitest|karma|cypress|playwright)\.(?:setup|config)\..* | phpunit\.xml(?:\.dist)? | pytest\.ini
    | tox\.ini
    )$""",
    re.VERBOSE,
)  # fmt: skip
_EXAMPLE_FOLDERS = frozenset(
    """
    example examples sample samples demo demos tutorial tutorials docs_src playground playgrounds sandbox
    quickstart quickstarts cookbook recipes showcase _examples code-samples
    """.split()
)
_DOCS_FOLDERS = frozenset(
    "doc docs documentation man manual manuals guide guides website wiki rfcs adr javadoc".split()
)
_DOCS_LANGUAGES = frozenset("markdown rst asciidoc org latex sgml mermaid".split())
_DOCS_NAMES = re.compile(
    r"^(?:readme|changelog|changes|history|news|license|licence|copying|notice|authors|contributors|"
    r"contributing|code_of_conduct|security|support|maintainers|todo|install|upgrading|roadmap|thanks|credits|"
    r"release[-_]?notes)"
    r"(?:[.-][\w.-]*)?$",
    re.IGNORECASE,
)
_CONFIG_LANGUAGES = frozenset(
    "json yaml toml ini xml dockerfile terraform make cmake meson starlark nix".split()
)
_CONFIG_FOLDERS = frozenset(
    ".github .gitlab .circleci .vscode .idea .devcontainer .husky .config .ci .buildkite".split()
)
_CONFIG_NAMES = re.compile(
    r"""^(?:
      setup\.(?:py|cfg) | noxfile\.py | fabfile\.py | tasks\.py | conf\.py | gunicorn\.conf\.py
    | .*\.(?:config|conf|rc)\.(?:[cm]?[jt]s|json) | \..*rc(?:\.[cm]?js|\.ts)?
    | (?:gulp|grunt|jake)file\.[cm]?[jt]s
    | (?:Rake|Gem|Guard|Cap|Pod|Fast|App|Vagrant|Brew|Thor|Berks|Puppet|Danger|Steep|Jenkins
      |Docker|Container|Make|Proc|Tilt)file(?:\..*)?
    | .*\.(?:gemspec|podspec|rockspec|nimble|cabal|opam|gradle|gradle\.kts|sbt|csproj|fsproj|sln|props
      |targets|env\.example|editorconfig)
    | build\.(?:rs|zig|xml|sh|cmd|ps1) | Package\.swift | mix\.exs | rebar\.config | project\.clj
    | deps\.edn | stack\.yaml
    | go\.(?:mod|work) | requirements.*\.(?:txt|in) | constraints.*\.txt | MANIFEST\.in
    | \.(?:git|docker|npm|eslint|prettier|stylelint|vscode|hg|gcloud|cf|helm|bzr|repolake)
      (?:ignore|attributes|modules|config)
    | \.env(?:\..*)? | \.nvmrc | \.node-version | \.(?:python|ruby|java|go|tool)-versions? | CODEOWNERS
    | OWNERS | codecov\.yml | Cargo\.toml
    )$""",
    re.VERBOSE,
)  # fmt: skip
_NOT_SOURCE = frozenset({"text"})


def kind_of(path: str, language: str) -> Kind:
    """Return what a file is for; `generated` and `vendored` are set by the scan for files won back."""
    folder, _, name = path.rpartition("/")
    folders = folder.split("/") if folder else []
    is_docs_file = language in _DOCS_LANGUAGES or bool(_DOCS_NAMES.match(name))
    if is_docs_file and not name.endswith((".py", ".go", ".rb", ".js", ".ts", ".rs", ".java", ".cs", ".php")):
        return Kind.DOCS
    if _TEST_NAMES.match(name) or any(_is_test_folder(part) for part in folders):
        return Kind.TEST
    if any(part.lower() in _EXAMPLE_FOLDERS for part in folders):
        return Kind.EXAMPLE
    if any(part.lower() in _DOCS_FOLDERS for part in folders) and "src" not in folders:
        return Kind.DOCS
    if (
        language in _CONFIG_LANGUAGES
        or _CONFIG_NAMES.match(name)
        or any(part in _CONFIG_FOLDERS for part in folders)
    ):
        return Kind.CONFIG
    return Kind.OTHER if language in _NOT_SOURCE else Kind.SOURCE


def _is_test_folder(name: str) -> bool:
    return (
        name in _TEST_FOLDERS or name.lower() in ("test", "tests") or bool(_TEST_FOLDER_ENDINGS.search(name))
    )
