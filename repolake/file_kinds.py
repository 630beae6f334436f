"""What a file is for, by the conventions of each language's ecosystem.

Ranking holds everything but source back, so that source taken for something else is as good as lost. Where a
build tool keeps source and tests apart (`src/main/java`, Swift's `Sources`, Ruby's `lib`), its folder
decides, and packages and classes below may have any name: `org.junit.Test`, `com.example`, `KeySpec`.
"""

from __future__ import annotations

import re

from repolake.records import Kind

_TEST_FOLDERS = frozenset(
    """
    test tests __tests__ e2e testdata test-data test_data fixtures __fixtures__ __mocks__ mocks
    integration-tests integration_tests integration-test integration_test unit-tests unit_tests
    functional-tests functional_tests acceptance testFixtures testing-utils test-utils test_utils
    cypress playwright bench benches benchmark benchmarks benchsuite __benchmarks__ autotest testsuite
    testsuites unittests selftests conformance regress step_definitions sbt-test
    """.split()
)
_ANY_CASE_TEST_FOLDERS = frozenset("test tests testdata fixtures benchmark benchmarks".split())
# At the root only; deeper ones are packages that help to test, or of specifications.
_TEST_ROOT_FOLDERS = frozenset({"t", "testing", "spec", "specs", "integration"})
# A package about them, where one of source holds it: `src/shop/benchmark`, `include/benchmark`.
_BENCHMARK_FOLDERS = frozenset({"benchmark", "benchmarks"})
_TEST_FOLDER_ENDINGS = re.compile(
    r"[.\-_](?:tests?|e2e|(?:micro)?benchmarks?)$|\.specs?$"
    r"|(?<=[a-z0-9])(?:(?-i:Tests?|Specs|UITests))$",
    re.IGNORECASE,
)
# In these languages `spec` is a package of specifications below the root.
_SPEC_FOLDERS = frozenset({"spec", "specs"})
_NO_SPEC_LANGUAGES = frozenset("go rust c cpp java kotlin csharp python zig".split())
_TEST_FOLDER_PAIRS = frozenset({("features", "support"), ("src", "it"), ("src", "jmh"), ("src", "jcstress")})
# A library for testers has source of its own: `tokio-test/src`, `bloc_test/lib`.
_LIBRARY_FOR_TESTS = re.compile(
    r"^(?:cypress|playwright"
    r"|(?!.*(?:integration|functional|unit|smoke|acceptance|perf|regression|system)).*[a-z0-9][-_]test)$"
)
_SOURCE_FOLDERS = frozenset({"src", "lib", "Sources", "app"})
_NOT_LOOSE_FOLDERS = _SOURCE_FOLDERS | {"config"}
_PACKAGE_FOLDERS = _SOURCE_FOLDERS | {"internal", "pkg", "cmd"}
_TEST_NAMES = re.compile(
    r"""^(?:
      test_.*\.py | .*_test\.py | conftest\.py | tests\.py                       # pytest, unittest
    | .*_test\.(?:go|dart|exs?|rb|cc|cpp|cxx|c|rs|clj|cljs|ml|php|lua|erl|zig|ts|js|cr)
    | .*_spec\.(?:rb|lua|cr|js|ts|coffee) | .*_SUITE\.erl | .*_unittest\.(?:cc|cpp|py)
    | .*(?<=[a-z0-9])Tests?\.(?:cc|cpp|cxx) | tst_.*\.(?:cpp|qml)              # LLVM, Qt
    | .*(?:(?<=\w)(?:Tests?|TestCase|Spec|Benchmarks?)|(?<=[a-z0-9])(?:IT|ITCase))
      \.(?:java|kt|kts|scala|groovy|swift|php|m|mm|fs|vb|hs|dart)
    | .*(?<=\w)Suite\.(?:scala|groovy|hs)
    | (?!I(?:Test|Spec)s?\.).*(?<=\w)(?:Tests?|Specs?|Facts|Benchmarks?)\.cs
    | .*\.(?:test|tests|spec|specs|e2e|cy|stories|bench|test-d)\.(?:[cm]?[jt]sx?|vue|svelte|php|lua)
    | test[-_]utils?\.[jt]sx? | setupTests\.[jt]sx?
    | test[-_].*\.(?:[rR]|jl|c|cpp|cc) | tests?\.(?:rs|jl|c|cpp|hs) | .*\.(?:t|test|bats|feature)
    | (?:jest|vitest|karma|cypress|playwright)\.(?:setup|config)\..* | phpunit\.xml(?:\.dist)? | pytest\.ini
    | tox\.ini
    )$""",
    re.VERBOSE,
)  # fmt: skip
# Below a folder of source these are commands and classes about tests, below `config` the settings for them.
_LOOSE_TEST_NAMES = re.compile(
    r"^(?:Test[A-Z].*\.(?:java|kt|scala|swift)|.*-(?:test|spec)\.[jt]sx?|test[-_].*\.(?:js|ts|mjs|sh|rb|lua)|tests?\.(?:js|ts|rb))$"
)
# Even where the build tool has source.
_SURE_TEST_NAMES = re.compile(r"_(?:test|spec)\.\w+$|(?<=\w)Benchmarks?\.\w+$")
_EXAMPLE_FOLDERS = frozenset("example examples samples docs_src _examples code-samples".split())
_EXAMPLE_FOLDER_ENDINGS = re.compile(
    r"[-_. ](?:examples?|samples|demos?|playground)$|(?<=[a-z0-9])(?-i:Examples?|Samples|Demos?)$",
    re.IGNORECASE,
)
# Near the root only: a deeper folder of this name is a package about such things.
_EXAMPLE_UPPER_FOLDERS = frozenset(
    """
    sample demo demos tutorial tutorials playground playgrounds sandbox quickstart quickstarts cookbook
    recipes showcase
    """.split()
)
_EXAMPLE_DEPTH = 2
_DOCS_FOLDERS = frozenset(
    "doc docs documentation man manual manuals guide guides website wiki rfcs adr javadoc".split()
)
# Code lies in these folders further down, too, as far as `_DOCS_DEPTH`.
_DOCS_CODE_FOLDERS = frozenset("doc docs documentation website".split())
_DOCS_DEPTH = 3
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
    ".github .gitlab .circleci .vscode .idea .devcontainer .husky .config .ci .buildkite .storybook".split()
)
_CONFIG_NAMES = re.compile(
    r"""^(?:
      setup\.(?:py|cfg) | noxfile\.py | fabfile\.py | gunicorn\.conf\.py
    | .*\.(?:config|conf|rc)\.(?:[cm]?[jt]s|json) | \..*rc(?:\.[cm]?js|\.ts)?
    | (?:gulp|grunt|jake)file\.[cm]?[jt]s
    | (?:Rake|Gem|Guard|Cap|Pod|Fast|App|Vagrant|Brew|Thor|Berks|Puppet|Danger|Steep|Jenkins
      |Docker|Container|Make|Proc|Tilt)file(?:\..*)?
    | .*\.(?:gemspec|podspec|rockspec|nimble|cabal|opam|gradle|gradle\.kts|sbt|csproj|fsproj|sln|props
      |targets|env\.example|editorconfig)
    | build\.(?:xml|sh|cmd|ps1) | Package\.swift | mix\.exs | rebar\.config | project\.clj
    | deps\.edn | stack\.yaml
    | go\.(?:mod|work) | requirements.*\.(?:txt|in) | constraints.*\.txt | MANIFEST\.in
    | \.(?:git|docker|npm|eslint|prettier|stylelint|vscode|hg|gcloud|cf|helm|bzr|repolake)
      (?:ignore|attributes|modules|config)
    | \.env(?:\..*)? | \.nvmrc | \.node-version | \.(?:python|ruby|java|go|tool)-versions? | CODEOWNERS
    | OWNERS | codecov\.yml | Cargo\.toml
    )$""",
    re.VERBOSE,
)  # fmt: skip
# At the root only: deeper ones are modules, such as Celery's tasks.
_CONFIG_ROOT_NAMES = frozenset({"tasks.py", "conf.py"})
# Beside `src`, not below: cargo has a command `src/bin/cargo/commands/build.rs`.
_BUILD_NAMES = frozenset({"build.rs", "build.zig"})
_PLAIN_LANGUAGES = frozenset({"text"})
_NO_CODE_LANGUAGES = _DOCS_LANGUAGES | _CONFIG_LANGUAGES | _PLAIN_LANGUAGES

_JVM_ROOT = r"^(?:.*/)?(?:src/(?P<set>\w[\w-]*)/(?:java|kotlin|scala|groovy)[^/]*|\w*Main/src)/"
_SOURCE_ROOTS = {
    language: re.compile(root)
    for languages, root in (
        ("java kotlin scala groovy", _JVM_ROOT),
        ("swift", r"(?:^|/)Sources/"),
        ("ruby", r"(?:^|/)(?:lib|app)/"),
        ("elixir dart", r"(?:^|/)lib/"),
        ("haskell", r"(?:^|/)(?:src|lib)/"),
        ("lua erlang crystal", r"(?:^|/)src/"),
    )
    for language in languages.split()
}
_TEST_SOURCE_SET = re.compile(r"^(?:it|jmh|jcstress)$|^test|Test|[-_]test")


def kind_of(path: str, language: str) -> Kind:
    """Return what a file is for; `generated` and `vendored` are set by the scan for files won back."""
    folder, _, name = path.rpartition("/")
    if language in _DOCS_LANGUAGES or (language in _PLAIN_LANGUAGES and _DOCS_NAMES.match(name)):
        return Kind.DOCS
    source_root = _source_root(folder, language)
    shown = folder if source_root is None else source_root
    folders = shown.split("/") if shown else []
    if _has_test_folder(folders, language) or _is_test_name(name, folders, in_root=source_root is not None):
        return Kind.TEST
    if _has_example_folder(folders):
        return Kind.EXAMPLE
    if _has_docs_folder(folders, language):
        return Kind.DOCS
    if language in _CONFIG_LANGUAGES or _is_config_name(name, folders) or _CONFIG_FOLDERS & {*folders}:
        return Kind.CONFIG
    return Kind.OTHER if language in _PLAIN_LANGUAGES else Kind.SOURCE


def _source_root(folder: str, language: str) -> str | None:
    """Return the folders down to where the language's build tool has source, None if the file is not there.

    A source set for tests, such as `src/jvmTest/kotlin`, is none.
    """
    root = _SOURCE_ROOTS.get(language)
    found = root.search(folder + "/") if root is not None else None
    if found is None or _TEST_SOURCE_SET.search(found.groupdict().get("set") or ""):
        return None
    return folder[: found.end()].rstrip("/")


def _has_test_folder(folders: list[str], language: str) -> bool:
    if not folders:
        return False
    has_specs = language not in _NO_SPEC_LANGUAGES
    return folders[0] in _TEST_ROOT_FOLDERS or any(
        (_is_test_folder(part, below) and not _is_about_benchmarks(folders[: number + 1]))
        or (part, below) in _TEST_FOLDER_PAIRS
        or (has_specs and part.lower() in _SPEC_FOLDERS)
        for number, (part, below) in enumerate(zip(folders, [*folders[1:], ""], strict=True))
    )


def _is_about_benchmarks(folders: list[str]) -> bool:
    """Whether the last of the folders is a package of source, not a place of benchmarks."""
    if folders[-1] not in _BENCHMARK_FOLDERS:
        return False
    return "include" in folders or not _SOURCE_FOLDERS.isdisjoint(folders[:-2])


def _is_test_folder(name: str, below: str) -> bool:
    if below in _SOURCE_FOLDERS and _LIBRARY_FOR_TESTS.match(name):
        return False
    return (
        name in _TEST_FOLDERS
        or name.lower() in _ANY_CASE_TEST_FOLDERS
        or bool(_TEST_FOLDER_ENDINGS.search(name))
    )


def _is_test_name(name: str, folders: list[str], *, in_root: bool) -> bool:
    if in_root:
        return bool(_SURE_TEST_NAMES.search(name) and _TEST_NAMES.match(name))
    if _TEST_NAMES.match(name):
        return True
    return bool(_LOOSE_TEST_NAMES.match(name)) and _NOT_LOOSE_FOLDERS.isdisjoint(folders)


def _has_example_folder(folders: list[str]) -> bool:
    if any(part.lower() in _EXAMPLE_FOLDERS or _EXAMPLE_FOLDER_ENDINGS.search(part) for part in folders):
        return True
    if not folders or folders[0] in _PACKAGE_FOLDERS:
        return False
    upper = folders if folders[0].lower() in _DOCS_FOLDERS else folders[:_EXAMPLE_DEPTH]
    return any(part.lower() in _EXAMPLE_UPPER_FOLDERS for part in upper)


def _has_docs_folder(folders: list[str], language: str) -> bool:
    if "src" in folders:
        return False
    lowered = [part.lower() for part in folders]
    if language in _NO_CODE_LANGUAGES:
        return not _DOCS_FOLDERS.isdisjoint(lowered)
    for number, part in enumerate(lowered[:_DOCS_DEPTH]):
        if folders[number] in _PACKAGE_FOLDERS or (part == "doc" and language == "go"):
            return False  # a package: in Go, `doc` is one that makes documentation
        if part in (_DOCS_CODE_FOLDERS if number else _DOCS_FOLDERS):
            return True
    return False


def _is_config_name(name: str, folders: list[str]) -> bool:
    if name in _BUILD_NAMES:
        return "src" not in folders
    return bool(_CONFIG_NAMES.match(name)) or (name in _CONFIG_ROOT_NAMES and not folders)
