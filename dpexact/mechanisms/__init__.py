"""What ran on the data: frozen mechanisms, their constructors and their text grammar."""

from dpexact.mechanisms.base import Composition as Composition
from dpexact.mechanisms.base import FixedSize as FixedSize
from dpexact.mechanisms.base import Mechanism as Mechanism
from dpexact.mechanisms.base import Poisson as Poisson
from dpexact.mechanisms.base import Repetition as Repetition
from dpexact.mechanisms.constructors import adaptive as adaptive
from dpexact.mechanisms.constructors import approx_dp as approx_dp
from dpexact.mechanisms.constructors import bounded_range as bounded_range
from dpexact.mechanisms.constructors import discrete_gaussian as discrete_gaussian
from dpexact.mechanisms.constructors import discrete_laplace as discrete_laplace
from dpexact.mechanisms.constructors import fixed_size as fixed_size
from dpexact.mechanisms.constructors import gaussian as gaussian
from dpexact.mechanisms.constructors import gaussian_mixture as gaussian_mixture
from dpexact.mechanisms.constructors import gdp as gdp
from dpexact.mechanisms.constructors import group as group
from dpexact.mechanisms.constructors import laplace as laplace
from dpexact.mechanisms.constructors import mix as mix
from dpexact.mechanisms.constructors import pair as pair
from dpexact.mechanisms.constructors import partition_selection as partition_selection
from dpexact.mechanisms.constructors import permute_and_flip as permute_and_flip
from dpexact.mechanisms.constructors import poisson as poisson
from dpexact.mechanisms.constructors import pure_dp as pure_dp
from dpexact.mechanisms.constructors import randomized_response as randomized_response
from dpexact.mechanisms.constructors import replace as replace
from dpexact.mechanisms.constructors import report_noisy_max as report_noisy_max
from dpexact.mechanisms.constructors import shuffle as shuffle
from dpexact.mechanisms.constructors import staircase as staircase
from dpexact.mechanisms.constructors import threshold as threshold
from dpexact.mechanisms.constructors import (
    truncated_discrete_gaussian as truncated_discrete_gaussian,
)
from dpexact.mechanisms.constructors import truncated_laplace as truncated_laplace
from dpexact.mechanisms.constructors import truncated_poisson as truncated_poisson
from dpexact.mechanisms.constructors import zcdp as zcdp
from dpexact.mechanisms.finite import FinitePair as FinitePair
from dpexact.mechanisms.finite import RandomizedResponse as RandomizedResponse
from dpexact.mechanisms.grammar import parse as parse
from dpexact.mechanisms.guarantees import GDP as GDP
from dpexact.mechanisms.guarantees import ZCDP as ZCDP
from dpexact.mechanisms.guarantees import ApproxDP as ApproxDP
from dpexact.mechanisms.guarantees import PureDP as PureDP
from dpexact.mechanisms.guarantees import RenyiDP as RenyiDP
from dpexact.mechanisms.guarantees import renyi_dp as renyi_dp
from dpexact.mechanisms.noises import DiscreteGaussian as DiscreteGaussian
from dpexact.mechanisms.noises import DiscreteLaplace as DiscreteLaplace
from dpexact.mechanisms.noises import Gaussian as Gaussian
from dpexact.mechanisms.noises import Laplace as Laplace
from dpexact.mechanisms.noises import PartitionSelection as PartitionSelection
from dpexact.mechanisms.noises import Staircase as Staircase
from dpexact.mechanisms.noises import Threshold as Threshold
from dpexact.mechanisms.noises import TruncatedDiscreteGaussian as TruncatedDiscreteGaussian
from dpexact.mechanisms.noises import TruncatedLaplace as TruncatedLaplace
from dpexact.mechanisms.relating import Allocation as Allocation
from dpexact.mechanisms.relating import GaussianMixture as GaussianMixture
from dpexact.mechanisms.relating import Group as Group
from dpexact.mechanisms.relating import Mix as Mix
from dpexact.mechanisms.relating import Replace as Replace
from dpexact.mechanisms.relating import ShuffledBatches as ShuffledBatches
from dpexact.mechanisms.relating import TruncatedPoisson as TruncatedPoisson
from dpexact.mechanisms.relating import allocation as allocation
from dpexact.mechanisms.relating import shuffled_batches as shuffled_batches
from dpexact.mechanisms.reports import Adaptive as Adaptive
from dpexact.mechanisms.reports import BoundedRange as BoundedRange
from dpexact.mechanisms.reports import PermuteAndFlip as PermuteAndFlip
from dpexact.mechanisms.reports import RepeatAndSelect as RepeatAndSelect
from dpexact.mechanisms.reports import ReportNoisyMax as ReportNoisyMax
from dpexact.mechanisms.reports import Shuffle as Shuffle
from dpexact.mechanisms.reports import repeat_and_select as repeat_and_select

# what stands here
__all__ = [x for x, of in vars().items() if getattr(of, "__module__", "").startswith(__name__)]
__dir__ = __all__.copy
