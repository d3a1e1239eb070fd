"""Models: tables with their constraints and querysets, without business logic."""

from payments.models.approval_request import ApprovalRequest
from payments.models.attempt import Attempt
from payments.models.audit import AuditEntry, AuditHead
from payments.models.block import Block
from payments.models.charge import AMOUNT_MAX, Charge, Refund
from payments.models.correction import Correction, UnknownOutcome
from payments.models.data_key import CvcKey, DataKey
from payments.models.day_total import DayTotal, SummedDay
from payments.models.decline_alert import DeclineAlert
from payments.models.event import Event
from payments.models.export import Export, ExportPart
from payments.models.idempotency import IdempotencyRecord
from payments.models.ledger import Posting, RunningBalance, Settlement
from payments.models.merchant import ApiKey, Merchant, WebhookSecret
from payments.models.merchant_access import MerchantAccess
from payments.models.money_check import MoneyCheck
from payments.models.operator_action import ApprovalLimit, OperatorAction
from payments.models.page_visit import PageVisit
from payments.models.provider_account import ProviderAccount
from payments.models.provider_message import ProviderEvent, ProviderMessage
from payments.models.reconciliation import ReconciliationItem, ReconciliationRun, ReportLine
from payments.models.route import Route
from payments.models.source import BinRange, Card, Source
from payments.models.webhook import Webhook, WebhookAttempt

__all__ = [
    "AMOUNT_MAX",
    "ApiKey",
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
