"""Small parts of the HTML report."""

from dpexact.audit.reports.html_parts import facts, inert, tone
from dpexact.audit.verdicts import VERDICTS


def test_inert():
    assert inert("<b a='\"'>&\x00") == "&lt;b a=&#x27;&quot;&#x27;&gt;&amp;\\x00"


def test_tones():
    assert [tone(verdict) for verdict in VERDICTS] == ["bad", "bad", "open", "good", "good"]


def test_facts():
    assert facts([("a", "b"), ("c", "d")]) == "<dt>a</dt><dd>b</dd><dt>c</dt><dd>d</dd>"
