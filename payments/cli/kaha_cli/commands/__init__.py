"""What can be typed after `kaha`: a module for each command or group of commands."""
