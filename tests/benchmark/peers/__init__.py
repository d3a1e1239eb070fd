"""What a company would write itself: a project of two small apps, as the tutorials of Django and DRF have them."""
