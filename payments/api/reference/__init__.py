"""The API reference (`/docs`): a page made from the OpenAPI document, with samples of each call."""
