-- Puts the merchant into every primary key, unique index and foreign key of what belongs to merchants, as an engine that
-- shards by merchant needs it (the sharding guide says when). Written by `python -m tests.sharding.plan`, and run by
-- PostgreSQL in the suite. Not for a database that is not going to be sharded: a charge gets dearer by it.

ALTER TABLE customers_customersource DROP CONSTRAINT customers_customerso_customer_id_5c2e2d64_fk_customers;
ALTER TABLE customers_customersource DROP CONSTRAINT customers_customerso_source_id_db41cd5e_fk_payments_;
ALTER TABLE payments_approvalrequest DROP CONSTRAINT payments_approvalreq_attempt_id_63462e1c_fk_payments_;
ALTER TABLE payments_approvalrequest DROP CONSTRAINT payments_approvalreq_charge_id_07f21724_fk_payments_;
ALTER TABLE payments_attempt DROP CONSTRAINT payments_attempt_charge_id_b2d2e400_fk_payments_charge_id;
ALTER TABLE payments_attempt DROP CONSTRAINT payments_attempt_idempotency_id_e45acc08_fk_payments_;
ALTER TABLE payments_attempt DROP CONSTRAINT payments_attempt_refund_id_095fa19c_fk_payments_refund_id;
ALTER TABLE payments_card DROP CONSTRAINT payments_card_source_id_ac540e8d_fk_payments_source_id;
ALTER TABLE payments_charge DROP CONSTRAINT payments_charge_checkout_id_0e080f3b_fk_payments_checkout_id;
ALTER TABLE payments_charge DROP CONSTRAINT payments_charge_source_id_784b2fd9_fk_payments_source_id;
ALTER TABLE payments_checkout DROP CONSTRAINT payments_checkout_link_id_b11c4b0b_fk_payments_paymentlink_id;
ALTER TABLE payments_declinealert DROP CONSTRAINT payments_declinealert_charge_id_e07aff6b_fk_payments_charge_id;
ALTER TABLE payments_declinealert DROP CONSTRAINT payments_declinealert_source_id_67bcd07b_fk_payments_source_id;
ALTER TABLE payments_dispute DROP CONSTRAINT payments_dispute_charge_id_751cc74d_fk_payments_charge_id;
ALTER TABLE payments_evidence DROP CONSTRAINT payments_evidence_dispute_id_5dc44375_fk_payments_dispute_id;
ALTER TABLE payments_pagevisit DROP CONSTRAINT payments_pagevisit_charge_id_2e86d751_fk_payments_charge_id;
ALTER TABLE payments_paymentrequest DROP CONSTRAINT payments_paymentrequ_checkout_id_f145c626_fk_payments_;
ALTER TABLE payments_payout DROP CONSTRAINT payments_payout_account_id_e6aa25e5_fk_payments_;
ALTER TABLE payments_payout DROP CONSTRAINT payments_payout_approval_id_55d7fae8_fk_payments_;
ALTER TABLE payments_payoutpart DROP CONSTRAINT payments_payoutpart_payout_id_7cb2d441_fk_payments_payout_id;
ALTER TABLE payments_providerevent DROP CONSTRAINT payments_providereve_message_id_23be73fc_fk_payments_;
ALTER TABLE payments_reconciliationitem DROP CONSTRAINT payments_reconciliat_attempt_id_14d6e642_fk_payments_;
ALTER TABLE payments_reconciliationitem DROP CONSTRAINT payments_reconciliat_charge_id_ae15a44f_fk_payments_;
ALTER TABLE payments_refund DROP CONSTRAINT payments_refund_charge_id_2ba1056b_fk_payments_charge_id;
ALTER TABLE payments_settlementtotal DROP CONSTRAINT payments_settlementt_settlement_id_b46159d9_fk_payments_;
ALTER TABLE customers_customer DROP CONSTRAINT customers_customer_pkey,
    ADD CONSTRAINT customers_customer_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE customers_customersource DROP CONSTRAINT customers_customersource_source_id_key,
    ADD CONSTRAINT customers_customersource_source_id_key UNIQUE (source_id, merchant_id);
ALTER TABLE customers_customersource DROP CONSTRAINT customers_customersource_pkey,
    ADD CONSTRAINT customers_customersource_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_accountday DROP CONSTRAINT payments_accountday_pkey,
    ADD CONSTRAINT payments_accountday_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_apirequest DROP CONSTRAINT payments_apirequest_pkey,
    ADD CONSTRAINT payments_apirequest_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_approvalrequest DROP CONSTRAINT payments_approvalrequest_pkey,
    ADD CONSTRAINT payments_approvalrequest_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_attempt DROP CONSTRAINT payments_attempt_pkey,
    ADD CONSTRAINT payments_attempt_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_card DROP CONSTRAINT payments_card_source_id_key,
    ADD CONSTRAINT payments_card_source_id_key UNIQUE (source_id, merchant_id);
ALTER TABLE payments_card DROP CONSTRAINT payments_card_pkey,
    ADD CONSTRAINT payments_card_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_charge DROP CONSTRAINT payments_charge_pkey,
    ADD CONSTRAINT payments_charge_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_checkout DROP CONSTRAINT payments_checkout_pkey,
    ADD CONSTRAINT payments_checkout_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_daytotal DROP CONSTRAINT payments_daytotal_pkey,
    ADD CONSTRAINT payments_daytotal_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_declinealert DROP CONSTRAINT payments_declinealert_pkey,
    ADD CONSTRAINT payments_declinealert_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_dispute DROP CONSTRAINT payments_dispute_pkey,
    ADD CONSTRAINT payments_dispute_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_event DROP CONSTRAINT payments_event_pkey,
    ADD CONSTRAINT payments_event_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_evidence DROP CONSTRAINT payments_evidence_pkey,
    ADD CONSTRAINT payments_evidence_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_evidencesent DROP CONSTRAINT payments_evidencesent_pkey,
    ADD CONSTRAINT payments_evidencesent_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_idempotencyrecord DROP CONSTRAINT payments_idempotencyrecord_pkey,
    ADD CONSTRAINT payments_idempotencyrecord_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_logleaf DROP CONSTRAINT payments_logleaf_journal_key,
    ADD CONSTRAINT payments_logleaf_journal_key UNIQUE (journal, merchant_id);
ALTER TABLE payments_logleaf DROP CONSTRAINT payments_logleaf_pkey,
    ADD CONSTRAINT payments_logleaf_pkey PRIMARY KEY (number, merchant_id);
ALTER TABLE payments_pagevisit DROP CONSTRAINT payments_pagevisit_pkey,
    ADD CONSTRAINT payments_pagevisit_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_payermessage DROP CONSTRAINT payments_payermessage_pkey,
    ADD CONSTRAINT payments_payermessage_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_paymentlink DROP CONSTRAINT payments_paymentlink_short_key,
    ADD CONSTRAINT payments_paymentlink_short_key UNIQUE (short, merchant_id);
ALTER TABLE payments_paymentlink DROP CONSTRAINT payments_paymentlink_pkey,
    ADD CONSTRAINT payments_paymentlink_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_paymentrequest DROP CONSTRAINT payments_paymentrequest_pkey,
    ADD CONSTRAINT payments_paymentrequest_pkey PRIMARY KEY (checkout_id, merchant_id);
ALTER TABLE payments_payout DROP CONSTRAINT payments_payout_approval_id_key,
    ADD CONSTRAINT payments_payout_approval_id_key UNIQUE (approval_id, merchant_id);
ALTER TABLE payments_payout DROP CONSTRAINT payments_payout_pkey,
    ADD CONSTRAINT payments_payout_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_payoutaccount DROP CONSTRAINT payments_payoutaccount_pkey,
    ADD CONSTRAINT payments_payoutaccount_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_payoutpart DROP CONSTRAINT payments_payoutpart_pkey,
    ADD CONSTRAINT payments_payoutpart_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_payoutschedule DROP CONSTRAINT payments_payoutschedule_pkey,
    ADD CONSTRAINT payments_payoutschedule_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_posting DROP CONSTRAINT payments_posting_pkey,
    ADD CONSTRAINT payments_posting_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_providerevent DROP CONSTRAINT payments_providerevent_pkey,
    ADD CONSTRAINT payments_providerevent_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_providermessage DROP CONSTRAINT payments_providermessage_pkey,
    ADD CONSTRAINT payments_providermessage_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_refund DROP CONSTRAINT payments_refund_pkey,
    ADD CONSTRAINT payments_refund_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_runningbalance DROP CONSTRAINT payments_runningbalance_pkey,
    ADD CONSTRAINT payments_runningbalance_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_searchentry DROP CONSTRAINT payments_searchentry_pkey,
    ADD CONSTRAINT payments_searchentry_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_settlement DROP CONSTRAINT payments_settlement_pkey,
    ADD CONSTRAINT payments_settlement_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_settlementtotal DROP CONSTRAINT payments_settlementtotal_pkey,
    ADD CONSTRAINT payments_settlementtotal_pkey PRIMARY KEY (settlement_id, merchant_id);
ALTER TABLE payments_source DROP CONSTRAINT payments_source_pkey,
    ADD CONSTRAINT payments_source_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_webhook DROP CONSTRAINT payments_webhook_pkey,
    ADD CONSTRAINT payments_webhook_pkey PRIMARY KEY (id, merchant_id);
ALTER TABLE payments_webhookattempt DROP CONSTRAINT payments_webhookattempt_pkey,
    ADD CONSTRAINT payments_webhookattempt_pkey PRIMARY KEY (webhook_id, number, merchant_id);
ALTER TABLE payments_webhooksecret DROP CONSTRAINT payments_webhooksecret_pkey,
    ADD CONSTRAINT payments_webhooksecret_pkey PRIMARY KEY (id, merchant_id);
DROP INDEX one_assistant_call_per_idempotency_key;
CREATE UNIQUE INDEX one_assistant_call_per_idempotency_key ON payments_approvalrequest (subject_id, merchant_id) WHERE ((kind)::text = 'assistant_call'::text);
DROP INDEX one_open_approval_request_per_subject;
CREATE UNIQUE INDEX one_open_approval_request_per_subject ON payments_approvalrequest (subject_id, merchant_id) WHERE ((state)::text = ANY ((ARRAY['proposed'::character varying, 'approved'::character varying])::text[]));
DROP INDEX one_operator_action_per_attempt;
CREATE UNIQUE INDEX one_operator_action_per_attempt ON payments_approvalrequest (attempt_id, merchant_id) WHERE ((kind)::text = ANY ((ARRAY['capture'::character varying, 'void'::character varying, 'refund'::character varying, 'release'::character varying, 'extend'::character varying])::text[]));
DROP INDEX payout_is_approved_once;
CREATE UNIQUE INDEX payout_is_approved_once ON payments_approvalrequest (subject_id, merchant_id) WHERE (((kind)::text = ANY ((ARRAY['pay_out'::character varying, 'send_file'::character varying])::text[])) AND ((state)::text = 'done'::text));
DROP INDEX one_authorization_per_charge;
CREATE UNIQUE INDEX one_authorization_per_charge ON payments_attempt (charge_id, merchant_id) WHERE (((kind)::text = 'authorize'::text) AND (NOT passed_on));
DROP INDEX one_authorization_per_route;
CREATE UNIQUE INDEX one_authorization_per_route ON payments_attempt (charge_id, route_id, merchant_id) WHERE (((kind)::text = 'authorize'::text) AND (route_id IS NOT NULL));
DROP INDEX one_unresolved_operation_per_charge;
CREATE UNIQUE INDEX one_unresolved_operation_per_charge ON payments_attempt (charge_id, merchant_id) WHERE (((state)::text = ANY ((ARRAY['open'::character varying, 'unknown'::character varying])::text[])) AND (NOT ((kind)::text = 'reverse'::text)));
DROP INDEX one_charge_per_single_use_source;
CREATE UNIQUE INDEX one_charge_per_single_use_source ON payments_charge (source_id, merchant_id) WHERE single_use;
DROP INDEX one_payment_per_checkout;
CREATE UNIQUE INDEX one_payment_per_checkout ON payments_charge (checkout_id, merchant_id) WHERE ((checkout_id IS NOT NULL) AND (NOT ((status)::text = 'failed'::text)));
DROP INDEX dispute_once_per_charge;
CREATE UNIQUE INDEX dispute_once_per_charge ON payments_dispute (charge_id, provider_ref, merchant_id);
DROP INDEX evidence_once_per_type;
CREATE UNIQUE INDEX evidence_once_per_type ON payments_evidence (dispute_id, type, merchant_id);
DROP INDEX posting_starts_journal_once;
CREATE UNIQUE INDEX posting_starts_journal_once ON payments_posting (journal, merchant_id) WHERE (line = 1);
DROP INDEX provider_event_is_unique;
CREATE UNIQUE INDEX provider_event_is_unique ON payments_providerevent (account_id, key, merchant_id) WHERE (NOT ((key)::text = ''::text));
DROP INDEX provider_message_is_unique;
CREATE UNIQUE INDEX provider_message_is_unique ON payments_providermessage (account_id, digest, merchant_id);
DO $$
DECLARE part regclass;
BEGIN
    FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'payments_webhook'::regclass LOOP
        EXECUTE format('DROP INDEX %I', part || '_event_id_endpoint_id_key');
        EXECUTE format('CREATE UNIQUE INDEX %I ON %s (event_id, endpoint_id, merchant_id)', part || '_event_id_endpoint_id_key', part);
    END LOOP;
END $$;
DO $$
DECLARE part regclass;
BEGIN
    FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'payments_event'::regclass LOOP
        EXECUTE format('DROP INDEX %I', part || '_object_id_sequence_livemode_key');
        EXECUTE format('CREATE UNIQUE INDEX %I ON %s (object_id, sequence, livemode, merchant_id)', part || '_object_id_sequence_livemode_key', part);
    END LOOP;
END $$;
ALTER TABLE customers_customersource ADD CONSTRAINT customers_customerso_customer_id_5c2e2d64_fk_customers FOREIGN KEY (customer_id, merchant_id)
    REFERENCES customers_customer (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE customers_customersource ADD CONSTRAINT customers_customerso_source_id_db41cd5e_fk_payments_ FOREIGN KEY (source_id, merchant_id)
    REFERENCES payments_source (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_approvalrequest ADD CONSTRAINT payments_approvalreq_attempt_id_63462e1c_fk_payments_ FOREIGN KEY (attempt_id, merchant_id)
    REFERENCES payments_attempt (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_approvalrequest ADD CONSTRAINT payments_approvalreq_charge_id_07f21724_fk_payments_ FOREIGN KEY (charge_id, merchant_id)
    REFERENCES payments_charge (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_attempt ADD CONSTRAINT payments_attempt_charge_id_b2d2e400_fk_payments_charge_id FOREIGN KEY (charge_id, merchant_id)
    REFERENCES payments_charge (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_attempt ADD CONSTRAINT payments_attempt_idempotency_id_e45acc08_fk_payments_ FOREIGN KEY (idempotency_id, merchant_id)
    REFERENCES payments_idempotencyrecord (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_attempt ADD CONSTRAINT payments_attempt_refund_id_095fa19c_fk_payments_refund_id FOREIGN KEY (refund_id, merchant_id)
    REFERENCES payments_refund (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_card ADD CONSTRAINT payments_card_source_id_ac540e8d_fk_payments_source_id FOREIGN KEY (source_id, merchant_id)
    REFERENCES payments_source (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_charge ADD CONSTRAINT payments_charge_checkout_id_0e080f3b_fk_payments_checkout_id FOREIGN KEY (checkout_id, merchant_id)
    REFERENCES payments_checkout (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_charge ADD CONSTRAINT payments_charge_source_id_784b2fd9_fk_payments_source_id FOREIGN KEY (source_id, merchant_id)
    REFERENCES payments_source (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_checkout ADD CONSTRAINT payments_checkout_link_id_b11c4b0b_fk_payments_paymentlink_id FOREIGN KEY (link_id, merchant_id)
    REFERENCES payments_paymentlink (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_declinealert ADD CONSTRAINT payments_declinealert_charge_id_e07aff6b_fk_payments_charge_id FOREIGN KEY (charge_id, merchant_id)
    REFERENCES payments_charge (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_declinealert ADD CONSTRAINT payments_declinealert_source_id_67bcd07b_fk_payments_source_id FOREIGN KEY (source_id, merchant_id)
    REFERENCES payments_source (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_dispute ADD CONSTRAINT payments_dispute_charge_id_751cc74d_fk_payments_charge_id FOREIGN KEY (charge_id, merchant_id)
    REFERENCES payments_charge (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_evidence ADD CONSTRAINT payments_evidence_dispute_id_5dc44375_fk_payments_dispute_id FOREIGN KEY (dispute_id, merchant_id)
    REFERENCES payments_dispute (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_pagevisit ADD CONSTRAINT payments_pagevisit_charge_id_2e86d751_fk_payments_charge_id FOREIGN KEY (charge_id, merchant_id)
    REFERENCES payments_charge (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_paymentrequest ADD CONSTRAINT payments_paymentrequ_checkout_id_f145c626_fk_payments_ FOREIGN KEY (checkout_id, merchant_id)
    REFERENCES payments_checkout (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_payout ADD CONSTRAINT payments_payout_account_id_e6aa25e5_fk_payments_ FOREIGN KEY (account_id, merchant_id)
    REFERENCES payments_payoutaccount (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_payout ADD CONSTRAINT payments_payout_approval_id_55d7fae8_fk_payments_ FOREIGN KEY (approval_id, merchant_id)
    REFERENCES payments_approvalrequest (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_payoutpart ADD CONSTRAINT payments_payoutpart_payout_id_7cb2d441_fk_payments_payout_id FOREIGN KEY (payout_id, merchant_id)
    REFERENCES payments_payout (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_providerevent ADD CONSTRAINT payments_providereve_message_id_23be73fc_fk_payments_ FOREIGN KEY (message_id, merchant_id)
    REFERENCES payments_providermessage (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_refund ADD CONSTRAINT payments_refund_charge_id_2ba1056b_fk_payments_charge_id FOREIGN KEY (charge_id, merchant_id)
    REFERENCES payments_charge (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE payments_settlementtotal ADD CONSTRAINT payments_settlementt_settlement_id_b46159d9_fk_payments_ FOREIGN KEY (settlement_id, merchant_id)
    REFERENCES payments_settlement (id, merchant_id) DEFERRABLE INITIALLY DEFERRED;
