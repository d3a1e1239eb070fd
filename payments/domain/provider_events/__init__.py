"""Events that providers report by their webhooks: stored, applied to what they are about, listed for operators."""
