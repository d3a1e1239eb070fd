"""Layouts of files of any columns: each version is approved by another of those who make them."""

from payments.domain.approvals.executors import Credentials
from payments.domain.approvals.kinds.changes import register_change
from payments.domain.reconciliation import file_layouts
from payments.domain.reconciliation.columns.layout import ColumnLayout
from payments.models import ApprovalRequest

Kind = ApprovalRequest.Kind


def _add(request: ApprovalRequest, _: Credentials) -> None:
    asked = request.after
    layout = ColumnLayout.from_json(asked["settings"])
    file_layouts.add(asked["account"], asked["version"], layout, request.id)


register_change(Kind.FILE_LAYOUT, _add, file_layouts.Overtaken, ValueError)
