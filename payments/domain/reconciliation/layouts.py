"""The reports that can be read."""

from collections.abc import Mapping

from payments.domain.reconciliation.adyen import SettlementDetails
from payments.domain.reconciliation.csv_layout import MAPPINGS, Layout
from payments.domain.reconciliation.xendit import BalanceReport

ALL: tuple[Layout, ...] = (*MAPPINGS.values(), SettlementDetails(), BalanceReport())
LAYOUTS: Mapping[str, Layout] = {layout.provider: layout for layout in ALL}
