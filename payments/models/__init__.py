"""Models: tables with their constraints and querysets, without business logic."""

from payments.models.api_request import ApiRequest
from payments.models.books.day_total import DayTotal, SummedDay
from payments.models.books.ledger import Posting, RunningBalance, Settlement
from payments.models.books.money_check import MoneyCheck
from payments.models.books.reconciliation import ReconciliationItem, ReconciliationRun, ReportLine
from payments.models.charging.attempt import Attempt
from payments.models.charging.charge import AMOUNT_MAX, Charge, Refund
from payments.models.charging.idempotency import IdempotencyRecord
from payments.models.charging.page_visit import PageVisit
from payments.models.charging.source import BinRange, Card, Source
from payments.models.data_key import CvcKey, DataKey
from payments.models.event import Event
from payments.models.merchants.merchant import ApiKey, Merchant, WebhookSecret
from payments.models.merchants.merchant_access import MerchantAccess
from payments.models.operators.approval_request import ApprovalRequest
from payments.models.operators.audit import AuditEntry, AuditHead
from payments.models.operators.correction import Correction, UnknownOutcome
from payments.models.operators.export import Export, ExportPart
from payments.models.operators.operator_action import ApprovalLimit, OperatorAction
from payments.models.provider_message import ProviderEvent, ProviderMessage
from payments.models.risk.block import Block
from payments.models.risk.decline_alert import DeclineAlert
from payments.models.routing.provider_account import ProviderAccount
from payments.models.routing.route import Route
from payments.models.webhook import Webhook, WebhookAttempt

__all__ = [
    "AMOUNT_MAX",
    "ApiKey",
    "ApiRequest",
    "ApprovalLimit",
    "ApprovalRequest",
    "Attempt",
    "AuditEntry",
    "AuditHead",
    "BinRange",
    "Block",
    "Card",
    "Charge",
    "Correction",
    "CvcKey",
    "DataKey",
    "DayTotal",
    "DeclineAlert",
    "Event",
    "Export",
    "ExportPart",
    "IdempotencyRecord",
    "Merchant",
    "MerchantAccess",
    "MoneyCheck",
    "OperatorAction",
    "PageVisit",
    "Posting",
    "ProviderAccount",
    "ProviderEvent",
    "ProviderMessage",
    "ReconciliationItem",
    "ReconciliationRun",
    "Refund",
    "ReportLine",
    "Route",
    "RunningBalance",
    "Settlement",
    "Source",
    "SummedDay",
    "UnknownOutcome",
    "Webhook",
    "WebhookAttempt",
    "WebhookSecret",
]
