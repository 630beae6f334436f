"""What files are for, by the conventions of their ecosystems."""

from __future__ import annotations

import pytest

from repolake.file_kinds import kind_of
from repolake.languages import language_of

PATHS = {
    "test": """
        tests/test_a.py test_a.py a_test.py conftest.py pkg/tests.py tests/data.json a_test.go
        src/test/java/com/x/ATest.java ATest.java ATests.java OrderIT.java TestA.java ASpec.scala
        a.test.ts a.spec.tsx __tests__/a.js e2e/login.cy.ts tests/it.rs benches/b.rs spec/a_spec.rb
        test/a_test.rb tests/ATest.php Shop.Tests/OrderTests.cs OrderTest.cs Tests/AppTests/A.swift
        a_test.dart test/a_test.exs a_test.cc t/basic.t a.bats src/androidTest/kotlin/A.kt testdata/x.txt
        examples/demo/tests/test_x.py test/fixtures/app/models/user.rb tests/testthat/test-a.R
    """,
    "source": """
        a.py src/pkg/mod.py main.go src/main/java/com/x/Contest.java Latest.java attest.py testing.py
        src/lib.rs lib/a.rb app/models/user.rb src/Order.cs Greatest.cs index.ts Sources/App/A.swift
        contest.go protest.js manifest.py docs/src/app.tsx schema.sql page.html style.css
    """,
    "docs": """
        README.md README LICENSE CHANGELOG.rst docs/guide.md docs/conf.py doc/api.txt CONTRIBUTING
        tests/README.md man/x.1 COPYING.LESSER AUTHORS examples/README.md
    """,
    "config": """
        pyproject.toml setup.py setup.cfg package.json tsconfig.json webpack.config.js .eslintrc.js a.yaml
        Dockerfile Makefile CMakeLists.txt Gemfile a.gemspec pom.xml build.gradle go.mod requirements.txt
        .github/workflows/ci.yml .gitignore main.tf nginx.conf .github/scripts/release.py .env.example
        Jenkinsfile MANIFEST.in Cargo.toml a.csproj Package.swift build.rs
    """,
    "example": """
        examples/a.py example/main.go samples/App.java demo/index.js docs_src/first.py sample/a.yaml
    """,
    "other": """
        notes.txt data/words.txt a.unknown
    """,
}


@pytest.mark.parametrize("kind", list(PATHS))
def test_a_path_has_the_kind_of_its_convention(kind: str) -> None:
    paths = PATHS[kind].split()
    found = {path: str(kind_of(path, language_of(path))) for path in paths}
    assert found == dict.fromkeys(paths, kind)
