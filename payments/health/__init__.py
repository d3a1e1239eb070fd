"""What is wrong with the service: `facts` are read with bounds, `findings` judges them, `checks` lists all checks.

`manage.py doctor` and the back office's page On call show the findings; both say what to do.
"""
