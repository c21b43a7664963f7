"""The scoreboard: how each release of each accountant does, by family of mechanisms."""

from dpexact.audits.scoreboard.formats import of_json as of_json
from dpexact.audits.scoreboard.formats import read_scoreboard as read_scoreboard
from dpexact.audits.scoreboard.formats import to_html as to_html
from dpexact.audits.scoreboard.formats import to_json as to_json
from dpexact.audits.scoreboard.formats import to_markdown as to_markdown
from dpexact.audits.scoreboard.measuring import family as family
from dpexact.audits.scoreboard.measuring import scoreboard as scoreboard
from dpexact.audits.scoreboard.rows import Row as Row
from dpexact.audits.scoreboard.rows import Scoreboard as Scoreboard

# what stands here
__all__ = [x for x, of in vars().items() if getattr(of, "__module__", "").startswith(__name__)]
__dir__ = __all__.copy
