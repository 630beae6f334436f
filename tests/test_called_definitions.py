"""Definitions that are calls: blocks of tests, with their titles as names."""

import pytest
from chunk_samples import cut

CART = """\
import { Cart } from './cart';

// The cart of a shop.
describe('Cart: <empty>', () => {
  const cart = new Cart('a name that takes some room', 'another one', 'and a third');

  beforeEach(() => {
    cart.clear('whatever it held before this test began', 'so that tests stay apart');
  });

  it('adds an item.', async () => {
    cart.add('an item', { price: 3, count: 4 });
    expect(cart.size).toBe(1);
  });

  it.each([[1, 2], [2, 3]])('counts %i', (given, wanted) => {
    expect(cart.count(given)).toBe(wanted);
  });

  describe(Cart.Line, function () {
    test(`is ${'empty'} first`, () => expect(new Cart.Line().size).toBe(0));
    it.skip("isn't ready", done => done());
  });
});
"""
RSPEC = """\
RSpec.describe Shop::Cart, type: :model do
  let(:cart) { described_class.new("a name that takes some room", "another one", "a third") }

  it "adds an item" do
    cart.add("an item", price: 3, count: 4)
    expect(cart.size).to eq(1)
  end

  it { is_expected.to be_valid }

  context "when empty" do
    it("is zero") { expect(cart.size).to eq 0 }
  end
end
"""
EXUNIT = """\
defmodule Shop.CartTest do
  use ExUnit.Case

  describe "add/2" do
    setup do
      {:ok, cart: Cart.new("a name that takes some room", "another one", "a third")}
    end

    test "adds one item", %{cart: cart} do
      assert Cart.size(Cart.add(cart, "an item", price: 3, count: 4)) == 1
    end
  end
end
"""


def found(text: str, language: str, budget: int) -> list[tuple[str, str]]:
    kinds = {(chunk.symbol, chunk.symbol_kind): None for chunk, _ in cut(text, language, budget)}
    return list(kinds)


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_a_suite_that_fits_is_one_chunk_with_the_comment_above_it(language: str) -> None:
    chunks = [(chunk.symbol, chunk.signature, own) for chunk, own in cut(CART, language, 512)]
    own = CART[CART.index("// The cart") :].rstrip()
    assert chunks[1:] == [("Cart: <empty>", "describe('Cart: <empty>', () =>", own)]


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
def test_each_test_of_a_suite_that_does_not_fit_is_a_chunk_with_its_title(language: str) -> None:
    assert found(CART, language, 128) == [
        ("<module>", "module"),
        ("Cart: <empty>", "suite"),
        ("Cart: <empty>.adds an item", "test"),
        ("Cart: <empty>.counts %i", "test"),
        ("Cart: <empty>.Cart.Line", "suite"),
    ]


def test_titles_stand_in_the_signature_as_they_are_written() -> None:
    text = 'test.describe.serial("a.b: <c>  d", () => {\n  run();\n});\n'
    [(chunk, _)] = cut(text, "typescript")
    assert (chunk.symbol, chunk.symbol_kind) == ("a.b: <c> d", "suite")
    assert chunk.signature == 'test.describe.serial("a.b: <c> d", () =>'


@pytest.mark.parametrize(
    "text",
    [
        "app.test('no', () => { run(); });\n",
        "/x/.test('no');\n",
        "test('no function', 1);\n",
        "test(name, () => { run(); });\n",
        "test.beforeEach(async () => { run(); });\n",
        "it(() => { run(); });\n",
        "describe();\n",
    ],
)
def test_other_calls_are_statements(text: str) -> None:
    assert found(text, "javascript", 256) == [("<module>", "module")]


def test_blocks_of_ruby_and_elixir_have_their_titles() -> None:
    assert found(RSPEC, "ruby", 96) == [
        ("Shop.Cart", "suite"),
        ("Shop.Cart.adds an item", "test"),
        ("Shop.Cart.when empty", "suite"),
    ]
    filler = "  # words that fill the budget\n" * 12
    rails = f'class CartTest < TestCase\n{filler}  test "adds" do\n    assert true\n  end\nend\n'
    assert found(rails, "ruby", 96) == [("CartTest", "class"), ("CartTest.adds", "test")]
    assert found(EXUNIT, "elixir", 96)[-2:] == [
        ("Shop.CartTest.add/2", "suite"),
        ("Shop.CartTest.add/2.adds one item", "test"),
    ]
