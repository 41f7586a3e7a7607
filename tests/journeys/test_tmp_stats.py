import collections, time
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.journeys import test_payout_machine as m
C = collections.Counter()
class P(m.Payouts):
    def _code_of(self, work):
        code = m.Payouts._code_of(work)
        C[str(code)] += 1
        return code
    def teardown(self):
        if hasattr(self, "payroll"):
            C["sales"] += len(self.sales)
        super().teardown()
        if hasattr(self, "payroll"):
            C.update(s for s, in self.payroll.payouts("status"))
            C["byhand"] += sum(x is not None for x, in self.payroll.payouts("external_transaction_id"))
            C["neg lines"] += sum(x < 0 for x, in self.payroll.lines("native_amount_cents"))
            C["reversed lines"] += sum(x > 0 for x, in self.payroll.lines("reversed_native_cents"))
            C["lines"] += len(self.payroll.lines())
            C["attempts>1"] += sum(x > 1 for x, in self.payroll.payouts("attempt"))
            C["multi"] += sum(x > 1 for x, in self.payroll.brand.rows("select count(distinct native_currency) from payout_line group by payout_id"))
def test_it(app):
    P.app = app
    t = time.time()
    run_state_machine_as_test(P, settings=settings(max_examples=int(m._EXAMPLES), stateful_step_count=m._STEPS, deadline=None, derandomize=False, database=None, suppress_health_check=list(HealthCheck)))
    print(time.time() - t, C)
