"""What is left out by its name or its content, and the honest look-alikes that stay."""

from __future__ import annotations

import pytest

from repolake.content_rules import MAX_DATA_LENGTH, MAX_LINE_LENGTH, rule_for_bytes, rule_for_text
from repolake.skip_rules import LOCKFILES, SkipReason, rule_for_path


def test_lockfiles_of_at_least_25_package_managers_are_known_by_full_name() -> None:
    assert len(set(LOCKFILES.values())) >= 25
    for name in LOCKFILES:
        for path in (name, f"sub/folder/{name}"):
            rule = rule_for_path(path)
            assert rule is not None
            assert (rule.reason, rule.name) == (SkipReason.LOCKFILE, name)


@pytest.mark.parametrize(
    ("path", "reason", "rule"),
    [
        ("web/a/b/node_modules/left/index.js", "vendored", "node_modules/"),
        ("vendor/github.com/x/y.go", "vendored", "vendor/"),
        ("test/tools/lint/vendor/github.com/x/y.go", "vendored", "vendor/"),
        ("test/vendor/qunit.js", "vendored", "vendor/"),
        ("vendor/a/tests/b/c/vendor/d.php", "vendored", "vendor/"),
        ("pkg/_vendor/six.py", "vendored", "_vendor/"),
        ("third_party/lib.c", "vendored", "third_party/"),
        ("env/lib/python3.11/site-packages/q.py", "vendored", "site-packages/"),
        ("ios/Pods/AFNetworking/AF.m", "vendored", "Pods/"),
        ("deps/lua/src/lapi.c", "vendored", "/deps/"),
        ("venv/bin/activate.py", "vendored", "venv/"),
        ("src/stb_image.h", "vendored", "sqlite3.c"),
        ("cart/api/jvm/cart.api", "generated", "api/*.api"),
        ("web/public/bundles/app/form.js", "generated", "public/bundles/*.js"),
        ("renv/library/R-4/x.R", "vendored", "renv/library/"),
        ("gradlew", "vendored", "gradlew"),
        ("static/jquery-3.7.1.js", "vendored", "jquery-1.2.3.js"),
        ("pkg/__pycache__/x.py", "generated", "__pycache__/"),
        ("core/target/classes/META-INF/x.txt", "generated", "target/classes/"),
        ("App/obj/Debug/net8.0/App.g.txt", "generated", "obj/Debug/"),
        ("external/zlib/zlib.h", "vendored", "/external/"),
        ("api/msg_pb2.py", "generated", "*_pb2.py"),
        ("api/msg_pb2_grpc.py", "generated", "*_pb2.py"),
        ("api/msg.pb.go", "generated", "*.pb.*"),
        ("Form1.Designer.cs", "generated", "*.designer.cs"),
        ("lib/model.freezed.dart", "generated", "*.g.dart"),
        ("zz_generated.deepcopy.go", "generated", "zz_generated*.go"),
        ("app.js.map", "generated", "*.js.map"),
        ("ui/__snapshots__/a.test.js.snap", "generated", "__snapshots__/"),
        ("tests/a.snap", "generated", "*.snap"),
        ("App.xcodeproj/project.pbxproj", "generated", "project.pbxproj"),
        ("web/dist/app.js", "generated", "dist/*.js"),
        ("static/app.min.js", "minified", "*.min.js"),
        ("static/app.min.css", "minified", "*.min.js"),
        ("icon.svg", "image", "*.svg"),
        ("a/LOGO.PNG", "image", "*.png"),
        ("fonts/x.woff2", "font", "*.woff2"),
        ("intro.mp4", "media", "*.mp4"),
        ("dist.tar.gz", "archive", "*.gz"),
        ("lib/x.jar", "archive", "*.jar"),
        ("x.pyc", "binary", "*.pyc"),
        ("model.safetensors", "binary", "*.safetensors"),
        ("paper.pdf", "binary", "*.pdf"),
        ("rows.csv", "data", "*.csv"),
        ("events.jsonl", "data", "*.jsonl"),
        ("locale/de/messages.po", "data", "*.po"),
        ("cert.crt", "data", "*.crt"),
        (".env", "secret", ".env*"),
        ("config/.env.production", "secret", ".env*"),
        ("deploy/prod.env", "secret", "*.env"),
        ("id_rsa", "secret", "id_rsa"),
        ("server.pem", "secret", "*.pem"),
        ("certs/tls.key", "secret", "*.key"),
        (".npmrc", "secret", ".npmrc"),
        ("home/.aws/credentials", "secret", ".aws/credentials"),
        ("terraform.tfstate", "secret", "terraform.tfstate"),
        ("prod.tfvars", "secret", "*.tfvars"),
        ("node_modules/x/.env", "secret", ".env*"),
        (".repolake/lake/x.py", "data_dir", ".repolake/"),
    ],
)
def test_a_name_is_left_out_by_its_rule(path: str, reason: str, rule: str) -> None:
    found = rule_for_path(path)
    assert found is not None
    assert (found.reason, found.name) == (reason, rule)


@pytest.mark.parametrize(
    "path",
    [
        "lock.py", "file_lock.py", "test_package_lock.py", "src/lockfile.go", "yarn_lock.rs", "Locks.java",
        "envs.py", "env.py", ".env.example", ".env.sample", "config/.env.template", "example.env",
        "environment.ts",
        "id_rsa.py", "keys.py", "key.go", "secrets.py", "credentials.rb", "npmrc.md",
        "vendor.py", "vendors.go", "tests/Database/migrations/multi_path/vendor/create_flights.php",
        "test/controller_fixtures/vendor/plugins/plugin_controller.rb", "pkg/testdata/src/vendor/a.go",
         "src/main/java/com/shop/vendor/Vendor.java", "api/deps/x.py",
        "deps/deps.go", "dependencies/auth.py", "external/client.py", "Lib/venv/__init__.py",
        "src/virtualenv/run.py", "stb_image.h", "core/domain/R.java", "code/ui_main.h", "src/bundle/index.js",
        "gdb/cart.exp", "page.pt", "shop.api.ts",
        "app/dependencies.py",
        "src/cmd/dist/main.go", "setuptools/dist.py", "build/tasks.js", "target/arm.c",
        "src/external/client.py", "build/lib.ts", "obj/mesh.py", "packages/core/a.ts",
        "generator.py", "generate_pb.py", "keep.gen.py", "pb.go", "designer.cs", "admin.js", "min.js",
        "mapper.ts",
        "snapshot.py", "csv.py", "logger.py", "image.py", "svg.tsx", "zip.go", "data.py", "node_modules.md",
        ".github/workflows/ci.yml", ".gitignore", "Makefile", "LICENSE", "a", "src/bin/main.rs", "bin/run",
    ],
)  # fmt: skip
def test_an_honest_look_alike_stays_in(path: str) -> None:
    assert rule_for_path(path) is None


@pytest.mark.parametrize(
    ("head", "rule"),
    [
        ("// Code generated by mockgen. DO NOT EDIT.\npackage x\n", "header: Code generated … DO NOT EDIT"),
        ("# Code generated by x. DO NOT EDIT.\n", "header: Code generated … DO NOT EDIT"),
        ("/*\n * License\n */\n\n// Code generated by y. DO NOT EDIT.\n\npackage x\n",
         "header: Code generated … DO NOT EDIT"),
        ("#!/usr/bin/env python\n\n# @generated\nimport x\n", "header: @generated"),
        ("/**\n * @generated SignedSource<<abc>>\n */\n", "header: @generated"),
        ("<!-- This file is automatically generated -->\n", "header: automatically generated"),
        ("// <auto-generated>\n//   tool\n// </auto-generated>\n", "header: <auto-generated>"),
        ("# This file is auto-generated from the database.\n", "header: automatically generated"),
        ("# This file is machine-generated - editing it is not advised\n", "header: automatically generated"),
        ("-- Generated by the tool.\n-- Do not edit by hand.\n", "header: generated, do not edit"),
        ("/* DO NOT EDIT! This was generated by make */\n", "header: generated, do not edit"),
        ("# Generated by Django 4.2 on 2024\n", None),
        ("// Generated by the protocol buffer compiler.\n", "header: generated by a tool"),
        ("#! /bin/sh\n# Guess values.\n# Generated by GNU Autoconf 2.71.\n", "header: generated by a tool"),
        ("/* A Bison parser, made by GNU Bison 3.8.  */\n", "header: Bison"),
        ("/****\n** Form generated from reading UI file 'cart.ui'\n****/\n", "header: Qt"),
        ("/* AUTO-GENERATED FILE.  DO NOT MODIFY.\n */\npackage shop;\n", "header: generated, do not edit"),
        # honest
        ('"""Writes files marked: Code generated by us. DO NOT EDIT."""\n', None),
        ('MARK = "# Code generated by x. DO NOT EDIT."\n', None),
        ('import os\nTEMPLATE = """\n# This file is generated by gen.py. Do not edit.\n"""\n', None),
        ("# Tests for generated code\n", None),
        ("# do not edit the list by hand in production\nx = 1\n", None),
        ("# The ids are generated by the server\n", None),
        ("x = 1\n" * 30 + "# Code generated by x. DO NOT EDIT.\n", None),
    ],
)  # fmt: skip
def test_a_mark_of_a_generator_counts_in_leading_comments_only(head: str, rule: str | None) -> None:
    found = rule_for_text(head, "python")
    assert (found.name if found else None) == rule


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n....", "binary"),
        (b"def f():\n    return '\0'\n", "binary"),
        (b"x = 1\n" * 2000 + b"\0", "binary"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 9\n", "lfs_pointer"),
        (b"x = 1\n", None),
        (b"", None),
        ("x = 1\n".encode("utf-16"), None),
    ],
)
def test_bytes_tell_binaries_and_pointers_wherever_the_nul_stands(data: bytes, reason: str | None) -> None:
    found = rule_for_bytes(data)
    assert (found.reason if found else None) == reason


def test_private_keys_are_left_out_under_any_name_but_not_code_that_holds_one() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n"
    found = rule_for_text(key, "python")
    assert found is not None
    assert found.reason is SkipReason.SECRET
    assert rule_for_text("Host: x\n" + key, "text") is not None
    assert rule_for_text(f'KEY = """\n{key}"""\n', "python") is None
    assert rule_for_text("-----BEGIN PUBLIC KEY-----\n", "text") is None


def test_minified_text_is_told_by_its_shape() -> None:
    minified = "function a(b){return b+1};" * 200
    for language in ("javascript", "css"):
        found = rule_for_text(minified, language)
        assert found is not None
        assert found.reason is SkipReason.MINIFIED
    assert rule_for_text("const a = 1;\n" * 500, "javascript") is None
    # one long string in honest code
    assert rule_for_text("const a = 1;\n" * 500 + f"const icon = '{'x' * 3000}';\n", "javascript") is None
    assert rule_for_text("A long paragraph without a line break. " * 200, "markdown") is None


def test_one_enormous_line_is_left_out_and_a_long_one_beside_honest_code_is_not() -> None:
    assert rule_for_text("X = [" + "0.1, " * MAX_LINE_LENGTH + "]\n", "python") is not None
    assert rule_for_text("X = [" + "0.1, " * 1000 + "]\n", "python") is None
    assert rule_for_text(f"X = '{'x' * (MAX_LINE_LENGTH + 1)}'\n" + "y = 1\n" * 10_000, "python") is None
    # most of the text, and yet code: a page with its logo inside
    logo = f"@logo '{'x' * (2 * MAX_LINE_LENGTH)}'\n"
    assert rule_for_text(logo + "def page(conn), do: conn\n\n" * 100, "elixir") is None
    assert rule_for_text(logo + "def page(conn), do: conn\n\n" * 10, "elixir") is not None
    assert rule_for_text(logo + "some words\n" * 100, "text") is not None


def test_large_data_and_base64_text_are_left_out() -> None:
    row = '{"a": 1},\n'
    assert rule_for_text(row * (MAX_DATA_LENGTH // len(row) + 1), "json") is not None
    assert rule_for_text(row * (MAX_DATA_LENGTH // len(row)), "json") is None
    assert rule_for_text("x = 1\n" * MAX_DATA_LENGTH, "python") is None
    assert (
        rule_for_text("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n" * 20, "text")
        is not None
    )
    assert (
        rule_for_text("Plain words in lines that are long enough to look at for this rule.\n" * 20, "text")
        is None
    )
