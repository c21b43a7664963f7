"""Foreign text as bad as it comes: all of Unicode, and what the formats of the reports treat."""

from hypothesis import strategies as st

_ACTIVE = "a|`<>&]'\"\n\r\t\x00\x1b\x85\u2028\u202e\ud800\ufffe\uffff{}[](1)%:,;\\/#*_~!@$=- é😀"
_PIECES = ["]]>", "<script>", "<!--", "](x)", "::error::", "{0}", "%0A", "\\|", "&lt;", "-->"]

#: Any text but the empty one.
HOSTILE_TEXT = st.lists(
    st.sampled_from([*_ACTIVE, *_PIECES]) | st.characters(exclude_categories=()),
    min_size=1,
    max_size=30,
).map("".join)
