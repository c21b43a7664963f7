"""Accountants to hunt: one wrong beyond 50 steps, one that crashes, one that is never wrong."""


class _Accountant:
    distributions, module, extra, install, kinds = (), "math", "", "", ("upper",)

    def supports(self, query):
        return all(step["name"] == "gaussian" for step, _ in query["steps"])

    def call(self, query):
        return f"{self.name}({query['steps']}, {query['at']})"

    def answer(self, query):
        return [{"kind": "upper", "value": self.value(query)}]


class _ForgetsSteps(_Accountant):
    name = "zz-forgets-steps"

    def value(self, query):
        return 0.0 if sum(times for _, times in query["steps"]) > 50 else float("inf")


class _Crashes(_Accountant):
    name = "zz-crashes"

    def value(self, query):
        for step, _ in query["steps"]:
            if step["sigma"] < 1:
                raise ZeroDivisionError("no noise")
        return float("inf")


class _Right(_Accountant):
    name = "zz-right"

    def value(self, query):
        return float("inf")


FORGETS, CRASHES, RIGHT = _ForgetsSteps(), _Crashes(), _Right()
