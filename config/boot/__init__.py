"""Environment variables and the checks of the configuration at boot."""
