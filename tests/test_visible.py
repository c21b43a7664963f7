"""No foreign text acts on what shows it."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from dpexact.visible import visible


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_hidden_is_left(text):
    shown = visible(text)
    assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in shown)
    shown.encode()


def test_plain_text_stays():
    assert visible("ε ≤ 4.8, naïve — 你好") == "ε ≤ 4.8, naïve — 你好"
    assert visible("a\r\n\tb\u202e\x00\x1b") == "a\\r  b\\u202e\\x00\\x1b"


def test_code_points_that_are_no_characters_are_escaped():
    assert visible("\ufffe\uffff\U0010ffff\ufdd0") == "\\ufffe\\uffff\\U0010ffff\\ufdd0"
