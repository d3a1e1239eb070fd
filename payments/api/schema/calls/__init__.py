"""The operations of the OpenAPI document, by room. The document imports every module here, which registers them."""
