"""Why a file is left out, by its name: data tables and their lookup.

The lists were checked against the facts of github-linguist (vendor.yml, generated.rb) and the package
managers' own documentation. A rule's name is what lands in `skip_rule`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache


class SkipReason(StrEnum):
    """Why a path is not indexed."""

    # decided by the source
    IGNORED = "ignored"
    SYMLINK = "symlink"
    SUBMODULE = "submodule"
    NESTED_REPOSITORY = "nested_repository"
    SPECIAL_FILE = "special_file"
    DATA_DIR = "data_dir"
    # decided by the user
    EXCLUDED = "excluded"
    PURGED = "purged"
    # decided by the name or the content
    VENDORED = "vendored"
    GENERATED = "generated"
    MINIFIED = "minified"
    LOCKFILE = "lockfile"
    SECRET = "secret"  # noqa: S105  # a reason, not a password
    IMAGE = "image"
    FONT = "font"
    MEDIA = "media"
    ARCHIVE = "archive"
    BINARY = "binary"
    DATA = "data"
    LFS_POINTER = "lfs_pointer"
    TOO_LARGE = "too_large"
    UNDECODABLE = "undecodable"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that fired."""

    reason: SkipReason
    name: str


# Folders that package managers and build tools fill, at any depth.
_VENDORED_FOLDERS = """
    node_modules bower_components jspm_packages web_modules .yarn .pnp .pnpm-store .npm
    vendor vendors vendored _vendor _vendored third_party third-party thirdparty 3rdparty 3rd_party 3rd-party
    site-packages dist-packages .venv venv .virtualenv __pypackages__ .eggs .tox .nox .pixi .conda
    Godeps Pods Carthage .bundle .gradle .m2 .ivy2 .cargo-vendor elm-stuff
    .dart_tool .pub-cache .stack-work dist-newstyle .cabal-sandbox .dub .bloop .metals
    .terraform .serverless .aws-sam cdk.out .nuget .paket .vcpkg vcpkg_installed .conan
    renv/library packrat/src packrat/lib .luarocks lua_modules .opam _opam .spago blib local/lib/perl5
"""

# At the root only: a deeper folder of this name may hold an application's own code.
_VENDORED_ROOT_FOLDERS = ("deps", "dependencies", "extern", "external", "externals")
# These hold a folder for each library; a file right inside is a package of the repository's own.
_HOLDING_FOLDERS = frozenset({*_VENDORED_ROOT_FOLDERS, "venv"})

# Folders that hold the output of tools.
_GENERATED_FOLDERS = """
    __pycache__ .mypy_cache .pytest_cache .ruff_cache .ipynb_checkpoints .hypothesis htmlcov .nyc_output
    __snapshots__ __image_snapshots__ .next .nuxt .svelte-kit .output .parcel-cache .turbo .angular .cache
    .docusaurus .vite .webpack DerivedData xcuserdata .cxx
    .externalNativeBuild CMakeFiles target/debug target/release target/classes target/test-classes
    target/generated-sources target/generated-test-sources target/surefire-reports target/maven-status
    build/classes build/generated build/intermediates build/reports build/tmp bin/Debug bin/Release obj/Debug
    obj/Release storybook-static
"""

# A package of Java, Kotlin or Scala may be called `vendor`: below a source root the name means nothing.
_JVM_SOURCE_ROOT = re.compile(r"(?:^|/)src/[^/]+/(?:java|kotlin|scala|groovy)/")

# Deep in tests, or in fixtures, `vendor` is a made-up example, unless a host's name follows as in Go.
_MADE_UP_VENDOR = re.compile(
    r"(?:^|/)(?:(?:tests?|specs?|__tests__)/(?:[^/]+/){2,}|(?:[^/]*fixtures?|test[-_]?data)/(?:[^/]+/)*)"
    r"vendors?/(?![^/]+\.[a-z]{2,}/)"
)

# Folders that hold bundles beside honest code of other languages (`src/cmd/dist/` of Go).
_BUNDLE_FOLDERS = frozenset(
    {"dist", "public/bundles", "web/bundles", "public/build", "public/assets", "wwwroot/lib"}
)
_BUNDLE_ENDINGS = (".js", ".mjs", ".cjs", ".css", ".map", ".d.ts", ".html")

# full file name: the package manager that writes it
LOCKFILES = {
    "package-lock.json": "npm",
    "npm-shrinkwrap.json": "npm",
    "yarn.lock": "Yarn",
    "pnpm-lock.yaml": "pnpm",
    "shrinkwrap.yaml": "pnpm",
    "bun.lock": "Bun",
    "bun.lockb": "Bun",
    "deno.lock": "Deno",
    "poetry.lock": "Poetry",
    "Pipfile.lock": "Pipenv",
    "pdm.lock": "PDM",
    "uv.lock": "uv",
    "pixi.lock": "Pixi",
    "pylock.toml": "pip",
    "conda-lock.yml": "conda-lock",
    "conda-lock.yaml": "conda-lock",
    "requirements.lock": "Rye",
    "requirements-dev.lock": "Rye",
    "Cargo.lock": "Cargo",
    "Gemfile.lock": "Bundler",
    "gems.locked": "Bundler",
    "composer.lock": "Composer",
    "symfony.lock": "Symfony Flex",
    "go.sum": "Go modules",
    "go.work.sum": "Go modules",
    "Gopkg.lock": "dep",
    "glide.lock": "Glide",
    "Godeps.json": "godep",
    "mix.lock": "Mix",
    "rebar.lock": "Rebar3",
    "pubspec.lock": "pub",
    "Podfile.lock": "CocoaPods",
    "Cartfile.resolved": "Carthage",
    "Package.resolved": "Swift Package Manager",
    ".package.resolved": "Tuist",
    "packages.lock.json": "NuGet",
    "project.assets.json": "NuGet",
    "project.lock.json": "NuGet",
    "paket.lock": "Paket",
    "gradle.lockfile": "Gradle",
    "buildscript-gradle.lockfile": "Gradle",
    "verification-metadata.xml": "Gradle",
    "maven_install.json": "Bazel rules_jvm_external",
    "MODULE.bazel.lock": "Bazel",
    "WORKSPACE.bzlmod.lock": "Bazel",
    "build.sbt.lock": "sbt",
    "deps-lock.json": "Clojure deps",
    "flake.lock": "Nix",
    "devenv.lock": "devenv",
    "devbox.lock": "Devbox",
    "stack.yaml.lock": "Stack",
    "cabal.project.freeze": "Cabal",
    "JuliaManifest.toml": "Julia",
    "renv.lock": "renv",
    "shard.lock": "Shards",
    "dub.selections.json": "DUB",
    "nimble.lock": "Nimble",
    "spago.lock": "Spago",
    "lake-manifest.json": "Lake",
    "conan.lock": "Conan",
    "cpanfile.snapshot": "Carton",
    "luarocks.lock": "LuaRocks",
    "lazy-lock.json": "lazy.nvim",
    "Chart.lock": "Helm",
    ".terraform.lock.hcl": "Terraform",
    "Puppetfile.lock": "librarian-puppet",
    "Berksfile.lock": "Berkshelf",
    "Policyfile.lock.json": "Chef",
    "Brewfile.lock.json": "Homebrew Bundle",
    "buf.lock": "Buf",
    "jsonnetfile.lock.json": "jsonnet-bundler",
    "dvc.lock": "DVC",
    "esy.lock.json": "esy",
    "Scarb.lock": "Scarb",
    "Move.lock": "Move",
    "soldeer.lock": "Soldeer",
    "foundry.lock": "Foundry",
    "mise.lock": "mise",
    "apko.lock.json": "apko",
    "helmfile.lock": "Helmfile",
    "vendir.lock.yml": "vendir",
}
_LOCKFILE_PATTERNS = (
    (re.compile(r"^pylock\.[^/]+\.toml$"), "pylock.*.toml"),
    (re.compile(r"\.opam\.locked$"), "*.opam.locked"),
)

_PRIVATE_NAMES = """
    .npmrc .pypirc .netrc _netrc .git-credentials .htpasswd .pgpass .my.cnf .dockercfg .dockerconfigjson
    .s3cfg
    .boto .vault_pass .vault_pass.txt .vault-token .envrc id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk
    id_ed25519_sk master.key credentials.json client_secret.json client_secrets.json service-account.json
    service_account.json serviceAccountKey.json secrets.yml secrets.yaml secrets.json secrets.toml secrets.env
    credentials.yml.enc kubeconfig terraform.tfstate terraform.tfstate.backup
"""
_PRIVATE_ENDINGS = """
    .pem .key .p12 .pfx .pkcs12 .jks .keystore .bks .ppk .p8 .kdb .kdbx .agekey .tfvars .tfvars.json .tfstate
    .ovpn .gpg .mobileprovision .env
"""
_SECRET_PATHS = (".aws/credentials", ".docker/config.json", ".kube/config", ".ssh/config", ".gem/credentials")
_ENV_FILE = re.compile(r"^\.env(?:\..+)?$")
# What a project commits so that others can make their own `.env`.
_TEMPLATE = re.compile(
    r"(?:^|[._-])(?:example|sample|template|tmpl|tpl|dist|defaults?|schema)(?:[._-]|$)", re.IGNORECASE
)

_ENDINGS: dict[SkipReason, str] = {
    SkipReason.IMAGE: """
        .png .jpg .jpeg .jpe .gif .bmp .ico .icns .webp .tif .tiff .psd .ai .eps .svg .svgz .heic .heif .avif
        .xcf .cur .dds .tga .exr .pbm .pgm .ppm .pnm .sketch .fig .drawio .excalidraw .indd .jxl .ktx""",
    SkipReason.FONT: ".ttf .otf .woff .woff2 .eot .pfb .pfm .afm .ttc .fnt .bdf .pcf",
    SkipReason.MEDIA: """
        .mp3 .mp4 .wav .ogg .oga .ogv .webm .avi .mov .mkv .flac .aac .m4a .m4v .wma .wmv .mid .midi
        .aiff .swf
        .fla .srt .vtt .cast .3gp .opus""",
    SkipReason.ARCHIVE: """
        .zip .tar .gz .tgz .bz2 .tbz2 .xz .txz .7z .rar .zst .lz4 .lzma .br .jar .war .ear .aar .apk .ipa .whl
        .egg .gem .crate .nupkg .snupkg .deb .rpm .dmg .iso .img .cab .msi .phar .vsix .crx .xpi .asar""",
    SkipReason.BINARY: """
        .exe .dll .so .dylib .a .lib .o .obj .ko .class .pyc .pyo .pyd .wasm .bin .dat .elf .hex .beam .rlib
        .rmeta .pdb .ilk .idb .nib .mo .gmo .pdf .doc .docx .xls .xlsx .ppt .pptx .odt .ods
        .odp .rtf .epub
        .mobi .djvu .blend .fbx .glb .stl .3ds .unitypackage .uasset .umap .dwg .onnx .pth
        .safetensors .ckpt .tflite .gguf .ggml .mlmodel .caffemodel .h5 .hdf5 .keras .joblib .pkl .pickle
        .swo .swp .ds_store .xcuserstate""",
    SkipReason.DATA: """
        .csv .tsv .psv .jsonl .ndjson .parquet .feather .arrow .avro .orc .npy .npz .mat .rdata .rda .rds .sav
        .dta .sas7bdat .sqlite .sqlite3 .db .mdb .accdb .dbf .dump .bak .geojson .topojson .kml .kmz .gpx .shp
        .gpkg .log .har .pcap .pcapng .po .pot .xlf .xliff .arb .fasta .fastq .fa .vcf .pgn .ics .mbox
        .diff .patch .orig .rej .trace .prof .lcov .snappy .warc .eml .tape .gltf .resx
        .crt .cer .der .csr .crl .pub .asc .sig""",
}

_GENERATED_NAMES = (
    (r"_pb2(?:_grpc)?\.pyi?$", "*_pb2.py"),
    (r"\.pb(?:\.gw|\.validate|\.micro)?\.(?:go|cc|cpp|h|swift|dart|rb|js|ts|php|rs)$", "*.pb.*"),
    (r"\.pb(?:enum|json|server|grpc)\.dart$", "*.pb*.dart"),
    (r"_grpc\.pb\.(?:go|js|rb)$", "*_grpc.pb.*"),
    (r"_(?:grpc_)?pb\.(?:js|d\.ts|rb)$", "*_pb.js"),
    (r"_services_pb\.rb$", "*_services_pb.rb"),
    (r"\.(?:g|freezed|gr|mocks|config|chopper)\.dart$", "*.g.dart"),
    (r"\.(?:g|g\.i|designer|generated)\.(?:cs|vb)$", "*.designer.cs"),
    (r"\.(?:generated|autogen)\.[A-Za-z0-9]+$", "*.generated.*"),
    (r"\.gen\.(?:go|tsx?|js|rs|dart|cs|kt|swift|h|cpp)$", "*.gen.go"),
    (r"(?:^|/)zz_generated[^/]*\.go$", "zz_generated*.go"),
    (r"(?:^|/)bindata(?:_[^/]*)?\.go$", "bindata.go"),
    (r"(?:^|/)(?:moc|qrc|rcc)_[^/]+\.(?:cpp|h)$", "moc_*.cpp"),
    (r"\.(?:js|mjs|cjs|css|ts|d\.ts|wasm)\.map$", "*.js.map"),
    (r"\.(?:snap|snapshot|ambr|storyshot)$", "*.snap"),
    (r"\.(?:approved|verified|received)\.[A-Za-z0-9]+$", "*.approved.*"),
    (r"(?:^|/)project\.pbxproj$", "project.pbxproj"),
    (r"\.(?:storyboard|xib|xcscheme|xcworkspacedata|suo|ncb)$", "*.storyboard"),
    (r"(?:^|/)api/(?:[^/]+/)?[^/]+\.api$", "api/*.api"),
    (r"(?:^|/)\.pnp\.c?js$", ".pnp.cjs"),
    (
        r"(?:^|/)(?:aclocal\.m4|ltmain\.sh|config\.guess|config\.sub|install-sh|depcomp|missing|libtool\.m4)$",
        "autotools",
    ),
    (r"\.egg-info/", "*.egg-info/"),
    (r"(?:^|/)(?:parser\.out|parsetab\.py|lextab\.py)$", "parsetab.py"),
    (r"\.tfstate\.json$", "*.tfstate.json"),
    (r"(?:^|/)(?:openapi|swagger)\.(?:gen|generated)\.", "openapi.gen.*"),
)
_MINIFIED_NAMES = (
    (r"[.-]min\.(?:js|mjs|cjs|css|html)$", "*.min.js"),
    (r"[.-](?:bundle|chunk|packed|umd\.prod)\.(?:js|mjs|css)$", "*.bundle.js"),
)
_WRAPPERS = (
    (r"(?:^|/)(?:gradlew|gradlew\.bat|mvnw|mvnw\.cmd)$", "gradlew"),
    (r"(?:^|/)(?:gradle|\.mvn)/wrapper/", "gradle/wrapper/"),
    ((r"(?:^|/)(?:jquery|bootstrap|angular|react|vue|d3|lodash|underscore|backbone|moment|ember)"
     r"[-.]v?\d+(?:\.\d+)+[^/]*\.(?:js|css)$"), "jquery-1.2.3.js"),
    (r"(?:^|/)[Jj]query(?:[.-]ui)?\.js$", "jquery.js"),
    (r"(?:^|/)bootstrap(?:\.bundle|-theme)?\.(?:js|css)$", "bootstrap.css"),
    (r"(?:^|/)(?:normalize|font-?awesome|animate)\.css$", "normalize.css"),
    (r"(?:^|/)erlang\.mk$", "erlang.mk"),
    # not at the root: that is where the library itself has it
    (r"/(?:sqlite3|catch|doctest|stb_[a-z_]+|miniz)\.(?:c|h|hpp)$", "sqlite3.c"),
)  # fmt: skip

_PATTERNS = tuple(
    (SkipReason(reason), re.compile(pattern, re.IGNORECASE if name == "*.designer.cs" else 0), name)
    for reason, rows in (
        (SkipReason.GENERATED, _GENERATED_NAMES),
        (SkipReason.MINIFIED, _MINIFIED_NAMES),
        (SkipReason.VENDORED, _WRAPPERS),
    )
    for pattern, name in rows
)

# Most paths match none: one search tells.
_ANY_PATTERN = re.compile("|".join(f"(?:{pattern.pattern})" for _, pattern, _ in _PATTERNS), re.IGNORECASE)

_FOLDERS = {
    ".repolake": SkipReason.DATA_DIR,
    **dict.fromkeys(_GENERATED_FOLDERS.split(), SkipReason.GENERATED),
    **dict.fromkeys(_VENDORED_FOLDERS.split(), SkipReason.VENDORED),
}
_FOLDER_PAIRS = {name: reason for name, reason in _FOLDERS.items() if "/" in name}
_BY_ENDING = {ending: reason for reason, endings in _ENDINGS.items() for ending in endings.split()}
_PRIVATE_FILES = frozenset(_PRIVATE_NAMES.split())
_PRIVATE_TAILS = tuple(_PRIVATE_ENDINGS.split())


def rule_for_path(path: str) -> Rule | None:
    """Return the first rule that leaves a path out because of its name, or None.

    Secrets come first, so that nothing else can explain them away.
    """
    folder, _, name = path.rpartition("/")
    return (
        _secret_rule(path, name)
        or (_folder_rule(folder) if folder else None)
        or _lockfile_rule(name)
        or _bundle_rule(folder, name)
        or _pattern_rule(path)
        or _ending_rule(name)
    )


def _secret_rule(path: str, name: str) -> Rule | None:
    lowered = name.lower()
    if _ENV_FILE.match(lowered):
        return None if _TEMPLATE.search(lowered) else Rule(SkipReason.SECRET, ".env*")
    if name in _PRIVATE_FILES:
        return Rule(SkipReason.SECRET, name)
    if lowered.endswith(_PRIVATE_TAILS) and not _TEMPLATE.search(lowered):
        return Rule(SkipReason.SECRET, "*" + next(tail for tail in _PRIVATE_TAILS if lowered.endswith(tail)))
    for tail in _SECRET_PATHS:
        if path == tail or path.endswith("/" + tail):
            return Rule(SkipReason.SECRET, tail)
    return None


@lru_cache(maxsize=65536)
def _folder_rule(folder: str) -> Rule | None:
    names = folder.split("/")
    if names[-1] in _HOLDING_FOLDERS:
        names.pop()
    if names and names[0] in _VENDORED_ROOT_FOLDERS:
        return Rule(SkipReason.VENDORED, f"/{names[0]}/")
    for number, name in enumerate(names, 1):
        reason = _FOLDERS.get(name)
        if reason is None:
            continue
        if name in ("vendor", "vendors") and (
            _JVM_SOURCE_ROOT.search(folder + "/")
            or _MADE_UP_VENDOR.search("/".join(names[: number + 1]) + "/")
        ):
            continue
        return Rule(reason, name + "/")
    for pair, reason in _FOLDER_PAIRS.items():
        if f"/{pair}/" in f"/{folder}/":
            return Rule(reason, pair + "/")
    return None


def _lockfile_rule(name: str) -> Rule | None:
    if name in LOCKFILES:
        return Rule(SkipReason.LOCKFILE, name)
    for pattern, rule in _LOCKFILE_PATTERNS:
        if pattern.search(name):
            return Rule(SkipReason.LOCKFILE, rule)
    return None


def _bundle_rule(folder: str, name: str) -> Rule | None:
    if not name.endswith(_BUNDLE_ENDINGS):
        return None
    inner = f"/{folder}/"
    for bundle in _BUNDLE_FOLDERS:
        if f"/{bundle}/" in inner:
            return Rule(SkipReason.GENERATED, f"{bundle}/*{name[name.rfind('.') :]}")
    return None


def _pattern_rule(path: str) -> Rule | None:
    if not _ANY_PATTERN.search(path):
        return None
    for reason, pattern, name in _PATTERNS:
        if pattern.search(path):
            return Rule(reason, name)
    return None


def _ending_rule(name: str) -> Rule | None:
    dot = name.rfind(".")
    if dot < 0:
        return None
    ending = name[dot:].lower()
    reason = _BY_ENDING.get(ending)
    return Rule(reason, "*" + ending) if reason else None
