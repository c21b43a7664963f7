"""What a project that has an accountant writes: a few lines against certified answers."""

import pytest
import tinydp


@pytest.mark.dp_oracle("dpsgd", quantity="epsilon", direction="both", family="poisson(gaussian)")
def test_epsilon_of_training_is_an_upper_bound(case):
    case.check_upper(epsilon=tinydp.epsilon(case.sigma, case.q, case.steps, case.delta))


def test_epsilon_of_gaussians_is_an_upper_bound(dp_oracle):
    for case in dp_oracle.cases("basics", quantity="epsilon", family="gaussian"):
        case.check_upper(epsilon=tinydp.epsilon(case.sigma, 1, case.steps, case.delta))


@pytest.mark.dp_oracle("renyi", family="poisson(gaussian)", direction="remove")
def test_renyi_divergence(case):
    if not case.order.is_integer():
        pytest.skip("integer orders only")
    claimed = tinydp.renyi(case.sigma, case.q, int(case.order))
    case.check_estimate(renyi=claimed, rel=1e-6)  # logarithms near 0 lose digits
