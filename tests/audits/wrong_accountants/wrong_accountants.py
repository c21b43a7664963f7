"""Accountants with one mistake each; every claim they make must be rejected."""

from fractions import Fraction
from math import erfc, exp, expm1, log, sinh, sqrt, tanh
from statistics import NormalDist


def basic_composition_that_forgets_a_step():
    """``k - 1`` for ``k``."""
    eps, k = Fraction(1, 10), 10
    yield f"pure_dp({eps})^{k}", "epsilon", (k - 1) * eps, 0, "upper"
    yield f"approx_dp({eps}, 1e-6)^{k}", "delta", (k - 1) * Fraction("1e-6"), k * eps, "upper"


def basic_composition_that_keeps_delta():
    """``(k eps, delta)`` for ``(k eps, k delta)``."""
    yield "approx_dp(0.1, 1e-6)^10", "delta", "1e-6", 1, "upper"
    yield "approx_dp(0.1, 1e-6)^10", "epsilon", 1, "1e-6", "upper"


def advanced_composition_without_the_logarithm():
    """``sqrt(2 k) eps`` for ``sqrt(2 k log(1/d')) eps``."""
    for eps, k in [(0.1, 100), (0.5, 50)]:
        yield (
            f"pure_dp({eps})^{k}",
            "epsilon",
            sqrt(2 * k) * eps + k * eps * expm1(eps),
            1e-12,
            "upper",
        )


def advanced_composition_without_the_drift():
    """Without ``k eps (e^eps - 1)``, which dominates for large ``eps``."""
    for eps, k in [(1.0, 200), (2.0, 100)]:
        yield f"pure_dp({eps})^{k}", "epsilon", sqrt(2 * k * log(1e6)) * eps, 1e-6, "upper"


def renyi_conversion_without_the_log_term():
    """``min_a eps(a)`` without ``log(1/delta)/(a-1)``."""
    for sigma, delta in [(1.0, 1e-5), (5.0, 1e-9)]:
        value = min(a / (2 * sigma**2) for a in range(2, 500))
        yield f"gaussian({sigma})", "epsilon", value, delta, "upper"


def renyi_conversion_by_the_order():
    """``log(1/delta)/a^2``, a slip in the denominator."""
    for sigma, delta in [(1.0, 1e-5), (5.0, 1e-9)]:
        value = min(a / (2 * sigma**2) + log(1 / delta) / a**2 for a in range(2, 500))
        yield f"gaussian({sigma})", "epsilon", value, delta, "upper"


def gaussian_without_the_square():
    """``eps = 1/(2 s) + sqrt(2 log(1/delta))/s``: the first term lacks the square of ``s``."""
    for sigma, delta in [(0.2, 1e-5), (0.1, 1e-3)]:
        value = 1 / (2 * sigma) + sqrt(2 * log(1 / delta)) / sigma
        yield f"gaussian({sigma})", "epsilon", value, delta, "upper"


def gaussian_of_the_inverse_variance():
    """The noise ``sigma`` read as ``1/sigma^2``."""
    for sigma, epsilon in [(0.5, 1.0), (0.7, 2.0)]:
        wrong = 1 / sigma**2
        near = erfc((epsilon * wrong - 1 / (2 * wrong)) / sqrt(2)) / 2
        far = erfc((epsilon * wrong + 1 / (2 * wrong)) / sqrt(2)) / 2
        yield f"gaussian({sigma})", "delta", near - exp(epsilon) * far, epsilon, "upper"


def gaussian_with_the_exponential_twice():
    """``e^(2 eps)`` for ``e^eps`` in front of the second tail."""
    for sigma, epsilon in [(1.0, 1.0), (2.0, 0.5)]:
        near = erfc((epsilon * sigma - 1 / (2 * sigma)) / sqrt(2)) / 2
        far = erfc((epsilon * sigma + 1 / (2 * sigma)) / sqrt(2)) / 2
        yield f"gaussian({sigma})", "delta", near - exp(2 * epsilon) * far, epsilon, "upper"


def central_limit():
    """Normal limits of randomised response, by the variance and by the mean of the loss."""
    eps, k, epsilon = 2.0, 10, 4.0
    by_variance, by_mean = 2 * sqrt(k) * sinh(eps / 2), sqrt(2 * k * eps * tanh(eps / 2))
    for mu, kind in [(by_variance, "estimate"), (by_variance, "lower"), (by_mean, "upper")]:
        below = NormalDist().cdf(-mu / 2 - epsilon / mu)
        value = NormalDist().cdf(mu / 2 - epsilon / mu) - exp(epsilon) * below
        yield f"pure_dp({eps})^{k}", "delta", value, epsilon, kind


def cancellation():
    """``1 - (1-d)^k`` in floats: 0 for tiny ``d``."""
    for delta, k in [("1e-18", 1000), ("1e-17", 5)]:
        yield f"approx_dp(0, {delta})^{k}", "delta", 1 - (1 - float(delta)) ** k, 1, "upper"


def underflow():
    """A tail that leaves the range of floats."""
    value = erfc(40.0)
    yield "gaussian(1)", "delta", value, 60, "upper"
    yield "gaussian(1)", "epsilon", "38", "1e-400", "upper"


def rounding_to_nearest():
    """The truth rounded to the nearest float, here downwards."""
    yield "pure_dp(0.1)^3", "epsilon", "0.29999999999999998", 0, "upper"
    yield "gaussian(1)", "epsilon", "4.377178095681224", "1e-5", "upper"


def finite_below_the_mass_of_infinite_loss():
    """No epsilon reaches a ``delta`` below ``1 - (1-d)^k``."""
    yield "approx_dp(0.1, 1e-6)^100", "epsilon", 1000, "9.9e-5", "upper"


def lower_bound_that_is_an_upper_one():
    """Bounds returned in the wrong order."""
    yield "gaussian(1)", "epsilon", "4.4", "1e-5", "lower"
    yield "pure_dp(0.1)^100", "epsilon", 10, "1e-6", "lower"


ACCOUNTANTS = [
    basic_composition_that_forgets_a_step,
    basic_composition_that_keeps_delta,
    advanced_composition_without_the_logarithm,
    advanced_composition_without_the_drift,
    renyi_conversion_without_the_log_term,
    renyi_conversion_by_the_order,
    gaussian_without_the_square,
    gaussian_of_the_inverse_variance,
    gaussian_with_the_exponential_twice,
    central_limit,
    cancellation,
    underflow,
    rounding_to_nearest,
    finite_below_the_mass_of_infinite_loss,
    lower_bound_that_is_an_upper_one,
]
