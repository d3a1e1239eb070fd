"""What a company would write itself: a project of three small apps, as the tutorials of Django and DRF have them."""
