"""Exact trade-off functions, their algebra, and ``G_mu``: the calculus of f-differential privacy.

Modules, each importing only from those before it::

    monomials < numbers < base < piecewise < noises, convex < guarantees < subsampling
    < functionals, blackwell
"""

from dpexact.tradeoffs.base import TradeoffFunction as TradeoffFunction
from dpexact.tradeoffs.blackwell import Processing as Processing
from dpexact.tradeoffs.blackwell import Separation as Separation
from dpexact.tradeoffs.blackwell import blackwell as blackwell
from dpexact.tradeoffs.blackwell import is_processing as is_processing
from dpexact.tradeoffs.convex import Violation as Violation
from dpexact.tradeoffs.convex import conjugate as conjugate
from dpexact.tradeoffs.convex import convex_hull as convex_hull
from dpexact.tradeoffs.convex import maximum as maximum
from dpexact.tradeoffs.convex import symmetrised as symmetrised
from dpexact.tradeoffs.convex import violation as violation
from dpexact.tradeoffs.functionals import GaussianGap as GaussianGap
from dpexact.tradeoffs.functionals import RenyiTradeoff as RenyiTradeoff
from dpexact.tradeoffs.functionals import distance_to_gaussian as distance_to_gaussian
from dpexact.tradeoffs.functionals import gaussian_gap as gaussian_gap
from dpexact.tradeoffs.functionals import kappa_2 as kappa_2
from dpexact.tradeoffs.functionals import kappa_3 as kappa_3
from dpexact.tradeoffs.functionals import kappa_3_bar as kappa_3_bar
from dpexact.tradeoffs.functionals import kl as kl
from dpexact.tradeoffs.functionals import renyi as renyi
from dpexact.tradeoffs.functionals import renyi_max as renyi_max
from dpexact.tradeoffs.functionals import total_variation as total_variation
from dpexact.tradeoffs.guarantees import ConcentratedTradeoff as ConcentratedTradeoff
from dpexact.tradeoffs.guarantees import Guarantee as Guarantee
from dpexact.tradeoffs.guarantees import delta_of as delta_of
from dpexact.tradeoffs.guarantees import f_eps_delta as f_eps_delta
from dpexact.tradeoffs.guarantees import guarantees as guarantees
from dpexact.tradeoffs.guarantees import of_guarantees as of_guarantees
from dpexact.tradeoffs.guarantees import tightest as tightest
from dpexact.tradeoffs.noises import GaussianTradeoff as GaussianTradeoff
from dpexact.tradeoffs.noises import LaplaceTradeoff as LaplaceTradeoff
from dpexact.tradeoffs.noises import discrete_laplace_pair as discrete_laplace_pair
from dpexact.tradeoffs.numbers import ExpRatio as ExpRatio
from dpexact.tradeoffs.numbers import Number as Number
from dpexact.tradeoffs.piecewise import Atom as Atom
from dpexact.tradeoffs.piecewise import PiecewiseLinear as PiecewiseLinear
from dpexact.tradeoffs.piecewise import Vertex as Vertex
from dpexact.tradeoffs.piecewise import identity as identity
from dpexact.tradeoffs.piecewise import of_pair as of_pair
from dpexact.tradeoffs.piecewise import of_vertices as of_vertices
from dpexact.tradeoffs.subsampling import group as group
from dpexact.tradeoffs.subsampling import mixed as mixed
from dpexact.tradeoffs.subsampling import subsampled as subsampled
from dpexact.tradeoffs.subsampling import subsampled_f_eps_delta as subsampled_f_eps_delta

# what stands here, and a union
__all__ = [x for x, of in vars().items() if getattr(of, "__module__", "").startswith(__name__)]
__all__ += ["Number"]
__dir__ = __all__.copy
