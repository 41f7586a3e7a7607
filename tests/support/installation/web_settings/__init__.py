"""What a web server of the tests is configured with, around gunicorn.conf.py."""
