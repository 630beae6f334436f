"""The pages for people in a real headless Chromium, hostile repositories included."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from repositories import SHOP, git, make_repository
from served import Server, serving

from repolake import pipeline
from repolake.evaluations import Evaluation, QueryResult, Variant, VariantResult, write_evaluation
from repolake.lake import Lake
from repolake.records import Chunker, RepositorySpec, SearchMode
from repolake.settings import load_settings

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("no Chromium is installed", allow_module_level=True)

expect = playwright.expect
expect.set_options(timeout=60_000)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
ATTACK = "<img src=x onerror=window.pwned=1><script>window.pwned=2</script>"
REVERSED = "\u202egnissecca\u202c"
HOSTILE = {
    "<b onclick=window.pwned=4>.py": f'''# {ATTACK}
def attack_page():
    """Steal {REVERSED} the \x1b[31mcookie\x07."""
    return "</span></div>{ATTACK}"
''',
    "notes.md": f"# {ATTACK}\n\nThe attack page of the heading.\n",
    "javascript:alert(1).py": "def attack_link():\n    return 1\n",
}
HOSTILE_NAME = '"><script>window.pwned=5</script>'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("repositories")
    data_dir = tmp_path_factory.mktemp("data")
    many = {
        f"shop/part_{n}.py": "".join(f"def part_{n}_{m}(order):\n    return order\n\n\n" for m in range(9))
        for n in range(5)
    }
    shop = make_repository(folder / "shop", {**SHOP, **many})
    git(shop, "remote", "add", "origin", "https://github.com/acme/shop.git")
    hostile = make_repository(folder / "hostile", HOSTILE)
    lake = Lake(data_dir)
    for number, value in enumerate((0.5, 0.75)):
        write_evaluation(lake, evaluation(number, value))
    specs = [RepositorySpec(str(shop)), RepositorySpec(str(hostile), name=HOSTILE_NAME)]
    pipeline.index(specs, settings=load_settings(data_dir=data_dir, model="fast"))
    with serving(data_dir) as running:
        yield running


def evaluation(number: int, value: float) -> Evaluation:
    query = QueryResult("1", None, "python", False, {"ndcg@10": value}, 0.01)
    variant = Variant(SearchMode.HYBRID, Chunker.AST, "fast", 512)
    return Evaluation(
        f"2026010{number + 1}T000000-aaaaaa",
        datetime(2026, 1, number + 1, tzinfo=UTC),
        "questions.jsonl",
        "f" * 64,
        (VariantResult(variant, "fast-1", "c0ffee", None, (query,)),),
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: playwright.Browser, server: Server) -> Iterator[playwright.Page]:
    context = browser.new_context(base_url=server.address)
    page = context.new_page()
    page.set_default_timeout(60_000)
    problems: list[str] = []
    elsewhere: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if is_problem(said) else None)
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(server.address) else elsewhere.append(asked.url),
    )
    yield page
    assert page.evaluate("window.pwned") is None
    assert problems == []
    assert elsewhere == []
    context.close()


def is_problem(said: playwright.ConsoleMessage) -> bool:
    """Whether the console tells of a fault; a refusal of the server is none."""
    return said.type == "error" and "Failed to load resource" not in said.text


def search(page: playwright.Page, query: str) -> None:
    """Type a query as a person does, and wait for the results."""
    page.fill("#q", query)
    page.press("#q", "Enter")
    page.wait_for_selector(".result, .message:has-text('No result')")


def test_a_search_shows_place_symbol_text_and_why_it_ranks(page: playwright.Page, server: Server):
    page.goto("/")
    page.wait_for_selector(".card")
    search(page, "mail the invoice")
    first = page.locator(".result").first
    assert first.locator(".place").inner_text() == "shop/mail.py:1-3"
    assert first.locator(".symbol").inner_text() == "function send_invoice"
    assert "acme/shop @ main" in first.locator(".origin").inner_text()
    assert first.locator(".line").first.inner_text() == "def send_invoice(customer, cart):"
    assert "invoice" in first.locator("mark").all_inner_texts()
    [hit, *_] = server.client.get("/search", params={"q": "mail the invoice", "k": 20}).json()
    why = first.locator(".why").inner_text()
    assert f"words #{hit['text_rank']}" in why
    assert f"meaning #{hit['vector_rank']}" in why
    assert f"score {hit['score']:.4f}" in why
    assert first.locator("a.host").get_attribute("href") == hit["url"]


def test_the_address_holds_the_search_and_restores_it(page: playwright.Page):
    page.goto("/")
    page.wait_for_selector(".card")
    page.fill("#q", "cart")
    page.select_option("#kind", "test")
    page.wait_for_selector(".result")
    assert "q=cart" in page.url
    assert "kind=test" in page.url
    assert page.locator(".place").all_inner_texts() == ["tests/test_cart.py:1-2"]
    address = page.url
    page.click("#clear")
    page.wait_for_selector(".result:nth-child(2)")
    assert "kind" not in page.url
    page.go_back()
    expect(page.locator(".result")).to_have_count(1)
    page.goto("/status.html")
    page.goto(address)
    page.wait_for_selector(".result")
    assert page.input_value("#q") == "cart"
    assert page.input_value("#kind") == "test"
    assert page.locator(".result").count() == 1


def test_filters_offer_what_the_index_holds(page: playwright.Page):
    page.goto("/?q=shop&repository=acme%2Fshop&path=shop%2F")
    page.wait_for_selector(".result")
    assert all(place.startswith("shop/") for place in page.locator(".place").all_inner_texts())
    values = page.eval_on_selector_all("#language option", "options => options.map(o => o.value)")
    assert set(values) == {"", "python", "markdown"}
    page.fill("#path", "**/test_*.py")
    page.press("#path", "Enter")
    expect(page.locator(".place").first).to_contain_text("tests/")
    assert {place.split(":")[0] for place in page.locator(".place").all_inner_texts()} == {
        "tests/test_cart.py"
    }
    page.goto("/?q=shop&language=cobol")
    page.wait_for_selector(".message:has-text('No result')")
    assert page.input_value("#language") == "cobol"


def test_the_keyboard_reaches_everything(page: playwright.Page):
    page.goto("/?q=cart+price")
    page.wait_for_selector(".result.chosen")

    def chosen() -> int:
        found = page.evaluate(
            "[...document.querySelectorAll('.result')].findIndex(r => r.classList.contains('chosen'))"
        )
        assert isinstance(found, int)
        return found

    assert chosen() == 0
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert chosen() == 2
    page.keyboard.press("k")
    assert chosen() == 1
    page.keyboard.press("Enter")
    page.wait_for_selector(".result.chosen .context")
    page.keyboard.press("Escape")
    page.wait_for_selector(".context", state="detached")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("send_invoice")
    page.keyboard.press("Enter")
    expect(page.locator(".symbol").first).to_contain_text("send_invoice")
    assert page.evaluate("document.activeElement.id") != "q"


def test_a_result_opens_in_its_file(page: playwright.Page):
    page.goto("/?q=Cart&path=shop%2Fcart.py&mode=text")
    page.wait_for_selector(".result")
    page.locator(".result .place").first.click()
    page.wait_for_selector(".context")
    lines = page.locator(".context .line").all_inner_texts()
    assert "\n".join(lines) == SHOP["shop/cart.py"].rstrip("\n")
    numbers = page.locator(".context .number").all_inner_texts()
    assert numbers == [str(number) for number in range(1, len(lines) + 1)]
    own = page.locator(".context .own .line").all_inner_texts()
    assert own[0] == "class Cart:"
    assert len(own) < len(lines)


def test_more_results_come_on_demand(page: playwright.Page):
    page.goto("/?q=part+order")
    expect(page.locator(".result")).to_have_count(20)
    page.click("#more")
    page.wait_for_selector(".result:nth-child(21)")
    assert "k=40" in page.url


def test_hostile_names_and_texts_are_shown_and_never_run(page: playwright.Page):
    page.goto("/?q=attack+page")
    page.wait_for_selector(".result")
    shown = page.locator("#results").inner_text()
    assert "<b onclick=window.pwned=4>.py" in shown
    assert ATTACK in shown
    assert HOSTILE_NAME in shown
    assert page.locator("main img, main script, main b[onclick]").count() == 0
    assert page.locator("script").count() == 1
    controls = set(page.locator("#results .control").all_inner_texts())
    assert {"U+202E", "U+202C", "\u241b", "\u2407"} <= controls
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    page.locator(".place", has_text="onclick").first.click()
    page.wait_for_selector(".context")
    assert page.locator("main img, main script").count() == 0
    page.goto("/?q=attack_link")
    page.wait_for_selector(".result")
    links = page.eval_on_selector_all("a", "links => links.map(link => link.href)")
    assert all(link.startswith("http") for link in links)


def test_a_hostile_address_is_shown_and_never_run(page: playwright.Page):
    for query in ("%3Cscript%3Ewindow.pwned%3D6%3C%2Fscript%3E", "javascript:window.pwned=7", "%E2%80%AEabc"):
        page.goto(f"/?q={query}&repository={query}&language={query}")
        page.wait_for_selector(".message.bad, .message:has-text('result')")
        assert page.locator("main img, main script").count() == 0


def test_the_status_page_shows_the_numbers_of_the_index(page: playwright.Page, server: Server):
    page.goto("/status.html")
    page.wait_for_selector("#runs svg .column")
    status = server.client.get("/status").json()
    refs = [ref for entry in status["repositories"] for ref in entry["refs"]]
    tiles = dict(
        zip(
            page.locator(".tile span").all_inner_texts(),
            page.locator(".tile b").all_inner_texts(),
            strict=True,
        )
    )
    indexed = sum(ref["files_indexed"] for ref in refs)
    assert indexed == 4 + 5 + 3  # shop, its parts, the hostile files
    assert tiles["repositories"] == "2"
    assert tiles["files indexed"] == str(indexed)
    assert tiles["files left out by rule"] == "1"
    assert tiles["chunks"] == f"{sum(ref['chunks'] for ref in refs):,}"
    assert HOSTILE_NAME in page.locator("#repositories").inner_text()
    assert page.locator("#skipped .label").all_inner_texts() == ["lockfile: package-lock.json"]
    assert page.locator("#skipped .figure").first.inner_text().startswith("1")
    kinds = page.locator("#indexed .figure").all_inner_texts()[:3]
    assert sum(int(count) for count in kinds) == indexed
    assert page.locator("#runs .column").count() == len(status["runs"]) == 1
    seconds = status["runs"][0]["stage_seconds"]
    title = page.locator("#runs .column title").text_content()
    assert title is not None
    assert f"chunk {seconds['chunk']:g} s" in title


def test_the_status_page_draws_the_evaluation_trend(page: playwright.Page):
    page.goto("/status.html")
    page.wait_for_selector("#evaluations .point")
    titles = page.locator("#evaluations .point title").all_text_contents()
    assert ["0.500" in titles[0], "0.750" in titles[1], len(titles)] == [True, True, 2]
    heights = [float(str(p.get_attribute("cy"))) for p in page.locator("#evaluations .point").all()]
    zero, one = 196.0, 10.0  # where the axis stands for 0 and for 1
    assert [(zero - height) / (zero - one) for height in heights] == pytest.approx([0.5, 0.75])


def test_both_pages_fit_a_narrow_and_a_dark_screen(browser: playwright.Browser, server: Server):
    backs = {}
    for scheme in ("light", "dark"):
        context = browser.new_context(
            base_url=server.address, color_scheme=scheme, viewport={"width": 380, "height": 800}
        )
        page = context.new_page()
        for address in ("/?q=cart", "/status.html"):
            page.goto(address)
            page.wait_for_selector(".result, .tile")
            assert page.evaluate("document.documentElement.scrollWidth") <= 380
        backs[scheme] = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        context.close()
    assert backs["light"] != backs["dark"]


def test_a_page_asks_for_the_token_and_then_works(browser: playwright.Browser, server: Server):
    data_dir = Path(server.client.get("/status").json()["data_dir"])
    with serving(data_dir, token="secret") as guarded:  # noqa: S106
        page = browser.new_page(base_url=guarded.address)
        page.goto("/?q=invoice")
        page.wait_for_selector("#unlock:not([hidden])")
        assert page.locator(".result").count() == 0
        page.fill("#token", "wrong")
        page.press("#token", "Enter")
        page.wait_for_selector(".message:has-text('wrong')")
        page.fill("#token", "secret")
        page.press("#token", "Enter")
        page.wait_for_selector(".result")
        page.goto("/status.html")
        page.wait_for_selector(".tile")
        assert "secret" not in page.url
        page.close()
