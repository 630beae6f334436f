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
        src/Shop.Tests/Issue12.cs src/Benchmark/Runner.cs t/unit/cart.py t/t0001-cart.sh testing/python/x.py
        spec/charts.py features/support/env.rb features/step_definitions/cart.rb features/cart.feature
        src/it/java/CartIT.java src/functionalTest/kotlin/A.kt cart/src/jmh/java/Cart.java
        clients/java/src/test/java/CartTest.java src/clients/java/src/test/java/CartTest.java
        integration-test/src/commonMain/kotlin/A.kt cart-tests/src/lib.rs cart-test/tests/it.rs
        src/cart/tests.rs src/cart.test.tsx src/test-utils.tsx src/setupTests.ts
        jmh/src/main/java/CartBenchmark.java
        lib/cart_test.exs lib/cart_spec.rb test.js src/__tests__/cart.js compiler/testData/cart.kt
        integration/form-test.ts web/form-test.tsx packages/cart/benchmarks/add.js src/benchmarks/add.rs
        tests/history.test.tsx tests/install.bats tests/indent/ruby.rb
        unittests/Cart/Items.cpp shop/unittests/items.h src/CartTest.cpp shop/CartTests.cc src/tst_cart.cpp
        tools/selftests/cart/main.c
    """,
    "source": """
        a.py src/pkg/mod.py main.go src/main/java/com/x/Contest.java Latest.java attest.py testing.py
        src/lib.rs lib/a.rb app/models/user.rb src/Order.cs Greatest.cs index.ts Sources/App/A.swift
        contest.go protest.js manifest.py docs/src/app.tsx schema.sql page.html style.css
        src/main/java/org/shop/samples/Cart.java src/main/java/com/example/Cart.java
        src/main/java/org/shop/test/Cart.java src/main/java/org/shop/RepeatedTest.java
        src/main/java/security/KeySpec.java src/commonJvm/kotlin/shop/CipherSuite.kt
        src/main/scala/shop/History.scala laws/src/main/scala/shop/CartTests.scala
        commonMain/src/shop/KeySpec.kt
        cart-test/src/main/kotlin/CartRule.kt tokens-test/src/io.rs cart_test/lib/src/mocks.dart
        packages/playwright/src/runner.ts packages/runtime-test/src/index.ts
        Sources/Shop/Examples/Cart.swift Sources/Shop/ShopSpec.swift lib/shop/mocks/proxy.rb
        lib/shop/test_case.rb lib/shop/test/conn.ex src/Test/Cart.hs src/shop/test/command.lua
        src/Shop/TestMakeCommand.php src/runner/test-state.ts src/runners/test.ts shop/utils/test.py
        pkg/spec/schema.go src/spec/targets.rs kong/tools/sandbox/init.lua shop/templates/quickstart/main.py
        src/recipes/index.ts crates/core/flags/doc/man.rs doc/man_docs.go
        internal/docs/render.go app/docs/router.py pkg/demo/run.go cmd/install.lua builtin/history.c
        scripts/changelog.zig install.sh plugins/man/man.zsh lib/tasks/install.rake shop/tasks.py
        src/shop/benchmark/clock.cpp include/benchmark/benchmark.h src/shop/hit-test.ts
        worker/consumer/tasks.py shop/conf.py src/bin/cargo/commands/build.rs shop/ITest.cs
        config/environments/test.rb Lib/unittest/case.py src/Latest.cpp src/ABTest.cpp src/test_cart/Cart.cpp
    """,
    "docs": """
        README.md README LICENSE CHANGELOG.rst docs/guide.md docs/conf.py doc/api.txt CONTRIBUTING
        tests/README.md man/x.1 COPYING.LESSER AUTHORS examples/README.md
        website/pages/index.js packages/cart/docs/theme.js docs/a/b/c.go guides/tools/render.rb
    """,
    "config": """
        pyproject.toml setup.py setup.cfg package.json tsconfig.json webpack.config.js .eslintrc.js a.yaml
        Dockerfile Makefile CMakeLists.txt Gemfile a.gemspec pom.xml build.gradle go.mod requirements.txt
        .github/workflows/ci.yml .gitignore main.tf nginx.conf .github/scripts/release.py .env.example
        Jenkinsfile MANIFEST.in Cargo.toml a.csproj Package.swift build.rs crates/core/build.rs
        tasks.py conf.py .storybook/main.ts .github/workflows/install.yml
    """,
    "example": """
        examples/a.py example/main.go samples/App.java demo/index.js docs_src/first.py sample/a.yaml
        iosExample/View.swift packages/shop-playground/src/App.vue apps/demo/main.ts doc/src/tutorials/plot.py
        samples/guide/src/main/java/org/shop/Cart.java crates/core/examples/walk.rs
    """,
    "other": """
        notes.txt data/words.txt a.unknown src/tests.list
    """,
}


@pytest.mark.parametrize("kind", list(PATHS))
def test_a_path_has_the_kind_of_its_convention(kind: str) -> None:
    paths = PATHS[kind].split()
    found = {path: str(kind_of(path, language_of(path))) for path in paths}
    assert found == dict.fromkeys(paths, kind)
