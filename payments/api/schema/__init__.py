"""The OpenAPI document (`/v2/openapi.json`) and the page that shows it (`/docs`); nothing here answers a payment."""
